/* SPDX-License-Identifier: MIT */
/*
 * driver.c — see driver.h.
 */
#include "bench/search/driver.h"

#include <stdarg.h>
#include <unistd.h>

void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

struct search *must_search(const char *algorithm, const struct problem *problem)
{
    struct search *s = NULL;
    struct err err = ERR_INIT;

    if (search_new(algorithm, problem, &s, &err) < 0)
        die("%s: %s", algorithm, err_text(&err));
    return s;
}

void must_ask(struct search *s, struct suggestion *ret)
{
    struct err err = ERR_INIT;

    if (search_ask(s, ret, &err) < 0)
        die("%s: no suggestion: %s", search_name(s), err_text(&err));
}

struct seeds seeds_parse(const char *text)
{
    char *end;
    struct seeds seeds = {.first = strtoull(text, &end, 10)};

    seeds.last = *end == '-' ? strtoull(end + 1, &end, 10) : seeds.first;
    if (*end || end == text || seeds.last < seeds.first)
        die("'%s' are no seeds: 1-30", text);
    return seeds;
}

struct param real_param(size_t i, double low, double high)
{
    return (struct param){
        .name = xasprintf("x%zu", i), .type = PARAM_FLOAT, .min = low, .max = high};
}

struct space real_space(size_t dim, double low, double high)
{
    struct space space = {.params = xcalloc(dim, sizeof(*space.params)), .n = dim};

    for (size_t i = 0; i < dim; i++)
        space.params[i] = real_param(i, low, high);
    return space;
}

struct output output_open(const char *head, const char *path, ...)
{
    struct output output = {0};
    va_list args;

    va_start(args, path);
    if (vasprintf(&output.path, path, args) < 0)
        die("out of memory");
    va_end(args);
    output.fresh = xasprintf("%s.%d", output.path, getpid());
    output.file = fopen(output.fresh, "w");
    if (!output.file)
        die("cannot write %s", output.fresh);
    fprintf(output.file, "%s\n", head);
    return output;
}

void output_finish(struct output *output)
{
    if (fclose(output->file) != 0 || rename(output->fresh, output->path) != 0)
        die("cannot write %s", output->path);
    free(output->path);
    free(output->fresh);
}
