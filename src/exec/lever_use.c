/* SPDX-License-Identifier: MIT */
/*
 * lever_use.c — how a tree uses its processors, whether it spins, and what the environment should
 * say at its start.
 *
 * Spinning. A thread that waits for the others in a loop instead of asleep looks busy. Give such a
 * program fewer processors than threads, and those that wait burn the time of the one that is
 * awaited: it collapses (measured: 5 to 74 times slower). Processor time alone cannot tell, for it
 * never exceeds the processors there are. Two figures of every thread can: the time that it ran or
 * stood in the queue (schedstat), and how often it went to sleep by itself. Threads that want a
 * processor all the time and never sleep, not even to wait for each other, spin.
 */
#include "exec/lever_parts.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>

#define RUNNING      0.25 /* of the time it wants a processor: one of those that count */
#define ALL_THE_TIME 0.9
#define RARELY       5.0 /* sleeps a second of running: a barrier a step makes more, a log fewer */
#define SHORTEST_US  100000
#define BRIEF_NS     1e8 /* who hardly ran is not judged by a single sleep */

static int thread_sample(const struct tree_thread *thread, struct lever_thread *ret)
{
    autofree(mem) char *folder = xasprintf("/proc/%d/task/%d", (int)thread->pid, (int)thread->tid);
    autorelease(str) struct str text = STR_INIT, status = STR_INIT;
    const char *sleeps;
    int r = folder_get(folder, "schedstat", &text);

    *ret = (struct lever_thread){.tid = thread->tid};
    if (r < 0)
        return r;
    if (sscanf(text.s, "%" SCNu64 " %" SCNu64, &ret->run_ns, &ret->wait_ns) != 2)
        return -EINVAL;
    r = folder_get(folder, "status", &status);
    sleeps = r < 0 ? NULL : strstr(status.s, "\nvoluntary_ctxt_switches:");
    if (sleeps)
        ret->sleeps = strtoull(strchr(sleeps, ':') + 1, NULL, 10);
    return sleeps ? 0 : -ESRCH;
}

static int by_tid(const void *a, const void *b)
{
    pid_t left = ((const struct lever_thread *)a)->tid,
          right = ((const struct lever_thread *)b)->tid;

    return (left > right) - (left < right);
}

int lever_sample(const struct lever *lever, int64_t now_us, struct lever_sample *ret,
                 struct err *err)
{
    autorelease(tree_threads) struct tree_threads threads = {0};

    *ret = (struct lever_sample){.at_us = now_us};
    if (!folder_has("/proc/self", "schedstat"))
        return err_set(err, ENOTSUP, "this kernel keeps no schedstat (CONFIG_SCHED_INFO)");
    tree_threads_find(lever, &threads);
    vec_foreach (thread, &threads.list) {
        struct lever_thread sample;
        if (thread_sample(thread, &sample) == 0) /* else it has ended */
            vec_push(&ret->threads, sample);
    }
    if (ret->threads.len == 0)
        return err_set(err, ESRCH, "the attempt has no processes");
    qsort(ret->threads.at, ret->threads.len, sizeof(*ret->threads.at), by_tid);
    return 0;
}

void lever_sample_release(struct lever_sample *sample)
{
    vec_release(&sample->threads);
}

static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* What one thread did; one that was not there before began with nothing. */
static struct lever_thread thread_growth(const struct lever_sample *before,
                                         const struct lever_thread *after)
{
    static const struct lever_thread nothing;
    const struct lever_thread *was =
        before->threads.len
            ? bsearch(after, before->threads.at, before->threads.len, sizeof(*after), by_tid)
            : NULL;

    if (!was || was->run_ns > after->run_ns) /* another one with the same number */
        was = &nothing;
    return (struct lever_thread){.tid = after->tid,
                                 .run_ns = grown(was->run_ns, after->run_ns),
                                 .wait_ns = grown(was->wait_ns, after->wait_ns),
                                 .sleeps = grown(was->sleeps, after->sleeps)};
}

void lever_use(const struct lever_sample *before, const struct lever_sample *after,
               struct lever_use *ret)
{
    double wall_ns = (double)(after->at_us - before->at_us) * 1e3;
    autofree(mem) double *sleeps = xcalloc(after->threads.len + 1, sizeof(*sleeps));

    *ret = (struct lever_use){.threads = after->threads.len};
    if (after->at_us - before->at_us < SHORTEST_US)
        return;
    vec_foreach (thread, &after->threads) {
        struct lever_thread growth = thread_growth(before, thread);
        double wanted = MIN(1.0, (double)(growth.run_ns + growth.wait_ns) / wall_ns);
        ret->used_cpus += MIN(1.0, (double)growth.run_ns / wall_ns);
        ret->run_s += (double)growth.run_ns / 1e9;
        ret->wait_s += (double)growth.wait_ns / 1e9;
        ret->sleeps += (double)growth.sleeps;
        if (wanted < RUNNING)
            continue;
        ret->wanted_cpus += wanted;
        sleeps[ret->running++] = (double)growth.sleeps * 1e9 / MAX((double)growth.run_ns, BRIEF_NS);
    }
    qsort(sleeps, ret->running, sizeof(*sleeps), by_size);
    ret->sleeps_per_s = sleeps[ret->running / 2];
    if (ret->running > 0 && ret->running % 2 == 0)
        ret->sleeps_per_s = sleeps[ret->running / 2 - 1]; /* the lower of the two in the middle */
}

bool lever_spins(const struct lever_use *use)
{
    return use->running >= 2 && use->wanted_cpus >= ALL_THE_TIME * (double)use->running &&
           use->sleeps_per_s < RARELY;
}

size_t lever_cpus_allowed(size_t running, size_t asked, bool spins)
{
    return MAX(1, spins ? MAX(running, asked) : asked);
}

/*
 * A row is left out if the user set it, or the variable that it would overrule. GNU's threads look
 * so often before they sleep: about as long as sleeping and waking take. At none, a program with
 * many short regions takes three times as long on two free processors as on one; at ten thousand,
 * twenty times as long beside another one. OpenBLAS has threads of its own, which look for 2^26
 * ticks (a fiftieth of a second) after each product: beside those of OpenMP, as in PyTorch, a step
 * took from once to two and a half times as long by chance. 2^16 ticks are as long as GNU's 600
 * looks.
 */
static const struct variable {
    const char *name, *value; /* NULL: the number of processors */
    const char *overrules;
} variables[] = {
    {"OMP_WAIT_POLICY", "passive", NULL},
    {"GOMP_SPINCOUNT", "600", "OMP_WAIT_POLICY"},
    {"KMP_BLOCKTIME", "0", "OMP_WAIT_POLICY"},
    {"OMP_NUM_THREADS", NULL, NULL},
    {"OPENBLAS_NUM_THREADS", NULL, "OMP_NUM_THREADS"},
    {"OPENBLAS_THREAD_TIMEOUT", "16", NULL},
    {"MKL_NUM_THREADS", NULL, "OMP_NUM_THREADS"},
};
#define VARIABLE_SIZE 64

static bool is_set(char *const *envp, const char *name)
{
    size_t n = name ? strlen(name) : 0;

    for (; name && envp && *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return true;
    return false;
}

char **lever_environment(char *const *envp, size_t cpus)
{
    size_t room = (ARRAY_LEN(variables) + 1) * sizeof(char *), n = 0;
    char **list = xcalloc(1, room + ARRAY_LEN(variables) * VARIABLE_SIZE);
    char *text = (char *)list + room;

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const struct variable *row = &variables[i];
        if (is_set(envp, row->name) || is_set(envp, row->overrules))
            continue;
        list[n++] = text;
        if (row->value)
            snprintf(text, VARIABLE_SIZE, "%s=%s", row->name, row->value);
        else
            snprintf(text, VARIABLE_SIZE, "%s=%zu", row->name, MAX(cpus, (size_t)1));
        text += VARIABLE_SIZE;
    }
    return list;
}
