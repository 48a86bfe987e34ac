/* SPDX-License-Identifier: MIT */
/*
 * table_marks.c — what few trials have, beside the cells of a table: tags, a note, the name that a
 * tracking client gave to the run. Counted, so that a page knows which of them to show.
 */
#include "api/table_parts.h"

void marks_free(struct marks *marks)
{
    if (!marks)
        return;
    free(marks->note);
    free(marks->run_name);
    vec_foreach (tag, &marks->tags)
        free(*tag);
    vec_release(&marks->tags);
    free(marks);
}

static void remove_marks(struct trial_table *table, uint64_t key)
{
    struct marks *marks = table->marks.len ? map_remove(&table->marks, key) : NULL;

    if (marks) {
        table->n_tagged -= marks->tagged;
        table->n_named -= marks->run_name != NULL;
    }
    marks_free(marks);
}

/* A run of a tracking client has its name as a tag, too: name=fox. */
static bool has_own_tags(const struct trial_row *row)
{
    vec_foreach (tag, &row->tags)
        if (!row->run_name || !str_starts(*tag, "name=") || !str_eq(*tag + 5, row->run_name))
            return true;
    return false;
}

void table_put_marks(struct trial_table *table, const struct trial_row *row)
{
    uint64_t key = (uint64_t)row->trial.number;
    bool named = row->run_name && *row->run_name;

    remove_marks(table, key);
    if (!row->note && !row->tags.len && !named)
        return;
    struct marks *marks = xcalloc(1, sizeof(*marks));
    marks->note = row->note ? xstrdup(row->note) : NULL;
    marks->run_name = named ? xstrdup(row->run_name) : NULL;
    marks->tagged = has_own_tags(row);
    table->n_tagged += marks->tagged;
    table->n_named += named;
    vec_foreach (tag, &row->tags)
        vec_push(&marks->tags, xstrdup(*tag));
    map_put(&table->marks, key, marks);
}

bool trial_table_any(const struct trial_table *table, const char *name)
{
    struct table_column starred;

    if (str_eq(name, "tags"))
        return table->n_tagged > 0;
    if (str_eq(name, "run_name"))
        return table->n_named > 0;
    if (trial_table_column(table, name, &starred, NULL) < 0)
        return false;
    const double *x = trial_table_cells(table, &starred);
    for (size_t i = 0; i < table->n; i++)
        if (x[i] > 0)
            return true;
    return false;
}
