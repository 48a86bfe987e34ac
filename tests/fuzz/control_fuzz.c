/* SPDX-License-Identifier: MIT */
/*
 * control_fuzz.c — whatever stands in the control page or the parameter file, the SDK's reader
 * must neither crash nor read past it. The input is taken as a page, and as JSON text.
 */
#include "hone_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void measure(const char *name, enum hone_kind kind, const char *text, void *arg)
{
    size_t *total = arg;
    assert(kind <= HONE_TEXT);
    *total += strlen(name) + strlen(text);
}

static void feed_page(const uint8_t *bytes, size_t n)
{
    struct hone_page *page = calloc(1, sizeof(*page));
    struct hone_asked asked = {0};
    if (!page)
        return;
    memcpy(page, bytes, n < sizeof(*page) ? n : sizeof(*page));
    bool news = hone_page_read(page, &asked);
    assert(!news || asked.generation % 2 == 0);
    assert(!news || !hone_page_read(page, &asked));
    free(page);
}

static void feed_json(const uint8_t *bytes, size_t n)
{
    char *json = malloc(n + 1);
    size_t total = 0;
    if (!json)
        return;
    if (n)
        memcpy(json, bytes, n);
    json[n] = '\0';
    hone_json_each(json, measure, &total);
    assert(total <= n);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    feed_page(bytes, n);
    feed_json(bytes, n);
    return 0;
}
