/* SPDX-License-Identifier: MIT */
/*
 * state_file.h — the file `state` of an attempt's folder, shared by program, keeper and agent.
 *
 *      0 ┌─────────────────────────────────────────────┐
 *        │ control page, 8 KiB: what HONE_CONTROL maps │ by the agent, read by the program
 *   8192 ├─────────────────────────────────────────────┤
 *        │ keeper record: who supervises               │ by the keeper, at start
 *   9216 ├─────────────────────────────────────────────┤
 *        │ request: what the agent asks of the keeper  │ by the agent, then SIGUSR1
 *   9472 │ turn asked for: to pause or to go on        │ by the agent, then SIGUSR1
 *   9728 │ turn taken: is it paused, and for how long  │ by the keeper, when it has happened
 *  10240 ├─────────────────────────────────────────────┤
 *        │ exit record: how it ended                   │ by the keeper, one pwrite, last
 *  12288 └─────────────────────────────────────────────┘
 *
 * The keeper holds a write lock on the file as long as it lives. Never truncated, never
 * replaced. Every record carries a magic and a CRC-32C; a torn one counts as absent. Layouts are
 * fixed little-endian structs without pointers: this header compiles without libc for the keeper.
 */
#ifndef HONE_STATE_FILE_H
#define HONE_STATE_FILE_H

#include "base/crc32c.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_CONTROL_SIZE 8192
#define STATE_KEEPER_AT    8192
#define STATE_REQUEST_AT   9216
#define STATE_ASKED_AT     9472
#define STATE_TURN_AT      9728
#define STATE_EXIT_AT      10240
#define STATE_FILE_SIZE    12288

/* The control page. The program looks at `generation` only: one 64-bit load a step. */
struct control_page {
    uint64_t version;    /* 1 */
    uint64_t generation; /* odd while being written */
    uint64_t length;     /* of json */
    char json[STATE_CONTROL_SIZE - 24];
};

#define KEEPER_MAGIC  0x3152504b656e6f48ULL /* "HoneKPR1" */
#define REQUEST_MAGIC 0x3151525f656e6f48ULL
#define ASKED_MAGIC   0x314b5341656e6f48ULL
#define TURN_MAGIC    0x314e5254656e6f48ULL
#define EXIT_MAGIC    0x3154584f656e6f48ULL

enum cgroup_kind { CGROUP_NONE, CGROUP_V1, CGROUP_V2, CGROUP_HYBRID /* v2 tree, v1 limits */ };

struct keeper_record {
    uint64_t magic;
    int64_t attempt;
    int32_t keeper_pid, program_pid;
    uint64_t keeper_start_ticks; /* field 22 of /proc/pid/stat */
    uint64_t program_start_ticks;
    char boot_id[40];
    int64_t started_wall_us, started_mono_us;
    uint32_t cgroup_kind;    /* enum cgroup_kind */
    char cgroup[256];        /* folder that holds the tree, for killing; "" if none */
    char cgroup_limits[256]; /* v1 memory folder; "" if none */
    uint32_t crc;            /* over everything before */
};

enum stop_cause { /* who asked for the end */
                  CAUSE_NONE,
                  CAUSE_STOP,   /* the agent, by request: SIGTERM, grace, kill */
                  CAUSE_KILL,   /* the agent, by request: at once */
                  CAUSE_TIME,   /* its time limit */
                  CAUSE_MEMORY, /* its memory limit, enforced by the keeper (no cgroup) or by the
                                   kernel (OOM) */
                  CAUSE_SPAWN,  /* the program could not be started: status is the errno */
                  CAUSE_SIGNAL_TO_KEEPER, /* somebody sent SIGTERM to the keeper itself */
};

struct stop_request {
    uint64_t magic;
    uint32_t cause;    /* CAUSE_STOP or CAUSE_KILL */
    uint32_t grace_ms; /* between SIGTERM and killing */
    uint32_t crc;
};

/* Pausing goes by turns: 0 is the start, 1 the first pause, 2 the first going on, 3 the second
 * pause … A number says all: odd is paused, and what comes late or twice is not larger than what
 * has been done. */
struct turn_request {
    uint64_t magic;
    int64_t turn;
    uint32_t crc;
};
static inline bool turn_paused(int64_t turn)
{
    return turn & 1;
}

struct turn_record { /* the newest turn that has happened: nothing of the tree runs, or all of it */
    uint64_t magic;
    int64_t turn;
    int64_t paused_us;   /* spent in pauses that are over */
    int64_t since_us;    /* wall: when this turn began */
    uint64_t used_bytes; /* memory of the tree when it was paused; 0: unknown */
    uint32_t crc;
};

/* Which step of starting the program failed; its errno is the status. */
enum spawn_step {
    SPAWN_EXEC,
    SPAWN_FOLDER /* cwd */,
    SPAWN_OUTPUT /* stdout, stderr, pty */,
    SPAWN_FORK
};

struct exit_record {
    uint64_t magic;
    int64_t attempt;
    uint32_t cause;      /* enum stop_cause */
    int32_t status;      /* exit status, -1 if by signal */
    int32_t signal;      /* 0 if by exit */
    int32_t core;        /* a core was dumped */
    int32_t oom;         /* oom kills in its cgroup */
    int32_t leftovers;   /* processes killed after the program had ended */
    uint32_t spawn_step; /* enum spawn_step, with CAUSE_SPAWN */
    uint32_t zero;
    int64_t started_wall_us, ended_wall_us;
    int64_t run_us; /* by the monotonic clock, without pauses */
    int64_t user_us, system_us;
    uint64_t max_rss_bytes;
    uint64_t dropped_stdout, dropped_stderr; /* bytes punched out by the output cap */
    uint32_t crc;
};

/* Records are sealed before they are written and count only if the seal fits. */
#define RECORD_CRC(record) crc32c(0, (record), offsetof(__typeof__(*(record)), crc))
static inline bool keeper_record_valid(const struct keeper_record *record)
{
    return record->magic == KEEPER_MAGIC && record->crc == RECORD_CRC(record);
}
static inline bool stop_request_valid(const struct stop_request *request)
{
    return request->magic == REQUEST_MAGIC && request->crc == RECORD_CRC(request);
}
static inline bool turn_request_valid(const struct turn_request *request)
{
    return request->magic == ASKED_MAGIC && request->crc == RECORD_CRC(request);
}
static inline bool turn_record_valid(const struct turn_record *record)
{
    return record->magic == TURN_MAGIC && record->crc == RECORD_CRC(record);
}
static inline bool exit_record_valid(const struct exit_record *record)
{
    return record->magic == EXIT_MAGIC && record->crc == RECORD_CRC(record);
}

#endif
