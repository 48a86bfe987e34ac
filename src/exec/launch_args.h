/* SPDX-License-Identifier: MIT */
/*
 * launch_args.h — how a launch reaches the keeper: as its own arguments and environment.
 *
 *     hone-keeper ATTEMPT DIR CWD PATH LIMIT_US MEMORY OUTPUT GRACE_US FILES FLAGS KIND TREE LIMITS
 * BOOT ARGV…
 *
 * The kernel copies arguments at exec anyway, and the keeper hands ARGV and its environment to the
 * program as they lie: no file, no pipe, no second copy. Numbers are decimal. PATH is ARGV[0]
 * already searched for ("" if it was not found: execve then says ENOENT).
 */
#ifndef HONE_LAUNCH_ARGS_H
#define HONE_LAUNCH_ARGS_H

enum launch_arg {
    LAUNCH_NAME, /* "hone-keeper" */
    LAUNCH_ATTEMPT,
    LAUNCH_DIR,
    LAUNCH_CWD,
    LAUNCH_PATH,
    LAUNCH_TIME_LIMIT_US,
    LAUNCH_MEMORY_BYTES,
    LAUNCH_OUTPUT_BYTES,
    LAUNCH_GRACE_US,
    LAUNCH_FILES, /* RLIMIT_NOFILE of the program; 0: as the keeper's */
    LAUNCH_FLAGS,
    LAUNCH_CGROUP_KIND,
    LAUNCH_TREE,   /* the attempt's own cgroup folder, or "" */
    LAUNCH_LIMITS, /* its v1 memory folder, or "" */
    LAUNCH_BOOT_ID,
    LAUNCH_ARGV, /* from here on the program's own */
};

#define LAUNCH_FLAG_PTY         1
#define LAUNCH_FLAG_TREE_LIMITS 2 /* v2: memory.max of the tree's folder works */

/* How a keeper leaves. */
#define KEEPER_DONE  0 /* there is an exit record */
#define KEEPER_FAIL  1 /* the state file cannot be used */
#define KEEPER_TAKEN 3 /* another keeper holds the attempt */
#define KEEPER_ENDED 4 /* the attempt has ended before */
#define KEEPER_LOST  5 /* an earlier keeper of this attempt died: its program may be running */

#endif
