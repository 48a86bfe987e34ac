/* SPDX-License-Identifier: MIT */
/*
 * internal.h — what the files of the local agent share: reading an attempt's files, telling how it
 * ended, looking at the machine.
 */
#ifndef HONE_AGENT_INTERNAL_H
#define HONE_AGENT_INTERNAL_H

#include "agent/agent.h"
#include "agent/events.h"
#include "base/map.h"

/* ---- tail.c: an attempt's metrics, stdout and stderr, read as they grow, and its event files by
 * way of their spool ---- */

/* In order of trust. */
enum tail_source { TAIL_METRICS, TAIL_EVENTS, TAIL_STDOUT, TAIL_STDERR, TAIL_SOURCES };

struct tail_file {
    int64_t at;                    /* bytes consumed */
    int64_t before;                /* … of what stood there before it was written anew */
    int64_t mtime_ns;              /* of the file at the last look into it */
    char last[32];                 /* the bytes before `at` */
    size_t n_last;                 /* how many of them are known; 0 behind a hole */
    struct metrics_parser *parser; /* made by the first byte */
    struct tail *tail;
    enum tail_source source;
};

struct tail {
    const char *dir;                   /* borrowed */
    const struct metrics_rules *rules; /* borrowed */
    struct metrics_given given;
    struct event_tail *events; /* owned; NULL: there are no event files to follow */
    struct tail_file files[TAIL_SOURCES];
    struct map_text by_name;
    VEC(struct tail_metric *) metrics;
    VEC(struct agent_sample) samples; /* read and not yet told; their owner empties it */
    int64_t now_us;                   /* of the present turn */
    bool full;                        /* it was said that there are too many names */
};
void tail_init(struct tail *tail, const char *dir, const struct metrics_rules *rules);
void tail_release(struct tail *tail);
/* Read what is new, at most a turn's share of each file, into tail->samples. True if there is more
 * to read at once. */
bool tail_read(struct tail *tail, int64_t now_us);
/* Nothing will be written any more and tail_read said false: last lines of output without a newline
 * count. */
void tail_finish(struct tail *tail, int64_t now_us);

/* ---- ending.c: from the keeper's record to a sentence ---- */

/* What was asked of the attempt, to name it; zero where unknown (an adopted one). */
struct asked {
    const char *dir;
    const char *program; /* argv[0]; NULL: unknown */
    uint64_t memory_bytes;
    int64_t time_limit_us;
};
/* `to` receives the text that ret->error points to. */
void ending_from_record(const struct exit_record *record, const struct asked *asked, struct str *to,
                        struct ending *ret);
/* It never started: exec_start failed so. */
void ending_from_start(const struct err *err, struct ending *ret);
/* Its keeper is gone. `why` is a sentence or NULL. */
void ending_lost(const char *why, struct ending *ret);
/* May the same start work later? True for lack of something, false for what is wrong. */
bool spawn_error_passes(int code);

/* ---- machine.c, gpu.c ---- */

/* As machine_probe, with /proc and /sys looked for under `root` ("" is the real machine). */
void machine_probe_at(const char *root, struct machine *ret);
/* The processors that this process may use now, as many as its cgroups allow of them, and the
 * seconds that they were busy with anything since boot: NaN if not told. */
struct machine_load {
    double cpus, busy_s;
};
void machine_load_at(const char *root, struct machine_load *ret);
/* Add the devices that NVML knows and CUDA_VISIBLE_DEVICES allows. */
void gpu_probe(struct machine *ret);

#endif
