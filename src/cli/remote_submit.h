/* SPDX-License-Identifier: MIT */
/*
 * remote_submit.h — an experiment to a server: its code and environment first, then the spec.
 */
#ifndef HONE_REMOTE_SUBMIT_H
#define HONE_REMOTE_SUBMIT_H

#include "cli/remote.h"
#include "model/spec.h"

/* `key` may be NULL. The same key gives the same number. */
int remote_submit(struct cmd_call *call, struct remote *remote, struct spec *spec, const char *key,
                  int64_t *ret_experiment, struct err *err);
/* Send a submission, which has a key: again if the server goes away before it answers. */
int remote_post(struct remote *remote, const char *path, const char *body, int64_t *ret_experiment,
                struct err *err);

#endif
