/* SPDX-License-Identifier: MIT */
/*
 * cgroup_plan.h — the parts of planning cgroups that only exec itself needs.
 */
#ifndef HONE_CGROUP_PLAN_H
#define HONE_CGROUP_PLAN_H

#include "exec/exec.h"

/* The plan for a process whose /proc/self/cgroup reads `self`. Asks nobody, moves nothing but
 * ourselves into a leaf where that makes memory limits possible. */
void cgroup_plan_find(struct cgroup_plan *plan, const char *root, const char *self);
/* Point the plan at this home's folders below; attempts get theirs in them. */
void cgroup_plan_begin(struct cgroup_plan *plan, const char *home_id);
/* Remove them if no attempt is left in them. */
void cgroup_plan_end(struct cgroup_plan *plan);

#endif
