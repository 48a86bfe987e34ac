/* SPDX-License-Identifier: MIT */
/*
 * segment_head.c — the head of a block as bytes.
 *
 *     's' 2 │ kind │ CRC of all that follows up to the payload │ CRC of the payload │ varints:
 * size, source, group, name, count, NaNs, infinities, row │ of values: their statistics; of steps,
 *     times and rows: smallest, and from there to the largest
 *
 * Statistics of values that were float32 or decimal are as short as these. Segments of the first
 * version have heads of 48 bytes and plain numbers behind; they are read, and no more written.
 */
#include "series/segment.h"

#include "base/crc32c.h"
#include "series/bits.h"

#include <math.h>

#define HEAD_MARK_1 0x4b4c4273u /* "sBLK" */
#define HEAD_FIRST  's'         /* of both versions */
#define HEAD_SECOND 2
#define HEAD_SUMMED 7 /* bytes before what the head's CRC is of */

static bool has_span(unsigned kind)
{
    return kind >= SEGMENT_STEPS && kind <= SEGMENT_ROWS;
}

/* ---- the four values among the statistics, in a byte for each pair of bits and what follows ----
 */
enum { NUMBER_DOUBLE, NUMBER_FLOAT, NUMBER_DECIMAL, NUMBER_SAME };
#define DECIMAL_MAX 9

static const double tens[DECIMAL_MAX + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static bool is_decimal(double x, unsigned e, int64_t *ret)
{
    double m = x * tens[e];

    if (!(fabs(m) < 0x1p31) || (x == 0 && signbit(x)))
        return false;
    *ret = llrint(m);
    return (double)*ret / tens[e] == x;
}

/* The fewest digits with which all that can be decimals are; what cannot is left out. */
static unsigned digits_of(const double *values, size_t n)
{
    unsigned e = 0;
    int64_t m;

    for (size_t i = 0; i < n; i++) {
        unsigned own = 0;
        while (own < DECIMAL_MAX && !is_decimal(values[i], own, &m))
            own++;
        if (is_decimal(values[i], own, &m))
            e = MAX(e, own);
    }
    return e;
}

static bool same(double a, double b)
{
    return bits_of(a) == bits_of(b);
}

static unsigned char *put_number(unsigned char *to, double x, unsigned e, unsigned *ret_how)
{
    float narrow = (float)x;
    int64_t m;

    if (is_decimal(x, e, &m) && varint_size(zigzag((uint64_t)m)) <= 4) {
        *ret_how = NUMBER_DECIMAL;
        return put_varint(to, zigzag((uint64_t)m));
    }
    if (same((double)narrow, x)) {
        *ret_how = NUMBER_FLOAT;
        memcpy(to, &narrow, 4);
        return to + 4;
    }
    *ret_how = NUMBER_DOUBLE;
    store_u64(to, bits_of(x));
    return to + 8;
}

static unsigned char *put_numbers(unsigned char *to, const struct segment_numbers *numbers)
{
    const double values[4] = {numbers->min, numbers->max, numbers->first, numbers->last};
    unsigned e = digits_of(values, 4), how[4];
    unsigned char *start = to;

    to += 2;
    for (size_t i = 0; i < 4; i++) {
        how[i] = NUMBER_SAME;
        if (i == 0 || !same(values[i], values[i - 1]))
            to = put_number(to, values[i], e, &how[i]);
    }
    start[0] = (unsigned char)(how[0] | how[1] << 2 | how[2] << 4 | how[3] << 6);
    start[1] = (unsigned char)e;
    store_u64(to, bits_of(numbers->sum));
    store_u64(to + 8, bits_of(numbers->squares));
    return to + 16;
}

static bool get_u64(struct bytes_in *in, uint64_t *ret)
{
    if (in_left(in) < 8)
        return false;
    *ret = load_u64(in->at);
    in->at += 8;
    return true;
}

static bool get_number(struct bytes_in *in, unsigned how, unsigned e, double *ret)
{
    uint64_t bits;
    float narrow;

    if (how == NUMBER_SAME)
        return true;
    if (how == NUMBER_DECIMAL) {
        if (!get_varint(in, &bits))
            return false;
        *ret = (double)(int64_t)unzigzag(bits) / tens[e];
        return true;
    }
    if (how == NUMBER_FLOAT) {
        if (in_left(in) < 4)
            return false;
        memcpy(&narrow, in->at, 4);
        in->at += 4;
        *ret = (double)narrow;
        return true;
    }
    if (!get_u64(in, &bits))
        return false;
    *ret = double_of(bits);
    return true;
}

static bool get_numbers(struct bytes_in *in, struct segment_numbers *ret)
{
    double values[4] = {0, 0, 0, 0};
    uint64_t sum, squares;
    unsigned how, e;

    if (!get_byte(in, &how) || !get_byte(in, &e) || e > DECIMAL_MAX)
        return false;
    for (size_t i = 0; i < 4; i++) {
        values[i] = i ? values[i - 1] : 0;
        if (!get_number(in, how >> (2 * i) & 3, e, &values[i]))
            return false;
    }
    if (!get_u64(in, &sum) || !get_u64(in, &squares))
        return false;
    *ret = (struct segment_numbers){values[0],          values[1], double_of(sum),
                                    double_of(squares), values[2], values[3]};
    return true;
}

/* ---- all of it ---- */

size_t segment_head_put(struct segment_head *head, unsigned char to[SEGMENT_HEAD_MAX])
{
    const uint64_t fields[] = {head->size,  head->source, head->group, head->name,
                               head->count, head->nans,   head->infs,  head->row};
    unsigned char *p = to + HEAD_SUMMED;

    to[0] = HEAD_FIRST;
    to[1] = HEAD_SECOND;
    to[2] = (unsigned char)head->kind;
    memcpy(p, &head->crc, 4);
    p += 4;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        p = put_varint(p, fields[i]);
    if (head->kind == SEGMENT_VALUES)
        p = put_numbers(p, &head->numbers);
    if (has_span(head->kind)) {
        p = put_varint(p, zigzag((uint64_t)head->span.first));
        p = put_varint(p, (uint64_t)head->span.last - (uint64_t)head->span.first);
    }
    head->length = (uint32_t)(p - to);
    uint32_t crc = crc32c_fast(0, to + 2, 1);
    crc = crc32c_fast(crc, to + HEAD_SUMMED, head->length - HEAD_SUMMED);
    memcpy(to + 3, &crc, 4);
    return head->length;
}

static bool get_fields(struct bytes_in *in, struct segment_head *ret)
{
    static const uint64_t most[] = {UINT32_MAX,   UINT32_MAX,   UINT32_MAX,   UINT32_MAX,
                                    BLOCK_VALUES, BLOCK_VALUES, BLOCK_VALUES, UINT64_MAX};
    uint64_t x[ARRAY_LEN(most)];

    for (size_t i = 0; i < ARRAY_LEN(most); i++)
        if (!get_varint(in, &x[i]) || x[i] > most[i])
            return false;
    ret->size = (uint32_t)x[0];
    ret->source = (uint32_t)x[1];
    ret->group = (uint32_t)x[2];
    ret->name = (uint32_t)x[3];
    ret->count = (uint16_t)x[4];
    ret->nans = (uint16_t)x[5];
    ret->infs = (uint16_t)x[6];
    ret->row = x[7];
    return true;
}

static bool get_span(struct bytes_in *in, struct segment_span *ret)
{
    uint64_t first, more;

    if (!get_varint(in, &first) || !get_varint(in, &more))
        return false;
    ret->first = (int64_t)unzigzag(first);
    ret->last = (int64_t)((uint64_t)ret->first + more);
    return true;
}

static bool read_2(const unsigned char *bytes, size_t n, struct segment_head *ret)
{
    size_t most = MIN(n, (size_t)SEGMENT_HEAD_MAX);
    struct bytes_in in = {bytes + HEAD_SUMMED + 4, bytes + most};
    uint32_t crc;

    if (n < HEAD_SUMMED + 4 || bytes[1] != HEAD_SECOND)
        return false;
    ret->kind = bytes[2];
    memcpy(&ret->crc, bytes + HEAD_SUMMED, 4);
    if (!get_fields(&in, ret))
        return false;
    if (ret->kind == SEGMENT_VALUES && !get_numbers(&in, &ret->numbers))
        return false;
    if (has_span(ret->kind) && !get_span(&in, &ret->span))
        return false;
    ret->length = (uint32_t)(in.at - bytes);
    memcpy(&crc, bytes + 3, 4);
    return crc == crc32c_fast(crc32c_fast(0, bytes + 2, 1), bytes + HEAD_SUMMED,
                              ret->length - HEAD_SUMMED);
}

/* ---- the first version ---- */

struct head_1 {
    uint32_t magic, head_crc; /* of what follows it in the head, and of the extra bytes */
    uint32_t size, crc;       /* of the payload */
    uint32_t source, group, name;
    uint16_t count, extra;
    uint16_t kind, nans, infs, reserved;
    uint64_t row;
} __attribute__((packed));

static bool read_1(const unsigned char *bytes, size_t n, struct segment_head *ret)
{
    const size_t skip = offsetof(struct head_1, size);
    struct head_1 head;

    if (n < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    size_t extra = head.kind == SEGMENT_VALUES ? sizeof(ret->numbers)
                   : has_span(head.kind)       ? sizeof(ret->span)
                                               : 0;
    if (head.magic != HEAD_MARK_1 || head.extra != extra || n - sizeof(head) < extra ||
        crc32c_fast(0, bytes + skip, sizeof(head) - skip + extra) != head.head_crc)
        return false;
    *ret = (struct segment_head){
        .length = (uint32_t)(sizeof(head) + extra),
        .size = head.size,
        .crc = head.crc,
        .source = head.source,
        .group = head.group,
        .name = head.name,
        .count = head.count,
        .kind = head.kind,
        .nans = head.nans,
        .infs = head.infs,
        .row = head.row,
    };
    memcpy(head.kind == SEGMENT_VALUES ? (void *)&ret->numbers : (void *)&ret->span,
           bytes + sizeof(head), extra);
    return true;
}

bool segment_head_get(const unsigned char *bytes, size_t n, uint64_t at, struct segment_head *ret)
{
    if (at >= n || bytes[at] != HEAD_FIRST)
        return false;
    if (!read_2(bytes + at, n - at, ret) && !read_1(bytes + at, n - at, ret))
        return false;
    if (ret->kind == 0 || ret->kind >= SEGMENT_KINDS || ret->count > BLOCK_VALUES ||
        (ret->kind >= SEGMENT_STEPS && ret->count == 0))
        return false;
    return n - at - ret->length >= ret->size;
}

bool segment_next(const unsigned char *bytes, size_t n, size_t from, uint64_t *ret_offset,
                  struct segment_head *ret)
{
    const unsigned char *p = from < n ? bytes + from : NULL;

    while (p && (p = memchr(p, HEAD_FIRST, (size_t)(bytes + n - p)))) {
        *ret_offset = (uint64_t)(p - bytes);
        if (segment_head_get(bytes, n, *ret_offset, ret))
            return true;
        p++;
    }
    return false;
}
