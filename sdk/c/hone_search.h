/* SPDX-License-Identifier: MIT */
/*
 * hone_search.h — Hone's search as a library: ask for a setting, try it, tell how good it was.
 *
 *     char why[500];
 *     hone_search *s = hone_search_new("{\"params\": {\"lr\": {\"min\": 1e-4, \"max\": 0.1,"
 *                                      " \"scale\": \"log\"}, \"batch\": [32, 64]},"
 *                                      " \"search\": {\"seed\": 1}}",
 *                                      why, sizeof(why));
 *     for (int i = 0; i < 100; i++) {
 *         int64_t id = hone_search_ask(s);
 *         double loss = train(hone_search_trial(s, id));       // {"id":1,"params":{"lr":0.003,…
 *         hone_search_tell(s, id, &loss, 1);
 *     }
 *     puts(hone_search_best(s));                               // {"id":57,"params":{…
 *
 * Link with -lhone-search. Settings and answers are JSON, numbers in the user's direction: what is
 * maximised is told and shown as it is. The same problem, seed and sequence of calls give the same
 * settings.
 *
 * Calls that can fail return NULL or a negative number (-EINVAL, …), change nothing, and leave a
 * sentence for hone_search_error(). Texts that are returned belong to the search and live until the
 * next call with it. Running out of memory ends the program.
 *
 * Threads: one search belongs to one thread at a time, so guard one that several use; different
 * searches have nothing in common.
 */
#ifndef HONE_SEARCH_LIBRARY_H
#define HONE_SEARCH_LIBRARY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hone_search hone_search;

/* A search from its problem: a part of a spec (docs/spec.md), in JSON or YAML.
 *   params       the parameters: a list of choices, {min, max, scale, type, step}, …; required
 *   forbid       combinations that are never given out: [{"opt": "sgd", "lr": {"min": 0.01}}, …]
 *   try          settings to give out first, maybe partial: [{"lr": 0.01}, …]
 *   objective    {"metric": "acc", "goal": "maximize"}, or a list of several; default: one value,
 *                to be minimised. The names of metrics say only in which order values are told
 *   constraint   ["latency_ms <= 20", …]: further values that are told, and their bounds
 *   search       {"algorithm": "auto", "trials": 100, "seed": 1, "stop": "curve",
 *                "repeats": "auto"}. trials is how many you mean to run, it may be more; stop is
 *                the rule behind hone_search_report(); repeats: "never" for results without noise
 * NULL: the sentence is in error[size], cut to fit. */
hone_search *hone_search_new(const char *problem, char *error, size_t size);
void hone_search_free(hone_search *s); /* NULL: nothing */
/* The problem as it was given. */
const char *hone_search_problem(const hone_search *s);
/* Why the last call that failed did so; "" if none has. */
const char *hone_search_error(const hone_search *s);

/* The next trial: its id, from 1 upwards. -EAGAIN: not before a trial in flight is told. -ENODATA:
 * every setting of a finite space was given out. */
int64_t hone_search_ask(hone_search *s);
/* A trial with a setting of your own, all active parameters given: {"lr":0.01,"batch":32}. */
int64_t hone_search_add(hone_search *s, const char *params);
/* A trial: {"id":1,"params":{…},"state":"running","value":null,"why":"model","by":"bayes",
 * "seen":12,"mean":0.3,"deviation":0.1,…}. States: running completed stopped failed cancelled. */
const char *hone_search_trial(hone_search *s, int64_t id);
/* How many trials there are: the highest id. */
int64_t hone_search_count(const hone_search *s);

/* Its result: the objectives, then what the constraints bound (NaN: not known); n numbers in all.
 * It ends the trial. An objective that is NaN or infinite is a failure. */
int hone_search_tell(hone_search *s, int64_t id, const double *values, size_t n);
/* The objectives at a step on the way; steps rise. 1: it is not worth going on; 0: go on. */
int hone_search_report(hone_search *s, int64_t id, int64_t step, const double *values, size_t n);
/* The objectives on one fold or instance, each told once. 1: it lost the race against the best
 * trial; 0: go on with the next. */
int hone_search_instance(hone_search *s, int64_t id, int64_t instance, const double *values,
                         size_t n);
/* End a trial with what was reported: the mean over its instances, or the value of its last step.
 * If a report said that it is not worth going on, as hone_search_stopped(). */
int hone_search_close(hone_search *s, int64_t id);
/* It was ended early: what was reported tells how good it would have become. */
int hone_search_stopped(hone_search *s, int64_t id);
/* It has no result, by its own fault. */
int hone_search_fail(hone_search *s, int64_t id);
/* It has no result, and that says nothing about its setting, which may be given out again. */
int hone_search_cancel(hone_search *s, int64_t id);

/* The best trial that was run: {"id":57,"params":{…},"value":0.93,"mean":0.92,"deviation":0.01,
 * "noise":0.02,"repeats":2}. mean and deviation are of its true value as the model sees it; without
 * a model, mean is the average and deviation null. NULL with -ENODATA's sentence before the first
 * result, or with several objectives. */
const char *hone_search_best(hone_search *s);
/* The trials that no other beats in every objective, by the first: [{"id":3,"params":{…},
 * "value":[1.5,20]},…]. */
const char *hone_search_front(hone_search *s);

/* All of it as bytes: problem, trials, results, state. They live until the next call. */
const void *hone_search_save(hone_search *s, size_t *ret_n);
/* The search that was saved; it goes on as the saved one would have. Any bytes may be given: those
 * that are not a saved search are refused with a sentence. */
hone_search *hone_search_load(const void *bytes, size_t n, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
