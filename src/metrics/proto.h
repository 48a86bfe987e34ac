/* SPDX-License-Identifier: MIT */
/*
 * proto.h — the wire format of protocol buffers, read field by field without copying. Only the
 * reader of a message knows what its fields mean; one that it does not know it passes over. Private
 * to metrics/.
 */
#ifndef HONE_METRICS_PROTO_H
#define HONE_METRICS_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto { /* the rest of a message */
    const uint8_t *p, *end;
    bool bad; /* it is no message: what was read of it is void */
};
enum proto_wire { PROTO_VARINT = 0, PROTO_64 = 1, PROTO_BYTES = 2, PROTO_32 = 5 };
struct proto_field {
    uint32_t number;
    enum proto_wire wire;
    uint64_t value;    /* VARINT, 64, 32 */
    const uint8_t *at; /* BYTES: n of them, in the message */
    size_t n;
};

/* The next field. False at the end, and when the rest makes no sense: then `bad`. */
bool proto_next(struct proto *in, struct proto_field *ret);
/* The message inside a field. */
struct proto proto_inside(const struct proto_field *field);
/* Is it this field, as this kind? A known number of another kind is passed over, as protobuf does.
 */
static inline bool proto_is(const struct proto_field *field, uint32_t number, enum proto_wire wire)
{
    return field->number == number && field->wire == wire;
}
/* The first number of a repeated field, packed or not. False: it is of another kind, or empty. */
bool proto_first(const struct proto_field *field, enum proto_wire wire, uint64_t *ret);

double proto_double(uint64_t bits);
double proto_float(uint64_t bits); /* exact */
double proto_half(uint64_t bits);
double proto_bfloat16(uint64_t bits);

#endif
