/* SPDX-License-Identifier: MIT */
/*
 * hone.h — what a training program in C may use of Hone. All of it is optional, and all of it goes
 * on working without Hone around: parameters take their defaults, metrics are printed.
 *
 *     double lr = hone_param_double("lr", 0.1);
 *     hone_epochs(epoch, 10) {
 *         float loss = train(lr);
 *         hone_log(epoch, {"loss", loss}, {"val_acc", validate()});
 *     }
 *
 * Link with libhone-client.a, or compile hone.c into the program; it needs only libc. No call
 * blocks on the network, none ends the program. Any thread may call any function, but hone_step and
 * the checkpoint functions belong to one thread at a time.
 */
#ifndef HONE_H
#define HONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The hyperparameters of this trial, or `otherwise` if there is no such parameter or it is not of
 * that kind (1e3 and 32.0 are integers). Texts live until the program ends. */
double hone_param_double(const char *name, double otherwise);
int64_t hone_param_int(const char *name, int64_t otherwise);
bool hone_param_bool(const char *name, bool otherwise);
const char *hone_param_text(const char *name, const char *otherwise);

/* The machine's settings now in force, such as "threads": what Hone last said in the control page,
 * before that what HONE_SYSTEM (JSON) said at the start, else `otherwise`. They may change at any
 * hone_step; a page that is silent about them (a request to stop) leaves them. Cheap enough for
 * every step:
 *
 *     while (hone_step(step++)) {
 *         omp_set_num_threads((int)hone_system_int("threads", omp_get_num_procs()));
 */
double hone_system_double(const char *name, double otherwise);
int64_t hone_system_int(const char *name, int64_t otherwise);

/* Record values at a step. The doubles arrive exactly, NaN and infinities too. One write(2) a line:
 * what was logged is not lost, whatever dies. HONE_STEP_NOW is the step last given to hone_step (or
 * none, then Hone counts). Returns 0, or -errno when the line could not be written.
 *
 *     hone_log(step, {"loss", loss}, {"acc", acc});
 */
struct hone_metric {
    const char *name;
    double value;
};
#define HONE_STEP_NOW INT64_MIN
#define hone_log(step, ...)                                                                        \
    hone_log_n((step), (const struct hone_metric[]){__VA_ARGS__},                                  \
               sizeof((const struct hone_metric[]){__VA_ARGS__}) / sizeof(struct hone_metric))
int hone_log_n(int64_t step, const struct hone_metric *metrics, size_t n);

/* Say where the program is, and hear what Hone asks: one 64-bit load, no system call, unless there
 * is something new. False when the program is told to stop: save what is worth it, then return. */
bool hone_step(int64_t step);
bool hone_should_stop(void);
/* Say at which step the training ends, so that Hone can tell how long it still takes. */
void hone_total(int64_t step);
/* True once for every request to write a checkpoint soon. */
bool hone_checkpoint_asked(void);
/* for (epoch = 0; epoch < n; epoch++) that ends when told to stop. */
#define hone_epochs(epoch, n) for (int64_t epoch = 0; epoch < (n) && hone_step(epoch); epoch++)

/* The newest complete checkpoint of this trial, a file or folder to start from; NULL if none. */
const char *hone_checkpoint(void);
/* Where checkpoints are written, made if missing ("checkpoints" without Hone). NULL if it cannot be
 * made; errno says why. */
const char *hone_checkpoint_dir(void);
/* Write a checkpoint so that a half-written one is never taken for a whole: begin gives the path
 * to write to (a file or a folder, valid until the next begin), commit gives it its name,
 * ATTEMPT-STEP. NULL or -errno on failure; a begun one without commit is ignored. */
const char *hone_checkpoint_begin(int64_t step);
int hone_checkpoint_commit(void);

/* Exit with this to say: checkpointed, start me again. */
#define HONE_EXIT_AGAIN 85

#ifdef __cplusplus
}
#endif
#endif
