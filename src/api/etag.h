/* SPDX-License-Identifier: MIT */
/*
 * etag.h — answers that name their content: who has it already gets 304 and no body.
 */
#ifndef HONE_ETAG_H
#define HONE_ETAG_H

#include "api/web_route.h"

#define ETAG_SIZE 20 /* "0123456789abcdef" with its quotes and a NUL */

/* Of these bytes. */
void etag_format(const char *bytes, size_t n, char ret[ETAG_SIZE]);
/* Is it in an If-None-Match? NULL: no. */
bool etag_listed(const char *list, const char *etag);
/* Answer with JSON, 200 or 304; `body` is taken. */
void etag_json(struct web_call *call, struct str *body);
/* The same with bytes that are no text. */
void etag_bytes(struct web_call *call, struct str *body);
/* JSON with a tag that is known, and a body that is whole. */
void etag_reply(struct web_call *call, const char *etag, struct str *body);

#endif
