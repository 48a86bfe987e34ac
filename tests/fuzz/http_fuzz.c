/* SPDX-License-Identifier: MIT */
/*
 * http_fuzz.c — any bytes as a path, a range, a list of tags and a form. What must hold: a star of
 * a path that is let through is one name, or names that lead nowhere else; a range is inside; a
 * form's parts are inside and in order.
 */
#include "net/http_text.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
    assert(*name && !strchr(name, '\\') && !str_eq(name, ".") && !str_eq(name, ".."));
}

static void check_rest(char *rest)
{
    assert(rest[0] != '/' && rest[strlen(rest) - 1] != '/' && !strstr(rest, "//"));
    char *at = NULL;
    for (char *name = strtok_r(rest, "/", &at); name; name = strtok_r(NULL, "/", &at))
        check_name(name);
}

static void check_star(const char *raw, size_t n, bool rest)
{
    autofree(mem) char *segment = xstrndup(raw, n);

    if (path_decode(segment, rest, NULL) < 0)
        return;
    assert(strlen(segment) <= n);
    if (rest) {
        check_rest(segment);
    } else {
        check_name(segment);
        assert(!strchr(segment, '/'));
    }
}

static void try_path(const char *text)
{
    static const char *const patterns[] = {"/", "/v1/trials/*", "/v1/*/*/files/**", "/**", "*"};
    const char *host, *star;
    size_t host_n, n;
    bool rest;
    const char *path = path_of_uri(text, &host, &host_n);

    assert(!host || (host > text && host + host_n <= text + strlen(text)));
    for (size_t p = 0; p < ARRAY_LEN(patterns); p++) {
        if (!path_matches(patterns[p], path))
            continue;
        size_t stars = 0;
        for (; (star = path_star(patterns[p], path, stars, &n, &rest)); stars++) {
            assert(star + n <= path + strlen(path));
            check_star(star, n, rest);
        }
        assert((stars > 0) == (strchr(patterns[p], '*') != NULL));
    }
}

static void try_range(const char *text)
{
    static const uint64_t sizes[] = {0, 1, 1000, UINT64_MAX};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        uint64_t from = 0, n = 0;
        enum range range = range_parse(text, sizes[i], &from, &n);
        assert(range != RANGE_PART || (from < sizes[i] && n && n <= sizes[i] - from));
    }
}

static void try_form(const char *text, size_t size)
{
    const char *at = text, *end = text + size, *name, *value, *last = text;
    size_t name_n, value_n;

    while (form_next(&at, end, &name, &name_n, &value, &value_n)) {
        assert(name >= last && name + name_n <= value && value + value_n <= at && at <= end);
        last = at;
        autofree(mem) char *copy = xstrndup(value, value_n);
        size_t n = text_decode(copy, strlen(copy), NULL);
        assert(n <= value_n);
    }
    assert(at == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    autofree(mem) char *text = xcalloc(1, size + 1);

    if (size)
        memcpy(text, data, size);
    try_path(text);
    try_range(text);
    try_form(text, size);
    if (size > 2 && strlen(text) == size && !strpbrk(text, ", \t*") && !str_starts(text, "W/"))
        assert(tag_listed(text, text));
    tag_listed(text, "\"abc\"");
    return 0;
}
