/* SPDX-License-Identifier: MIT */
/*
 * lever_cpus.c — the levers that act on threads: which processors they may use, and how nice they
 * are.
 *
 * A cpuset is better than affinity: the program cannot undo it, and threads that it pinned itself
 * stay pinned inside. Where no cpuset may be used every thread gets the affinity, also those that
 * the program had pinned: nothing tells its wish from what Hone set before.
 *
 * What there is to give is what the keeper may use. Nobody pulls levers on the keeper, and the
 * kernel takes from it every processor that the machine or our container loses.
 */
#include "exec/lever_parts.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAG_EXITING 4 /* the kernel's PF_EXITING */

/* The raw call: it says how many bytes it filled, and any size above the kernel's will do. */
static int affinity_get(pid_t tid, struct cpus *ret)
{
    *ret = (struct cpus){0};
    return syscall(SYS_sched_getaffinity, tid, sizeof(ret->bits), ret->bits) < 0 ? -errno : 0;
}

static int affinity_act(const struct tree_thread *thread, void *arg)
{
    const struct cpus *want = arg;
    struct cpus now;
    int r = affinity_get(thread->tid, &now);

    if (r < 0 || cpus_equal(&now, want))
        return r;
    if (syscall(SYS_sched_setaffinity, thread->tid, sizeof(want->bits), want->bits) < 0)
        return -errno;
    return 1;
}

static struct controller cpuset_controller(void)
{
    return (struct controller){
        .name = "cpuset", .v2_file = "cpuset.cpus", .v1_file = "cpuset.cpus"};
}

static bool cpus_possible(const struct lever *lever, struct str *how)
{
    struct controller cpuset = cpuset_controller();

    if (controller_find(lever, &cpuset))
        str_addf(how, "cgroup v%d", cpuset.version);
    else
        str_add(how, "affinity");
    controller_release(&cpuset);
    return true;
}

static int cpus_by_cgroup(const struct lever *lever, struct controller *cpuset,
                          const struct cpus *cpus, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;
    int r = controller_begin(lever, cpuset, err);

    if (r < 0)
        return r;
    cpus_format(cpus, &text);
    r = folder_put(cpuset->folder, "cpuset.cpus", text.s);
    if (r < 0)
        return err_errno(err, -r, "cannot write %s/cpuset.cpus", cpuset->folder);
    return controller_enter(lever, cpuset, err);
}

static int cpus_by_affinity(const struct lever *lever, struct cpus *cpus, struct err *err)
{
    int r = tree_each(lever, affinity_act, cpus);

    return r < 0 ? err_errno(err, -r, "cannot set the affinity of all its threads") : 0;
}

/* What of the wanted is there. */
static int cpus_there(const struct lever *lever, const struct cpus *want, struct cpus *ret,
                      struct str *notes, struct err *err)
{
    autorelease(str) struct str asked = STR_INIT, got = STR_INIT, all = STR_INIT;
    struct cpus there;
    int r = affinity_get(lever->keeper, &there);

    if (r < 0)
        return err_errno(err, -r, "cannot tell which processors there are");
    *ret = *want;
    cpus_intersect(ret, &there);
    cpus_format(want, &asked);
    cpus_format(&there, &all);
    if (cpus_count(ret) == 0)
        return err_set(err, EINVAL, "none of the processors '%s' may be used here, only %s",
                       asked.s, all.s);
    cpus_format(ret, &got);
    if (!cpus_equal(ret, want))
        str_addf(notes, "cpus: of %s only %s may be used here\n", asked.s, got.s);
    return 0;
}

static int cpus_apply(const struct lever *lever, const struct lever_values *want, struct str *notes,
                      struct err *err)
{
    struct controller cpuset = cpuset_controller();
    struct err why = ERR_INIT;
    struct cpus cpus;
    int r = cpus_there(lever, &want->cpus, &cpus, notes, err);

    if (r < 0)
        return r;
    if (!controller_find(lever, &cpuset)) {
        r = cpus_by_affinity(lever, &cpus, err);
    } else if (cpus_by_cgroup(lever, &cpuset, &cpus, &why) < 0) {
        r = cpus_by_affinity(lever, &cpus, err);
        if (r == 0)
            str_addf(notes, "cpus: by affinity, since the cpuset did not work: %s\n",
                     err_text(&why));
    }
    controller_release(&cpuset);
    err_release(&why);
    return r;
}

/* Its flags, the seventh field behind the name, tell: it runs none of the program's code any more,
 * and the kernel moves it into no cgroup. */
static bool is_ending(const struct tree_thread *thread)
{
    autofree(mem) char *folder = xasprintf("/proc/%d/task/%d", (int)thread->pid, (int)thread->tid);
    autorelease(str) struct str text = STR_INIT;
    const char *name_end;
    unsigned flags = 0;

    if (folder_get(folder, "stat", &text) < 0)
        return true;
    name_end = strrchr(text.s, ')');
    return !name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
           (flags & FLAG_EXITING);
}

static int cpus_read(const struct lever *lever, struct lever_values *ret)
{
    autorelease(tree_threads) struct tree_threads threads = {0};

    tree_threads_find(lever, &threads);
    ret->cpus = (struct cpus){0};
    vec_foreach (thread, &threads.list) {
        struct cpus cpus, with = ret->cpus;
        if (affinity_get(thread->tid, &cpus) < 0)
            continue;
        cpus_unite(&with, &cpus);
        if (!cpus_equal(&with, &ret->cpus) && !is_ending(thread))
            ret->cpus = with;
    }
    return cpus_count(&ret->cpus) > 0 ? 0 : -ESRCH;
}

const struct lever_ops lever_ops_cpus = {
    .name = "cpus", .possible = cpus_possible, .apply = cpus_apply, .read = cpus_read};

/* ---- nice ---- */

static bool nice_possible(const struct lever *lever UNUSED, struct str *how)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NICE, &limit);
    if (geteuid() == 0 || limit.rlim_cur >= 20)
        str_add(how, "every thread");
    else
        str_add(how, "every thread, upwards only; to lower it again takes root or 'ulimit -e 20'");
    return true;
}

/* With autogroups sessions share the machine as groups, and niceness counts only inside of one: the
 * group must be as nice as its threads. It is the program's own, since the keeper gives it a
 * session; one that it shares with the keeper is not ours to change. A plain user may do this ten
 * times a second only; what is refused is no worse than without. */
static void autogroup_nice(const struct lever *lever, pid_t pid, int nice)
{
    autofree(mem) char *folder = xasprintf("/proc/%d", (int)pid);
    autofree(mem) char *keeper = xasprintf("/proc/%d", (int)lever->keeper);
    autofree(mem) char *text = xasprintf("%d", nice);
    autorelease(str) struct str its = STR_INIT, keepers = STR_INIT;
    long group = 0, other = 0;

    if (folder_get(folder, "autogroup", &its) < 0 ||
        folder_get(keeper, "autogroup", &keepers) < 0 ||
        sscanf(its.s, "/autogroup-%ld", &group) != 1 ||
        sscanf(keepers.s, "/autogroup-%ld", &other) != 1 || group == other)
        return;
    folder_put(folder, "autogroup", text);
}

/* Just so a cgroup of processor time: among each other the groups go by their weights. v2 takes the
 * niceness itself; v1 wants shares, of which a step of niceness is a factor of 1.25. */
static void group_nice(const struct lever *lever, int nice)
{
    struct controller cpu = cpu_controller();
    autofree(mem) char *text = NULL;

    if (controller_find(lever, &cpu) && cpu.folder) {
        text = cpu.version == 2 ? xasprintf("%d", nice)
                                : xasprintf("%lld", llround(1024 / pow(1.25, nice)));
        folder_put(cpu.folder, cpu.version == 2 ? "cpu.weight.nice" : "cpu.shares", text);
    }
    controller_release(&cpu);
}

struct nicing {
    const struct lever *lever;
    int nice;
};

static int nice_act(const struct tree_thread *thread, void *arg)
{
    const struct nicing *nicing = arg;
    int now;

    if (thread->tid == thread->pid)
        autogroup_nice(nicing->lever, thread->pid, nicing->nice);
    errno = 0;
    now = getpriority(PRIO_PROCESS, (id_t)thread->tid);
    if (errno)
        return -errno;
    if (now == nicing->nice)
        return 0;
    return setpriority(PRIO_PROCESS, (id_t)thread->tid, nicing->nice) < 0 ? -errno : 1;
}

static int nice_apply(const struct lever *lever, const struct lever_values *want,
                      struct str *notes UNUSED, struct err *err)
{
    struct nicing nicing = {lever, want->nice};
    int r;

    if (want->nice < -20 || want->nice > 19)
        return err_set(err, EINVAL, "%d is not between -20 and 19", want->nice);
    r = tree_each(lever, nice_act, &nicing);
    if (r == -EACCES || r == -EPERM)
        return err_set(err, EPERM,
                       "lowering it to %d is not allowed to us; root is, or raise 'ulimit -e'",
                       want->nice);
    if (r < 0)
        return err_errno(err, -r, "cannot reach all its threads");
    group_nice(lever, want->nice);
    return 0;
}

/* The keeper's record may not name its program yet; the oldest of its children is it. */
static int nice_read(const struct lever *lever, struct lever_values *ret)
{
    autorelease(tree_threads) struct tree_threads threads = {0};

    tree_threads_find(lever, &threads);
    if (threads.list.len == 0)
        return -ESRCH;
    errno = 0;
    ret->nice = getpriority(PRIO_PROCESS, (id_t)threads.list.at[0].tid);
    return -errno;
}

void nice_follow(const struct lever *lever)
{
    struct lever_values now;

    if (nice_read(lever, &now) == 0)
        group_nice(lever, now.nice);
}

const struct lever_ops lever_ops_nice = {
    .name = "nice", .possible = nice_possible, .apply = nice_apply, .read = nice_read};
