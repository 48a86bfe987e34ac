/* SPDX-License-Identifier: MIT */
/*
 * driver.h — what the programs of this folder share: a search that works or a sentence and the
 * end, and files of results that appear when they are complete.
 */
#ifndef HONE_BENCH_DRIVER_H
#define HONE_BENCH_DRIVER_H

#include "search/search.h"

/* Print a sentence and end the program. */
_Noreturn void die(const char *fmt, ...) PRINTF(1, 2);

/* As search_new and search_ask; they do not return if there is an error. Free the search. */
struct search *must_search(const char *algorithm, const struct problem *problem);
void must_ask(struct search *s, struct suggestion *ret);

/* "1-30" or "7": the first and the last. */
struct seeds {
    uint64_t first, last;
};
struct seeds seeds_parse(const char *text);

/* A parameter called x0, x1, …: any number between low and high. Its name is to be freed. */
struct param real_param(size_t i, double low, double high);
/* A space of dim of them, the same ends for all; space_release it. */
struct space real_space(size_t dim, double low, double high);

/* A file that gets its name when it is finished: what has that name is complete. */
struct output {
    FILE *file;
    char *path, *fresh;
};
/* printf the path. Folders must be there. */
struct output output_open(const char *head, const char *path, ...) PRINTF(2, 3);
void output_finish(struct output *output);

#endif
