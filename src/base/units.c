/* SPDX-License-Identifier: MIT */
/*
 * units.c — numbers with units. A table of units each way; numbers are read by strtod, so the
 * formatter may fall back on the smallest unit and stay exact.
 */
#include "base/units.h"
#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <strings.h>
#include <time.h>

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* A plain number without sign, hex or words; NULL if there is none. */
static const char *take_number(const char *p, double *ret)
{
    const char *start = p;
    char *end;

    while (isdigit((unsigned char)*p))
        p++;
    if (*p == '.')
        p++;
    while (isdigit((unsigned char)*p))
        p++;
    if (p - start > 300 || p == start || (p == start + 1 && *start == '.'))
        return NULL;
    if ((*p == 'e' || *p == 'E') && (isdigit((unsigned char)p[1]) || p[1] == '-'))
        p = NULL; /* 1e3s would read as a unit */
    *ret = p ? strtod(start, &end) : 0;
    return p && end == p ? p : NULL;
}

/* The letters at p into `word`; how many there are. */
static size_t take_word(const char *p, char *word, size_t size)
{
    size_t n = 0;

    while (isalpha((unsigned char)p[n]))
        n++;
    if (n >= size)
        return n;
    memcpy(word, p, n);
    word[n] = '\0';
    return n;
}

static int find_duration_unit(const char *word, double *ret_us)
{
    static const struct {
        const char *names;
        double us;
    } units[] = {
        {" us usec ", 1},
        {" ms msec msecs millisecond milliseconds ", 1e3},
        {" s sec secs second seconds ", 1e6},
        {" m min mins minute minutes ", 60e6},
        {" h hr hrs hour hours ", 3600e6},
        {" d day days ", 86400e6},
        {" w week weeks ", 7 * 86400e6},
    };
    char padded[20];

    snprintf(padded, sizeof(padded), " %s ", word);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strstr(units[i].names, padded)) {
            *ret_us = units[i].us;
            return 0;
        }
    return -EINVAL;
}

int duration_parse(const char *text, int64_t *ret_us)
{
    const char *p = skip_blanks(text);
    double sum = 0, number, unit;
    bool first = true;

    do {
        char word[16] = "";
        p = take_number(p, &number);
        if (!p)
            return -EINVAL;
        p = skip_blanks(p);
        size_t n = take_word(p, word, sizeof(word));
        if (n >= sizeof(word))
            return -EINVAL;
        p = skip_blanks(p + n);
        bool bare = n == 0;
        if (bare && (!first || *p))
            return -EINVAL; /* a bare number is seconds only when it stands alone */
        unit = US_PER_S;
        if (!bare && find_duration_unit(word, &unit) < 0)
            return -EINVAL;
        sum += number * unit;
        first = false;
    } while (*p);
    if (!(sum < 9e18))
        return -ERANGE;
    *ret_us = (int64_t)llround(sum);
    return 0;
}

void duration_format(int64_t us, struct str *to)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {
        {"d", 86400 * US_PER_S}, {"h", 3600 * US_PER_S}, {"m", 60 * US_PER_S},
        {"s", US_PER_S},         {"ms", 1000},           {"us", 1},
    };
    if (us == 0)
        str_add(to, "0s");
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (us >= units[i].us)
            str_addf(to, "%lld%s", (long long)(us / units[i].us), units[i].name);
        us %= units[i].us;
    }
}

int size_parse(const char *text, uint64_t *ret_bytes)
{
    static const char letters[] = "kmgtp";
    char word[16];
    double number, unit = 1;
    const char *p = take_number(skip_blanks(text), &number);

    if (!p)
        return -EINVAL;
    p = skip_blanks(p);
    size_t n = take_word(p, word, sizeof(word));
    if (n >= sizeof(word) || *skip_blanks(p + n))
        return -EINVAL;
    const char *rest = word, *letter = n ? strchr(letters, tolower((unsigned char)word[0])) : NULL;
    if (letter && *letter) {
        unit = pow(1024, (double)(letter - letters) + 1);
        rest++;
    }
    if (!(*rest == '\0' || strcasecmp(rest, "b") == 0 || (rest > word && !strcasecmp(rest, "ib")) ||
          strcasecmp(word, "bytes") == 0))
        return -EINVAL;
    if (!(number * unit < 9e18))
        return -ERANGE;
    *ret_bytes = (uint64_t)llround(number * unit);
    return 0;
}

void size_format(uint64_t bytes, struct str *to)
{
    static const char letters[] = {'\0', 'K', 'M', 'G', 'T', 'P'};
    size_t i = 0;

    while (bytes && i + 1 < ARRAY_LEN(letters) && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    str_addf(to, "%llu", (unsigned long long)bytes);
    if (letters[i])
        str_add_char(to, letters[i]);
}

int percent_parse(const char *text, double *ret)
{
    char *end;
    const char *p = skip_blanks(text);

    if (!isdigit((unsigned char)p[strspn(p, "+-.")]))
        return -EINVAL; /* "nan", "inf", words */
    if (strncasecmp(p + strspn(p, "+-"), "0x", 2) == 0)
        return -EINVAL;
    double x = strtod(p, &end);
    bool percent = *skip_blanks(end) == '%';
    if (*skip_blanks(skip_blanks(end) + percent) || !isfinite(x))
        return -EINVAL;
    *ret = percent ? x / 100 : x;
    return 0;
}

/* Local fields to wall µs; the fields must be what a calendar has. */
static int from_local(struct tm tm, int64_t *ret_wall_us)
{
    struct tm asked = tm;
    tm.tm_isdst = -1;
    time_t s = mktime(&tm);

    if (s == (time_t)-1 || tm.tm_mday != asked.tm_mday || tm.tm_mon != asked.tm_mon)
        return -EINVAL;
    *ret_wall_us = (int64_t)s * US_PER_S;
    return 0;
}

static int parse_time_of_day(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
    int h, m, s = 0, n = 0, n_seconds = 0;
    time_t now = (time_t)(now_us / US_PER_S);
    struct tm tm;

    if (sscanf(text, "%2d:%2d%n:%2d%n", &h, &m, &n, &s, &n_seconds) < 2)
        return -EINVAL;
    if (text[MAX(n, n_seconds)] || h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59)
        return -EINVAL;
    for (int day = 0; day < 2; day++) {
        if (!localtime_r(&now, &tm))
            return -EINVAL;
        tm.tm_hour = h;
        tm.tm_min = m;
        tm.tm_sec = s;
        tm.tm_mday += day;
        tm.tm_isdst = -1;
        *ret_wall_us = (int64_t)mktime(&tm) * US_PER_S;
        if (*ret_wall_us > now_us)
            return 0;
    }
    return -EINVAL;
}

int moment_parse(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
    static const char *const formats[] = {"%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                          "%Y-%m-%dT%H:%M:%S"};
    if (time_parse(text, ret_wall_us) == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct tm tm = {0};
        const char *end = strptime(text, formats[i], &tm);
        if (end && !*end)
            return from_local(tm, ret_wall_us);
    }
    return parse_time_of_day(text, now_us, ret_wall_us);
}
