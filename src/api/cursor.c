/* SPDX-License-Identifier: MIT */
/*
 * cursor.c — "ID-PLACE", as text.
 */
#include "api/cursor.h"

#include <errno.h>

int cursor_read(struct web_call *call, struct cursor *ret, struct err *err)
{
    const char *text = http_param(call->request, "cursor");
    char *end;

    *ret = (struct cursor){0, 0};
    if (!text || !*text)
        return 0;
    errno = 0;
    ret->id = strtoll(text, &end, 10);
    if (!errno && ret->id > 0 && *end == '-')
        ret->place = strtoll(end + 1, &end, 10);
    if (errno || *end || ret->id <= 0 || ret->place <= 0)
        return err_set(err, EINVAL, "cursor=%.40s is not one that this list gave", text);
    return 0;
}

size_t cursor_first(const struct cursor *after, enum cursor_order order, const int64_t *ids,
                    size_t n)
{
    if (!after->id)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (ids[i] == after->id)
            return i + 1;
        else if ((order == CURSOR_DOWN && ids[i] < after->id) ||
                 (order == CURSOR_UP && ids[i] > after->id))
            return i;
    return order == CURSOR_SORTED ? MIN((size_t)after->place - 1, n) : n;
}

void cursor_put(struct json_out *out, int64_t id, size_t end, size_t n)
{
    autofree(mem) char *next = end && end < n ? xasprintf("%lld-%zu", (long long)id, end) : NULL;
    json_put_text(out, "next", next);
}
