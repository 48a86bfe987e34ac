/* SPDX-License-Identifier: MIT */
/*
 * workload.h — what the programs in this folder share: settings, made data, steps, threads.
 *
 * A program is a table of settings and a loop:
 *
 *     workload_start(argc, argv, settings, N_SETTINGS);
 *     for (int64_t step = 0; workload_step(settings, step); step++)
 *         workload_log(step, one_step());
 *
 * The number of threads may change between two steps, so nothing may rest on it: sums of floating
 * point numbers are made in chunks of a fixed size, and the chunks are added in order. So the same
 * seed gives the same bits on any number of threads. Without -fopenmp it all runs on one.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "hone.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_max_threads()  1
#define omp_set_num_threads(n) ((void)(n))
#endif

/* A number that the program takes from Hone, or from its command line as --name=value or
 * --name value. */
struct setting {
    const char *name;
    double value, min, max; /* the default at first */
    bool whole;
    const char *help;
};

/* Every table begins with these two. */
enum { STEPS, SEED, N_COMMON };
#define COMMON_SETTINGS(steps)                                                                     \
    [STEPS] = {"steps", (steps), 1, 1e12, true, "how many steps"},                                 \
    [SEED] = {"seed", 1, 0, 1e15, true, "of the made data and of all that is random"}

static inline void *allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- settings ---- */

static inline void setting_set(struct setting *setting, double value)
{
    bool whole = !setting->whole || value == floor(value);
    if (!(value >= setting->min && value <= setting->max && whole)) {
        fprintf(stderr, "%s must be %s from %g to %g\n", setting->name,
                setting->whole ? "an integer" : "a number", setting->min, setting->max);
        exit(2);
    }
    setting->value = value;
}

static inline void settings_help(const char *program, const struct setting *settings, size_t n)
{
    printf("usage: %s [--name=value ...]\n", program);
    for (size_t i = 0; i < n; i++)
        printf("  --%-12s %s (%g)\n", settings[i].name, settings[i].help, settings[i].value);
    exit(0);
}

/* The setting that an argument such as "--name=value" names; ends the program if there is none. */
static inline struct setting *settings_find(struct setting *settings, size_t n,
                                            const char *argument)
{
    const char *name = strncmp(argument, "--", 2) == 0 ? argument + 2 : "";
    size_t len = strcspn(name, "=");

    for (size_t i = 0; i < n; i++)
        if (strlen(settings[i].name) == len && strncmp(settings[i].name, name, len) == 0)
            return &settings[i];
    fprintf(stderr, "'%s' is no setting: give --name=value, --help lists the names\n", argument);
    exit(2);
}

/* What is no number is out of every range. */
static inline double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return *end || end == text ? NAN : value;
}

/* Fill the table: what Hone says goes before the defaults, the command line before both. */
static inline void workload_start(int argc, char **argv, struct setting *settings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        setting_set(&settings[i], hone_param_double(settings[i].name, settings[i].value));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            settings_help(argv[0], settings, n);
        struct setting *setting = settings_find(settings, n, argv[i]);
        const char *value = strchr(argv[i], '=');
        if (!value && i + 1 < argc)
            setting_set(setting, number_of(argv[++i]));
        else
            setting_set(setting, number_of(value ? value + 1 : ""));
    }
    hone_total((int64_t)settings[STEPS].value - 1);
}

/* ---- steps ---- */

/* How many threads OpenMP took by itself: OMP_NUM_THREADS, or the processors. */
static inline int first_threads(void)
{
    static int threads;
    if (threads == 0)
        threads = omp_get_max_threads();
    return threads;
}

/* False when all steps are done or the program is asked to stop. Else as many threads as Hone now
 * says will do the step. */
static inline bool workload_step(const struct setting *settings, int64_t step)
{
    if (step >= (int64_t)settings[STEPS].value || !hone_step(step))
        return false;
    int64_t threads = hone_system_int("threads", first_threads());
    if (threads >= 1 && threads <= 1024)
        omp_set_num_threads((int)threads);
    return true;
}

static inline void workload_log(int64_t step, double loss)
{
    hone_log(step, {"loss", loss}, {"threads", omp_get_max_threads()});
}

/* ---- made data ---- */

/* The i-th random number of a seed, whoever asks for it and in whatever order (splitmix64). */
static inline uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xd1342543de82ef95 + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static inline double random_uniform(uint64_t seed, uint64_t i) /* -1 to 1 */
{
    return (double)(random_bits(seed, i) >> 11) * 0x1p-52 - 1.0;
}

/* Added in order: what the chunks of a parallel loop left behind. */
static inline double sum_in_order(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

#endif
