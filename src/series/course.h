/* SPDX-License-Identifier: MIT */
/*
 * course.h — the course of a trial's metric: which sources of the store it is made of. The same
 * points that series_read() gives, without reading them: what a running attempt told is in the
 * store as soon as the engine has read it.
 */
#ifndef HONE_COURSE_H
#define HONE_COURSE_H

#include "series/db.h"

/* One attempt. Of each attempt the most trusted source that has the metric counts. */
struct course_part {
    struct series_info info;
    int64_t before; /* rows at this step or later belong to a past that was given up */
};
struct course {
    VEC(struct course_part) parts; /* the oldest attempt first */
};
void course_release(struct course *course);
/* Of the sources of an attempt the one with the lowest rank is trusted most. */
size_t course_rank(enum series_file file);
/* No parts if there is no such series. experiment 0, trial 0: the machine's own figures. */
void course_find(struct series_db *db, int64_t experiment, int64_t trial, uint32_t name,
                 struct course *ret);
/* Its first and last step, counted from 0 where there is none. False: it is empty. */
bool course_steps(const struct course *course, int64_t *ret_first, int64_t *ret_last);
/* Its first and last time. False: no value has one. */
bool course_times(const struct course *course, int64_t *ret_first_ns, int64_t *ret_last_ns);

#endif
