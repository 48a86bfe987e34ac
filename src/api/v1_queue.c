/* SPDX-License-Identifier: MIT */
/*
 * v1_queue.c — the queue and the machine over HTTP.
 *
 * How busy each cpu was is the difference between two looks at /proc/stat: the one before is kept
 * with the server. A look within the same tenth of a second gets the same answer.
 */
#include "api/v1_queue.h"
#include "api/etag.h"
#include "api/routes.h"
#include "api/web_act.h"
#include "base/clock.h"
#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#define STAT_MAX  ((size_t)1 << 20)
#define LOOK_US   (US_PER_S / 10)
#define BODY_MAX  ((size_t)64 << 10)
#define N_COLUMNS 8 /* of a cpu's line: user nice system idle iowait irq softirq steal */

struct cpu_time {
    uint64_t busy, all;
};
struct loads {
    int64_t looked_us; /* mono */
    VEC(struct cpu_time) times;
    VEC(double) busy; /* 0 … 1, by cpu; NaN: not known yet */
};

struct loads *loads_new(void)
{
    return xcalloc(1, sizeof(struct loads));
}

void loads_free(struct loads *loads)
{
    vec_release(&loads->times);
    vec_release(&loads->busy);
    free(loads);
}

/* "cpu3 1 2 3 4 …": its number, and what it did; -1: not such a line. */
static long read_cpu(const char *line, struct cpu_time *ret)
{
    uint64_t columns[N_COLUMNS] = {0};
    char *end;

    if (!str_starts(line, "cpu") || !isdigit((unsigned char)line[3]))
        return -1;
    long cpu = strtol(line + 3, &end, 10);
    *ret = (struct cpu_time){0, 0};
    for (size_t i = 0; i < N_COLUMNS && *end == ' '; i++)
        columns[i] = strtoull(end, &end, 10);
    for (size_t i = 0; i < N_COLUMNS; i++)
        ret->all += columns[i];
    ret->busy = ret->all - columns[3] - columns[4];
    return cpu;
}

static double share(const struct cpu_time *before, const struct cpu_time *now)
{
    if (now->all <= before->all || now->busy < before->busy)
        return NAN;
    double busy = (double)(now->busy - before->busy) / (double)(now->all - before->all);
    return busy < 1 ? busy : 1;
}

void loads_look(struct loads *loads, const char *stat, int64_t now_us)
{
    struct cpu_time now;

    if (loads->looked_us && now_us - loads->looked_us < LOOK_US)
        return;
    for (const char *line = stat; *line; line += strspn(line, "\n")) {
        long cpu = read_cpu(line, &now);
        line += strcspn(line, "\n");
        if (cpu < 0 || cpu > 1 << 16)
            continue;
        while (loads->times.len <= (size_t)cpu) {
            vec_push(&loads->times, ((struct cpu_time){UINT64_MAX, UINT64_MAX}));
            vec_push(&loads->busy, NAN);
        }
        loads->busy.at[cpu] = share(&loads->times.at[cpu], &now);
        loads->times.at[cpu] = now;
    }
    loads->looked_us = now_us;
}

void loads_json(const struct loads *loads, struct json_out *out)
{
    json_begin_array(out);
    vec_foreach (busy, &loads->busy)
        if (isnan(*busy))
            json_null_out(out);
        else
            json_double(out, *busy);
    json_end_array(out);
}

/* "MemAvailable:  123 kB" of /proc/meminfo, in bytes; -1: not known. */
static int64_t available_bytes(void)
{
    autorelease(str) struct str text = STR_INIT;

    if (fs_read("/proc/meminfo", STAT_MAX, &text, NULL) < 0)
        return -1;
    const char *at = strstr(text.s, "MemAvailable:");
    return at ? (int64_t)strtoll(at + strlen("MemAvailable:"), NULL, 10) * 1024 : -1;
}

static void put_gpus(struct json_out *out, const struct machine *machine)
{
    json_key(out, "gpus");
    json_begin_array(out);
    for (int i = 0; i < machine->n_gpus; i++) {
        json_begin_object(out);
        json_put_text(out, "id", machine->gpu_ids[i]);
        json_put_bool(out, "used", machine->gpu_used[i]);
        json_end_object(out);
    }
    json_end_array(out);
}

static void put_machine(struct json_out *out, const struct machine *machine,
                        const struct loads *loads)
{
    int64_t available = available_bytes();

    json_begin_object(out);
    json_put_text(out, "name", machine->name);
    json_put_double(out, "cpus", machine->cpus);
    json_put_double(out, "cpus_used", machine->cpus_used);
    json_put_int(out, "mem_bytes", (int64_t)machine->mem_bytes);
    json_put_int(out, "mem_used", (int64_t)machine->mem_used);
    put_gpus(out, machine);
    json_key(out, "load");
    loads_json(loads, out);
    json_key(out, "mem_available");
    if (available >= 0)
        json_int(out, available);
    else
        json_null_out(out);
    json_end_object(out);
}

static void on_machines(struct web_call *call)
{
    autorelease(str) struct str body = STR_INIT, stat = STR_INIT;
    struct json_out out = JSON_OUT(&body);
    struct loads *loads = call->web->acts->loads;

    if (fs_read("/proc/stat", STAT_MAX, &stat, NULL) >= 0)
        loads_look(loads, stat.s, clock_mono_us());
    json_begin_object(&out);
    json_key(&out, "machines");
    json_begin_array(&out);
    put_machine(&out, engine_machine(runtime_engine(call->runtime)), loads);
    json_end_array(&out);
    json_end_object(&out);
    etag_json(call, &body);
}

static void on_queue(struct web_call *call)
{
    autorelease(str) struct str body = STR_INIT;
    struct json_out out = JSON_OUT(&body);

    json_begin_object(&out);
    route_queue_text(call->runtime, &out);
    json_end_object(&out);
    etag_json(call, &body);
}

static void on_pause_queue(struct web_call *call)
{
    static const struct web_key keys[] = {
        {.name = "paused", .type = KEY_BOOL, .flags = KEY_NEEDED},
        {0},
    };
    autofree(json) json_t *request = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = web_keys(call, keys, &request, &err);

    if (r < 0) {
        web_fail(call, r, &err);
        return;
    }
    json_object_set_new(request, "do", json_string("queue"));
    web_act(call, request, 200);
}

const struct web_route v1_queue_routes[] = {
    {"GET", "/v1/queue", ROLE_VIEWER, DESK_LOOP, on_queue, 0,
     "Experiments that run or wait, in the order in which they are served.", 0},
    {"POST", "/v1/queue", ROLE_ADMIN, DESK_LOOP, on_pause_queue, BODY_MAX,
     "Pause the whole queue (no experiment starts a trial), or let it go on.", 0},
    {"GET", "/v1/machines", ROLE_VIEWER, DESK_LOOP, on_machines, 0,
     "What each machine has, what trials take of it, and how busy its cpus are.", 0},
    {0},
};
