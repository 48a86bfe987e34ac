/* SPDX-License-Identifier: MIT */
/*
 * proto.c — a message is a row of fields: a varint that says number and kind, then the value.
 *
 * Invariant: p ≤ end; every field lies inside its message whatever lengths it claims.
 */
#include "metrics/proto.h"

#include <math.h>
#include <string.h>

static bool read_varint(struct proto *in, uint64_t *ret)
{
    uint64_t value = 0;

    for (unsigned shift = 0; in->p < in->end && shift < 70; shift += 7) {
        uint8_t byte = *in->p++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

/* Little-endian, n bytes. */
static bool read_fixed(struct proto *in, size_t n, uint64_t *ret)
{
    uint64_t value = 0;

    if ((size_t)(in->end - in->p) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)in->p[i] << (8 * i);
    in->p += n;
    *ret = value;
    return true;
}

static bool read_bytes(struct proto *in, struct proto_field *ret)
{
    uint64_t n;

    if (!read_varint(in, &n) || n > (uint64_t)(in->end - in->p))
        return false;
    ret->at = in->p;
    ret->n = (size_t)n;
    in->p += n;
    return true;
}

static bool read_value(struct proto *in, struct proto_field *ret)
{
    switch (ret->wire) {
    case PROTO_VARINT:
        return read_varint(in, &ret->value);
    case PROTO_64:
        return read_fixed(in, 8, &ret->value);
    case PROTO_32:
        return read_fixed(in, 4, &ret->value);
    case PROTO_BYTES:
        return read_bytes(in, ret);
    }
    return false; /* groups: nobody writes them any more */
}

bool proto_next(struct proto *in, struct proto_field *ret)
{
    uint64_t key;

    if (in->bad || in->p >= in->end)
        return false;
    *ret = (struct proto_field){0};
    if (read_varint(in, &key) && key >> 3 && key >> 3 <= UINT32_MAX) {
        ret->number = (uint32_t)(key >> 3);
        ret->wire = (enum proto_wire)(key & 7);
        if (read_value(in, ret))
            return true;
    }
    in->bad = true;
    return false;
}

struct proto proto_inside(const struct proto_field *field)
{
    return (struct proto){.p = field->at, .end = field->at + field->n};
}

bool proto_first(const struct proto_field *field, enum proto_wire wire, uint64_t *ret)
{
    struct proto_field first = {.wire = wire};

    *ret = field->value;
    if (field->wire != PROTO_BYTES)
        return field->wire == wire;
    struct proto in = proto_inside(field);
    if (in.p >= in.end || wire == PROTO_BYTES || !read_value(&in, &first))
        return false;
    *ret = first.value;
    return true;
}

double proto_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

double proto_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof(x));
    return (double)x;
}

/* One sign, five bits of exponent, ten of fraction. */
double proto_half(uint64_t bits)
{
    int exponent = (int)(bits >> 10) & 31;
    double fraction = (double)(bits & 1023);
    double x = exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return bits & 0x8000 ? -x : x;
}

double proto_bfloat16(uint64_t bits)
{
    return proto_float((bits & 0xffff) << 16);
}
