/* SPDX-License-Identifier: MIT */
/*
 * tables.c — an entry for each experiment that was asked for. The feed of changes is taken before
 * anything is read: what is read then is at least as new.
 */
#include "api/tables.h"
#include "api/results.h"
#include "api/tuning_sum.h"
#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define DIRTY_MAX 20000 /* trials read one by one; of more the whole table is read */

struct entry {
    int64_t experiment;
    struct trial_table *table; /* NULL: not read, or thrown away */
    VEC(int64_t) dirty;        /* trials that were written since */
    struct digest digest;
    bool has_digest;
    struct sums sums;
    uint64_t sums_stamp; /* as of which change; 0: none yet */
    struct str answer;   /* to a question; empty: none is kept */
    int64_t question;
    uint64_t used;  /* when, in questions */
    uint64_t stamp; /* of its last change */
};
struct tables {
    struct changes *changes;
    uint64_t seen, questions;
    size_t bytes_max;
    struct map entries; /* experiment → struct entry */
};

struct tables *tables_new(struct changes *changes, size_t bytes_max)
{
    struct tables *tables = xcalloc(1, sizeof(*tables));

    tables->changes = changes;
    tables->bytes_max = bytes_max;
    tables->seen = changes ? changes_count(changes) : 0;
    return tables;
}

static void drop_table(struct entry *entry)
{
    str_release(&entry->answer);
    trial_table_free(entry->table);
    entry->table = NULL;
    entry->dirty.len = 0;
}

static void drop_all(struct tables *tables)
{
    size_t cursor = 0;
    struct entry *entry;

    while ((entry = map_next(&tables->entries, &cursor, NULL))) {
        drop_table(entry);
        vec_release(&entry->dirty);
        free(entry);
    }
    map_release(&tables->entries);
    tables->entries = (struct map)MAP_INIT;
}

void tables_free(struct tables *tables)
{
    if (!tables)
        return;
    drop_all(tables);
    free(tables);
}

/* ---- what was written ---- */

static void on_change(struct tables *tables, const struct change *change)
{
    struct entry *entry = map_find(&tables->entries, (uint64_t)change->experiment);

    if (!entry)
        return;
    entry->stamp = tables->seen + 1;
    str_release(&entry->answer);
    if (change->trial == 0 && !change->removed)
        return;
    entry->has_digest = false;
    if (change->removed || entry->dirty.len == DIRTY_MAX)
        drop_table(entry);
    else if (entry->table)
        vec_push(&entry->dirty, change->trial);
}

static void catch_up(struct tables *tables)
{
    struct change some[256];
    int n;

    if (!tables->changes) {
        drop_all(tables);
        return;
    }
    while ((n = changes_since(tables->changes, tables->seen, some, ARRAY_LEN(some))) > 0)
        for (int i = 0; i < n; i++) {
            tables->seen++;
            on_change(tables, &some[i]);
        }
    if (n < 0) {
        drop_all(tables);
        tables->seen = changes_count(tables->changes);
    }
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Ascending: new trials come behind the others. */
static int read_dirty(struct entry *entry, struct store *store, struct err *err)
{
    int64_t last = 0;
    int r = 0;

    if (entry->dirty.len)
        qsort(entry->dirty.at, entry->dirty.len, sizeof(*entry->dirty.at), by_number);
    vec_foreach (number, &entry->dirty) {
        if (*number == last)
            continue;
        last = *number;
        r = trial_table_update(entry->table, store, last, err);
        if (r < 0)
            break;
    }
    entry->dirty.len = 0;
    return r < 0 ? r : 0;
}

/* ---- tables ---- */

static struct entry *find_entry(struct tables *tables, int64_t experiment)
{
    struct entry *entry = map_find(&tables->entries, (uint64_t)experiment);

    if (!entry) {
        entry = xcalloc(1, sizeof(*entry));
        entry->experiment = experiment;
        entry->stamp = tables->seen + 1;
        entry->answer = (struct str)STR_INIT;
        map_put(&tables->entries, (uint64_t)experiment, entry);
    }
    entry->used = ++tables->questions;
    return entry;
}

static int read_table(struct entry *entry, struct store *store, struct err *err)
{
    struct experiment_row row = {0};
    char ref[32];

    snprintf(ref, sizeof(ref), "%lld", (long long)entry->experiment);
    int r = store_find_bare(store, ref, &row, err);
    if (r >= 0)
        r = trial_table_new(store, entry->experiment, row.experiment.spec_json, &entry->table, err);
    experiment_row_release(&row);
    return r;
}

static void evict(struct tables *tables, const struct entry *keep)
{
    for (;;) {
        struct entry *entry, *oldest = NULL;
        size_t cursor = 0, bytes = 0;
        while ((entry = map_next(&tables->entries, &cursor, NULL))) {
            bytes += entry->table ? trial_table_bytes(entry->table) + entry->answer.len : 0;
            if (entry->table && entry != keep && (!oldest || entry->used < oldest->used))
                oldest = entry;
        }
        if (bytes <= tables->bytes_max || !oldest)
            return;
        drop_table(oldest);
    }
}

static int get(struct tables *tables, struct store *store, struct entry *entry, struct err *err)
{
    int r = entry->table ? read_dirty(entry, store, err) : 0;

    if (r < 0)
        drop_table(entry);
    if (r < 0 && r != -ESTALE)
        return r;
    if (!entry->table)
        r = read_table(entry, store, err);
    evict(tables, entry);
    return r;
}

int tables_get(struct tables *tables, struct store *store, int64_t experiment,
               struct trial_table **ret, struct err *err)
{
    catch_up(tables);
    struct entry *entry = find_entry(tables, experiment);
    int r = get(tables, store, entry, err);

    *ret = entry->table;
    return r;
}

/* ---- digests ---- */

static const double *field(const struct trial_table *table, const char *name)
{
    struct table_column column;
    int r = trial_table_column(table, name, &column, NULL);

    assert(r == 0);
    (void)r;
    return trial_table_cells(table, &column);
}

static void add_spark(struct digest *digest, size_t row, size_t rows)
{
    size_t n = MIN(rows, (size_t)SPARK_MAX);
    bool last_of_piece = rows && (row + 1) * n / rows > row * n / rows;

    if (last_of_piece && !isnan(digest->best_value) && digest->n_spark < SPARK_MAX)
        digest->spark[digest->n_spark++] = digest->best_value;
}

static void digest_energy(const struct trial_table *table, struct digest *ret)
{
    const double *joules = field(table, "joules");

    ret->joules = 0;
    ret->measured = true;
    for (size_t i = 0; i < trial_table_rows(table); i++) {
        if (isnan(joules[i]))
            continue;
        ret->joules += joules[i];
        ret->measured &= trial_table_measured(table, i);
    }
}

static void digest_table(const struct trial_table *table, struct digest *ret)
{
    const struct objective *objective = &trial_table_spec(table)->objective;
    const double *state = field(table, "state"), *value = field(table, "value");
    const double *attempts = field(table, "attempts");
    size_t n = trial_table_rows(table);

    *ret = (struct digest){.trials = (int64_t)n, .best_value = NAN};
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)state[i];
        assert(at < TRIAL_STATES);
        ret->counts[at]++;
        ret->attempts += (int64_t)attempts[i];
        if (at == TRIAL_COMPLETED && objective_better(objective, value[i], ret->best_value)) {
            ret->best_value = value[i];
            ret->best_trial = trial_table_number(table, i);
        }
        add_spark(ret, i, n);
    }
    digest_energy(table, ret);
}

/* How many are on the front, where there are several objectives. */
static int64_t count_front(const struct entry *entry, struct store *store)
{
    struct target target = {.spec = *trial_table_spec(entry->table)}; /* borrowed */
    struct results results = {0};
    autofree(mem) size_t *front = NULL;
    int64_t n = -1;

    if (!target.spec.others.len)
        return -1;
    target.experiment.experiment.id = entry->experiment;
    if (results_load(store, &target, &results, NULL) >= 0)
        n = (int64_t)results_front(&results, &target.spec, &front);
    results_release(&results);
    return n;
}

int tables_digest(struct tables *tables, struct store *store, int64_t experiment,
                  struct digest *ret, struct err *err)
{
    catch_up(tables);
    struct entry *entry = find_entry(tables, experiment);

    if (!entry->has_digest) {
        int r = get(tables, store, entry, err);
        if (r < 0)
            return r;
        digest_table(entry->table, &entry->digest);
        entry->digest.front = count_front(entry, store);
        entry->has_digest = true;
    }
    *ret = entry->digest;
    return 0;
}

struct said {
    double value;
    bool completed;
};

static int keep_said(const struct trial_row *row, void *arg)
{
    *(struct said *)arg = (struct said){row->trial.value, row->trial.state == TRIAL_COMPLETED};
    return 1;
}

int tables_complete(struct tables *tables, struct store *store, struct experiment_row *row,
                    struct digest *ret, struct err *err)
{
    int64_t id = row->experiment.id, best = row->experiment.best_trial;
    int r = tables_digest(tables, store, id, ret, err);

    if (r < 0)
        return r;
    memcpy(row->counts, ret->counts, sizeof(row->counts));
    row->best_value = ret->best_value;
    row->best_trial = ret->best_trial;
    if (!best)
        return 0;
    struct trial_query query = {.experiment = id, .number = best};
    struct said said = {NAN, false};
    r = store_trials(store, &query, keep_said, &said, err);
    bool counts = said.completed && !isnan(said.value);
    row->best_value = counts ? said.value : NAN;
    row->best_trial = counts ? best : 0;
    return MIN(r, 0);
}

static struct sums read_sums(struct store *store, const struct target *target)
{
    struct tuning_sum all;

    tuning_sum_load(&all, store, target);
    struct sums sums = {all.changes, all.asked, all.cost_s, all.joules, all.measured};
    tuning_sum_release(&all);
    return sums;
}

void tables_sums(struct tables *tables, struct store *store, const struct target *target,
                 const struct digest *digest, struct sums *ret)
{
    const struct experiment *experiment = &target->experiment.experiment;

    if (system_count(&target->spec) == 0) {
        *ret = (struct sums){.joules = digest->joules, .measured = digest->measured};
        return;
    }
    catch_up(tables);
    struct entry *entry = find_entry(tables, experiment->id);
    bool ended = experiment->state != EXPERIMENT_RUNNING; /* else events come untold */
    if (!ended || entry->sums_stamp != entry->stamp)
        entry->sums = read_sums(store, target);
    entry->sums_stamp = entry->stamp;
    *ret = entry->sums;
}

/* ---- long answers ---- */

const struct str *tables_answer(struct tables *tables, int64_t experiment, int64_t question)
{
    catch_up(tables);
    const struct entry *entry = map_find(&tables->entries, (uint64_t)experiment);

    return entry && entry->answer.len && entry->question == question ? &entry->answer : NULL;
}

void tables_keep_answer(struct tables *tables, int64_t experiment, int64_t question,
                        const struct str *answer)
{
    struct entry *entry = map_find(&tables->entries, (uint64_t)experiment);

    if (!entry || !entry->table)
        return;
    str_release(&entry->answer);
    str_add_n(&entry->answer, answer->s, answer->len);
    entry->question = question;
    evict(tables, entry);
}
