/* SPDX-License-Identifier: MIT */
/*
 * knowledge.c — hone knowledge: what past workloads taught about the machine; looked at, exchanged,
 * forgotten.
 */
#include "cli/knowledge.h"
#include "base/clock.h"
#include "cli/show.h"

#include <errno.h>
#include <math.h>

static const struct cmd_option options[] = {
    {"all", 'a', NULL, "forget everything"},
    {NULL, 0, NULL, NULL},
};

/* "−41 %": by how much a difference of logarithms is less or more. */
static void add_percent(struct str *to, double ln)
{
    double percent = round(100 * expm1(ln));
    str_addf(to, "%s%.0f %%", percent < 0 ? "−" : percent > 0 ? "+" : "", fabs(percent));
}

/* ---- JSON ---- */

/* The workload's own members with id, best and cluster. */
static void put_known(struct json_out *out, const struct known *one)
{
    const struct workload_configuration *best = workload_best(&one->workload);
    const struct workload_configuration *worst = workload_worst(&one->workload);
    autorelease(str) struct str text = STR_INIT;

    workload_encode(&one->workload, &text);
    json_begin_object(out);
    json_put_int(out, "id", one->id);
    json_put_raw(out, "best", best ? best->json : "null");
    json_put_known(out, "gain", best && worst ? -expm1(best->ln_effect - worst->ln_effect) : NAN);
    /* the rest of the workload's object goes on from here */
    str_cut(&text, text.len - 1);
    json_raw(out, text.s + 1);
    json_end_object(out);
}

static void list_json(const struct known_list *known)
{
    for (size_t i = 0; i < known->list.len; i++) {
        autorelease(str) struct str text = STR_INIT;
        struct json_out out = JSON_OUT(&text);
        put_known(&out, &known->list.at[i]);
        printf("%s\n%s", i ? "," : "[", text.s);
    }
    puts(known->list.len ? "\n]" : "[]");
}

/* ---- ls ---- */

static void list_columns(struct table *table)
{
    table_column(table, "id", COLUMN_RIGHT);
    table_column(table, "name", COLUMN_SHRINK);
    table_column(table, "machine", COLUMN_SHRINK | COLUMN_OPTIONAL);
    table_column(table, "configurations", COLUMN_RIGHT);
    table_column(table, "best", COLUMN_SHRINK);
    table_column(table, "against worst", COLUMN_RIGHT);
    table_column(table, "runs", COLUMN_RIGHT);
    table_column(table, "cluster", COLUMN_RIGHT);
    table_column(table, "age", COLUMN_RIGHT | COLUMN_OPTIONAL);
}

static void list_cells(struct table *table, const struct known *one, int64_t now_us)
{
    const struct workload *workload = &one->workload;
    const struct workload_configuration *best = workload_best(workload);
    const struct workload_configuration *worst = workload_worst(workload);
    autorelease(str) struct str words = STR_INIT, gain = STR_INIT, age = STR_INIT;

    if (best)
        str_add_configuration(&words, best->json);
    if (best && worst && best != worst)
        add_percent(&gain, best->ln_effect - worst->ln_effect);
    str_add_duration(&age, MAX(now_us - workload->updated_us, 0));
    table_addf(table, BOLD, "%lld", (long long)one->id);
    table_add(table, PLAIN, workload->name);
    table_add(table, PLAIN, workload->machine);
    if (one->unread)
        table_add(table, RED, "not understood");
    else
        table_addf(table, PLAIN, "%zu", workload->configurations.len);
    table_add(table, PLAIN, words.s);
    table_add(table, GREEN, gain.s);
    table_addf(table, PLAIN, "%lld", (long long)workload->runs);
    if (workload->cluster)
        table_addf(table, PLAIN, "%lld", (long long)workload->cluster);
    else
        table_add(table, PLAIN, "");
    table_add(table, PLAIN, age.s);
}

/* "1 mnist, 4 svm": the members of a cluster; false if it has none. */
static bool add_members(struct str *to, const struct known_list *known, int64_t cluster,
                        const struct known *except)
{
    size_t start = to->len;

    vec_foreach (one, &known->list)
        if (one->workload.cluster == cluster && one != except)
            str_addf(to, "%s%lld %s", to->len > start ? ", " : "", (long long)one->id,
                     one->workload.name);
    return to->len > start;
}

/* The map: clusters with their members. */
static void print_map(const struct cmd_call *call, const struct known_list *known)
{
    struct table table = TABLE_INIT;
    int64_t most = 0;

    vec_foreach (one, &known->list)
        most = MAX(most, one->workload.cluster);
    table_column(&table, "cluster", COLUMN_RIGHT);
    table_column(&table, "looks alike by its counters", COLUMN_SHRINK);
    for (int64_t cluster = 1; cluster <= most; cluster++) {
        autorelease(str) struct str members = STR_INIT;
        if (!add_members(&members, known, cluster, NULL))
            continue;
        table_addf(&table, BOLD, "%lld", (long long)cluster);
        table_add(&table, PLAIN, members.s);
    }
    if (table_rows(&table)) {
        putchar('\n');
        table_print(&table, stdout, call->colour, terminal_width());
    }
    table_release(&table);
}

static int list(struct cmd_call *call, struct known_list *known, struct err *err)
{
    struct table table = TABLE_INIT;

    (void)err;
    if (call->json) {
        list_json(known);
        return CMD_OK;
    }
    if (known->list.len == 0) {
        puts("nothing is known yet: trials with 'system:' parameters teach it as they run");
        return CMD_OK;
    }
    list_columns(&table);
    vec_foreach (one, &known->list)
        list_cells(&table, one, clock_wall_us());
    table_print(&table, stdout, call->colour, terminal_width());
    table_release(&table);
    print_map(call, known);
    return CMD_OK;
}

/* ---- show ---- */

static void show_response(const struct show *show, const struct workload_response *response)
{
    autorelease(str) struct str text = STR_INIT, memory = STR_INIT;

    if (isfinite(response->seconds))
        str_addf(&text, "%.3g s per step", response->seconds);
    if (isfinite(response->memory_bytes)) {
        str_add_size(&memory, (uint64_t)response->memory_bytes);
        str_addf(&text, "%s%s", text.len ? ", " : "", memory.s);
    }
    if (isfinite(response->cpus))
        str_addf(&text, "%s%.2g cpus", text.len ? ", " : "", response->cpus);
    show_line(show, "takes", PLAIN, "%s", text.len ? text.s : "not measured");
}

static void show_facts(const struct show *show, const struct known_list *known,
                       const struct known *one)
{
    const struct workload *workload = &one->workload;
    autorelease(str) struct str when = STR_INIT, members = STR_INIT;

    str_add_when(&when, workload->updated_us);
    show_line(show, "workload", BOLD, "%lld %s", (long long)one->id, workload->name);
    show_line(show, "identity", PLAIN, "%s", workload->identity);
    show_line(show, "machine", PLAIN, "%s", workload->machine);
    show_line(show, "learned", PLAIN, "%s, from %lld trial%s", when.s, (long long)workload->runs,
              workload->runs == 1 ? "" : "s");
    if (workload->cluster && add_members(&members, known, workload->cluster, one))
        show_line(show, "cluster", PLAIN, "%lld, with %s", (long long)workload->cluster, members.s);
    else if (workload->cluster)
        show_line(show, "cluster", PLAIN, "%lld, alone", (long long)workload->cluster);
    if (one->unread)
        show_line(show, "", RED, "the rest is not understood by this Hone");
    else
        show_response(show, &workload->response);
}

static int by_effect(const void *a, const void *b)
{
    const struct workload_configuration *x = a, *y = b;
    return (x->ln_effect > y->ln_effect) - (x->ln_effect < y->ln_effect);
}

/* The fastest first, the others against it. Sorts them in place. */
static void show_configurations(const struct show *show, struct workload *workload)
{
    static const char *const titles[] = {"configuration", "time per step", "±", "windows", "load"};
    struct table table = TABLE_INIT;

    if (workload->configurations.len == 0)
        return;
    qsort(workload->configurations.at, workload->configurations.len,
          sizeof(*workload->configurations.at), by_effect);
    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        table_column(&table, titles[i], i ? COLUMN_RIGHT : COLUMN_SHRINK);
    vec_foreach (configuration, &workload->configurations) {
        autorelease(str) struct str words = STR_INIT, effect = STR_INIT;
        bool best = configuration == workload_best(workload);
        str_add_configuration(&words, configuration->json);
        add_percent(&effect, configuration->ln_effect - workload_best(workload)->ln_effect);
        table_add(&table, best ? BOLD : PLAIN, words.s);
        table_add(&table, best ? GREEN : PLAIN, best ? "best" : effect.s);
        table_addf(&table, PLAIN, "%.0f %%", 100 * expm1(configuration->deviation));
        table_addf(&table, PLAIN, "%.3g", configuration->windows);
        table_addf(&table, PLAIN, "%.2g", configuration->load);
    }
    show_head(show, "configurations");
    table_print(&table, stdout, show->call->colour, terminal_width());
    table_release(&table);
}

static void show_failed(const struct show *show, const struct workload *workload)
{
    if (workload->failed.len)
        show_head(show, "failed under, not tried again");
    vec_foreach (failed, &workload->failed) {
        autorelease(str) struct str words = STR_INIT;
        str_add_configuration(&words, *failed);
        printf("%s\n", words.s);
    }
}

static void show_profile(const struct show *show, const struct workload *workload)
{
    struct table table = TABLE_INIT;

    table_column(&table, "counter", COLUMN_LEFT);
    table_column(&table, "of the", COLUMN_LEFT);
    table_column(&table, "value", COLUMN_RIGHT);
    table_column(&table, "none 0, much 1", COLUMN_RIGHT);
    vec_foreach (counter, &workload->profile) {
        table_add(&table, PLAIN, counter->name);
        table_add(&table, DIM, counter->hardware ? "hardware" : "system");
        if (counter->missing) {
            table_add(&table, DIM, "missing");
            table_add(&table, DIM, "");
            continue;
        }
        table_number(&table, PLAIN, counter->value);
        table_addf(&table, PLAIN, "%.2f", counter->scaled);
    }
    show_head(show, "profile");
    if (table_rows(&table))
        table_print(&table, stdout, show->call->colour, terminal_width());
    else
        puts("none was taken");
    table_release(&table);
}

static int show_one(struct cmd_call *call, struct known_list *known, struct err *err)
{
    struct show show = {.call = call};
    size_t i;

    if (known_find(known, call->args[1], &i, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    struct known *one = &known->list.at[i];
    if (call->json) {
        autorelease(str) struct str text = STR_INIT;
        struct json_out out = JSON_OUT(&text);
        put_known(&out, one);
        puts(text.s);
        return CMD_OK;
    }
    show_facts(&show, known, one);
    if (one->unread)
        return CMD_OK;
    show_configurations(&show, &one->workload);
    show_failed(&show, &one->workload);
    show_profile(&show, &one->workload);
    return CMD_OK;
}

/* ---- forget ---- */

static void say_forgotten(const struct cmd_call *call, const struct known_list *gone)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    json_begin_object(&out);
    json_put_text(&out, "done", "forget");
    json_key(&out, "workloads");
    json_begin_array(&out);
    vec_foreach (one, &gone->list) {
        autorelease(str) struct str name = STR_INIT;
        size_t n = one->workload.configurations.len;
        long long runs = one->workload.runs;
        str_add_printable(&name, one->workload.name, strlen(one->workload.name));
        json_begin_object(&out);
        json_put_int(&out, "id", one->id);
        json_put_text(&out, "identity", one->workload.identity);
        json_put_text(&out, "name", one->workload.name);
        json_end_object(&out);
        if (!call->json)
            printf("forgot workload %lld, %s: %zu configuration%s from %lld trial%s\n",
                   (long long)one->id, name.s, n, n == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
    }
    json_end_array(&out);
    json_end_object(&out);
    if (call->json)
        puts(json.s);
    else if (gone->list.len == 0)
        puts("nothing was known");
}

static int forget(struct cmd_call *call, struct known_list *known, struct err *err)
{
    bool all = cmd_flag(call, "all");
    autorelease(known_list) struct known_list gone = {0};
    VEC(char *) identities = {0};
    size_t i = 0;
    int r = 0;

    if (all == (call->n_args > 1))
        return cmd_usage(call, "'forget' wants the ID of a workload, or --all");
    if (!all && known_find(known, call->args[1], &i, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    while (i < known->list.len) {
        vec_push(&identities, known->list.at[i].workload.identity);
        vec_push(&gone.list, known->list.at[i]);
        vec_remove(&known->list, i);
        if (!all)
            break;
    }
    if (gone.list.len > 0)
        r = known_save(call, known, identities.at, identities.len, err);
    vec_release(&identities);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, err);
    say_forgotten(call, &gone);
    return CMD_OK;
}

/* ---- the command ---- */

static const struct {
    const char *name;
    int min_args, max_args; /* after the name */
    known_verb *run;
} verbs[] = {
    {"ls", 0, 0, list},
    {"show", 1, 1, show_one},
    {"export", 0, 1, known_export},
    {"import", 1, 1, known_import},
    {"forget", 0, 1, forget},
};

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(known_list) struct known_list known = {0};
    const char *name = call->n_args ? call->args[0] : "ls";
    size_t i = 0;

    while (i < ARRAY_LEN(verbs) && !str_eq(verbs[i].name, name))
        i++;
    if (i == ARRAY_LEN(verbs))
        return cmd_usage(call, "'%s' is none of ls, show, export, import, forget", name);
    if (cmd_flag(call, "all") && verbs[i].run != forget)
        return cmd_usage(call, "--all is for 'forget'");
    int n = MAX(call->n_args - 1, 0);
    if (n < verbs[i].min_args)
        return cmd_usage(call, "'%s' wants %s", name,
                         verbs[i].run == known_import ? "a FILE" : "the ID of a workload");
    if (n > verbs[i].max_args)
        return cmd_usage(call, "'%s' is one too many", call->args[verbs[i].max_args + 1]);
    if (known_load(call, &known, &err) < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    return verbs[i].run(call, &known, &err);
}

const struct cmd cmd_knowledge = {
    .name = "knowledge",
    .args = "[VERB] [ID|FILE]",
    .help = "what past workloads taught about the machine",
    .details =
        "VERB is ls, show ID, export [FILE], import FILE, forget ID or forget --all; ls without "
        "any.\n\n"
        "Trials with 'system:' parameters teach how much faster or slower their program is under "
        "each configuration of the machine; the next one of its kind starts from there. 'ls' lists "
        "the workloads with the best configuration known, how much less time it takes than the "
        "worst, and which of them look alike; 'show' tells all about one. ID is a number of 'ls', "
        "a name, or the first digits of the identity.\n\n"
        "'export' writes JSON lines, a workload each, to FILE or standard output. 'import' reads "
        "them and merges what is known here already; nothing is changed if a line is wrong. "
        "'forget' takes a workload away, or with --all every one.\n\n"
        "With --json the objects of 'export', and with them id, best and gain: the share of the "
        "worst configuration's time that the best one saves.",
    .max_args = 2,
    .options = options,
    .run = run,
};
