/* SPDX-License-Identifier: MIT */
/*
 * spec_fuzz.c — any bytes as a spec: an error with a sentence, or a spec whose canonical JSON reads
 * back as the same.
 */
#include "spec/parse.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int parse(const char *text, size_t n, struct spec *spec, struct err *err)
{
    static const char *const words[] = {"program", "{lr}"};
    struct spec_overrides overrides = {
        .command = words, .n_command = 2, .now_us = 1700000000000000};

    spec_init(spec);
    return spec_parse(text, n, "fuzz", "/nowhere", &overrides, spec, NULL, err);
}

static void check_spec(const struct spec *spec)
{
    autorelease(str) struct str once = STR_INIT, twice = STR_INIT, plan = STR_INIT;
    struct err err = ERR_INIT;
    struct spec again;

    spec_json(spec, &once);
    spec_plan(spec, &plan);
    int r = parse(once.s, once.len, &again, &err);
    if (r == 0)
        spec_json(&again, &twice);
    /* a spec near the size caps may be longer in its canonical form */
    assert(r == 0 ? str_eq(once.s, twice.s) : strstr(err_text(&err), "more than") != NULL);
    spec_release(&again);
    err_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct err err = ERR_INIT;
    struct spec spec;
    int r = parse((const char *)bytes, n, &spec, &err);

    assert(r == 0 || err_text(&err)[0]);
    if (r == 0)
        check_spec(&spec);
    spec_release(&spec);
    err_release(&err);
    return 0;
}
