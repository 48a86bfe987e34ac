/* SPDX-License-Identifier: MIT */
/*
 * hone.c — the C side of the protocol between a training program and Hone: files named by
 * environment variables, described in hone.h.
 *
 *     HONE_PARAMS ──► params        read once
 *     HONE_SYSTEM ──► system        its first value; then what the control page says
 *     HONE_CONTROL ──► asked        mapped; one 64-bit load a step
 *     HONE_METRICS ◄── log, answers appended, one write(2) a line
 *
 * Invariants: a line in the metrics file is whole or cut by a full disk, and then the next one
 * starts on a line of its own. A generation is answered only when the program has been told of it
 * (hone_step, hone_should_stop, hone_checkpoint_asked, hone_system_…), so an answer means applied;
 * logging alone answers nothing.
 */
#include "hone.h"
#include "hone_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PARAMS_CAP (16 << 20)
#define LINE_CAP   8192 /* more metrics than fit go on in a further line of the same step */
#define NAME_CAP   1024

struct param {
    const char *name, *text;
    enum hone_kind kind;
};

struct params {
    struct param *items;
    size_t n;
    char *text; /* what they point into */
};

static struct {
    pthread_once_t once;
    locale_t locale; /* "C": numbers have a point, whatever the program's locale says */
    struct params params, system;
    const struct hone_page *page; /* NULL: no Hone, or no control page */
    struct hone_asked asked;
    _Atomic uint64_t heard; /* asked.generation, for the look without the lock */
    pthread_mutex_t lock;   /* asked, system, metrics_fd */
    int metrics_fd;         /* -1: not open yet */
    atomic_bool cut;        /* the last line was written in part */
    atomic_bool stop, checkpoint;
    _Atomic int64_t step;
    char dir[PATH_MAX], begun[PATH_MAX + 64], final[PATH_MAX + 64];
} hone = {.once = PTHREAD_ONCE_INIT,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .metrics_fd = -1,
          .step = HONE_STEP_NOW};

/* ---- reading JSON ---- */

static char *skip_space(char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
        p++;
    return p;
}

static int hex4(const char *p)
{
    int x = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *at = p[i] ? strchr(digits, p[i]) : NULL;
        if (!at)
            return -1;
        x = x * 16 + (int)((at - digits) % 16);
    }
    return x;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* \uXXXX at *p (behind the u), with its second half if it is a surrogate. NUL and lone halves
 * become U+FFFD. -1 if it is not hexadecimal. */
static int unescape_u(char **p, char **to)
{
    int c = hex4(*p);
    if (c < 0)
        return -1;
    *p += 4;
    if (c >= 0xd800 && c < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int low = hex4(*p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *p += 6;
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    bool lone = c == 0 || (c >= 0xd800 && c < 0xe000);
    *to = put_utf8(*to, lone ? 0xfffd : (unsigned)c);
    return 0;
}

/* A string that starts behind its quote at p; unescaped in place, never longer than it was.
 * Returns the place behind the closing quote, which has become a NUL. NULL: broken. */
static char *read_text(char *p)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char *to = p;

    while (*p && *p != '"') {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        const char *at = p[1] ? strchr(from, p[1]) : NULL;
        p += 2;
        if (at)
            *to++ = into[at - from];
        else if (p[-1] != 'u' || unescape_u(&p, &to) < 0)
            return NULL;
    }
    if (*p != '"')
        return NULL;
    *to = '\0';
    return p + 1;
}

/* As read_text, but nothing is changed. */
static char *skip_text(char *p)
{
    while (*p && *p != '"')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p == '"' ? p + 1 : NULL;
}

/* Behind the object or array that starts at p; NULL: it has no end. */
static char *skip_nested(char *p)
{
    for (size_t depth = 0;;) {
        char c = *p++;
        if (c == '\0')
            return NULL;
        if (c == '"' && !(p = skip_text(p)))
            return NULL;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return p;
    }
}

/* true, 1e-3, null: up to what ends a value. The character there is kept in *ret_end, and replaced
 * by a NUL. */
static char *read_word(char *p, enum hone_kind *ret_kind, char *ret_end)
{
    char *start = p;
    p += strcspn(p, ",}] \t\r\n");
    *ret_end = *p;
    *p = '\0';
    bool truth = strcmp(start, "true") == 0 || strcmp(start, "false") == 0;
    *ret_kind = truth ? HONE_BOOL : strcmp(start, "null") == 0 ? HONE_NULL : HONE_NUMBER;
    return p;
}

/* One value at p. *end is the character that p now stands on, which may have become a NUL. */
static char *read_value(char *p, enum hone_kind *kind, char **text, char *end)
{
    *text = p;
    if (*p == '{' || *p == '[') {
        *kind = HONE_NESTED;
        p = skip_nested(p);
    } else if (*p == '"') {
        *kind = HONE_TEXT;
        *text = p + 1;
        p = read_text(p + 1);
    } else {
        return read_word(p, kind, end);
    }
    *end = p ? *p : '\0';
    if (p && *kind == HONE_NESTED)
        *p = '\0';
    return p;
}

int hone_json_each(char *json, hone_member_fn *fn, void *arg)
{
    char *p = skip_space(json);
    if (*p != '{')
        return -EINVAL;
    p = skip_space(p + 1);
    while (*p == '"') {
        enum hone_kind kind = HONE_NULL;
        char end, *text, *name = p + 1;

        p = read_text(name);
        p = p ? skip_space(p) : p;
        if (!p || *p != ':')
            return -EINVAL;
        p = read_value(skip_space(p + 1), &kind, &text, &end);
        if (!p || (kind != HONE_TEXT && !*text))
            return -EINVAL;
        fn(name, kind, text, arg);
        if (strchr(" \t\r\n", end) && end)
            end = *(p = skip_space(p + 1));
        if (end != ',')
            return end == '}' ? 0 : -EINVAL;
        p = skip_space(p + 1);
    }
    return *p == '}' ? 0 : -EINVAL;
}

/* ---- parameters ---- */

static void add_param(const char *name, enum hone_kind kind, const char *text, void *arg)
{
    struct params *params = arg;
    struct param *more = NULL;
    if (kind != HONE_NESTED)
        more = realloc(params->items, (params->n + 1) * sizeof(*more));
    if (!more)
        return;
    params->items = more;
    params->items[params->n++] = (struct param){name, text, kind};
}

/* Replaces what was there by the members of `text`, which is taken; NULL: nothing to read. */
static void params_set(struct params *params, char *text)
{
    if (!text)
        return;
    free(params->items);
    free(params->text);
    *params = (struct params){.text = text};
    hone_json_each(text, add_param, params);
}

static const struct param *params_find(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->items[i].name, name) == 0)
            return &params->items[i];
    return NULL;
}

/* The whole file, kept until the program ends: the parameters point into it. */
static char *read_file(const char *path, size_t cap)
{
    struct stat st;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && (uintmax_t)st.st_size < cap)
        text = calloc(1, (size_t)st.st_size + 1);
    for (size_t at = 0; text && at < (size_t)st.st_size;) {
        ssize_t n = read(fd, text + at, (size_t)st.st_size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* 0: it became shorter */
            break;
        at += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

static void load_params(void)
{
    const char *path = getenv("HONE_PARAMS");
    params_set(&hone.params, path ? read_file(path, PARAMS_CAP) : NULL);
}

static void start(void);

static const struct param *find_param(const char *name)
{
    pthread_once(&hone.once, start);
    return params_find(&hone.params, name);
}

static bool param_number(const struct param *param, double *ret)
{
    char *end;
    if (!param || param->kind == HONE_NULL)
        return false;
    if (param->kind == HONE_BOOL) {
        *ret = param->text[0] == 't';
        return true;
    }
    locale_t before = uselocale(hone.locale);
    *ret = strtod(param->text, &end);
    uselocale(before);
    return end != param->text && *end == '\0';
}

double hone_param_double(const char *name, double otherwise)
{
    double x;
    return param_number(find_param(name), &x) ? x : otherwise;
}

static int64_t param_int(const struct param *param, int64_t otherwise)
{
    double x;

    if (!param_number(param, &x))
        return otherwise;
    char *end;
    errno = 0;
    long long exact = strtoll(param->text, &end, 10);
    if (*end == '\0' && end != param->text && errno == 0)
        return exact;
    /* not floor(): that would want libm */
    return fabs(x) < 9e18 && x == (double)(int64_t)x ? (int64_t)x : otherwise;
}

int64_t hone_param_int(const char *name, int64_t otherwise)
{
    return param_int(find_param(name), otherwise);
}

bool hone_param_bool(const char *name, bool otherwise)
{
    const struct param *param = find_param(name);
    double x;

    if (param && param->kind == HONE_TEXT && strcmp(param->text, "true") == 0)
        return true;
    if (param && param->kind == HONE_TEXT && strcmp(param->text, "false") == 0)
        return false;
    return param_number(param, &x) ? x != 0 : otherwise;
}

const char *hone_param_text(const char *name, const char *otherwise)
{
    const struct param *param = find_param(name);
    return param && param->kind != HONE_NULL ? param->text : otherwise;
}

/* ---- metrics ---- */

size_t hone_double_text(char buf[HONE_DOUBLE_SIZE], double x)
{
    static const int digits[] = {6, 15, 16, 17}; /* most numbers are short, or need nearly all */
    int n = 0;

    if (isnan(x) || isinf(x))
        return (size_t)snprintf(buf, HONE_DOUBLE_SIZE, "%s",
                                isnan(x) ? "nan"
                                : x > 0  ? "inf"
                                         : "-inf");
    locale_t before = hone.locale ? uselocale(hone.locale) : (locale_t)0;
    for (size_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++) {
        n = snprintf(buf, HONE_DOUBLE_SIZE, "%.*g", digits[i], x);
        if (strtod(buf, NULL) == x)
            break;
    }
    if (before)
        uselocale(before);
    return (size_t)n;
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_metrics(void)
{
    const char *path = getenv("HONE_METRICS");
    if (!path || !*path)
        return -ENOENT;
    pthread_mutex_lock(&hone.lock);
    if (hone.metrics_fd < 0)
        hone.metrics_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    int r = hone.metrics_fd >= 0 ? hone.metrics_fd : -errno;
    pthread_mutex_unlock(&hone.lock);
    return r;
}

/* A line in the making. at[0] is a newline, sent only to part the line from one that a full disk
 * cut off. */
struct line {
    char at[LINE_CAP];
    size_t len;
};

static void line_add(struct line *line, const char *bytes, size_t n)
{
    memcpy(line->at + line->len, bytes, n);
    line->len += n;
}

static void line_start(struct line *line, const char *text)
{
    line->at[0] = '\n';
    line->len = 1;
    line_add(line, text, strlen(text));
}

static int line_write(const struct line *line)
{
    int fd = open_metrics();
    if (fd < 0)
        return fd;
    bool cut = atomic_exchange(&hone.cut, false);
    size_t from = cut ? 0 : 1, want = line->len - from;
    ssize_t done;
    do
        done = write(fd, line->at + from, want);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)want)
        return 0;
    if (done > 0 || cut)
        atomic_store(&hone.cut, true);
    return done < 0 ? -errno : -ENOSPC;
}

/* A field's name in line protocol: separators escaped, what has no escape becomes '_'. */
static void line_add_name(struct line *line, const char *name)
{
    for (; *name; name++) {
        bool odd = (unsigned char)*name < 0x20 || *name == '\\' || *name == '"';
        if (*name == ',' || *name == '=' || *name == ' ')
            line->at[line->len++] = '\\';
        line->at[line->len++] = odd ? '_' : *name;
    }
}

static void line_add_metric(struct line *line, const struct hone_metric *metric, bool comma)
{
    char text[HONE_DOUBLE_SIZE];
    line_add(line, ",", comma);
    line_add_name(line, metric->name);
    line_add(line, "=", 1);
    line_add(line, text, hone_double_text(text, metric->value));
}

/* ",step=120i 1700000000000000000\n" */
static int line_send(struct line *line, int64_t step, int64_t time_ns)
{
    char end[80];
    int n = step == HONE_STEP_NOW
                ? snprintf(end, sizeof(end), " %" PRId64 "\n", time_ns)
                : snprintf(end, sizeof(end), ",step=%" PRId64 "i %" PRId64 "\n", step, time_ns);
    line_add(line, end, (size_t)n);
    return line_write(line);
}

static bool metric_fits(const struct hone_metric *metric)
{
    const char *name = metric->name;
    return name && *name && strlen(name) <= NAME_CAP && strcmp(name, "step") != 0;
}

static int log_to_file(int64_t step, const struct hone_metric *metrics, size_t n)
{
    struct line line;
    int64_t now = wall_ns();
    int r = 0;

    for (size_t i = 0; i < n && r == 0;) {
        line_start(&line, "train ");
        size_t empty = line.len;
        for (; i < n && line.len < LINE_CAP - 2 * NAME_CAP - 128; i++)
            if (metric_fits(&metrics[i]))
                line_add_metric(&line, &metrics[i], line.len > empty);
        if (line.len > empty)
            r = line_send(&line, step, now);
    }
    return r;
}

static int log_to_people(int64_t step, const struct hone_metric *metrics, size_t n)
{
    if (step != HONE_STEP_NOW)
        printf("step %" PRId64 "%s", step, n ? " " : "");
    for (size_t i = 0; i < n; i++)
        printf("%s %g%s", metrics[i].name ? metrics[i].name : "?", metrics[i].value,
               i + 1 < n ? " " : "");
    return putchar('\n') == EOF ? -EIO : 0;
}

int hone_log_n(int64_t step, const struct hone_metric *metrics, size_t n)
{
    pthread_once(&hone.once, start);
    if (step == HONE_STEP_NOW)
        step = atomic_load(&hone.step);
    const char *path = getenv("HONE_METRICS");
    return path && *path ? log_to_file(step, metrics, n) : log_to_people(step, metrics, n);
}

/* ---- control ---- */

static void see_member(const char *name, enum hone_kind kind, const char *text, void *arg)
{
    struct hone_asked *asked = arg;
    bool yes = kind == HONE_BOOL && text[0] == 't';
    if (strcmp(name, "stop") == 0)
        asked->stop = yes;
    else if (strcmp(name, "checkpoint") == 0)
        asked->checkpoint = yes;
    else if (strcmp(name, "system") == 0 && kind == HONE_NESTED && text[0] == '{')
        snprintf(asked->system, sizeof(asked->system), "%s", text);
}

bool hone_page_read(const struct hone_page *page, struct hone_asked *ret)
{
    char json[sizeof(page->json) + 1];
    uint64_t generation = __atomic_load_n(&page->generation, __ATOMIC_ACQUIRE);

    if (generation == ret->generation || generation % 2 == 1)
        return false;
    uint64_t length = __atomic_load_n(&page->length, __ATOMIC_RELAXED);
    if (length > sizeof(page->json))
        return false;
    memcpy(json, page->json, length);
    json[length] = '\0';
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&page->generation, __ATOMIC_RELAXED) != generation)
        return false;
    *ret = (struct hone_asked){.generation = generation};
    hone_json_each(json, see_member, ret);
    return true;
}

/* Only this answer means applied: the caller hands the news to the program with its return. */
static void answer(uint64_t generation, int64_t step)
{
    struct line line;
    char text[64];
    snprintf(text, sizeof(text), "hone generation=%" PRIu64 "i", generation);
    line_start(&line, text);
    line_send(&line, step, wall_ns());
}

void hone_total(int64_t step)
{
    struct line line;
    char text[64];

    pthread_once(&hone.once, start);
    snprintf(text, sizeof(text), "hone total=%" PRId64 "i", step);
    line_start(&line, text);
    line_send(&line, HONE_STEP_NOW, wall_ns());
}

/* Under the lock of whoever may call at the same time: two threads never answer one generation. */
static void hear(void)
{
    pthread_mutex_lock(&hone.lock);
    bool news = hone_page_read(hone.page, &hone.asked);
    struct hone_asked asked = hone.asked;
    if (news && asked.system[0])
        params_set(&hone.system, strdup(asked.system));
    pthread_mutex_unlock(&hone.lock);
    if (!news)
        return;
    atomic_store(&hone.stop, asked.stop);
    if (asked.checkpoint)
        atomic_store(&hone.checkpoint, true);
    atomic_store(&hone.heard, asked.generation);
    answer(asked.generation, atomic_load(&hone.step));
}

/* The one load a step. */
static void look(void)
{
    pthread_once(&hone.once, start);
    if (hone.page && __atomic_load_n(&hone.page->generation, __ATOMIC_RELAXED) != hone.heard)
        hear();
}

bool hone_step(int64_t step)
{
    atomic_store(&hone.step, step);
    look();
    return !atomic_load(&hone.stop);
}

bool hone_should_stop(void)
{
    look();
    return atomic_load(&hone.stop);
}

bool hone_checkpoint_asked(void)
{
    look();
    return atomic_exchange(&hone.checkpoint, false);
}

/* Under the lock: another thread may be hearing what replaces them. */
double hone_system_double(const char *name, double otherwise)
{
    double x;
    look();
    pthread_mutex_lock(&hone.lock);
    bool known = param_number(params_find(&hone.system, name), &x);
    pthread_mutex_unlock(&hone.lock);
    return known ? x : otherwise;
}

int64_t hone_system_int(const char *name, int64_t otherwise)
{
    look();
    pthread_mutex_lock(&hone.lock);
    int64_t x = param_int(params_find(&hone.system, name), otherwise);
    pthread_mutex_unlock(&hone.lock);
    return x;
}

static void map_page(void)
{
    const char *path = getenv("HONE_CONTROL");
    struct stat st;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size >= HONE_PAGE_SIZE) {
        void *page = mmap(NULL, HONE_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
        hone.page = page != MAP_FAILED ? page : NULL;
    }
    close(fd);
}

/* The first call of any function. The answer tells Hone that there is somebody to talk to. */
static void start(void)
{
    hone.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    load_params();
    const char *system = getenv("HONE_SYSTEM");
    params_set(&hone.system, system ? strdup(system) : NULL);
    map_page();
    if (hone.page)
        hear();
}

/* ---- checkpoints ---- */

const char *hone_checkpoint(void)
{
    const char *path = getenv("HONE_CHECKPOINT");
    return path && *path ? path : NULL;
}

const char *hone_checkpoint_dir(void)
{
    const char *path = getenv("HONE_CHECKPOINT_DIR");
    snprintf(hone.dir, sizeof(hone.dir), "%s", path && *path ? path : "checkpoints");
    if (mkdir(hone.dir, 0755) < 0 && errno != EEXIST)
        return NULL;
    return hone.dir;
}

const char *hone_checkpoint_begin(int64_t step)
{
    const char *attempt = getenv("HONE_ATTEMPT");
    if (!hone_checkpoint_dir())
        return NULL;
    attempt = attempt && *attempt ? attempt : "1";
    snprintf(hone.begun, sizeof(hone.begun), "%s/.%.20s-%" PRId64 ".part", hone.dir, attempt, step);
    snprintf(hone.final, sizeof(hone.final), "%s/%.20s-%" PRId64, hone.dir, attempt, step);
    return hone.begun;
}

int hone_checkpoint_commit(void)
{
    int fd = open(hone.begun, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
    close(fd);
    if (r == 0 && rename(hone.begun, hone.final) < 0)
        r = -errno;
    return r;
}
