/* SPDX-License-Identifier: MIT */
/*
 * sha256.h — a hash of bytes that come piece by piece, by libcrypto, which is opened on first use.
 */
#ifndef HONE_NET_SHA256_H
#define HONE_NET_SHA256_H

#include "base/err.h"

struct sha256;

/* -ENOTSUP: libcrypto is not there; the sentence names the package. */
int sha256_new(struct sha256 **ret, struct err *err);
void sha256_free(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t n);
/* In hex; nothing is added after it. */
void sha256_finish(struct sha256 *sha, char ret[65]);

#endif
