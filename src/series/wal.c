/* SPDX-License-Identifier: MIT */
/*
 * wal.c — records of the log as bytes and back.
 *
 * After damage the next record is searched byte by byte: a place counts if its type and length are
 * possible and its checksum fits. Only lengths that are usual are tried then, or a long torn tail
 * would be summed up thousands of times.
 */
#include "series/wal.h"

#include "base/crc32c.h"

#include <errno.h>

#define SEARCHED_MOST (1u << 20)

/* ---- writing ---- */
static void put_u32(char *to, uint32_t x)
{
    memcpy(to, &x, sizeof(x));
}

static uint32_t get_u32(const unsigned char *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof(x));
    return x;
}

static char *put_varint(char *to, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *to++ = (char)(x | 0x80);
    *to++ = (char)x;
    return to;
}

/* Small differences of either sign become small numbers; wraps around without loss. */
static char *put_delta(char *to, uint64_t x, uint64_t before)
{
    uint64_t d = x - before;
    return put_varint(to, (d << 1) ^ (0 - (d >> 63)));
}

static size_t record_begin(struct str *to, enum wal_type type)
{
    size_t at = to->len;
    char head[WAL_HEAD] = {0};

    head[8] = (char)type;
    str_add_n(to, head, sizeof(head));
    return at;
}

static void record_end(struct str *to, size_t at)
{
    put_u32(to->s + at, (uint32_t)(to->len - at - WAL_HEAD));
    put_u32(to->s + at + 4, 0);
    uint32_t crc = crc32c_fast(0, to->s + at, 4);
    put_u32(to->s + at + 4, crc32c_fast(crc, to->s + at + 8, to->len - at - 8));
}

void wal_put_begin(struct str *to)
{
    size_t at = record_begin(to, WAL_BEGIN);
    str_add(to, WAL_VERSION);
    record_end(to, at);
}

void wal_put_name(struct str *to, uint32_t number, const char *text)
{
    char bytes[10];
    size_t at = record_begin(to, WAL_NAME);

    str_add_n(to, bytes, (size_t)(put_varint(bytes, number) - bytes));
    str_add(to, text);
    record_end(to, at);
}

void wal_put_drop(struct str *to, int64_t experiment, int64_t trial)
{
    char bytes[20];
    size_t at = record_begin(to, WAL_DROP);
    char *end = put_delta(put_delta(bytes, (uint64_t)experiment, 0), (uint64_t)trial, 0);

    str_add_n(to, bytes, (size_t)(end - bytes));
    record_end(to, at);
}

static bool same_names(const struct series_row *a, const struct series_row *b)
{
    return a->n == b->n &&
           (a->names == b->names || memcmp(a->names, b->names, a->n * sizeof(*a->names)) == 0);
}

static void put_row(struct str *to, const struct series_row *row, const struct series_row *before,
                    const uint32_t *local)
{
    str_reserve(to, 64 + row->n * 13);
    char *p = to->s + to->len;
    bool same = before && same_names(row, before);

    *p++ = (char)!same;
    if (!same) {
        p = put_varint(p, row->n);
        for (size_t i = 0; i < row->n; i++)
            p = put_varint(p, local[row->names[i]]);
    }
    p = put_delta(p, (uint64_t)row->step, before ? (uint64_t)before->step : 0);
    p = put_delta(p, (uint64_t)row->time_ns, before ? (uint64_t)before->time_ns : 0);
    p = put_delta(p, row->end, before ? before->end : 0);
    memcpy(p, row->values, row->n * sizeof(double));
    to->len = (size_t)(p - to->s) + row->n * sizeof(double);
}

void wal_put_rows(struct str *to, const struct series_source *source, const struct series_row *rows,
                  size_t n, const uint32_t *local)
{
    char bytes[64], *p = bytes;
    size_t at = record_begin(to, WAL_ROWS);

    p = put_delta(p, (uint64_t)source->experiment, 0);
    p = put_delta(p, (uint64_t)source->trial, 0);
    p = put_delta(p, (uint64_t)source->attempt, 0);
    *p++ = (char)source->file;
    p = put_varint(p, n);
    str_add_n(to, bytes, (size_t)(p - bytes));
    for (size_t i = 0; i < n; i++)
        put_row(to, &rows[i], i ? &rows[i - 1] : NULL, local);
    record_end(to, at);
}

/* ---- reading ---- */
static bool record_at(const unsigned char *bytes, size_t n, size_t at, struct wal_record *ret)
{
    if (n - at < WAL_HEAD || bytes[at + 8] == 0 || bytes[at + 8] >= WAL_TYPES)
        return false;
    uint32_t size = get_u32(bytes + at);
    if (size > n - at - WAL_HEAD)
        return false;
    uint32_t crc = crc32c_fast(0, bytes + at, 4);
    if (crc32c_fast(crc, bytes + at + 8, (size_t)size + 1) != get_u32(bytes + at + 4))
        return false;
    *ret = (struct wal_record){(enum wal_type)bytes[at + 8], bytes + at + WAL_HEAD, size, at,
                               at + WAL_HEAD + size};
    return true;
}

bool wal_next(const unsigned char *bytes, size_t n, size_t from, struct wal_record *ret)
{
    if (from < n && record_at(bytes, n, from, ret))
        return true;
    for (size_t at = from + 1; at < n && n - at >= WAL_HEAD; at++)
        if (get_u32(bytes + at) <= SEARCHED_MOST && record_at(bytes, n, at, ret))
            return true;
    return false;
}

static bool get_varint(const unsigned char **p, const unsigned char *end, uint64_t *ret)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        unsigned char byte = *(*p)++;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = x;
            return true;
        }
    }
    return false;
}

static bool get_delta(const unsigned char **p, const unsigned char *end, uint64_t before,
                      uint64_t *ret)
{
    uint64_t x = 0;

    if (!get_varint(p, end, &x))
        return false;
    *ret = before + ((x >> 1) ^ (0 - (x & 1)));
    return true;
}

static bool get_signed(const unsigned char **p, const unsigned char *end, int64_t *x)
{
    uint64_t bits = 0;
    bool ok = get_delta(p, end, (uint64_t)*x, &bits);

    *x = ok ? (int64_t)bits : *x;
    return ok;
}

int wal_get_name(const struct wal_record *record, uint32_t *ret_number, const char **ret_text,
                 size_t *ret_n)
{
    const unsigned char *p = record->payload, *end = p + record->size;
    uint64_t number = 0;

    if (!get_varint(&p, end, &number) || number >= SERIES_NAMES_MAX || p == end ||
        end - p > SERIES_NAME_MAX || memchr(p, '\0', (size_t)(end - p)))
        return -EBADMSG;
    *ret_number = (uint32_t)number;
    *ret_text = (const char *)p;
    *ret_n = (size_t)(end - p);
    return 0;
}

int wal_get_drop(const struct wal_record *record, int64_t *ret_experiment, int64_t *ret_trial)
{
    const unsigned char *p = record->payload, *end = p + record->size;

    *ret_experiment = *ret_trial = 0;
    if (!get_signed(&p, end, ret_experiment) || !get_signed(&p, end, ret_trial) || p != end)
        return -EBADMSG;
    return 0;
}

int wal_rows_init(struct wal_rows *rows, const struct wal_record *record)
{
    uint64_t n = 0;

    *rows = (struct wal_rows){.p = record->payload, .end = record->payload + record->size};
    if (!get_signed(&rows->p, rows->end, &rows->source.experiment) ||
        !get_signed(&rows->p, rows->end, &rows->source.trial) ||
        !get_signed(&rows->p, rows->end, &rows->source.attempt) || rows->p == rows->end ||
        *rows->p >= SERIES_FILES)
        return -EBADMSG;
    rows->source.file = (enum series_file) * rows->p++;
    if (!get_varint(&rows->p, rows->end, &n))
        return -EBADMSG;
    rows->left = n;
    return 0;
}

static int get_names(struct wal_rows *rows)
{
    uint64_t n = 0, number = 0;

    if (!get_varint(&rows->p, rows->end, &n) || n == 0 || n > (size_t)(rows->end - rows->p))
        return -EBADMSG;
    rows->names.len = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!get_varint(&rows->p, rows->end, &number) || number >= SERIES_NAMES_MAX)
            return -EBADMSG;
        vec_push(&rows->names, (uint32_t)number);
    }
    return 0;
}

int wal_rows_next(struct wal_rows *rows)
{
    struct series_row *row = &rows->row;

    if (!rows->left)
        return rows->p == rows->end ? 0 : -EBADMSG;
    if (rows->p == rows->end || *rows->p > 1)
        return -EBADMSG;
    if (*rows->p++ && get_names(rows) < 0)
        return -EBADMSG;
    if (!get_signed(&rows->p, rows->end, &row->step) ||
        !get_signed(&rows->p, rows->end, &row->time_ns) ||
        !get_delta(&rows->p, rows->end, row->end, &row->end))
        return -EBADMSG;
    size_t n = rows->names.len, bytes = n * sizeof(double);
    if (!n || (size_t)(rows->end - rows->p) < bytes)
        return -EBADMSG;
    vec_reserve(&rows->values, n);
    memcpy(rows->values.at, rows->p, bytes);
    rows->p += bytes;
    rows->left--;
    row->n = n;
    row->names = rows->names.at;
    row->values = rows->values.at;
    return 1;
}

void wal_rows_release(struct wal_rows *rows)
{
    vec_release(&rows->names);
    vec_release(&rows->values);
}
