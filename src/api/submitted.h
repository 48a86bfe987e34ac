/* SPDX-License-Identifier: MIT */
/*
 * submitted.h — a submission that is sent again: its key names the experiment that it began.
 */
#ifndef HONE_SUBMITTED_H
#define HONE_SUBMITTED_H

#include "engine/engine.h"

/* What `owner` began with this key, however long ago; *ret 0: nothing. `spec` is what is asked for
 * now (NULL: not looked at): -EEXIST, with a sentence that names the experiment, if that was begun
 * by another. Another one has another name, command, parameters
 * or objective; a larger budget, another seed or priority make no other of it. */
int submitted_find(const struct engine *engine, struct store *store, const char *owner,
                   const char *key, const struct spec *spec, int64_t *ret, struct err *err);

#endif
