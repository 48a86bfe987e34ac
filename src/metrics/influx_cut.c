/* SPDX-License-Identifier: MIT */
/*
 * influx_cut.c — line protocol cut as InfluxDB 1.6 cuts it, oddities included: a table of its
 * verdicts on a thousand lines (influx_verdicts.txt) says that it is so.
 *
 *     measurement[,key=value…] field=value[,field=value…] [time]
 *
 * The oddities. In the head a character is escaped if the one before it is a backslash, even one
 * that is itself escaped; among the fields backslashes go in pairs; a key among them ends as in the
 * head. A backslash also escapes the newline. A quote counts only where a value is (more '=' than
 * ','), and may open and close many times: the string is all between the first byte and the last.
 */
#include "metrics/influx_parts.h"

#include <errno.h>

struct cursor {
    const char *p, *end;
    struct str *reason;
};

static bool bad(struct cursor *in, const char *reason)
{
    str_add(in->reason, reason);
    return false;
}

static bool at(const struct cursor *in, char c)
{
    return in->p < in->end && *in->p == c;
}

/* c stands here, and no backslash before it; not at the first byte of all. */
static bool at_plain(const struct cursor *in, char c)
{
    return at(in, c) && in->p[-1] != '\\';
}

static void skip_blanks(struct cursor *in)
{
    while (at(in, ' ') || at(in, '\t') || at(in, '\0'))
        in->p++;
}

const char *influx_line_end(const char *p, const char *end)
{
    bool quoted = false, fields = false;
    size_t equals = 0, commas = 0;
    for (; p < end; p++) {
        if (*p == '\\') {
            p++;
            continue;
        }
        fields = fields || *p == ' ';
        if (*p == '\n' && !quoted)
            return p;
        if (fields && *p == '"' && equals > commas)
            quoted = !quoted;
        equals += fields && !quoted && *p == '=';
        commas += fields && !quoted && *p == ',';
    }
    return end;
}

/* ---- the head ---- */

static bool cut_measurement(struct cursor *in)
{
    if (in->p == in->end || *in->p == ',')
        return bad(in, "missing measurement");
    do
        in->p++;
    while (in->p < in->end && !at_plain(in, ',') && !at_plain(in, ' '));
    return in->p < in->end || bad(in, "missing fields");
}

static bool cut_tag_key(struct cursor *in)
{
    if (in->p == in->end || at(in, ' ') || at(in, ',') || at(in, '='))
        return bad(in, "missing tag key");
    do
        in->p++;
    while (in->p < in->end && !at_plain(in, ',') && !at_plain(in, ' ') && !at_plain(in, '='));
    return at(in, '=') || bad(in, "missing tag value");
}

static bool cut_tag_value(struct cursor *in)
{
    if (in->p == in->end || at(in, ',') || at(in, ' '))
        return bad(in, "missing tag value");
    do
        in->p++;
    while (in->p < in->end && !at_plain(in, ',') && !at_plain(in, ' ') && !at_plain(in, '='));
    if (in->p == in->end)
        return bad(in, "missing fields");
    return !at(in, '=') || bad(in, "invalid tag format");
}

static bool cut_head(struct cursor *in, struct influx_cut *ret)
{
    const char *line = in->p;
    if (!cut_measurement(in))
        return false;
    ret->measurement = (struct influx_text){line, (size_t)(in->p - line)};
    while (at(in, ',')) {
        in->p++;
        if (!cut_tag_key(in))
            return false;
        in->p++;
        if (!cut_tag_value(in))
            return false;
    }
    ret->head = (struct influx_text){line, (size_t)(in->p - line)};
    return true;
}

static bool fits(struct cursor *in, size_t n)
{
    if (n > INFLUX_KEY_MAX)
        str_addf(in->reason, "max key length exceeded: %zu > %d", n, INFLUX_KEY_MAX);
    return n <= INFLUX_KEY_MAX;
}

/* ---- the fields ---- */

/* At a '=': there must be a key before it and a value behind it. Goes behind a value without
 * quotes, to the quote of one with. */
static bool cut_value(struct cursor *in)
{
    struct influx_field ignored;
    if ((in->p[-1] == ' ' || in->p[-1] == ',') && in->p[-2] != '\\')
        return bad(in, "missing field key");
    in->p++;
    if (in->p == in->end || at(in, ',') || at(in, ' '))
        return bad(in, "missing field value");
    if (at(in, '"'))
        return true;
    size_t n = influx_value_read(in->p, in->end, &ignored);
    if (!n)
        influx_value_reason(in->p, in->end, in->reason);
    in->p += n;
    return n > 0;
}

static bool cut_fields(struct cursor *in, struct influx_cut *ret)
{
    const char *first = in->p;
    bool quoted = false;
    size_t equals = 0, commas = 0;
    while (in->p < in->end && (quoted || *in->p != ' ')) {
        if (*in->p == '=' && !quoted) {
            equals++;
            if (!cut_value(in))
                return false;
            continue;
        }
        if (*in->p == '"' && equals > commas)
            quoted = !quoted;
        commas += *in->p == ',' && !quoted;
        in->p += *in->p == '\\' && in->p + 1 < in->end ? 2 : 1;
    }
    if (quoted)
        return bad(in, "unbalanced quotes");
    if (equals == 0 || commas != equals - 1)
        return bad(in, "invalid field format");
    ret->fields = (struct influx_text){first, (size_t)(in->p - first)};
    return true;
}

/* The first plain '=' from p on, or the end. */
static const char *key_end(const char *p, const char *end)
{
    const char *first = p;
    while (p < end && (*p != '=' || (p > first && p[-1] == '\\')))
        p++;
    return p;
}

static const char *field_value_end(const char *p, const char *end)
{
    bool quoted = false;
    for (; p < end && (quoted || *p != ','); p++) {
        if (*p == '\\' && p + 1 < end && (p[1] == '"' || p[1] == '\\'))
            p++;
        else if (*p == '"')
            quoted = !quoted;
    }
    return p;
}

struct influx_text influx_field_next(const char **p, const char *end, struct influx_text *ret_value)
{
    const char *first = *p, *equals = key_end(first, end);
    const char *value = MIN(equals + 1, end), *comma = field_value_end(value, end);
    *ret_value = (struct influx_text){value, (size_t)(comma - value)};
    *p = MIN(comma + 1, end);
    return (struct influx_text){first, (size_t)(equals - first)};
}

struct influx_text influx_tag_next(const char **p, const char *end, struct influx_text *ret_value)
{
    const char *first = *p, *equals = key_end(first, end);
    const char *value = MIN(equals + 1, end), *comma = value;
    while (comma < end && (*comma != ',' || comma[-1] == '\\'))
        comma++;
    *ret_value = (struct influx_text){value, (size_t)(comma - value)};
    *p = MIN(comma + 1, end);
    return (struct influx_text){first, (size_t)(equals - first)};
}

/* Backslashes were read in pairs above, by ones here: the two may not agree what a key is. */
static bool check_keys(struct cursor *in, const struct influx_cut *cut)
{
    const char *p = cut->fields.s, *end = p + cut->fields.n;
    while (p < end) {
        struct influx_text value, key = influx_field_next(&p, end, &value);
        if (value.n == 0) {
            str_add(in->reason, "invalid value: field-key=");
            str_add_n(in->reason, key.s, key.n);
            return false;
        }
        if (!fits(in, cut->head.n + 4 + key.n))
            return false;
        if (key.n == 0)
            return bad(in, "missing field key");
    }
    return true;
}

/* ---- the time ---- */

static bool cut_time(struct cursor *in, struct influx_cut *ret)
{
    const char *first = in->p;
    in->p += at(in, '-');
    while (in->p < in->end && *in->p >= '0' && *in->p <= '9')
        in->p++;
    ret->time = (struct influx_text){first, (size_t)(in->p - first)};
    return in->p == in->end || *in->p == ' ' || bad(in, "bad timestamp");
}

int influx_head_cut(const char *line, size_t n, struct influx_cut *ret, struct str *reason)
{
    struct cursor in = {line, line + n, reason};
    return cut_head(&in, ret) ? 0 : -EINVAL;
}

int influx_rest_cut(const char *line, size_t n, struct influx_cut *ret, struct str *reason)
{
    struct cursor in = {line + ret->head.n, line + n, reason};
    if (!fits(&in, ret->head.n))
        return -EINVAL;
    skip_blanks(&in);
    if (!cut_fields(&in, ret) || !check_keys(&in, ret))
        return -EINVAL;
    skip_blanks(&in);
    return cut_time(&in, ret) ? 0 : -EINVAL;
}

struct influx_text influx_unescape(struct influx_text text, const char *which, struct str *to)
{
    if (!memchr(text.s, '\\', text.n))
        return text;
    size_t first = to->len;
    for (size_t i = 0; i < text.n; i++) {
        bool escape =
            text.s[i] == '\\' && i + 1 < text.n && text.s[i + 1] && strchr(which, text.s[i + 1]);
        str_add_char(to, text.s[i + escape]);
        i += escape;
    }
    return (struct influx_text){to->s + first, to->len - first};
}
