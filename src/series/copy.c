/* SPDX-License-Identifier: MIT */
/*
 * copy.c — what an attempt's files hold goes into the store, a piece at a time: older homes are
 * migrated while an engine works.
 */
#include "base/map.h"
#include "metrics/metrics.h"
#include "series/attempt_files.h"
#include "series/gather.h"
#include "series/series.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct series_copy {
    struct gather gather;
    struct series_source source;
    char *dir;
    struct metrics_rules *rules;
    struct map_text next; /* metric → step of its next sample without one */
    size_t file;          /* of attempt_files[] */
    int fd;               /* -1: none is open */
    off_t offset;
    struct metrics_parser *parser;
    char *block;
    int r;
};

static void copy_row(const struct series_source *source, const struct series_row *row, void *arg)
{
    struct series_copy *copy = arg;
    if (copy->r >= 0)
        copy->r = series_db_append(copy->gather.db, source, row, 1, NULL);
}

static void copy_sample(const struct sample *sample, void *arg)
{
    struct series_copy *copy = arg;
    int64_t next = (int64_t)(uintptr_t)map_text_find(&copy->next, sample->metric);
    int64_t step = metrics_step(&next, sample->step);

    map_text_put(&copy->next, sample->metric, (void *)(uintptr_t)next);
    struct gather_sample told = {.metric = sample->metric,
                                 .step = step,
                                 .time_ns = sample_time_ns(sample->time_us, sample->ns),
                                 .value = sample->value,
                                 .rest = sample->rest};
    gather_sample(&copy->gather, &copy->source, sample->end, &told);
}

int series_copy_new(struct series_db *db, const char *home, const struct spec *spec,
                    const struct attempt *attempt, struct series_copy **ret, struct err *err)
{
    struct series_copy *copy = xcalloc(1, sizeof(*copy));
    int r = metrics_rules_new(spec, &copy->rules, err);

    if (r < 0) {
        free(copy);
        return r;
    }
    copy->dir = attempt_dir(home, attempt->experiment, attempt->trial, attempt->number);
    copy->source = (struct series_source){attempt->experiment, attempt->trial, attempt->number,
                                          SERIES_METRICS};
    copy->fd = -1;
    copy->block = xmalloc(ATTEMPT_FILE_BLOCK);
    gather_init(&copy->gather, db, copy_row, copy);
    *ret = copy;
    return 0;
}

static void close_file(struct series_copy *copy)
{
    if (copy->parser)
        metrics_parser_free(TAKE(copy->parser));
    fd_autoclose(&copy->fd);
    copy->fd = -1;
}

void series_copy_free(struct series_copy *copy)
{
    close_file(copy);
    gather_release(&copy->gather);
    map_text_release(&copy->next);
    metrics_rules_free(copy->rules);
    free(copy->dir);
    free(copy->block);
    free(copy);
}

/* What is no regular file is none of ours. */
static void open_file(struct series_copy *copy)
{
    autofree(mem) char *path = xasprintf("%s/%s", copy->dir, attempt_files[copy->file].name);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    copy->parser =
        metrics_parser_new(copy->rules, attempt_files[copy->file].source, copy_sample, copy);
    copy->source.file = attempt_files[copy->file].file;
    copy->offset = 0;
    copy->fd = fd;
    fd = -1;
}

static int copy_block(struct series_copy *copy)
{
    ssize_t n = attempt_file_feed(copy->fd, copy->parser, copy->block, &copy->offset);

    if (n == 0) {
        metrics_parser_finish(copy->parser, 0);
        close_file(copy);
        copy->file++;
    }
    gather_end(&copy->gather);
    return n < 0 ? (int)n : copy->r;
}

int series_copy_turn(struct series_copy *copy)
{
    if (copy->fd >= 0)
        return copy_block(copy);
    for (; copy->file < ATTEMPT_FILES; copy->file++) {
        if (attempt_files[copy->file].name)
            open_file(copy);
        if (copy->fd >= 0)
            return 0;
    }
    return 1;
}

int series_store(struct series_db *db, const char *home, const struct spec *spec,
                 const struct attempt *attempt, struct err *err)
{
    autofree(series_copy) struct series_copy *copy = NULL;
    int r = series_copy_new(db, home, spec, attempt, &copy, err);

    while (r == 0)
        r = series_copy_turn(copy);
    return r < 0 ? err_errno(err, -r, "cannot store the samples of %s", copy ? copy->dir : home)
                 : 0;
}
