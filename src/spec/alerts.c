/* SPDX-License-Identifier: MIT */
/*
 * alerts.c — what is watched while a trial runs, and what is done about it.
 *
 *     alerts:
 *     - {when: min(val_loss, step > 1000) > 2, do: stop}
 *     - {when: {plateau: 50 steps}, do: [notify, stop], command: ./page-me.sh}
 *     - {when: stall, do: requeue, webhook: 'https://…'}
 *
 * Conditions are parsed here, so that a mistake is told before anything runs; the spec keeps their
 * text.
 */
#include "base/shell.h"
#include "base/suggest.h"
#include "spec/alert_columns.h"
#include "spec/reader.h"

#include <ctype.h>
#include <errno.h>

static const char *const kinds[] = {
    [ALERT_CONDITION] = "", /* no word: an expression */
    [ALERT_DIVERGED] = "diverged",
    [ALERT_PLATEAU] = "plateau",
    [ALERT_STALL] = "stall",
};
static const struct {
    const char *word;
    unsigned bit;
} actions[] = {{"notify", ALERT_NOTIFY}, {"stop", ALERT_STOP}, {"requeue", ALERT_REQUEUE}};

static int find_kind(const char *word)
{
    for (int i = 1; i < (int)ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i], word))
            return i;
    return 0;
}

/* ---- when ---- */

static int unknown_kind(struct reader *reader, const struct yaml_node *node)
{
    return yaml_err(reader->err, node,
                    "'alerts': '%s' is neither diverged, plateau or stall nor a condition like "
                    "loss > 2%s",
                    node->text,
                    did_you_mean(reader, suggest(node->text, kinds + 1, ARRAY_LEN(kinds) - 1)));
}

static bool is_word(const char *text)
{
    for (; isalnum((unsigned char)*text) || *text == '_'; text++)
        ;
    return !*text;
}

static int read_condition(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    autofree(expr) struct expr *expr = NULL;
    autorelease(err) struct err err = ERR_INIT;
    const struct expr_column *columns;
    size_t n;

    if (is_word(node->text))
        return unknown_kind(reader, node);
    columns = alert_columns(reader->spec, &reader->arena, &n);
    int r = alert_condition_parse(node->text, columns, n, reader->now_us, !reader->overrides, &expr,
                                  &err);
    if (r < 0)
        return yaml_err(reader->err, node, "'alerts': when: %s", err_text(&err));
    alert->condition = xstrdup(node->text);
    return 0;
}

/* "50 steps" or "50" of a plateau; "5" of a stall. */
static int read_number(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    bool plateau = alert->kind == ALERT_PLATEAU;
    const char *text = node->kind == YAML_SCALAR ? node->text : "";
    double x = 0;
    int end = 0;

    bool good = sscanf(text, "%15lf%n", &x, &end) == 1 && x > 1 && x <= 1e15;
    text += end;
    if (plateau && (str_eq(text, " steps") || str_eq(text, "steps")))
        text = "";
    if (!good || *text)
        return yaml_err(reader->err, node,
                        plateau ? "'alerts': plateau takes a number of steps, like 50 steps, not %s"
                                : "'alerts': stall takes how many times the usual interval, more "
                                  "than 1, like 10, not %s",
                        yaml_describe(node, &reader->arena));
    alert->number = x;
    return 0;
}

/* {plateau: 50 steps}, {stall: 5} */
static int read_kind(struct reader *reader, const struct yaml_node *map, struct alert *alert)
{
    if (map->n != 1)
        return yaml_err(reader->err, map,
                        "'alerts': when is one of diverged, {plateau: 50 steps}, {stall: 5}, or a "
                        "condition like loss > 2");
    alert->kind = (enum alert_kind)find_kind(map->keys[0]->text);
    if (alert->kind == ALERT_CONDITION)
        return unknown_kind(reader, map->keys[0]);
    if (yaml_is_null(map->items[0]))
        return 0;
    if (alert->kind == ALERT_DIVERGED)
        return yaml_err(reader->err, map->items[0], "'alerts': diverged takes no number");
    return read_number(reader, map->items[0], alert);
}

static int read_when(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    if (node->kind == YAML_MAP)
        return read_kind(reader, node, alert);
    if (node->kind != YAML_SCALAR)
        return yaml_err(reader->err, node, "'alerts': when is one condition, not a list");
    alert->kind = (enum alert_kind)find_kind(node->text);
    return alert->kind == ALERT_CONDITION ? read_condition(reader, node, alert) : 0;
}

/* ---- do ---- */

static int read_action(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    const char *words[ARRAY_LEN(actions)];
    const char *text = node->kind == YAML_SCALAR ? node->text : "";

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        words[i] = actions[i].word;
        if (str_eq(text, actions[i].word)) {
            alert->actions |= actions[i].bit;
            return 0;
        }
    }
    return yaml_err(reader->err, node, "'alerts': do is notify, stop or requeue, not %s%s",
                    yaml_describe(node, &reader->arena),
                    did_you_mean(reader, suggest(text, words, ARRAY_LEN(words))));
}

static int read_do(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    int r = 0;

    if (node->kind != YAML_LIST)
        return read_action(reader, node, alert);
    for (size_t i = 0; r == 0 && i < node->n; i++)
        r = read_action(reader, node->items[i], alert);
    return r;
}

static int split_words(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    struct words words = {0};
    autorelease(err) struct err err = ERR_INIT;
    int r = shell_split(node->text, &words, &err);

    if (r < 0)
        r = yaml_err(reader->err, node, "'alerts': command: %s", err_text(&err));
    for (size_t i = 0; r == 0 && i < words.list.len; i++)
        vec_push(&alert->command, TAKE(words.list.at[i]));
    words_release(&words);
    return r;
}

static int read_words(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    const char *word;
    int r = node->kind == YAML_SCALAR ? split_words(reader, node, alert) : 0;

    for (size_t i = 0; r == 0 && node->kind == YAML_LIST && i < node->n; i++) {
        r = read_text(reader, node->items[i], "alerts: command", &word);
        if (r == 0)
            vec_push(&alert->command, xstrdup(word));
    }
    if (r == 0 && (!alert->command.len || !*alert->command.at[0]))
        return yaml_err(reader->err, node,
                        "'alerts': command is a program and its words, not %s; write [sh, -c, …] "
                        "for a shell",
                        yaml_describe(node, &reader->arena));
    return r;
}

static int read_webhook(struct reader *reader, const struct yaml_node *node, struct alert *alert)
{
    const char *text;
    int r = read_text(reader, node, "alerts: webhook", &text);

    if (r < 0)
        return r;
    if (!str_starts(text, "http://") && !str_starts(text, "https://"))
        return yaml_err(reader->err, node,
                        "'alerts': webhook is an address that begins with http:// or https://, not "
                        "%s",
                        yaml_describe(node, &reader->arena));
    free(alert->webhook);
    alert->webhook = xstrdup(text);
    return 0;
}

/* ---- an alert, all alerts ---- */

static const struct {
    const char *key;
    int (*read)(struct reader *reader, const struct yaml_node *node, struct alert *alert);
} keys[] = {
    {"when", read_when}, {"do", read_do}, {"command", read_words}, {"webhook", read_webhook}};

static int read_key(struct reader *reader, const struct yaml_node *key,
                    const struct yaml_node *node, struct alert *alert)
{
    const char *names[ARRAY_LEN(keys)];

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        names[i] = keys[i].key;
        if (str_eq(keys[i].key, key->text))
            return keys[i].read(reader, node, alert);
    }
    return yaml_err(reader->err, key, "'alerts': unknown key '%s'%s", key->text,
                    did_you_mean(reader, suggest(key->text, names, ARRAY_LEN(names))));
}

/* A command or a webhook alone says what to do. */
static int check_alert(struct reader *reader, const struct yaml_node *map, struct alert *alert)
{
    bool told = alert->command.len || alert->webhook;

    if (!yaml_find(map, "when"))
        return yaml_err(reader->err, map,
                        "'alerts': an alert needs 'when': diverged, plateau, stall, or a condition "
                        "like loss > 2");
    if (!alert->actions && !told)
        return yaml_err(reader->err, map, "'alerts': an alert needs 'do': notify, stop or requeue");
    if ((alert->actions & ALERT_STOP) && (alert->actions & ALERT_REQUEUE))
        return yaml_err(reader->err, map,
                        "'alerts': stop and requeue do not go together: one ends the trial, the "
                        "other starts it again");
    if (told)
        alert->actions |= ALERT_NOTIFY;
    if (alert->kind == ALERT_PLATEAU && !reader->spec->objective.metric)
        return yaml_err(reader->err, map,
                        "'alerts': plateau looks at the objective, and the spec has none; name the "
                        "metric under 'objective'");
    return 0;
}

static int read_alert(struct reader *reader, const struct yaml_node *map)
{
    struct alert none = {0};

    if (map->kind != YAML_MAP)
        return yaml_err(reader->err, map,
                        "'alerts' takes mappings like {when: plateau, do: notify}, not %s",
                        yaml_describe(map, &reader->arena));
    vec_push(&reader->spec->alerts, none);
    struct alert *alert = vec_last(&reader->spec->alerts);
    int r = 0;
    for (size_t i = 0; r == 0 && i < map->n; i++)
        if (!yaml_is_null(map->items[i]))
            r = read_key(reader, map->keys[i], map->items[i], alert);
    return r < 0 ? r : check_alert(reader, map, alert);
}

int read_alerts(struct reader *reader, const struct yaml_node *node)
{
    bool list = node->kind == YAML_LIST;
    size_t n = list ? node->n : 1;
    int r = 0;

    if (n > ALERTS_MAX)
        return yaml_err(reader->err, node, "'alerts' takes at most %d alerts, not %zu", ALERTS_MAX,
                        n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = read_alert(reader, list ? node->items[i] : node);
    return r;
}

/* ---- as canonical JSON ---- */

static void write_when(const struct alert *alert, struct json_out *out)
{
    char number[DOUBLE_TEXT_SIZE];

    json_key(out, "when");
    if (!alert->number) {
        json_text(out, alert->condition ? alert->condition : kinds[alert->kind]);
        return;
    }
    json_begin_object(out);
    json_put_text(out, kinds[alert->kind], double_text(number, alert->number));
    json_end_object(out);
}

void write_alerts(const struct spec *spec, struct json_out *out)
{
    json_begin_array(out);
    vec_foreach (alert, &spec->alerts) {
        json_begin_object(out);
        write_when(alert, out);
        json_key(out, "do");
        json_begin_array(out);
        for (size_t i = 0; i < ARRAY_LEN(actions); i++)
            if (alert->actions & actions[i].bit)
                json_text(out, actions[i].word);
        json_end_array(out);
        if (alert->command.len) {
            json_key(out, "command");
            json_begin_array(out);
            vec_foreach (word, &alert->command)
                json_text(out, *word);
            json_end_array(out);
        }
        if (alert->webhook)
            json_put_text(out, "webhook", alert->webhook);
        json_end_object(out);
    }
    json_end_array(out);
}
