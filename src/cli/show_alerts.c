/* SPDX-License-Identifier: MIT */
/*
 * show_alerts.c — hone show of a trial: every alert that fired for it. The ring of last events
 * forgets them, and what stopped a trial is what one asks for first.
 */
#include "cli/show.h"

struct alerts {
    int64_t trial;
    struct table *table;  /* for people, or … */
    struct json_out *out; /* … an open array */
};

static void add_did(const json_t *did, struct str *to)
{
    const json_t *word;
    size_t i;

    json_array_foreach(did, i, word)
        str_addf(to, "%s%s", i ? ", " : "", json_is_string(word) ? json_string_value(word) : "?");
}

static void table_row(struct table *table, int64_t time_us, const json_t *event)
{
    autorelease(str) struct str when = STR_INIT, did = STR_INIT;

    str_add_when(&when, time_us);
    add_did(json_object_get(event, "did"), &did);
    table_add(table, PLAIN, when.s);
    table_add(table, YELLOW, json_get_text(event, "alert", "?"));
    table_add(table, PLAIN, did.len ? did.s : "-");
    table_add(table, PLAIN, json_get_text(event, "text", ""));
}

static void json_row(struct json_out *out, int64_t time_us, const json_t *event)
{
    json_begin_object(out);
    json_put_time(out, "time", time_us);
    json_put_text(out, "alert", json_get_text(event, "alert", NULL));
    json_put_text(out, "text", json_get_text(event, "text", NULL));
    json_key(out, "did");
    json_value(out, json_object_get(event, "did"));
    json_end_object(out);
}

static int on_event(int64_t id UNUSED, int64_t time_us, int64_t trial, const char *json, void *arg)
{
    const struct alerts *alerts = arg;
    autofree(json) json_t *event = NULL;

    if (trial != alerts->trial || !strstr(json, "\"alert\"") ||
        json_parse(json, strlen(json), &event, NULL) < 0 ||
        !str_eq(json_get_text(event, "event", ""), "alert"))
        return 0;
    if (alerts->table)
        table_row(alerts->table, time_us, event);
    else
        json_row(alerts->out, time_us, event);
    return 0;
}

void show_alerts(const struct show *show)
{
    static const char *const titles[] = {"when", "alert", "did", "because"};
    const struct trial *trial = &show->target->trial.trial;
    struct table table = TABLE_INIT;
    struct alerts alerts = {.trial = trial->number, .table = &table};

    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&table, titles[i], i % 2 ? COLUMN_SHRINK : COLUMN_LEFT);
    store_events(show->store, trial->experiment, 0, 0, on_event, &alerts, NULL);
    if (table_rows(&table)) {
        show_head(show, "alerts");
        table_print(&table, stdout, show->call->colour, terminal_width());
    }
    table_release(&table);
}

void show_alerts_json(const struct show *show, struct json_out *out)
{
    const struct trial *trial = &show->target->trial.trial;
    struct alerts alerts = {.trial = trial->number, .out = out};

    json_key(out, "alerts");
    json_begin_array(out);
    store_events(show->store, trial->experiment, 0, 0, on_event, &alerts, NULL);
    json_end_array(out);
}
