/* SPDX-License-Identifier: MIT */
/*
 * state.h — the agent's side of the state file (state_file.h is its layout).
 */
#ifndef HONE_EXEC_STATE_H
#define HONE_EXEC_STATE_H

#include "exec/exec.h"

/* What the bytes of a state file mean; `locked`: some keeper holds it. Any bytes are welcome. */
void state_judge(const void *bytes, size_t n, bool locked, struct attempt_look *ret);
/* Open dir/state; never makes it. A descriptor, or -errno with a sentence. */
int state_open(const char *dir, int flags, struct err *err);
/* Make dir/state and dir/params.json of a launch if they are not there yet. */
int state_prepare(const struct launch *launch, struct err *err);

#define BOOT_ID_SIZE 40
/* This boot; "" if unknown. */
void boot_id_read(char ret[BOOT_ID_SIZE]);
/* Field 22 of /proc/PID/stat and the session (field 6); 0 if the process is gone. */
uint64_t process_start(pid_t pid, pid_t *ret_session);
/* A descriptor of the very process that began at `start`, or -ESRCH. */
int process_open(pid_t pid, uint64_t start);

#endif
