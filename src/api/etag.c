/* SPDX-License-Identifier: MIT */
/*
 * etag.c — a tag is a hash of the body: whatever changes it changes the tag, and nothing else does.
 */
#include "api/etag.h"
#include "api/rows_text.h"

/* FNV-1a, eight bytes at a time. */
void etag_format(const char *bytes, size_t n, char ret[ETAG_SIZE])
{
    uint64_t hash = 0xcbf29ce484222325ULL, word;
    size_t i = 0;

    for (; i + sizeof(word) <= n; i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        hash = (hash ^ word) * 0x100000001b3ULL;
        hash ^= hash >> 29;
    }
    for (; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3ULL;
    hash ^= hash >> 32;
    *ret = '"';
    memcpy(hex_put(ret + 1, hash), "\"", 2);
}

bool etag_listed(const char *list, const char *etag)
{
    return list && (strcmp(list, "*") == 0 || strstr(list, etag));
}

static void reply(struct web_call *call, const char *type, const char *etag, struct str *body)
{
    const char *const headers[] = {
        "ETag",       etag, "Cache-Control", "no-cache", *call->cursor ? WEB_CURSOR : NULL,
        call->cursor, NULL};
    bool known = etag_listed(http_header(call->request, "If-None-Match"), etag);

    http_reply(call->request, known ? 304 : 200, type, known ? NULL : body, headers);
    str_release(body); /* if it was not taken */
}

void etag_reply(struct web_call *call, const char *etag, struct str *body)
{
    reply(call, "application/json", etag, body);
}

void etag_json(struct web_call *call, struct str *body)
{
    char etag[ETAG_SIZE];

    str_add_char(body, '\n');
    etag_format(body->s, body->len, etag);
    etag_reply(call, etag, body);
}

void etag_bytes(struct web_call *call, struct str *body)
{
    char etag[ETAG_SIZE];

    etag_format(body->s, body->len, etag);
    reply(call, "application/octet-stream", etag, body);
}
