/* SPDX-License-Identifier: MIT */
/*
 * submitted.c — is what comes with a key that was used before the same experiment?
 *
 * A script that heard no answer sends the same file again. What was kept is not what was sent: the
 * machine resolves what is `auto`, `resume --trials` makes the budget larger, a later version has
 * more settings. So only what makes it this experiment is compared, which nobody changes.
 */
#include "api/submitted.h"
#include "spec/parse.h"

#include <errno.h>

static const char *const compared[] = {"name", "command", "params", "objective"};

static json_t *parse(const char *text)
{
    json_t *json = NULL;

    return json_parse(text, strlen(text), &json, NULL) < 0 ? NULL : json;
}

static bool same(const struct spec *spec, const char *kept)
{
    autorelease(str) struct str text = STR_INIT;

    spec_json(spec, &text);
    autofree(json) json_t *now = parse(text.s), *then = parse(kept);
    for (size_t i = 0; now && then && i < ARRAY_LEN(compared); i++) {
        const json_t *a = json_object_get(now, compared[i]),
                     *b = json_object_get(then, compared[i]);
        if (a != b && !(a && b && json_equal(a, b)))
            return false;
    }
    return true;
}

/* What is not committed yet is in memory; what was removed is as good as the same. */
static bool was_this(const struct engine *engine, struct store *store, int64_t id,
                     const struct spec *spec)
{
    const char *kept = engine_spec_json(engine, id);
    struct experiment_row row = {.note = NULL};
    char ref[32];

    if (kept)
        return same(spec, kept);
    snprintf(ref, sizeof(ref), "%lld", (long long)id);
    bool found = store_find_bare(store, ref, &row, NULL) >= 0 && row.experiment.id == id;
    bool yes = !found || !row.experiment.spec_json || same(spec, row.experiment.spec_json);
    experiment_row_release(&row);
    return yes;
}

int submitted_find(const struct engine *engine, struct store *store, const char *owner,
                   const char *key, const struct spec *spec, int64_t *ret, struct err *err)
{
    int r = engine_submitted(engine, store, owner, key, ret, err);

    if (r < 0 || !*ret || !spec || was_this(engine, store, *ret, spec))
        return r;
    return err_set(err, EEXIST,
                   "key '%s' was used for experiment %lld, with another spec: another spec needs "
                   "another key",
                   key, (long long)*ret);
}
