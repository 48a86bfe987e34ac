/* SPDX-License-Identifier: MIT */
/*
 * gzip.h — bodies that come compressed.
 */
#ifndef HONE_NET_GZIP_H
#define HONE_NET_GZIP_H

#include "base/err.h"
#include "base/str.h"

/* Inflate what gzip made (one member or several) and append it to `to`. -EFBIG: it would be more
 * than `max` bytes; -EINVAL: it is damaged or something else. */
int gzip_inflate(const char *bytes, size_t n, size_t max, struct str *to, struct err *err);

#endif
