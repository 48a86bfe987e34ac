/* SPDX-License-Identifier: MIT */
/*
 * clock.c — the two clocks, and times as text.
 */
#include "base/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * US_PER_S + ts.tv_nsec / 1000;
}

int64_t clock_wall_us(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_us(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

void str_add_time(struct str *str, int64_t wall_us)
{
    time_t s = (time_t)(wall_us / US_PER_S);
    long us = (long)(wall_us % US_PER_S);
    struct tm tm;

    if (us < 0) {
        us += US_PER_S;
        s--;
    }
    gmtime_r(&s, &tm);
    str_addf(str, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, us);
}

int time_parse(const char *text, int64_t *ret_wall_us)
{
    struct tm tm = {0};
    const char *p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    int64_t us = 0, unit = US_PER_S / 10;

    if (!p)
        return -EINVAL;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
            us += (*p - '0') * unit;
    int64_t offset_s = 0;
    int h, m, n = 0;
    if (*p == 'Z' && p[1] == '\0')
        offset_s = 0;
    else if ((*p == '+' || *p == '-') && sscanf(p + 1, "%2d:%2d%n", &h, &m, &n) == 2 && !p[1 + n])
        offset_s = (*p == '-' ? -1 : 1) * (h * 3600LL + m * 60LL);
    else
        return -EINVAL;
    *ret_wall_us = ((int64_t)timegm(&tm) - offset_s) * US_PER_S + us;
    return 0;
}

void str_add_duration(struct str *str, int64_t us)
{
    if (us < 0)
        us = 0;
    int64_t s = (us + US_PER_S / 2) / US_PER_S;
    if (us < US_PER_S)
        str_addf(str, "%dms", (int)(us / 1000));
    else if (us < 60 * US_PER_S - US_PER_S / 2)
        str_addf(str, "%.1fs", (double)us / US_PER_S);
    else if (s < 3600)
        str_addf(str, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else if (s < 86400)
        str_addf(str, "%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
    else
        str_addf(str, "%dd%02dh", (int)(s / 86400), (int)(s / 3600 % 24));
}
