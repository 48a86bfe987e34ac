/* SPDX-License-Identifier: MIT */
/*
 * use.c — what a tuned attempt uses of the machine, told about once a second.
 *
 * A look holds sums since the beginning, and the difference of two is what is told. Threads are
 * looked at one by one (lever_sample), processes by their figures that keep what ended children
 * used. Each is right where the other is not: schedstat to the nanosecond, but for living threads
 * only; the processes' times for all that was waited for, in ticks. The larger counts.
 *
 * No window has a pause in it, and none is told of a program that has not started.
 */
#include "agent/local.h"

#include <errno.h>
#include <math.h>

/* One look at the machine for all attempts of a tick. */
static struct machine_load load_now(struct local *local, int64_t now_us)
{
    if (local->load_us != now_us)
        machine_load_at("", &local->load);
    local->load_us = now_us;
    return local->load;
}

static void look_release(struct use_look *look)
{
    lever_sample_release(&look->sample);
    look->at_us = 0;
}

/* The tree below the keeper: it inherits what it waits for, so nothing is lost. */
static int look_at_processes(struct watch *watch, double *ret)
{
    struct use *use = &watch->use;

    if (use->tree.root != watch->pid) {
        process_tree_release(&use->tree);
        use->tree = (struct process_tree){.proc = "/proc", .root = watch->pid};
    }
    for (size_t i = 0; i < COUNTERS; i++)
        ret[i] = NAN;
    if (process_tree_look(&use->tree) < 0)
        return -ESRCH;
    process_tree_read_processes(&use->tree, ret);
    cgroup_read("/proc", "/sys", &use->tree, ret);
    if (isnan(ret[COUNTER_PRESSURE_CPU]))
        machine_pressure_read("/proc", ret);
    return 0;
}

/* Without schedstat there are no threads in it. */
static int look(struct watch *watch, int64_t now_us, struct use_look *ret)
{
    int r = watch_lever(watch, NULL);

    *ret = (struct use_look){.at_us = now_us};
    if (r == 0)
        r = lever_sample(watch->lever, now_us, &ret->sample, NULL);
    if (r == 0 || r == -ENOTSUP)
        r = look_at_processes(watch, ret->values);
    if (r < 0)
        look_release(ret);
    else
        ret->load = load_now(watch->local, now_us);
    return r;
}

/* Both looks of what is being told. */
struct span {
    const struct use_look *before, *after;
    double seconds;
};

static double growth(const struct span *span, enum counter counter)
{
    double change = span->after->values[counter] - span->before->values[counter];

    return change >= 0 ? change : NAN;
}

/* A share of the time; of the attempt's own cgroup, else of the machine. */
static double pressure(const struct span *span, enum counter own, enum counter machine)
{
    double waited_s = growth(span, own);

    if (isnan(waited_s))
        waited_s = growth(span, machine);
    return isnan(waited_s) ? NAN : MIN(1.0, waited_s / span->seconds);
}

/* What the cache holds for it is given back when others need it. */
static uint64_t memory_of(const double *values)
{
    double cgroup = values[COUNTER_CGROUP_MEMORY] - values[COUNTER_CGROUP_CACHE];
    double bytes = isnan(cgroup) ? values[COUNTER_RESIDENT] : cgroup;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

static double busy_cpus(const struct span *span)
{
    double busy_s = span->after->load.busy_s - span->before->load.busy_s;

    /* It falls when a processor is taken away. */
    return busy_s >= 0 ? MIN(busy_s / span->seconds, span->after->load.cpus) : NAN;
}

static struct attempt_use use_of(const struct span *span, const struct lever_use *threads)
{
    double cpu_s = growth(span, COUNTER_CPU_USER) + growth(span, COUNTER_CPU_SYSTEM);
    bool sampled = span->before->sample.threads.len > 0 && threads->threads > 0;

    return (struct attempt_use){
        .seconds = span->seconds,
        .cpu_s = sampled ? fmax(cpu_s, threads->run_s) : cpu_s,
        .wait_s = sampled ? threads->wait_s : NAN,
        .threads =
            sampled ? threads->threads : (size_t)fmax(0, span->after->values[COUNTER_THREADS] - 1),
        .running = threads->running,
        .spins = lever_spins(threads),
        .io_bytes = growth(span, COUNTER_READ_CHARS) + growth(span, COUNTER_WRITE_CHARS),
        .memory_bytes = memory_of(span->after->values),
        .machine_cpus = span->after->load.cpus,
        .machine_busy_cpus = busy_cpus(span),
        .voluntary_switches = sampled ? threads->sleeps : NAN,
        .major_faults = growth(span, COUNTER_MAJOR_FAULTS),
        .pressure_cpu = pressure(span, COUNTER_PRESSURE_CPU, COUNTER_MACHINE_CPU),
        .pressure_memory = pressure(span, COUNTER_PRESSURE_MEMORY, COUNTER_MACHINE_MEMORY),
    };
}

static void tell_use(struct watch *watch, const struct use_look *now)
{
    struct use *use = &watch->use;
    struct span span = {&use->last, now, (double)(now->at_us - use->last.at_us) / 1e6};
    autofree(mem) struct profile *profile = TAKE(watch->profiling.profile);
    struct agent_event event = {.kind = EVENT_USE, .profile = profile};

    lever_use(&use->last.sample, &now->sample, &use->newest);
    event.use = use_of(&span, &use->newest);
    use->n++;
    watch_tell(watch, &event);
}

void use_tick(struct watch *watch, int64_t now_us)
{
    struct use *use = &watch->use;
    int64_t slack_us = watch->local->pace.use_us / 10; /* ticks are not that regular */
    struct use_look now;

    if (turn_paused(MAX(watch->turn.turn, watch->turn_asked))) {
        look_release(&use->last);
        return;
    }
    if (use->last.at_us && now_us - use->last.at_us < watch->local->pace.use_us - slack_us)
        return;
    if (look(watch, now_us, &now) < 0)
        return;
    if (use->last.at_us)
        tell_use(watch, &now);
    look_release(&use->last);
    use->last = now;
}

void use_release(struct watch *watch)
{
    look_release(&watch->use.last);
    process_tree_release(&watch->use.tree);
}
