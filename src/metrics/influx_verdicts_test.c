/* SPDX-License-Identifier: MIT */
/*
 * influx_verdicts_test.c — what InfluxDB 1.6 said to a thousand odd bodies, and where we want to
 * differ. The table comes from a real server, by tests/peers/influx_verdicts.py; tests run in the
 * top folder.
 */
#include "base/fs.h"
#include "metrics/test_influx.h"

#define TABLE     "src/metrics/influx_verdicts.txt"
#define TABLE_MAX (4u << 20)

struct verdict {
    const char *class, *precision, *body_text; /* as in the table */
    int status;
    struct str body, error, stored;
};

static void verdict_release(struct verdict *verdict)
{
    str_release(&verdict->body);
    str_release(&verdict->error);
    str_release(&verdict->stored);
}

static char read_byte(const char **p)
{
    unsigned byte;
    if (**p != '\\')
        return *(*p)++;
    assert_int_equal(sscanf(*p, "\\x%2x", &byte), 1);
    *p += 4;
    return (char)byte;
}

/* \xHH is a byte, \{N*c} a byte N times. */
static void decode(const char *p, struct str *to)
{
    while (*p) {
        int skip = 0;
        size_t n = 1;
        bool run = sscanf(p, "\\{%zu*%n", &n, &skip) == 1 && skip;
        p += skip;
        char c = read_byte(&p);
        p += run;
        while (n--)
            str_add_char(to, c);
    }
}

/* The same, but leaves the bytes in \xHH: names in what was stored are written so. */
static void decode_runs(const char *p, struct str *to)
{
    while (*p) {
        int skip = 0;
        size_t n = 0;
        if (sscanf(p, "\\{%zu*%n", &n, &skip) == 1 && skip) {
            for (p += skip; n--;)
                str_add_char(to, *p);
            p += 2;
        } else {
            str_add_char(to, *p++);
        }
    }
}

static bool parse_row(char *row, struct verdict *ret)
{
    char *cells[6];
    *ret = (struct verdict){.body = STR_INIT, .error = STR_INIT, .stored = STR_INIT};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        cells[i] = strsep(&row, "\t");
    if (!cells[5] || row)
        return false;
    ret->class = cells[0];
    ret->precision = cells[1];
    ret->status = atoi(cells[2]);
    ret->body_text = cells[3];
    decode(cells[3], &ret->body);
    decode(cells[4], &ret->error);
    decode_runs(cells[5], &ret->stored);
    return true;
}

/* Where we differ, and why. A row that differs must be one of these, and each must occur. */
static const char *const differences[] = {
    "nan and inf are floats",
    "a field needs a name",
    "a NUL in a name is refused",
    "broken UTF-8 in a name is kept, where the server fails",
    "a measurement with two backslashes before what they escape is kept, where the server loses it",
    "a type conflict within one body keeps what came before it",
};
enum { NANS, NAMELESS, NUL_NAME, BROKEN_UTF8, BACKSLASHES, CONFLICT };

static bool told(const struct str *error, const char *reason) /* it may hold a NUL */
{
    return memmem(error->s, error->len, reason, strlen(reason)) != NULL;
}

static int difference(const struct verdict *said, const struct outcome *ours)
{
    if (has(ours->stored.s, "=float nan") || has(ours->stored.s, "=float inf") ||
        has(ours->stored.s, "=float -nan") || has(ours->stored.s, "=float -inf"))
        return NANS;
    if (has(said->stored.s, "} \"\"=") && told(&ours->error, "missing field key"))
        return NAMELESS;
    if (has(said->body_text, "\\x00") && told(&ours->error, "NUL in a name"))
        return NUL_NAME;
    if (has(said->body_text, "\\xff"))
        return BROKEN_UTF8;
    if (said->status == 204 && !said->stored.len && has(said->body_text, "\\x5c\\x5c"))
        return BACKSLASHES;
    if (str_eq(said->error.s, "field type conflict") && told(&ours->error, said->error.s))
        return CONFLICT;
    return -1;
}

static bool agrees(const struct verdict *said, const struct outcome *ours)
{
    return said->status == ours->status && said->error.len == ours->error.len &&
           memcmp(said->error.s, ours->error.s, said->error.len) == 0 &&
           str_eq(said->stored.s, ours->stored.s);
}

/* One more time with the same keys: what the quick reader takes must be what the strict one took.
 */
static void check_again(struct influx_keys *keys, const struct verdict *said,
                        const struct outcome *first)
{
    autorelease(outcome) struct outcome again;
    read_body(keys, said->body.s, said->body.len, said->precision, &again);
    if (again.status != first->status || !str_eq(again.stored.s, first->stored.s))
        fail_msg("'%s': at first %d %s, then %d %s", said->body_text, first->status,
                 first->stored.s, again.status, again.stored.s);
}

static void check_row(const struct verdict *said, size_t *seen)
{
    struct influx_limits limits = wide;
    limits.fixed_kinds = true;
    autofree(influx_keys) struct influx_keys *keys = influx_keys_new(&limits, 1);
    autorelease(outcome) struct outcome ours;
    read_body(keys, said->body.s, said->body.len, said->precision, &ours);
    if (!agrees(said, &ours)) {
        int which = difference(said, &ours);
        if (which < 0)
            fail_msg("%s: '%.200s' precision '%s'\nserver: %d %.300s | %.300s\n  ours: %d %.300s | "
                     "%.300s",
                     said->class, said->body_text, said->precision, said->status, said->error.s,
                     said->stored.s, ours.status, ours.error.s, ours.stored.s);
        seen[which]++;
    }
    check_again(keys, said, &ours);
}

TEST(a_thousand_odd_bodies_get_the_verdict_of_influxdb)
{
    autorelease(str) struct str table = STR_INIT;
    struct err err = ERR_INIT;
    size_t seen[ARRAY_LEN(differences)] = {0}, rows = 0;
    assert_ok(fs_read(TABLE, TABLE_MAX, &table, &err), &err);
    char *p = table.s;
    for (char *row; (row = strsep(&p, "\n"));) {
        if (*row == '#' || !*row)
            continue;
        autorelease(verdict) struct verdict said;
        assert_true(parse_row(row, &said));
        check_row(&said, seen);
        rows++;
    }
    assert_true(rows >= 1000);
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        if (!seen[i])
            fail_msg("no row shows that %s", differences[i]);
}

TEST_MAIN
