/* SPDX-License-Identifier: MIT */
/*
 * code.c — the code an attempt ran with, when it is no longer the code the experiment began with.
 */
#include "engine/internal.h"

bool engine_code_due(struct engine *engine, int64_t *ret_experiment, const char **ret_folder,
                     int64_t *ret_attempt)
{
    vec_foreach (run, &engine->runs) {
        if (!(*run)->code_due)
            continue;
        (*run)->code_due = false;
        if (!(*run)->spec.code || (*run)->spec.code_isolate)
            continue;
        *ret_experiment = (*run)->experiment.id;
        *ret_folder = (*run)->spec.code;
        *ret_attempt = engine->next_attempt;
        return true;
    }
    return false;
}

bool engine_code_waits(const struct engine *engine)
{
    vec_foreach (run, &engine->runs)
        if ((*run)->code_due && (*run)->spec.code && !(*run)->spec.code_isolate)
            return true;
    return false;
}

void engine_set_code(struct engine *engine, int64_t experiment, const char *sha256, uint64_t size,
                     int64_t since, struct now now)
{
    struct run *run = engine_find(engine, experiment);
    const char *known = run ? run->code ? run->code : run->experiment.code : NULL;

    if (!run || (known && str_eq(known, sha256)))
        return;
    free(run->code);
    run->code = xstrdup(sha256);
    txn_put_object(engine->tick->txn, sha256, "code", size, now.wall_us);
    vec_foreach (live, &run->live) {
        if ((*live)->adopted || (*live)->attempt.id < since)
            continue;
        free((*live)->attempt.code);
        (*live)->attempt.code = xstrdup(sha256);
        txn_put_attempt(engine->tick->txn, &(*live)->attempt);
    }
}
