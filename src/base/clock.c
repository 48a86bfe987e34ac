/* SPDX-License-Identifier: MIT */
/*
 * clock.c — the two clocks, and times as text.
 */
#include "base/clock.h"

#include <errno.h>
#include <time.h>

#define DAY_S     86400
#define YEARS_400 146097                /* days */
#define YEAR_9999 INT64_C(253402300800) /* the first second of the year behind it */

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

/* The last n digits of x. */
static char *put_last(char *to, int64_t x, int n)
{
    for (int i = n - 1; i >= 0; i--, x /= 10)
        to[i] = (char)('0' + x % 10);
    return to + n;
}

/* "2024-02-29": days since 1970 in years that begin in March, so that the day that some have more
 * is their last (Hinnant, "chrono-compatible low-level date algorithms", 2013). */
static char *put_date(char *to, int64_t days)
{
    days += 719468; /* from 0000-03-01 on */
    int64_t era = days / YEARS_400, day = days % YEARS_400;
    int64_t year = (day - day / 1460 + day / 36524 - day / (YEARS_400 - 1)) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t march = (5 * day + 2) / 153; /* months behind March */
    day -= (153 * march + 2) / 5;
    int64_t month = march < 10 ? march + 3 : march - 9;

    to = put_last(to, year + era * 400 + (month <= 2), 4);
    *to++ = '-';
    to = put_last(to, month, 2);
    *to++ = '-';
    return put_last(to, day + 1, 2);
}

static void put_clock(char *to, int64_t s, int64_t us)
{
    to = put_last(to, s / 3600, 2);
    *to++ = ':';
    to = put_last(to, s / 60 % 60, 2);
    *to++ = ':';
    to = put_last(to, s % 60, 2);
    *to++ = '.';
    put_last(to, us, 6);
}

/* Before 1970 and behind 9999. */
static void add_odd_time(struct str *str, int64_t wall_us)
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

/* Without printf: a trial has several times, and a server tells tens of thousands a second. */
void str_add_time(struct str *str, int64_t wall_us)
{
    char text[] = "2024-02-29T12:00:00.000000Z";
    int64_t s = wall_us / US_PER_S;

    if (wall_us < 0 || s >= YEAR_9999) {
        add_odd_time(str, wall_us);
        return;
    }
    put_clock(put_date(text, s / DAY_S) + 1, s % DAY_S, wall_us % US_PER_S);
    str_add_n(str, text, sizeof(text) - 1);
}

void str_add_time_ns(struct str *str, int64_t wall_ns)
{
    int64_t us = wall_ns / 1000, rest = wall_ns % 1000;
    char digits[] = "000Z";

    if (rest < 0) {
        us--;
        rest += 1000;
    }
    str_add_time(str, us);
    if (!rest)
        return;
    put_last(digits, rest, 3);
    str->s[--str->len] = '\0'; /* the Z */
    str_add(str, digits);
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
