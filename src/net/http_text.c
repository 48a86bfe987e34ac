/* SPDX-License-Identifier: MIT */
/*
 * http_text.c — read what a head says. A path is matched as it came and each of its segments
 * decoded once, so that no escape can become a slash, or another escape.
 */
#include "net/http_text.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

/* ---- escapes ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t text_decode(char *s, size_t n, bool *ret_odd)
{
    size_t to = 0;
    bool odd = false;

    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '%' && i + 2 < n ? hex_digit(s[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
        if (low >= 0) {
            odd |= !(high | low);
            s[to++] = (char)(high << 4 | low);
            i += 2;
        } else {
            odd |= s[i] == '%' || !s[i];
            s[to++] = s[i];
        }
    }
    if (ret_odd)
        *ret_odd = odd;
    return to;
}

bool form_next(const char **at, const char *end, const char **ret_name, size_t *ret_name_n,
               const char **ret_value, size_t *ret_value_n)
{
    const char *s = *at;

    if (s >= end)
        return false;
    const char *stop = memchr(s, '&', (size_t)(end - s));
    stop = stop ? stop : end;
    const char *equals = memchr(s, '=', (size_t)(stop - s));
    *ret_name = s;
    *ret_name_n = (size_t)((equals ? equals : stop) - s);
    *ret_value = equals ? equals + 1 : stop;
    *ret_value_n = (size_t)(stop - *ret_value);
    *at = stop < end ? stop + 1 : end;
    return true;
}

/* ---- paths ---- */

bool path_matches(const char *pattern, const char *path)
{
    for (;;) {
        if (*pattern == '*') {
            if (str_eq(pattern, "**"))
                return *path;
            size_t n = strcspn(path, "/");
            if (!n)
                return false;
            pattern++;
            path += n;
        } else if (*pattern != *path) {
            return false;
        } else if (!*pattern) {
            return true;
        } else {
            pattern++;
            path++;
        }
    }
}

const char *path_star(const char *pattern, const char *path, size_t i, size_t *ret_n,
                      bool *ret_rest)
{
    while (*pattern) {
        if (*pattern != '*') {
            pattern++;
            path++;
            continue;
        }
        *ret_rest = pattern[1] == '*';
        *ret_n = *ret_rest ? strlen(path) : strcspn(path, "/");
        if (i-- == 0)
            return path;
        pattern += *ret_rest ? 2 : 1;
        path += *ret_n;
    }
    return NULL;
}

static bool is_dots(const char *s, size_t n)
{
    return (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.');
}

static bool rest_is_plain(const char *s)
{
    for (;;) {
        size_t n = strcspn(s, "/");
        if (!n || is_dots(s, n))
            return false;
        if (!s[n])
            return true;
        s += n + 1;
    }
}

int path_decode(char *segment, bool rest, struct err *err)
{
    bool odd;
    size_t n = text_decode(segment, strlen(segment), &odd);

    segment[n] = '\0';
    if (odd)
        return err_set(err, EINVAL, "the path has a broken escape (%%) or a NUL");
    if (strchr(segment, '\\') || (!rest && strchr(segment, '/')))
        return err_set(err, ENOENT, "the path has a slash inside of a name");
    if (rest ? !rest_is_plain(segment) : is_dots(segment, n))
        return err_set(err, ENOENT, "the path has an empty name, '.' or '..'");
    return 0;
}

const char *path_of_uri(const char *uri, const char **ret_host, size_t *ret_host_n)
{
    size_t scheme = strncasecmp(uri, "http://", 7) == 0    ? 7
                    : strncasecmp(uri, "https://", 8) == 0 ? 8
                                                           : 0;
    *ret_host = NULL;
    *ret_host_n = 0;
    if (!scheme)
        return uri;
    *ret_host = uri + scheme;
    *ret_host_n = strcspn(*ret_host, "/");
    const char *path = *ret_host + *ret_host_n;
    return *path ? path : "/";
}

/* ---- ranges ---- */

/* Digits only; what is too large is the largest. */
static bool read_number(const char **s, uint64_t *ret)
{
    uint64_t x = 0;

    if (!isdigit((unsigned char)**s))
        return false;
    for (; isdigit((unsigned char)**s); (*s)++) {
        uint64_t digit = (uint64_t)(**s - '0');
        x = x > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * x + digit;
    }
    *ret = x;
    return true;
}

enum range range_parse(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_n)
{
    uint64_t from = 0, last = UINT64_MAX;

    if (strncasecmp(text, "bytes=", 6) != 0)
        return RANGE_ALL;
    text += 6;
    bool has_from = read_number(&text, &from);
    if (*text++ != '-')
        return RANGE_ALL;
    bool has_last = read_number(&text, &last);
    if (*text || (!has_from && !has_last) || (has_from && last < from))
        return RANGE_ALL;
    if (!has_from) {
        from = last < size ? size - last : 0;
        from = last ? from : size;
        last = UINT64_MAX;
    }
    if (from >= size)
        return RANGE_NONE;
    *ret_from = from;
    *ret_n = MIN(last, size - 1) - from + 1;
    return RANGE_PART;
}

/* ---- names to save under ---- */

char *attachment_text(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *slash = strrchr(path, '/');
    autorelease(str) struct str safe = STR_INIT, whole = STR_INIT;

    for (const char *p = slash ? slash + 1 : path; *p; p++) {
        bool as_is = strchr(plain, *p) != NULL;
        str_add_char(&safe, as_is ? *p : '_');
        if (as_is)
            str_add_char(&whole, *p);
        else
            str_addf(&whole, "%%%02X", (unsigned char)*p);
    }
    return xasprintf("attachment; filename=\"%s\"; filename*=UTF-8''%s", safe.s, whole.s);
}

/* ---- tags ---- */

bool tag_listed(const char *list, const char *tag)
{
    size_t n = strlen(tag);

    for (const char *s = list; *s; s += strcspn(s, ",")) {
        s += strspn(s, ", \t");
        if (*s == '*')
            return true;
        if (strncmp(s, "W/", 2) == 0)
            s += 2;
        if (n && strncmp(s, tag, n) == 0 && (!s[n] || strchr(", \t", s[n])))
            return true;
    }
    return false;
}
