/* SPDX-License-Identifier: MIT */
/*
 * tail.c — what an attempt left behind that people or the next attempt want: the last lines of its
 * output, its newest checkpoint.
 */
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_break(char c)
{
    return c == '\n' || c == '\0'; /* zeros: a hole that the output cap made */
}

/* How long a command to the terminal is that begins with an escape: ESC [ … m is most often a
 * colour, ESC ] … a title up to BEL or ESC \\. What is none is an escape alone. */
static size_t escape_len(const char *bytes, size_t n)
{
    size_t i = 2;

    if (n < 2 || (bytes[1] != '[' && bytes[1] != ']'))
        return 1;
    if (bytes[1] == '[') {
        while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x40)
            i++;
        return i < n && bytes[i] >= 0x40 && bytes[i] < 0x7f ? i + 1 : i;
    }
    while (i < n && bytes[i] != '\a' && bytes[i] != '\033')
        i++;
    return i < n && bytes[i] == '\a' ? i + 1 : MIN(n, i + 2);
}

/* Words without their colours. */
static void add_line(struct str *to, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        const char *escape = memchr(bytes + i, '\033', n - i);
        size_t len = escape ? (size_t)(escape - bytes) - i : n - i;
        str_add_printable(to, bytes + i, len);
        i += len;
        if (i < n)
            i += escape_len(bytes + i, n - i);
    }
}

/* Line by line, so that the line ends stay and everything else is printable. */
static void add_lines(struct str *to, const char *bytes, size_t n)
{
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        size_t len = end ? (size_t)(end - bytes) : n;
        add_line(to, bytes, len);
        if (end)
            str_add_char(to, '\n');
        bytes += len + (end != NULL);
        n -= len + (end != NULL);
    }
}

static bool add_tail(const char *dir, const char *name, size_t max, struct str *to)
{
    autofree(mem) char *path = xasprintf("%s/%s", dir, name);
    /* The program may have put something else there: a pipe must not make us wait. */
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool cut;
    ssize_t n;
    size_t start = 0;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0 || max == 0)
        return false;
    cut = (uint64_t)st.st_size > max;
    autofree(mem) char *bytes = xmalloc(max);
    n = pread(fd, bytes, max, cut ? st.st_size - (off_t)max : 0);
    if (n <= 0)
        return false;
    if (cut) { /* begin at a line, unless all of it is one */
        while (start < (size_t)n && !is_break(bytes[start]))
            start++;
        while (start < (size_t)n && is_break(bytes[start]))
            start++;
        start = start < (size_t)n ? start : 0;
    }
    add_lines(to, bytes + start, (size_t)n - start);
    return true;
}

void exec_tail(const char *dir, size_t max, struct str *to)
{
    if (!add_tail(dir, "stderr", max, to))
        add_tail(dir, "stdout", max, to);
}

/* "N-STEP", digits only: what is still being written has another name. */
static bool checkpoint_parse(const char *name, int64_t *ret_n, int64_t *ret_step)
{
    char *end;

    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    *ret_n = strtoll(name, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return false;
    *ret_step = strtoll(end + 1, &end, 10);
    return *end == '\0' && errno == 0;
}

char *checkpoint_newest(const char *dir, int64_t *ret_step)
{
    int64_t best_n = -1, best_step = -1, n, step;
    char *best = NULL;
    DIR *folder = opendir(dir);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        if (!checkpoint_parse(entry->d_name, &n, &step))
            continue;
        if (step < best_step || (step == best_step && n <= best_n))
            continue;
        free(best);
        best = xasprintf("%s/%s", dir, entry->d_name);
        best_n = n;
        best_step = step;
    }
    if (folder)
        closedir(folder);
    if (best && ret_step)
        *ret_step = best_step;
    return best;
}
