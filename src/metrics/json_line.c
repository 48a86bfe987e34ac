/* SPDX-License-Identifier: MIT */
/*
 * json_line.c — a JSON object at the end of a line: {"epoch": 3, "val": {"loss": 0.4}} gives
 * "val.loss" at epoch 3. Also what Python prints for a dictionary: single quotes, nan, None,
 * tensor(0.4).
 *
 * Not Jansson: it refuses NaN and Infinity, which Python's json writes and which matter most to
 * us, and it would build a tree only to be walked once.
 */
#include "metrics/token.h"

#define JSON_DEPTH_MAX 8

struct json_scan {
    struct line *line;
    const char *p, *end;
    struct str *path; /* of the member being read: val.loss */
    int depth;
};

static bool read_value(struct json_scan *scan, bool keep);

static void skip_spaces(struct json_scan *scan)
{
    while (scan->p < scan->end && (*scan->p == ' ' || *scan->p == '\t'))
        scan->p++;
}

static bool take(struct json_scan *scan, char c)
{
    skip_spaces(scan);
    if (scan->p >= scan->end || *scan->p != c)
        return false;
    scan->p++;
    return true;
}

/* The inside of a quoted text, escapes left as they are. */
static bool read_text(struct json_scan *scan, const char **ret_s, size_t *ret_n)
{
    skip_spaces(scan);
    if (scan->p >= scan->end || (*scan->p != '"' && *scan->p != '\''))
        return false;
    char quote = *scan->p++;
    *ret_s = scan->p;
    while (scan->p < scan->end && *scan->p != quote)
        scan->p += *scan->p == '\\' && scan->p + 1 < scan->end ? 2 : 1;
    if (scan->p >= scan->end)
        return false;
    *ret_n = (size_t)(scan->p++ - *ret_s);
    return true;
}

static void add_value(struct json_scan *scan, const struct number *number)
{
    static const char *const clocks[] = {"ts", "time", "timestamp", "_timestamp"};
    const struct str *path = scan->path;
    enum axis axis = scan->depth == 1 && number->whole ? axis_find(path->s, path->len) : AXIS_NONE;
    if (line_is_setting(scan->line, path->s, path->len, number->value))
        return;
    if (axis != AXIS_NONE && line_set_axis_number(scan->line, axis, number))
        return;
    if (number->value >= 1e9 && text_in(path->s, path->len, clocks, ARRAY_LEN(clocks)))
        return;
    line_add_output(scan->line, path->s, path->len, number->value, false);
}

/* A text is a value when all of it is nan or inf, or, in Python's quotes, a number. */
static bool read_text_value(struct json_scan *scan, bool keep)
{
    const char *s;
    size_t n;
    struct number number = {.whole = false};
    bool python = *scan->p == '\'';
    if (!read_text(scan, &s, &n))
        return false;
    size_t used = number_parse_special(s, s + n, &number.value);
    if (!used && python)
        used = value_parse(s, s + n, &number.value);
    if (keep && n && used == n)
        add_value(scan, &number);
    return true;
}

static bool read_word_value(struct json_scan *scan, bool keep)
{
    static const struct {
        const char *word;
        bool is_value;
        double value;
    } words[] = {{"true", true, 1}, {"false", true, 0}, {"null", false, 0}, {"none", false, 0}};
    const char *s = scan->p;
    while (scan->p < scan->end && word_char(scan->p, scan->end))
        scan->p++;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!text_is(s, (size_t)(scan->p - s), words[i].word))
            continue;
        if (keep && words[i].is_value)
            add_value(scan, &(struct number){.value = words[i].value});
        return true;
    }
    return false;
}

static bool read_number_value(struct json_scan *scan, bool keep)
{
    struct number number = {.whole = false};
    double value;
    size_t n = value_parse(scan->p, scan->end, &value);
    if (!n)
        return false;
    number.whole = number_parse(scan->p, scan->end, &number) == n && number.whole;
    number.value = value;
    scan->p += n;
    if (scan->p < scan->end && *scan->p == '.') /* "1." */
        scan->p++;
    if (keep)
        add_value(scan, &number);
    return true;
}

static bool read_array(struct json_scan *scan)
{
    if (take(scan, ']'))
        return true;
    do {
        if (!read_value(scan, false))
            return false;
    } while (take(scan, ','));
    return take(scan, ']');
}

static bool read_member(struct json_scan *scan, bool keep)
{
    const char *key;
    size_t n, before = scan->path->len;
    if (!read_text(scan, &key, &n) || !take(scan, ':'))
        return false;
    if (before)
        str_add_char(scan->path, '.');
    str_add_n(scan->path, key, n);
    bool ok = read_value(scan, keep);
    str_cut(scan->path, before);
    return ok;
}

static bool read_object(struct json_scan *scan, bool keep)
{
    if (take(scan, '}'))
        return true;
    do {
        if (!read_member(scan, keep))
            return false;
    } while (take(scan, ','));
    return take(scan, '}');
}

static bool read_nested(struct json_scan *scan, bool keep)
{
    if (scan->depth >= JSON_DEPTH_MAX)
        return false;
    scan->depth++;
    bool ok = *scan->p++ == '{' ? read_object(scan, keep) : read_array(scan);
    scan->depth--;
    return ok;
}

static bool read_value(struct json_scan *scan, bool keep)
{
    skip_spaces(scan);
    if (scan->p >= scan->end)
        return false;
    switch (*scan->p) {
    case '{':
    case '[':
        return read_nested(scan, keep);
    case '"':
    case '\'':
        return read_text_value(scan, keep);
    default:
        return read_number_value(scan, keep) || read_word_value(scan, keep);
    }
}

bool json_line_read(struct line *line, const char *s, size_t n)
{
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    const char *open = n && s[n - 1] == '}' ? memchr(s, '{', n) : NULL;
    if (!open)
        return false;
    struct json_scan scan = {.line = line, .p = open, .end = s + n, .path = &line->work[0]};
    size_t before = line->readings.len;
    int64_t axis[AXES];
    memcpy(axis, line->axis, sizeof(axis));
    str_cut(scan.path, 0);
    if (read_value(&scan, true) && scan.p == scan.end)
        return true;
    line_cut(line, before);
    memcpy(line->axis, axis, sizeof(axis));
    return false;
}
