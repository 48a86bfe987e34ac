/* SPDX-License-Identifier: MIT */
/*
 * v1_change.c — changes of what is recorded, over HTTP: tag, note, star, remove. Others of change.h
 * are not for the web.
 */
#include "api/web_act.h"

#include <errno.h>

static const struct web_key tag_keys[] = {
    {.name = "do", .type = KEY_WORD, .words = "tag"},
    {.name = "experiment", .type = KEY_INT, .flags = KEY_NEEDED, .min = 1, .max = UINT32_MAX},
    {.name = "trial", .type = KEY_INT, .flags = KEY_NULL, .max = UINT32_MAX},
    {.name = "tag", .type = KEY_TEXT, .flags = KEY_NEEDED, .min = 1, .max = 100},
    {.name = "add", .type = KEY_BOOL},
    {0},
};
static const struct web_key note_keys[] = {
    {.name = "do", .type = KEY_WORD, .words = "note"},
    {.name = "experiment", .type = KEY_INT, .flags = KEY_NEEDED, .min = 1, .max = UINT32_MAX},
    {.name = "trial", .type = KEY_INT, .flags = KEY_NULL, .max = UINT32_MAX},
    {.name = "text", .type = KEY_TEXT, .flags = KEY_NEEDED | KEY_NULL},
    {0},
};
static const struct web_key star_keys[] = {
    {.name = "do", .type = KEY_WORD, .words = "star"},
    {.name = "experiment", .type = KEY_INT, .flags = KEY_NEEDED, .min = 1, .max = UINT32_MAX},
    {.name = "trial", .type = KEY_INT, .flags = KEY_NULL, .max = UINT32_MAX},
    {.name = "star", .type = KEY_BOOL},
    {0},
};
static const struct web_key rm_keys[] = {
    {.name = "do", .type = KEY_WORD, .words = "rm"},
    {.name = "experiment", .type = KEY_INT, .flags = KEY_NEEDED, .min = 1, .max = UINT32_MAX},
    {.name = "trial", .type = KEY_INT, .flags = KEY_NULL, .max = UINT32_MAX},
    {0},
};

static int on_there(const struct trial_row *row, void *arg)
{
    (void)row;
    *(bool *)arg = true;
    return 0;
}

static int check_there(struct web_call *call, int64_t experiment, int64_t trial, struct err *err)
{
    struct trial_query query = {.experiment = experiment, .number = trial, .bare = true};
    bool there = false;
    int r = trial ? store_trials(call->store, &query, on_there, &there, err) : 0;

    if (r == 0 && trial && !there)
        r = err_set(err, ENOENT, "there is no trial %lld.%lld", (long long)experiment,
                    (long long)trial);
    return r;
}

/* A run of a tracking client belongs to who made it, whoever's the experiment is. */
static int check_owner(struct web_call *call, int64_t experiment, int64_t trial, struct err *err)
{
    struct tracked *tracked = observe_tracked(ingest_observe(call->web->ingest));
    const char *owner = trial ? tracked_owner(tracked, experiment, trial) : NULL;

    return owner ? web_is_owner(call, owner, experiment, trial, err)
                 : web_may_change(call, experiment, err);
}

static int check(struct web_call *call, const json_t *request, struct err *err)
{
    static const struct {
        const char *what;
        const struct web_key *keys;
    } known[] = {{"tag", tag_keys}, {"note", note_keys}, {"star", star_keys}, {"rm", rm_keys}};
    const char *what = json_get_text(request, "do", "");
    int64_t experiment = json_get_int(request, "experiment", 0);
    int64_t trial = json_get_int(request, "trial", 0);

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!str_eq(known[i].what, what))
            continue;
        int r = web_keys_check(request, known[i].keys, err);
        if (r == 0)
            r = check_owner(call, experiment, trial, err);
        return r == 0 ? check_there(call, experiment, trial, err) : r;
    }
    return err_set(err, EINVAL, "'do' is one of tag, note, star, rm");
}

void change_asked(struct web_call *call)
{
    autofree(json) json_t *request = NULL;
    autorelease(err) struct err err = ERR_INIT;
    int r = web_body(call, &request, &err);

    if (r >= 0)
        r = check(call, request, &err);
    if (r < 0)
        web_fail(call, r, &err);
    else
        web_act(call, request, 200);
}
