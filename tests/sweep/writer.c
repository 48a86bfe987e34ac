/* SPDX-License-Identifier: MIT */
/*
 * writer.c — a trial's program for tests/sweep/writes.py: it writes lines whose content follows
 * from their step, one write(2) each, and after every write that returned it counts the line in a
 * mapped file outside of Hone's home. Memory of a mapped file outlives SIGKILL, so the count is
 * what Hone must be able to show.
 *
 *     SWEEP_FOLDER/starts         a line a start and a line a natural end, of all attempts
 *     SWEEP_FOLDER/TRIAL.lock     held while the trial's program lives: two at once would show
 *     SWEEP_FOLDER/TRIAL-ATTEMPT  struct tally
 *
 * A later attempt goes on in the middle of what the one before had done, as from a checkpoint.
 *
 * `writer check metrics|output FILE FIRST` compares a file with what it must hold, byte by byte,
 * and prints how many whole lines it has and how many bytes of a torn one; -1 if it differs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES (64 << 10)

struct tally {
    uint64_t first_step, metrics, output;
};

static char line[LINE_MAX_BYTES + 64];
static const char *folder, *trial;
static int attempt;

static const char *must_env(const char *name)
{
    const char *value = getenv(name);
    if (!value) {
        fprintf(stderr, "%s is not set\n", name);
        exit(3);
    }
    return value;
}

static int open_in_folder(const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return open(path, flags | O_CLOEXEC, 0600);
}

static void note(const char *what)
{
    char text[512];
    int fd = open_in_folder("starts", O_WRONLY | O_APPEND | O_CREAT);
    int n = snprintf(text, sizeof(text), "%s %s %d %d %d %s\n", what, trial, attempt, getpid(),
                     getppid(), must_env("HONE_ATTEMPT_ID"));
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        exit(4);
    close(fd);
}

static struct tally *tally_open(int number, int flags)
{
    char name[256];
    snprintf(name, sizeof(name), "%s-%d", trial, number);
    int fd = open_in_folder(name, O_RDWR | flags);
    if (fd < 0)
        return NULL;
    if (ftruncate(fd, sizeof(struct tally)) < 0)
        exit(5);
    void *page = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page == MAP_FAILED ? NULL : page;
}

/* The same in writes.py. */
static uint64_t scramble(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

/* Most lines are short, every eighth is up to 64 KiB long. */
static size_t size_of(uint64_t seed)
{
    uint64_t r = scramble(seed);
    return r % 8 ? 64 + r / 8 % 4000 : 64 + r / 8 % (LINE_MAX_BYTES - 64 + 1);
}

static size_t fill(size_t n, size_t size, uint64_t seed)
{
    for (uint64_t r = scramble(seed); n + 1 < size; r = r * 6364136223846793005u + 1)
        line[n++] = (char)('a' + (r >> 60));
    return n;
}

/* sprintf would take longer than the write, and it is in the write that a kill is wanted. */
static size_t add_number(size_t n, uint64_t x)
{
    char digits[20];
    size_t i = sizeof(digits);
    do {
        digits[--i] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    memcpy(line + n, digits + i, sizeof(digits) - i);
    return n + sizeof(digits) - i;
}

/* Long metric lines carry many fields or one long text. */
static size_t metric_line(uint64_t step)
{
    uint64_t r = scramble(step);
    size_t size = size_of(r);
    size_t n = (size_t)snprintf(line, sizeof(line), "train step=%llui,v=%llu",
                                (unsigned long long)step, (unsigned long long)(r >> 40));
    if (r >> 63) {
        n += (size_t)snprintf(line + n, sizeof(line) - n, ",text=\"");
        n = fill(n, size - 1, r);
        line[n++] = '"';
    } else {
        for (uint64_t i = 0; n + 40 < size && i < 4000; i++) {
            line[n++] = ',';
            line[n++] = 'f';
            n = add_number(n, i);
            line[n++] = '=';
            n = add_number(n, (r >> 30) + i);
        }
    }
    line[n++] = '\n';
    return n;
}

static size_t output_line(uint64_t step)
{
    size_t n = (size_t)snprintf(line, sizeof(line), "row/%llu/", (unsigned long long)step);
    n = fill(n, size_of(scramble(step + 1)), step + 1);
    line[n++] = '\n';
    return n;
}

static void put(int fd, size_t n, uint64_t *count)
{
    ssize_t r = write(fd, line, n);
    if (r != (ssize_t)n)
        exit(6);
    __atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

static int check(const char *kind, const char *path, uint64_t step)
{
    static char have[LINE_MAX_BYTES + 64];
    FILE *file = fopen(path, "r");
    long lines = 0;
    size_t got = 0, n = 0;

    for (;; lines++, step++) {
        n = kind[0] == 'm' ? metric_line(step) : output_line(step);
        got = file ? fread(have, 1, n, file) : 0;
        if (got < n || memcmp(have, line, n) != 0)
            break;
    }
    if (file)
        fclose(file);
    bool prefix = memcmp(have, line, got) == 0;
    printf("%ld %zu\n", prefix ? lines : -1, got);
    return 0;
}

/* Somebody who was left behind: in a session of its own, with the trial's lock in its hands. */
static void leave_daemon(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        for (;;)
            pause();
    }
}

static uint64_t begin_at(void)
{
    for (int number = attempt - 1; number > 0; number--) {
        struct tally *before = tally_open(number, 0);
        if (before)
            return before->first_step + before->metrics / 2;
    }
    return 0;
}

/* writer STEPS PAUSE_US DAEMON --x=… */
int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "check") == 0)
        return check(argv[2], argv[3], strtoull(argv[4], NULL, 10));
    if (argc < 4)
        return 2;
    uint64_t steps = strtoull(argv[1], NULL, 10);
    long pause_us = strtol(argv[2], NULL, 10);
    char name[256];

    folder = must_env("SWEEP_FOLDER");
    trial = must_env("HONE_TRIAL");
    attempt = (int)strtol(must_env("HONE_ATTEMPT"), NULL, 10);
    note("start");
    snprintf(name, sizeof(name), "%s.lock", trial);
    int lock = open_in_folder(name, O_RDWR | O_CREAT);
    if (flock(lock, LOCK_EX | LOCK_NB) < 0)
        note("overlap");
    if (argv[3][0] == '1')
        leave_daemon();
    uint64_t first = begin_at();
    struct tally *tally = tally_open(attempt, O_CREAT | O_EXCL);
    if (!tally) {
        note("twice");
        return 7;
    }
    tally->first_step = first;
    int metrics = open(must_env("HONE_METRICS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    for (uint64_t step = first; step < steps; step++) {
        put(metrics, metric_line(step), &tally->metrics);
        put(STDOUT_FILENO, output_line(step), &tally->output);
        if (pause_us)
            usleep((useconds_t)(scramble(step) % (uint64_t)(2 * pause_us)));
    }
    note("end");
    return 0;
}
