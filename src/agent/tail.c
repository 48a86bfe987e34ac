/* SPDX-License-Identifier: MIT */
/*
 * tail.c — what an attempt has written since the last look, as samples.
 *
 * No descriptor is kept: a look is one stat a file, and most attempts end before the first one. A
 * file is opened only when it has grown. The metrics file is read first, so that a program which
 * both logs a value and prints it is counted once: a metric seen there is ignored in the output,
 * one seen in stdout in stderr, as series.c does when it reads the files again. What event files
 * tell stands in a file of the attempt, too, and comes second (events.c).
 *
 * A program may write a file anew (`echo >/dev/stdout`, open(…, "w")). Then it is shorter than what
 * was read, or the bytes read last are others now: it is read again from its beginning.
 *
 * Invariants: files[i].at bytes of a file have gone through its parser, or were a hole. A sample in
 * tail->samples has a step and a time, and its name lives as long as the tail.
 */
#include "agent/internal.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "series/db.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_BYTES  (256 << 10) /* of one file at one look: the loop must go round */
#define CHUNK_BYTES (64 << 10)
#define BLOCK_BYTES 4096  /* holes start at multiples of this */
#define METRICS_MAX 10000 /* names an attempt may use */
/* … until no more is taken from output: not every number there is a metric */
#define OUTPUT_METRICS_MAX 1000
#define LINE_MAX_BYTES     (64 << 10) /* what a parser keeps of a line */

struct tail_metric {
    char *name;
    int64_t next_step;       /* for samples without one */
    enum tail_source source; /* the best one it was seen in; others are ignored */
};

static const struct {
    const char *name;
    enum metrics_source source;
    enum series_file stored_as;
} kinds[TAIL_SOURCES] = {
    [TAIL_METRICS] = {"metrics", METRICS_FILE, SERIES_METRICS},
    [TAIL_EVENTS] = {"events", METRICS_FILE, SERIES_EVENTS},
    [TAIL_STDOUT] = {"stdout", METRICS_OUTPUT, SERIES_STDOUT},
    [TAIL_STDERR] = {"stderr", METRICS_OUTPUT, SERIES_STDERR},
};

/* How much stood in the files before they were written anew is kept beside them: whoever reads them
 * after us must give the same lines the same ends. */
static void save_before(const struct tail *tail)
{
    autorelease(str) struct str text = STR_INIT;
    autofree(mem) char *path = xasprintf("%s/before", tail->dir);
    autorelease(err) struct err err = ERR_INIT;

    for (int i = 0; i < TAIL_SOURCES; i++)
        str_addf(&text, "%lld\n", (long long)tail->files[i].before);
    if (fs_write_atomic(path, text.s, text.len, 0600, &err) < 0)
        log_warn("%s", err_text(&err));
}

static void load_before(struct tail *tail)
{
    autorelease(str) struct str text = STR_INIT;
    autofree(mem) char *path = xasprintf("%s/before", tail->dir);

    if (!fs_exists(path) || fs_read(path, 4096, &text, NULL) < 0)
        return;
    char *s = text.s;
    for (int i = 0; i < TAIL_SOURCES; i++) {
        long long before = strtoll(s, &s, 10);
        tail->files[i].before = MAX(0, before);
    }
}

void tail_init(struct tail *tail, const char *dir, const struct metrics_rules *rules)
{
    *tail = (struct tail){.dir = dir, .rules = rules};
    for (int i = 0; i < TAIL_SOURCES; i++)
        tail->files[i] = (struct tail_file){.tail = tail, .source = (enum tail_source)i};
    load_before(tail);
}

void tail_release(struct tail *tail)
{
    if (tail->events)
        event_tail_free(tail->events);
    for (int i = 0; i < TAIL_SOURCES; i++)
        if (tail->files[i].parser)
            metrics_parser_free(tail->files[i].parser);
    vec_foreach (metric, &tail->metrics) {
        free((*metric)->name);
        free(*metric);
    }
    vec_release(&tail->metrics);
    vec_release(&tail->samples);
    map_text_release(&tail->by_name);
}

/* NULL when the attempt has used up its names. */
static struct tail_metric *metric_of(struct tail *tail, const char *name, enum metrics_source from)
{
    struct tail_metric *metric = map_text_find(&tail->by_name, name);
    size_t most = from == METRICS_FILE ? METRICS_MAX : OUTPUT_METRICS_MAX;

    if (metric)
        return metric;
    if (tail->metrics.len >= most) {
        if (!tail->full)
            log_warn("%s: more than %zu names of metrics; the others are not recorded", tail->dir,
                     most);
        tail->full = true;
        return NULL;
    }
    metric = xcalloc(1, sizeof(*metric));
    metric->name = xstrdup(name);
    metric->source = TAIL_SOURCES;
    map_text_put(&tail->by_name, name, metric);
    vec_push(&tail->metrics, metric);
    return metric;
}

static void on_sample(const struct sample *sample, void *arg)
{
    struct tail_file *file = arg;
    struct tail *tail = file->tail;
    struct tail_metric *metric = metric_of(tail, sample->metric, kinds[file->source].source);

    if (!metric || metric->source < file->source)
        return;
    metric->source = file->source;
    int64_t step = metrics_step(&metric->next_step, sample->step);
    struct agent_sample told = {
        .metric = metric->name,
        .value = sample->value,
        .rest = sample->rest,
        .ns = sample->time_us ? sample->ns : 0,
        .step = step,
        .time_us = sample->time_us ? sample->time_us : tail->now_us,
        .file = (unsigned char)kinds[file->source].stored_as,
        .end = (uint64_t)file->before + sample->end,
    };
    vec_push(&tail->samples, told);
}

static struct metrics_parser *parser_of(struct tail_file *file)
{
    if (file->parser)
        return file->parser;
    file->parser =
        metrics_parser_new(file->tail->rules, kinds[file->source].source, on_sample, file);
    metrics_parser_given(file->parser, &file->tail->given);
    return file->parser;
}

/* A line that lost its middle must not be read as its two ends put together: make it longer than a
 * parser keeps, and it is passed over as a whole. */
static void feed_hole(struct tail_file *file)
{
    char junk[BLOCK_BYTES];
    memset(junk, '?', sizeof(junk));
    for (size_t fed = 0; fed <= LINE_MAX_BYTES; fed += sizeof(junk))
        metrics_parser_feed(parser_of(file), junk, sizeof(junk), file->tail->now_us);
}

/* Offset in the chunk (which starts at file->at) where a hole begins; n if there is none. Only a
 * block that starts with NUL is asked about, so text costs no system call. */
static size_t find_hole(int fd, const struct tail_file *file, const char *bytes, size_t n,
                        int64_t *ret_data)
{
    size_t first = (size_t)(-file->at & (BLOCK_BYTES - 1));

    for (size_t i = first; i < n; i += BLOCK_BYTES) {
        if (bytes[i] != '\0')
            continue;
        off_t data = lseek(fd, file->at + (int64_t)i, SEEK_DATA);
        if (data > file->at + (int64_t)i) {
            *ret_data = data;
            return i;
        }
    }
    return n;
}

/* One chunk. Returns bytes passed, holes included; 0 at the end of what can be read. */
static int64_t read_chunk(struct tail_file *file, int fd, int64_t size)
{
    static char bytes[CHUNK_BYTES]; /* the agent has one thread */
    size_t want = (size_t)MIN((int64_t)sizeof(bytes), size - file->at);
    ssize_t got;
    do
        got = pread(fd, bytes, want, file->at);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return 0;

    int64_t before = file->at, data = 0;
    size_t n = find_hole(fd, file, bytes, (size_t)got, &data);
    if (n) {
        metrics_parser_at(parser_of(file), (uint64_t)file->at);
        metrics_parser_feed(parser_of(file), bytes, n, file->tail->now_us);
    }
    file->at += (int64_t)n;
    file->n_last = MIN(n, sizeof(file->last));
    memcpy(file->last, bytes + n - file->n_last, file->n_last);
    if (data) {
        feed_hole(file);
        file->at = data;
        file->n_last = 0;
    }
    return file->at - before;
}

/* Zeros are a hole that the keeper punched meanwhile. */
static bool is_rewritten(const struct tail_file *file, int fd, int64_t size)
{
    char now[sizeof(file->last)];
    ssize_t n = (ssize_t)file->n_last;

    if (size < file->at)
        return true;
    if (n == 0 || pread(fd, now, (size_t)n, file->at - n) != n)
        return false;
    return memcmp(now, file->last, (size_t)n) != 0 && !memchr(now, '\0', (size_t)n);
}

static void begin_again(struct tail_file *file)
{
    if (file->parser)
        metrics_parser_finish(file->parser, file->tail->now_us);
    file->before += file->at;
    file->at = 0;
    file->n_last = 0;
    save_before(file->tail);
}

/* True if there is more. */
static bool read_file(struct tail_file *file)
{
    char path[PATH_MAX];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", file->tail->dir, kinds[file->source].name);
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    int64_t mtime_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
    if (st.st_size == file->at && mtime_ns == file->mtime_ns)
        return false;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (is_rewritten(file, fd, st.st_size))
        begin_again(file);
    file->mtime_ns = mtime_ns;
    if (st.st_size <= file->at)
        return false;
    int64_t passed = 0, n;
    do {
        n = read_chunk(file, fd, st.st_size);
        passed += n;
    } while (n > 0 && file->at < st.st_size && passed < TURN_BYTES);
    return n > 0 && file->at < st.st_size;
}

bool tail_read(struct tail *tail, int64_t now_us)
{
    bool more = tail->events && event_tail_read(tail->events, now_us);

    tail->now_us = now_us;
    for (int i = 0; i < TAIL_SOURCES; i++)
        more |= read_file(&tail->files[i]);
    return more;
}

void tail_finish(struct tail *tail, int64_t now_us)
{
    tail->now_us = now_us;
    for (int i = 0; i < TAIL_SOURCES; i++)
        if (tail->files[i].parser)
            metrics_parser_finish(tail->files[i].parser, now_us);
}
