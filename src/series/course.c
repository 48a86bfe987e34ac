/* SPDX-License-Identifier: MIT */
/*
 * course.c — the parts of a course.
 *
 *     attempt 1:  metrics  0 1 2 3 4 5        before = 3
 *     attempt 2:  metrics        3 4 5 6 7    before = none
 *                 stdout         3 4 5 6 7    less trusted, left out
 */
#include "series/course.h"

#include "metrics/metrics.h"
#include "series/attempt_files.h"

void course_release(struct course *course)
{
    vec_release(&course->parts);
}

size_t course_rank(enum series_file file)
{
    size_t rank = 0;

    while (rank < ATTEMPT_FILES && attempt_files[rank].file != file)
        rank++;
    return rank;
}

/* Sources come in any order; the parts stay sorted by attempt. */
static int on_info(const struct series_info *info, void *arg)
{
    struct course *course = arg;
    struct course_part part = {.info = *info, .before = INT64_MAX};
    size_t i = course->parts.len;

    if (!info->stats.count)
        return 0;
    while (i > 0 && course->parts.at[i - 1].info.source.attempt > info->source.attempt)
        i--;
    if (i > 0 && course->parts.at[i - 1].info.source.attempt == info->source.attempt) {
        struct course_part *known = &course->parts.at[i - 1];
        if (course_rank(info->source.file) < course_rank(known->info.source.file))
            *known = part;
        return 0;
    }
    vec_push(&course->parts, part);
    memmove(&course->parts.at[i + 1], &course->parts.at[i],
            (course->parts.len - 1 - i) * sizeof(*course->parts.at));
    course->parts.at[i] = part;
    return 0;
}

static int64_t first_step(const struct series_info *info)
{
    return info->first_step == STEP_NONE ? 0 : info->first_step;
}

static int64_t last_step(const struct series_info *info)
{
    return info->last_step == STEP_NONE ? (int64_t)info->stats.count - 1 : info->last_step;
}

/* A later attempt cuts the earlier ones at its first step; of some nothing is left. */
static void cut(struct course *course)
{
    int64_t before = INT64_MAX;
    size_t kept = course->parts.len;

    for (size_t i = course->parts.len; i-- > 0;) {
        struct course_part part = course->parts.at[i];
        part.before = before;
        if (first_step(&part.info) < before)
            course->parts.at[--kept] = part;
        before = MIN(before, first_step(&part.info));
    }
    size_t n = course->parts.len - kept;
    if (n)
        memmove(course->parts.at, course->parts.at + kept, n * sizeof(*course->parts.at));
    course->parts.len = n;
}

void course_find(struct series_db *db, int64_t experiment, int64_t trial, uint32_t name,
                 struct course *ret)
{
    *ret = (struct course){{NULL, 0, 0}};
    if (name == SERIES_NAME_NONE)
        return;
    series_db_list(db, experiment, trial, name, on_info, ret);
    cut(ret);
}

bool course_steps(const struct course *course, int64_t *ret_first, int64_t *ret_last)
{
    *ret_first = INT64_MAX;
    *ret_last = INT64_MIN;
    vec_foreach (part, &course->parts) {
        *ret_first = MIN(*ret_first, first_step(&part->info));
        *ret_last = MAX(*ret_last, MIN(last_step(&part->info), part->before - 1));
    }
    return course->parts.len > 0;
}

bool course_times(const struct course *course, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
    bool any = false;

    *ret_first_ns = INT64_MAX;
    *ret_last_ns = INT64_MIN;
    vec_foreach (part, &course->parts) {
        if (part->info.first_ns == INT64_MIN)
            continue;
        any = true;
        *ret_first_ns = MIN(*ret_first_ns, part->info.first_ns);
        *ret_last_ns = MAX(*ret_last_ns, part->info.last_ns);
    }
    return any;
}
