/* SPDX-License-Identifier: MIT */
/*
 * counters_perf.c — hardware and software events of a process tree by perf_event_open.
 *
 * One descriptor for each event and thread that lives at the beginning; what these start later is
 * counted with them (inherit). A processor counts only a few events at a time, so hardware events
 * stand in groups that are counted together and in turns; a count is scaled by the time that its
 * group was enabled over the time it ran. The kernel refuses a group that can never fit: an event
 * that does not fit any more begins the next group. It does not see a counter that somebody else
 * holds (the watchdog): a group that is enabled and never runs shows that, and all are opened again
 * in groups of half the size.
 *
 *     Δcount · Δenabled / Δrunning, read by read and thread by thread; what a thread did in
 *     slices that its group did not see is taken to be as what was seen.
 *
 * Only user code is counted, which every user may do; software events happen in the kernel and are
 * counted with it where that is allowed. An event that fails in one thread is missing for the tree;
 * so are some when a tree of many threads would need too many descriptors.
 */
#include "agent/counters_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUP_MAX    8
#define FD_SHARE     4         /* a quarter of the descriptors that this process may have */
#define NEVER_RAN_NS 100000000 /* enabled that long and not once run: it never will */
#define PFM_USER     0x8       /* PFM_PLM3 of libpfm */

/* An event, by the name that libpfm knows and by the kernel's own number. */
struct event {
    const char *pfm;
    uint32_t type; /* PERF_TYPE_MAX: the kernel has no number for it */
    uint64_t config;
};
#define HARDWARE(id)                                                                               \
    {                                                                                              \
        "PERF_COUNT_HW_" #id, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id                               \
    }
#define CACHE(id, op, result)                                                                      \
    {                                                                                              \
        "PERF_COUNT_HW_CACHE_" #id ":" #op ":" #result, PERF_TYPE_HW_CACHE,                        \
            PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
                PERF_COUNT_HW_CACHE_RESULT_##result << 16                                          \
    }
#define SOFTWARE(id)                                                                               \
    {                                                                                              \
        "PERF_COUNT_SW_" #id, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id                               \
    }
#define NAMED(name)                                                                                \
    {                                                                                              \
        name, PERF_TYPE_MAX, 0                                                                     \
    }

static const struct event events[COUNTERS_PERF] = {
    [COUNTER_CYCLES] = HARDWARE(CPU_CYCLES),
    [COUNTER_INSTRUCTIONS] = HARDWARE(INSTRUCTIONS),
    [COUNTER_BRANCHES] = HARDWARE(BRANCH_INSTRUCTIONS),
    [COUNTER_BRANCH_MISSES] = HARDWARE(BRANCH_MISSES),
    [COUNTER_CACHE_REFERENCES] = HARDWARE(CACHE_REFERENCES),
    [COUNTER_CACHE_MISSES] = HARDWARE(CACHE_MISSES),
    [COUNTER_BUS_CYCLES] = HARDWARE(BUS_CYCLES),
    [COUNTER_REF_CYCLES] = HARDWARE(REF_CPU_CYCLES),
    [COUNTER_L1D_LOADS] = CACHE(L1D, READ, ACCESS),
    [COUNTER_L1D_LOAD_MISSES] = CACHE(L1D, READ, MISS),
    [COUNTER_L1D_STORES] = CACHE(L1D, WRITE, ACCESS),
    [COUNTER_L1I_LOAD_MISSES] = CACHE(L1I, READ, MISS),
    [COUNTER_LLC_LOADS] = CACHE(LL, READ, ACCESS),
    [COUNTER_LLC_LOAD_MISSES] = CACHE(LL, READ, MISS),
    [COUNTER_LLC_STORES] = CACHE(LL, WRITE, ACCESS),
    [COUNTER_LLC_STORE_MISSES] = CACHE(LL, WRITE, MISS),
    [COUNTER_DTLB_LOADS] = CACHE(DTLB, READ, ACCESS),
    [COUNTER_DTLB_LOAD_MISSES] = CACHE(DTLB, READ, MISS),
    [COUNTER_DTLB_STORES] = CACHE(DTLB, WRITE, ACCESS),
    [COUNTER_DTLB_STORE_MISSES] = CACHE(DTLB, WRITE, MISS),
    [COUNTER_ITLB_LOADS] = CACHE(ITLB, READ, ACCESS),
    [COUNTER_ITLB_LOAD_MISSES] = CACHE(ITLB, READ, MISS),
    [COUNTER_NODE_LOADS] = CACHE(NODE, READ, ACCESS),
    [COUNTER_NODE_LOAD_MISSES] = CACHE(NODE, READ, MISS),
    [COUNTER_NODE_STORES] = CACHE(NODE, WRITE, ACCESS),
    [COUNTER_NODE_STORE_MISSES] = CACHE(NODE, WRITE, MISS),
    [COUNTER_SLOTS_ISSUED] = NAMED("UOPS_ISSUED:ANY"),
    [COUNTER_SLOTS_RETIRED] = NAMED("UOPS_RETIRED:RETIRE_SLOTS"),
    [COUNTER_FETCH_BUBBLES] = NAMED("IDQ_UOPS_NOT_DELIVERED:CORE"),
    [COUNTER_RECOVERY_BUBBLES] = NAMED("INT_MISC:RECOVERY_CYCLES"),
    [COUNTER_TASK_CLOCK] = SOFTWARE(TASK_CLOCK),
    [COUNTER_CONTEXT_SWITCHES] = SOFTWARE(CONTEXT_SWITCHES),
    [COUNTER_MIGRATIONS] = SOFTWARE(CPU_MIGRATIONS),
    [COUNTER_PAGE_FAULTS] = SOFTWARE(PAGE_FAULTS),
};

struct perf_fd {
    int fd;
    bool grouped;     /* with others: may be too large a group */
    uint64_t last[3]; /* count, enabled, running */
    uint64_t now[3];
};

/* One event over all threads. */
struct perf_event {
    bool missing;
    struct perf_event_attr attr;
    VEC(struct perf_fd) fds;
    double total;
};

struct perf {
    const struct perf_ops *ops;
    void *context;
    size_t group_max, n_groups, n_threads;
    size_t n_fds, max_fds;
    int refused; /* errno of the first refusal of cycles; 0: none */
    struct perf_event events[COUNTERS_PERF];
};

/* ---- the kernel ---- */

static int kernel_open(void *context UNUSED, struct perf_event_attr *attr, pid_t tid, int group_fd)
{
    long fd = syscall(SYS_perf_event_open, attr, tid, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : (int)fd;
}

static int kernel_read(void *context UNUSED, int fd, uint64_t ret[3])
{
    ssize_t n = read(fd, ret, 3 * sizeof(*ret));

    if (n < 0)
        return -errno;
    return n == 3 * sizeof(*ret) ? 0 : -EIO; /* the end of file: it is in error */
}

static void kernel_close(void *context UNUSED, int fd)
{
    close(fd);
}

static const struct perf_ops kernel_ops = {kernel_open, kernel_read, kernel_close};

/* ---- names ---- */

/* The two functions of libpfm that are used here; 0 is success. */
struct pfm {
    void *library;
    int (*initialize)(void);
    int (*encode)(const char *name, int levels, struct perf_event_attr *ret, char **ret_name,
                  int *ret_index);
};

static void pfm_open(struct pfm *pfm, const char *path)
{
    *pfm = (struct pfm){.library = dlopen(path ? path : "libpfm.so.4", RTLD_NOW | RTLD_LOCAL)};
    if (!pfm->library)
        return;
    *(void **)&pfm->initialize = dlsym(pfm->library, "pfm_initialize");
    *(void **)&pfm->encode = dlsym(pfm->library, "pfm_get_perf_event_encoding");
    if (!pfm->initialize || pfm->initialize() != 0)
        pfm->encode = NULL;
}

/* By name where the library knows it, else by the kernel's number. False: neither. */
static bool resolve(const struct pfm *pfm, const struct event *event, struct perf_event_attr *ret)
{
    struct perf_event_attr attr = {.size = sizeof(attr)};

    if (!pfm->encode || pfm->encode(event->pfm, PFM_USER, &attr, NULL, NULL) != 0) {
        if (event->type == PERF_TYPE_MAX)
            return false;
        attr = (struct perf_event_attr){.type = event->type, .config = event->config};
    }
    attr.size = sizeof(attr);
    attr.inherit = 1;
    attr.exclude_hv = 1;
    attr.exclude_user = 0;
    attr.exclude_kernel = attr.type != PERF_TYPE_SOFTWARE;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    *ret = attr;
    return true;
}

struct perf *perf_new(const char *pfm_path, const struct perf_ops *ops, void *context)
{
    struct perf *perf = xcalloc(1, sizeof(*perf));
    struct rlimit files;
    struct pfm pfm;

    *perf = (struct perf){.ops = ops ? ops : &kernel_ops, .context = context};
    perf->group_max = GROUP_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        perf->max_fds = MIN(files.rlim_cur, INT_MAX) / FD_SHARE;
    pfm_open(&pfm, pfm_path);
    for (size_t i = 0; i < COUNTERS_PERF; i++)
        perf->events[i].missing = !resolve(&pfm, &events[i], &perf->events[i].attr);
    if (pfm.library)
        dlclose(pfm.library);
    return perf;
}

/* ---- opening ---- */

static void close_event(struct perf *perf, struct perf_event *event)
{
    perf->n_fds -= event->fds.len;
    vec_foreach (fd, &event->fds)
        perf->ops->close(perf->context, fd->fd);
    vec_release(&event->fds);
}

static void give_up(struct perf *perf, struct perf_event *event)
{
    close_event(perf, event);
    event->missing = true;
}

void perf_free(struct perf *perf)
{
    if (!perf)
        return;
    for (size_t i = 0; i < COUNTERS_PERF; i++)
        close_event(perf, &perf->events[i]);
    free(perf);
}

/* The group that is being filled in one thread. */
struct group {
    int leader; /* -1: none */
    size_t n;
};

static int open_event(struct perf *perf, struct perf_event *event, pid_t tid, int group_fd)
{
    struct perf_event_attr attr = event->attr;
    int fd = perf->n_fds < perf->max_fds ? perf->ops->open(perf->context, &attr, tid, group_fd)
                                         : -EMFILE;
    bool counts_in_kernel =
        attr.type == PERF_TYPE_SOFTWARE && (attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                            attr.config == PERF_COUNT_SW_CPU_MIGRATIONS);

    if ((fd != -EACCES && fd != -EPERM) || attr.exclude_kernel || counts_in_kernel)
        return fd;
    attr.exclude_kernel = 1;
    return perf->ops->open(perf->context, &attr, tid, group_fd);
}

/* Into the group if there is room, else as the first of the next one. The descriptor or -errno. */
static int open_in_group(struct perf *perf, struct perf_event *event, pid_t tid,
                         struct group *group)
{
    int fd = -EINVAL;

    if (group->leader >= 0 && group->n < perf->group_max)
        fd = open_event(perf, event, tid, group->leader);
    if (fd >= 0) {
        group->n++;
        return fd;
    }
    if (fd == -ESRCH)
        return fd;
    fd = open_event(perf, event, tid, -1);
    if (fd >= 0)
        *group = (struct group){fd, 1};
    return fd;
}

static void add_fd(struct perf *perf, struct perf_event *event, int fd, bool grouped)
{
    struct perf_fd added = {.fd = fd, .grouped = grouped};

    perf->n_fds++;
    vec_push(&event->fds, added);
}

/* Software events cost no counter: each stands alone. */
static void attach_thread(struct perf *perf, pid_t tid)
{
    struct group group = {-1, 0};

    for (size_t i = 0; i < COUNTERS_PERF; i++) {
        struct perf_event *event = &perf->events[i];
        struct group before = group;
        if (event->missing)
            continue;
        int fd = i < COUNTERS_HARDWARE ? open_in_group(perf, event, tid, &group)
                                       : open_event(perf, event, tid, -1);
        if (fd == -ESRCH)
            return; /* the thread has ended: what it did is in nobody's way */
        if (fd >= 0)
            add_fd(perf, event, fd, i < COUNTERS_HARDWARE);
        else
            give_up(perf, event);
        if (fd < 0 && i == COUNTER_CYCLES && !perf->refused)
            perf->refused = -fd;
        perf->n_groups += perf->n_threads == 0 && group.leader != before.leader;
    }
    perf->n_threads++;
}

void perf_attach(struct perf *perf, const pid_t *tids, size_t n)
{
    perf->n_groups = perf->n_threads = 0;
    for (size_t i = 0; i < COUNTERS_PERF; i++)
        close_event(perf, &perf->events[i]);
    for (size_t i = 0; i < n; i++)
        attach_thread(perf, tids[i]);
}

/* ---- reading ---- */

/* Does a group of this event wait for a counter that it will not get? */
static bool never_runs(const struct perf_event *event)
{
    vec_foreach (fd, &event->fds)
        if (fd->grouped && fd->now[1] >= NEVER_RAN_NS && fd->now[2] == 0)
            return true;
    return false;
}

/* False if it cannot be read any more, or what should grow has fallen. */
static bool look(struct perf *perf, struct perf_event *event)
{
    vec_foreach (fd, &event->fds) {
        if (perf->ops->read(perf->context, fd->fd, fd->now) < 0)
            return false;
        for (int i = 0; i < 3; i++)
            if (fd->now[i] < fd->last[i])
                return false;
    }
    return true;
}

/* What happened since the last reading, scaled. NaN if its turn has not come since. */
static double advance(const struct perf_event *event)
{
    double sum = 0, seen = 0, unseen = 0;

    vec_foreach (fd, &event->fds) {
        double count = (double)(fd->now[0] - fd->last[0]);
        double enabled = (double)(fd->now[1] - fd->last[1]);
        double running = (double)(fd->now[2] - fd->last[2]);
        if (running > 0) {
            sum += count * (MAX(enabled, running) / running);
            seen += enabled;
        } else {
            unseen += enabled;
        }
    }
    if (unseen == 0)
        return sum;
    return seen > 0 ? sum * (1 + unseen / seen) : NAN;
}

/* The sum, or NaN. After a NaN the next reading reaches back to before it. */
static double read_event(struct perf_event *event)
{
    double step = advance(event);

    if (isnan(step))
        return NAN;
    event->total += step;
    vec_foreach (fd, &event->fds)
        memcpy(fd->last, fd->now, sizeof(fd->last));
    return event->total;
}

bool perf_read(struct perf *perf, double *ret)
{
    bool too_large = false;

    for (size_t i = 0; i < COUNTERS_PERF; i++) {
        struct perf_event *event = &perf->events[i];
        ret[i] = NAN;
        if (event->missing || event->fds.len == 0)
            continue;
        if (!look(perf, event)) {
            give_up(perf, event);
            continue;
        }
        too_large = too_large || (perf->group_max > 1 && never_runs(event));
        ret[i] = read_event(event);
    }
    if (!isnan(ret[COUNTER_TASK_CLOCK]))
        ret[COUNTER_TASK_CLOCK] /= 1e9; /* ns */
    if (too_large)
        perf->group_max /= 2;
    return too_large;
}

static const char *why_not(int code)
{
    if (code == EACCES || code == EPERM)
        return "not allowed; as root: sysctl kernel.perf_event_paranoid=2";
    if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV || code == ENOSYS)
        return "this machine shows none";
    return strerror(code);
}

void perf_explain(const struct perf *perf, struct str *to)
{
    size_t hardware = 0, software = 0;

    for (size_t i = 0; i < COUNTERS_PERF; i++)
        *(i < COUNTERS_HARDWARE ? &hardware : &software) += perf->events[i].fds.len > 0;
    str_addf(to, "%zu of %zu hardware events", hardware, COUNTERS_HARDWARE);
    if (hardware)
        str_addf(to, " in %zu groups", perf->n_groups);
    else if (perf->refused)
        str_addf(to, " (%s)", why_not(perf->refused));
    str_addf(to, ", %zu of %zu software events", software, COUNTERS_PERF - COUNTERS_HARDWARE);
}
