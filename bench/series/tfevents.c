/* SPDX-License-Identifier: MIT */
/*
 * tfevents.c — how fast event files are read: all scalars of all files, every CRC checked.
 *
 *     tfevents FILE...       prints samples, their sum, damaged records and seconds of CPU
 */
#include "base/fs.h"
#include "metrics/events.h"

#include <err.h>
#include <time.h>

#define FILE_MAX (1ul << 30)

static void on_sample(const struct sample *sample, void *arg)
{
    *(double *)arg += sample->value;
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    uint64_t samples = 0, bad = 0;
    double sum = 0, begin_s = cpu_s();
    struct events_sink sink = {.on_sample = on_sample, .arg = &sum};

    for (int i = 1; i < argc; i++) {
        autorelease(str) struct str bytes = STR_INIT;
        autofree(events) struct events *events = events_new("", &sink);
        if (fs_read(argv[i], FILE_MAX, &bytes, NULL) < 0)
            errx(1, "cannot read %s", argv[i]);
        events_feed(events, bytes.s, bytes.len);
        samples += events_counts(events)->samples;
        bad += events_counts(events)->bad_records;
    }
    printf("%llu %.17g %llu %.6f\n", (unsigned long long)samples, sum, (unsigned long long)bad,
           cpu_s() - begin_s);
    return 0;
}
