/* SPDX-License-Identifier: MIT */
/*
 * http_text.h — the small texts in the head of a request: paths and their escapes, ranges, tags.
 * Nothing here does I/O.
 */
#ifndef HONE_NET_HTTP_TEXT_H
#define HONE_NET_HTTP_TEXT_H

#include "base/err.h"

/* %41 becomes an A, in place and once; a % without two digits stays. Returns the new length, at
 * most n; *ret_odd (may be NULL): there was such a % or a NUL came out. */
size_t text_decode(char *s, size_t n, bool *ret_odd);

/* The next name=value of a form, as it came; its parts begin at ret_name and ret_value and *at
 * moves on. False: there is none. */
bool form_next(const char **at, const char *end, const char **ret_name, size_t *ret_name_n,
               const char **ret_value, size_t *ret_value_n);

/* Does a raw path fit a route's? '*' is one segment, a last "**" all the rest, which is not empty.
 */
bool path_matches(const char *pattern, const char *path);
/* The i-th star of a pattern that has matched stands for these n bytes of the raw path; NULL: there
 * is none. *ret_rest: it is "**". */
const char *path_star(const char *pattern, const char *path, size_t i, size_t *ret_n,
                      bool *ret_rest);
/* Decode a segment in place. One '*' may not hold a '/', '\' or be "." or ".."; none of the
 * segments of a "**" may be that or empty: -ENOENT. A broken escape, or a NUL: -EINVAL. With a
 * sentence. */
int path_decode(char *segment, bool rest, struct err *err);
/* "http://host:80/path" is "/path", and its host begins at *ret_host; others are what they are. */
const char *path_of_uri(const char *uri, const char **ret_host, size_t *ret_host_n);

enum range { RANGE_ALL, RANGE_PART, RANGE_NONE };
/* "bytes=0-499", "bytes=500-", "bytes=-500" of `size` bytes: PART sets both. ALL: it is something
 * else or several; NONE: no byte is there. */
enum range range_parse(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_n);

/* Content-Disposition of a file that is to be saved under the last part of its path: in plain
 * letters, and as it is (RFC 6266). Free it. */
char *attachment_text(const char *path);

/* Is `tag` ("\"abc\"") in the list of If-None-Match? A W/ before does not count. */
bool tag_listed(const char *list, const char *tag);

#endif
