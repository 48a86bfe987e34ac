/* SPDX-License-Identifier: MIT */
/*
 * replay.c — hone replay: is this experiment's search exactly repeatable, and what would others
 * have done with its recorded results?
 */
#include "cli/replay.h"
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "engine/replay.h"
#include "search/search.h"
#include "spec/parse.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"search", 0, "NAME[,NAME…]", "searches to try on the record; all: every one there is"},
    {"stop", 0, "RULE[,RULE…]",
     "rules of early stopping to try on the recorded curves, as in asha or '{curve: 2%}'"},
    {"seeds", 0, "N", "average over so many seeds (5)"},
    {NULL, 0, NULL, NULL},
};

/* ---- the same again? ---- */

static void check_json(const struct target *target, const struct replay_check *check)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_int(&out, "experiment", target->experiment.experiment.id);
    json_put_int(&out, "suggestions", check->suggestions);
    json_put_int(&out, "reproduced", check->same);
    json_put_bool(&out, "exact", check->same == check->suggestions);
    json_put_text(&out, "kernel", check->kernel);
    json_put_text(&out, "kernel_here", *check->here ? check->here : NULL);
    json_end_object(&out);
    output_line(&text);
}

static void check_words(const struct target *target, const struct replay_check *check)
{
    long long id = target->experiment.experiment.id;

    printf("%lld of %lld suggestions reproduced\n", (long long)check->same,
           (long long)check->suggestions);
    if (check->other)
        printf("the first that comes out otherwise is trial %lld.%lld\n", id,
               (long long)check->other);
    if (check->kernel && !str_eq(check->kernel, check->here))
        printf("it was run with the linear algebra of another kind of CPU (%s there, %s here): "
               "small differences are to be expected\n",
               check->kernel, *check->here ? check->here : "none");
}

static int print_check(const struct cmd_call *call, struct store *store,
                       const struct target *target, struct err *err)
{
    struct replay_check check;
    int r = replay_check(store, target->experiment.experiment.id, &check, err);
    int code = r < 0 ? cmd_fail(call, CMD_FAILED, err) : CMD_OK;

    if (r >= 0) {
        (call->json ? check_json : check_words)(target, &check);
        code = check.same == check.suggestions ? CMD_OK : CMD_FAILED;
    }
    replay_check_release(&check);
    return code;
}

/* ---- what others would have done ---- */

struct names {
    VEC(char *) list;
};
/* A rule as it was typed, and what that means: "asha", "{asha: {eta: 4}}". */
struct rule {
    char *text;
    const struct stop_ops *stop;
    struct stop_settings settings;
};

struct replay {
    const struct cmd_call *call;
    const struct target *target;
    struct replay_table table;
    struct names searches;
    VEC(struct rule) stops;
    bool all; /* searches: then those that cannot search this space are left out */
    int64_t seeds;
    struct str notes;
    struct table out;
    struct str json;
    struct json_out to;
};

static void names_release(struct names *names)
{
    vec_foreach (name, &names->list)
        free(*name);
    vec_release(&names->list);
}

/* Up to the next comma that is in no braces. */
static size_t word_length(const char *text)
{
    size_t n = 0;

    for (int deep = 0; text[n] && (deep > 0 || text[n] != ','); n++)
        deep += (text[n] == '{') - (text[n] == '}');
    return n;
}

static void split(const char *text, struct names *ret)
{
    while (*text) {
        size_t n = word_length(text);
        if (n)
            vec_push(&ret->list, xstrndup(text, n));
        text += n + (text[n] == ',');
    }
}

static void all_searches(struct names *ret)
{
    for (size_t i = 0; i < search_count(); i++)
        vec_push(&ret->list, xstrdup(search_at(i)->name));
}

static int unknown(const struct cmd_call *call, const char *what, const char *name,
                   const struct names *known)
{
    const char *closest = suggest(name, (const char *const *)known->list.at, known->list.len);
    autorelease(str) struct str all = STR_INIT;

    if (closest)
        return cmd_usage(call, "there is no %s '%s', did you mean '%s'?", what, name, closest);
    vec_foreach (one, &known->list)
        str_addf(&all, "%s%s", all.len ? ", " : "", *one);
    return cmd_usage(call, "there is no %s '%s': %s", what, name, all.s);
}

static bool is_among(const struct names *names, const char *name)
{
    vec_foreach (one, &names->list)
        if (str_eq(*one, name))
            return true;
    return false;
}

/* A rule with its numbers, as a spec has it. */
static int parse_rule(const struct cmd_call *call, const char *text, struct stop_settings *ret)
{
    autofree(mem) char *problem =
        xasprintf("{params: {x: 1}, objective: y, search: {stop: %s}}", text);
    autorelease(spec) struct spec spec;
    autorelease(err) struct err err = ERR_INIT;

    spec_init(&spec);
    if (spec_parse_params(problem, strlen(problem), &spec, &err) < 0)
        return cmd_usage(call, "--stop: %s", err_text(&err));
    *ret = spec.stop;
    spec.stop.rule = NULL;
    return 0;
}

static int add_rule(struct replay *replay, const char *text)
{
    const struct spec *spec = &replay->target->spec;
    struct rule rule = {.text = xstrdup(text), .settings = {.chance = NAN}};
    int code = 0;

    if (*text == '{')
        code = parse_rule(replay->call, text, &rule.settings);
    else if (spec->stop.rule && str_eq(spec->stop.rule, text))
        rule.settings = spec->stop;
    if (*text != '{')
        rule.settings.rule = xstrdup(text);
    rule.stop = rule.settings.rule ? stop_find(rule.settings.rule) : NULL;
    vec_push(&replay->stops, rule);
    return code;
}

static void rules_release(struct replay *replay)
{
    vec_foreach (rule, &replay->stops) {
        free(rule->text);
        free(rule->settings.rule);
    }
    vec_release(&replay->stops);
}

/* The searches and rules to try: what was not said is as in the experiment. */
static int read_names(struct replay *replay)
{
    const struct cmd_call *call = replay->call;
    const struct spec *spec = &replay->target->spec;
    const char *search = cmd_value(call, "search"), *stop = cmd_value(call, "stop");
    struct names known = {{0}}, rules = {{0}}, stops = {{0}};
    int code = 0;

    all_searches(&known);
    for (size_t i = 0; i < stop_count(); i++)
        vec_push(&rules.list, xstrdup(stop_at(i)->name));
    replay->all = search && str_eq(search, "all");
    if (replay->all)
        all_searches(&replay->searches);
    else
        split(search ? search : spec->algorithm ? spec->algorithm : "auto", &replay->searches);
    split(stop ? stop : spec->stop.rule ? spec->stop.rule : "none", &stops);
    vec_foreach (name, &replay->searches.list)
        if (!code && !str_eq(*name, "auto") && !is_among(&known, *name))
            code = unknown(call, "search", *name, &known);
    vec_foreach (text, &stops.list) {
        if (!code)
            code = add_rule(replay, *text);
        if (!code && !vec_last(&replay->stops)->stop)
            code = unknown(call, "rule", *text, &rules);
    }
    names_release(&known);
    names_release(&rules);
    names_release(&stops);
    return code;
}

/* Means over seeds; what never came to be is counted apart. */
struct score {
    double trials, steps; /* to the recorded best */
    double best[3];       /* after 25, 50, 100 % of the record's steps, as the user counts */
    int64_t reached, n, known[3];
    double stopped;
};

static void score_path(const struct replay *replay, const struct replay_path *path,
                       struct score *score)
{
    static const double parts[3] = {0.25, 0.5, 1};
    double sign = replay->target->spec.objective.goal == GOAL_MAXIMIZE ? -1 : 1;
    const struct replay_mark *mark = replay_reaches(path, replay->table.best);

    score->n++;
    score->stopped += (double)path->stopped;
    if (mark) {
        score->reached++;
        score->trials += (double)mark->trials;
        score->steps += (double)mark->steps;
    }
    for (size_t i = 0; i < 3; i++) {
        double best = replay_best_at(path, parts[i] * (double)replay->table.steps);
        if (isnan(best))
            continue;
        score->known[i]++;
        score->best[i] += sign * best;
    }
}

static double mean(double sum, int64_t n)
{
    return n ? sum / (double)n : NAN;
}

static void add_words(struct replay *replay, const char *search, const char *stop,
                      const struct score *score)
{
    struct table *out = &replay->out;

    table_add(out, BOLD, search);
    table_add(out, PLAIN, stop);
    if (!score->reached)
        table_add(out, YELLOW, "never");
    else
        table_addf(out, PLAIN, score->reached < score->n ? "%.3g (%lld of %lld)" : "%.3g",
                   mean(score->trials, score->reached), (long long)score->reached,
                   (long long)score->n);
    if (replay->table.curves) {
        table_number(out, PLAIN, mean(score->steps, score->reached));
        table_number(out, PLAIN, mean(score->stopped, score->n));
    }
    for (size_t i = 0; i < 3; i++)
        table_number(out, PLAIN, mean(score->best[i], score->known[i]));
}

static void add_json(struct replay *replay, const char *search, const char *stop,
                     const struct score *score)
{
    static const char *const keys[3] = {"best_25", "best_50", "best_100"};
    struct json_out *to = &replay->to;

    json_begin_object(to);
    json_put_text(to, "search", search);
    json_put_text(to, "stop", stop);
    json_put_int(to, "seeds", score->n);
    json_put_int(to, "reached", score->reached);
    json_put_known(to, "trials_to_best", mean(score->trials, score->reached));
    json_put_known(to, "steps_to_best", mean(score->steps, score->reached));
    json_put_known(to, "stopped", mean(score->stopped, score->n));
    for (size_t i = 0; i < 3; i++)
        json_put_known(to, keys[i], mean(score->best[i], score->known[i]));
    json_end_object(to);
}

/* One row: `search` NULL is the record itself. */
static int try_one(struct replay *replay, const char *search, const struct rule *rule,
                   struct err *err)
{
    const struct spec *spec = &replay->target->spec;
    struct score score = {0};
    int64_t seeds = search ? replay->seeds : 1;
    int r = 0;

    for (int64_t i = 0; i < seeds && r >= 0; i++) {
        struct replay_how how = {
            .search = search, .stop = rule ? rule->stop : NULL, .seed = spec->seed + (uint64_t)i};
        struct replay_path path;
        how.settings = rule ? rule->settings : (struct stop_settings){.chance = NAN};
        r = replay_simulate(&replay->table, &how, &path, err);
        score_path(replay, &path, &score);
        replay_path_release(&path);
    }
    if (r == -EINVAL && replay->all) { /* not for this space: others are */
        str_addf(&replay->notes, "%s\n", err_text(err));
        return 0;
    }
    if (r < 0)
        return r;
    (replay->call->json ? add_json : add_words)(replay, search ? search : "as recorded",
                                                rule ? rule->text : "", &score);
    return 0;
}

static void add_columns(struct replay *replay)
{
    static const char *const titles[] = {"best at 25%", "50%", "100%"};

    table_column(&replay->out, "search", COLUMN_LEFT);
    table_column(&replay->out, "stop", COLUMN_LEFT);
    table_column(&replay->out, "trials to best", COLUMN_RIGHT);
    if (replay->table.curves) {
        table_column(&replay->out, "steps", COLUMN_RIGHT);
        table_column(&replay->out, "stopped", COLUMN_RIGHT);
    }
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&replay->out, titles[i], COLUMN_RIGHT);
}

static void print_table(const struct replay *replay)
{
    const struct replay_table *table = &replay->table;

    table_print(&replay->out, stdout, replay->call->colour, terminal_width());
    printf("over %zu recorded settings%s", table->trials.len, table->curves ? "" : "; ");
    if (table->curves)
        printf(" of %lld steps; ", (long long)table->steps);
    printf("mean of %lld seed%s\n", (long long)replay->seeds, replay->seeds == 1 ? "" : "s");
    printf("A search can choose only among the settings that were run here, the nearest to what it "
           "wants: what it would have found beyond them is not known.\n");
    fputs(replay->notes.s, stdout);
    if (replay->target->spec.others.len)
        printf("Only the first of the objectives is looked at.\n");
}

static int try_all(struct replay *replay, struct err *err)
{
    int r;

    if (replay->call->json)
        json_begin_array(&replay->to);
    else
        add_columns(replay);
    r = try_one(replay, NULL, NULL, err);
    vec_foreach (search, &replay->searches.list)
        vec_foreach (rule, &replay->stops)
            if (r >= 0)
                r = try_one(replay, *search, rule, err);
    if (r < 0)
        return r;
    if (replay->call->json) {
        json_end_array(&replay->to);
        output_line(&replay->json);
    } else {
        print_table(replay);
    }
    return 0;
}

static int print_others(const struct cmd_call *call, struct store *store,
                        const struct target *target, struct err *err)
{
    struct results results = {0};
    struct replay replay = {
        .call = call, .target = target, .seeds = 5, .notes = STR_INIT, .json = STR_INIT};
    int code = cmd_number(call, "seeds", 1, 1000, &replay.seeds), r = 0;

    replay.to = (struct json_out)JSON_OUT(&replay.json);
    if (!code)
        code = read_names(&replay);
    if (!code) {
        if (!target->spec.objective.metric)
            r = err_set(err, ENODATA, "experiment %lld has no objective: nothing can be searched",
                        (long long)target->experiment.experiment.id);
        if (r >= 0)
            r = results_load(store, target, &results, err);
        if (r >= 0)
            r = replay_load(call->home, target, &results, &replay.table, err);
        if (r >= 0)
            r = try_all(&replay, err);
        code = r < 0 ? cmd_fail(call, CMD_FAILED, err) : CMD_OK;
    }
    names_release(&replay.searches);
    rules_release(&replay);
    table_release(&replay.out);
    str_release(&replay.json);
    str_release(&replay.notes);
    replay_table_release(&replay.table);
    results_release(&results);
    return code;
}

/* ---- the command ---- */

static int run(struct cmd_call *call)
{
    autofree(store) struct store *store = NULL;
    autorelease(err) struct err err = ERR_INIT;
    struct target target;
    int64_t seeds;
    int code = cmd_number(call, "seeds", 1, 1000, &seeds);

    if (code)
        return code;
    if (store_open_read(call->home, &store, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    if (target_find(store, call->args[0], FIND_EXPERIMENT, &target, &err) < 0)
        code = cmd_fail(call, CMD_FAILED, &err);
    else if (cmd_value(call, "search") || cmd_value(call, "stop"))
        code = print_others(call, store, &target, &err);
    else
        code = print_check(call, store, &target, &err);
    target_release(&target);
    return code;
}

const struct cmd cmd_replay = {
    .name = "replay",
    .args = "EXPERIMENT",
    .help = "ask its search again, or what others would have done",
    .details =
        "Without options: asks the search again for each trial, with the results that it knew "
        "then, and says how many suggestions come out the same, to the bit; exit code 1 if not "
        "all.\n\n"
        "With --search or --stop: lets them choose among the recorded settings and watch the "
        "recorded curves, and compares how soon each finds the best of them: 'hone replay last "
        "--search tpe,bayes --stop none,asha'. A trial that was stopped in the record counts as "
        "far as it went, and is never the best.",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .run = run,
};
