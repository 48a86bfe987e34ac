/* SPDX-License-Identifier: MIT */
/*
 * check.c — hone check: read a spec, say what is wrong with it or what it will do. Runs nothing,
 * writes nothing.
 */
#include "agent/agent.h"
#include "cli/overrides.h"
#include "cli/program.h"
#include "metrics/metrics.h"
#include "search/search.h"
#include "store/store.h"

static const struct cmd_option options[] = {
    OVERRIDE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

static void print_json(const struct spec *spec, const struct str *notes)
{
    autorelease(str) struct str text = STR_INIT, json = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    spec_json(spec, &json);
    json_begin_object(&out);
    json_put_bool(&out, "ok", true);
    json_put_text(&out, "notes", notes->s);
    json_put_raw(&out, "spec", json.s);
    json_end_object(&out);
    puts(text.s);
}

/* What `run` would refuse later: a pattern that is no regex, a search that does not fit the space.
 */
static int check_parts(const struct spec *spec, struct err *err)
{
    autofree(metrics_rules) struct metrics_rules *rules = NULL;
    autofree(search) struct search *search = NULL;
    struct problem problem = {.space = &spec->space,
                              .trials = spec->trials,
                              .seed = spec->seed,
                              .n_objectives = 1 + spec->others.len,
                              .n_constraints = spec->constraints.len};
    int r = metrics_rules_new(spec, &rules, err);
    if (r >= 0)
        r = search_new(spec->algorithm, &problem, &search, err);
    return r;
}

/* Experiments to learn from are named rightly or not at all; a home that nobody has yet, or that
 * cannot be read, says nothing. */
static int check_knowledge(const struct cmd_call *call, const struct spec *spec, struct err *err)
{
    autofree(store) struct store *store = NULL;

    if (spec->knowledge != KNOWLEDGE_LIST || call->server ||
        store_open_read(call->home, &store, NULL) < 0)
        return 0;
    vec_foreach (name, &spec->knowledge_from) {
        struct experiment_row row = {0};
        int r = store_find_experiment(store, *name, false, &row, err);
        experiment_row_release(&row);
        if (r < 0) {
            err_context(err, "knowledge");
            return r;
        }
    }
    return 0;
}

/* The program may be missing here and be there where the spec will run: a note, not an error. */
static void note_program(const struct spec *spec, struct str *notes)
{
    autorelease(err) struct err err = ERR_INIT;
    if (program_check(spec, &err) < 0)
        str_addf(notes, "note: %s\n", err_text(&err));
}

/* A slip, or what a shell or the program understands. */
static void note_names(const struct spec *spec, struct str *notes)
{
    autorelease(str) struct str names = STR_INIT;

    spec_unknown_names(spec, &names);
    if (names.len)
        str_addf(notes,
                 "note: the command holds %s, and no parameter is called so: it is passed as it "
                 "stands\n",
                 names.s);
}

/* Nothing is expected of the next trial where nothing was learned. */
static void note_until(const struct spec *spec, struct str *notes)
{
    struct problem problem = {.space = &spec->space, .trials = spec->trials};

    if (!(spec->until_improvement > 0))
        return;
    if (spec->others.len)
        str_add(notes, "note: until.improvement has no effect with several objectives\n");
    else if (!search_learns(spec->algorithm, &problem))
        str_addf(notes,
                 "note: until.improvement has no effect: algorithm %s learns nothing here that it "
                 "could expect an improvement by\n",
                 spec->algorithm);
}

/* System parameters as they would be here; another machine may have more, cpus and memory, too. */
static void fit_machine(struct spec *spec, struct str *notes)
{
    autorelease(err) struct err err = ERR_INIT;
    autorelease(machine) struct machine machine;

    machine_probe(&machine);
    struct demand demand = {spec->cpus, spec->memory_bytes, (int)spec->gpus};
    if (spec_system_resolve(spec, machine.cpus, &err) < 0 ||
        machine_can(&machine, &demand, &err) < 0)
        str_addf(notes, "note: %s\n", err_text(&err));
}

static int print_plan(struct cmd_call *call, const struct spec_overrides *overrides)
{
    autorelease(spec) struct spec spec;
    autorelease(str) struct str notes = STR_INIT, plan = STR_INIT;
    autorelease(err) struct err err = ERR_INIT;

    spec_init(&spec);
    if (call->n_args && program_refuse(call->cmd, call->args[0], &err) < 0)
        return cmd_fail(call, CMD_USAGE, &err);
    if (spec_load(call->n_args ? call->args[0] : NULL, overrides, &spec, &notes, &err) < 0 ||
        check_parts(&spec, &err) < 0 || check_knowledge(call, &spec, &err) < 0)
        return cmd_fail(call, CMD_USAGE, &err);
    fit_machine(&spec, &notes);
    note_program(&spec, &notes);
    note_names(&spec, &notes);
    note_until(&spec, &notes);
    if (call->json) {
        print_json(&spec, &notes);
        return CMD_OK;
    }
    fputs(notes.s, stderr);
    spec_plan(&spec, &plan);
    fputs(plan.s, stdout);
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    struct spec_overrides overrides;
    int code = overrides_file(call);

    if (code)
        return code;
    overrides_read(call, &overrides);
    code = print_plan(call, &overrides);
    spec_overrides_release(&overrides);
    return code;
}

const struct cmd cmd_check = {
    .name = "check",
    .args = "[FILE] [-- COMMAND]",
    .help = "read a spec and print what it would do",
    .details = "Takes the same file and options as 'hone run'. An error names the file, line and "
               "column, what is wrong and what would be right; the exit code is then 2.\n\n"
               "FILE is a spec in YAML or JSON, '-' for standard input, mlframework's "
               "parameters.yml or PipeTune's pipetune.conf. If neither it nor a program is given, "
               "it is hone.yaml of this folder.",
    .max_args = 1,
    .options = options,
    .run = run,
};
