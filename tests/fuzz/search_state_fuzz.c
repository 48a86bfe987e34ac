/* SPDX-License-Identifier: MIT */
/*
 * search_state_fuzz.c — any bytes as a saved search: refused with a sentence, or a search that goes
 * on and saves itself so that it can be loaded again. The first byte says whether the rest comes
 * as it is or gets a right checksum, so that what lies behind that is reached.
 */
#include "lib/save.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define TRIALS_MAX 50 /* more only takes time */

static void go_on(hone_search *s)
{
    char error[500] = "";
    size_t n;
    int64_t id = hone_search_ask(s);
    double values[64] = {1, 2, 3};

    if (id > 0 && s->n_values <= 64 && hone_search_tell(s, id, values, s->n_values) < 0)
        abort();
    for (int64_t i = 1; i <= hone_search_count(s); i++)
        if (!hone_search_trial(s, i))
            abort();
    hone_search_best(s);
    hone_search_front(s);
    const void *saved = hone_search_save(s, &n);
    void *again = xmemdup(saved, n);
    hone_search *t = hone_search_load(again, n, error, sizeof(error));
    if (!t)
        abort();
    size_t m;
    saved = hone_search_save(t, &m);
    if (m != n || memcmp(saved, again, n) != 0)
        abort();
    hone_search_free(t);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    autorelease(str) struct str body = STR_INIT, sealed = STR_INIT;
    char error[500] = "";

    if (n == 0)
        return 0;
    str_add_n(&body, (const char *)bytes + 1, n - 1);
    if (bytes[0] & 1)
        state_seal(&body, &sealed);
    else
        str_add_n(&sealed, body.s, body.len);
    hone_search *s = hone_search_load(sealed.s, sealed.len, error, sizeof(error));
    if (!s && !*error)
        abort();
    if (s && hone_search_count(s) <= TRIALS_MAX)
        go_on(s);
    hone_search_free(s);
    return 0;
}
