/* SPDX-License-Identifier: MIT */
/*
 * plan.c — `hone check`: what would be run, for people.
 */
#include "base/shell.h"
#include "base/units.h"
#include "spec/parse.h"

#include <math.h>

#define CHOICES_SHOWN 8

static void row(struct str *to, const char *label)
{
    str_addf(to, "%-11s ", label);
}

static void add_count(struct str *to, double n)
{
    if (isinf(n))
        str_add(to, "unlimited");
    else if (n < 1e15)
        str_addf(to, "%.0f", n);
    else
        str_addf(to, "%.3g", n);
}

/* The value at u in [0,1]; of a free number, one that reads well. */
static double example_at(const struct param *param, double u)
{
    char text[DOUBLE_TEXT_SIZE];
    double x = param_from_unit(param, u);

    if (!isinf(param_size(param)))
        return x;
    snprintf(text, sizeof(text), "%.3g", x);
    return fmin(fmax(strtod(text, NULL), param->min), param->max);
}

/* The most likely value under the user's prior. */
static void add_prior(const struct param *param, struct str *to)
{
    const double *weights = param->prior.weights;
    size_t top = 0;

    if (!weights && param->prior.sd == 0)
        return;
    for (size_t i = 0; weights && i < param->n_choices; i++)
        top = weights[i] > weights[top] ? i : top;
    str_add(to, weights ? ", expected " : ", expected about ");
    param_text(param, weights ? (double)top : example_at(param, param->prior.mean), to);
}

static void add_param(const struct spec *spec, const struct param *param, struct str *to)
{
    if (param->type == PARAM_CHOICE) {
        for (size_t i = 0; i < param->n_choices && i < CHOICES_SHOWN; i++)
            str_addf(to, "%s%s", i ? ", " : "", param->choices[i].text);
        if (param->n_choices > CHOICES_SHOWN)
            str_addf(to, ", … %s", param->choices[param->n_choices - 1].text);
    } else {
        param_text(param, param->min, to);
        str_add(to, " to ");
        param_text(param, param->max, to);
        if (param->step > 0) {
            str_add(to, " by ");
            str_add_double(to, param->step);
        }
        str_add(to, param->scale == SCALE_LOG ? ", log" : "");
        str_add(to, param->type == PARAM_INT ? ", int" : "");
    }
    add_prior(param, to);
    for (size_t i = 0; i < param->n_when; i++) {
        const struct condition *when = &param->when[i];
        const struct param *other = &spec->space.params[when->param];
        str_addf(to, "%s%s is ", i ? " and " : "  when ", other->name);
        for (size_t k = 0; k < when->n_values; k++) {
            str_add(to, k ? " or " : "");
            param_text(other, when->values[k], to);
        }
        if (when->n_values == 0)
            str_add(to, "another value: never");
    }
}

static void add_forbids(const struct space *space, struct str *to)
{
    if (space->n_forbids == 0)
        return;
    row(to, "forbidden");
    str_addf(to, "%zu combination%s\n", space->n_forbids, space->n_forbids == 1 ? "" : "s");
}

static int name_width(const struct param *params, size_t n)
{
    int width = 4;

    for (size_t i = 0; i < n; i++)
        width = MAX(width, (int)MIN(strlen(params[i].name), 30));
    return width;
}

static void add_values(const struct param *param, struct str *to)
{
    double n = param_size(param);

    if (n > 1) {
        str_add(to, "  (");
        add_count(to, n);
        str_add(to, " values)");
    }
    str_add_char(to, '\n');
}

static void add_params(const struct spec *spec, struct str *to)
{
    size_t n = spec->space.n - spec->joint_n;
    int width = name_width(spec->space.params, n);

    for (size_t i = 0; i < n; i++) {
        const struct param *param = &spec->space.params[i];
        row(to, i ? "" : "parameters");
        str_addf(to, "%-*s  ", width, param->name);
        add_param(spec, param, to);
        add_values(param, to);
    }
}

/* ---- the machine ---- */

static void add_setting(const struct spec *spec, const struct param *param,
                        const struct system_setting *setting, struct str *to)
{
    if (setting->is_auto)
        str_add(to, "1 to what the machine has");
    else
        add_param(spec, param, to);
    if (spec->tune != TUNE_JOINT && (setting->is_auto || param_size(param) > 1)) {
        str_add(to, ", from ");
        if (isnan(setting->start))
            str_add(to, "the trial's cpus");
        else
            param_text(param, setting->start, to);
        str_add(to, setting->restart ? ", by restart" : ", in place");
        if (setting->learning)
            str_add(to, ", changes learning");
    }
    if (setting->is_auto)
        str_add_char(to, '\n');
    else
        add_values(param, to);
}

static void add_tune(const struct spec *spec, const struct param *params, size_t n, struct str *to)
{
    static const char *const modes[] = {
        [TUNE_PIPELINED] = "pipelined: inside running trials",
        [TUNE_JOINT] = "joint: searched like parameters",
        [TUNE_HYPER] = "hyper: each stays where it starts",
        [TUNE_OFF] = "off: system parameters are not used",
        [TUNE_OFF_RAW] = "off-raw: system parameters are not used, no variables are set",
    };
    bool is_auto = false;
    double size = 1;

    row(to, "tune");
    str_add(to, modes[spec->tune]);
    for (size_t i = 0; i < n; i++) {
        is_auto = is_auto || spec->settings[i].is_auto;
        size *= param_size(&params[i]);
    }
    if (spec_has_system(spec) && !is_auto) {
        str_add(to, "; ");
        add_count(to, size);
        str_addf(to, " configuration%s", size == 1 ? "" : "s");
    }
    str_add_char(to, '\n');
}

static void add_system(const struct spec *spec, struct str *to)
{
    size_t n;
    const struct param *params = spec_system_params(spec, &n);
    int width = name_width(params, n);

    if (n == 0 && spec->tune == TUNE_PIPELINED)
        return;
    for (size_t i = 0; i < n; i++) {
        row(to, i ? "" : "system");
        str_addf(to, "%-*s  ", width, params[i].name);
        add_setting(spec, &params[i], &spec->settings[i], to);
    }
    add_tune(spec, params, n, to);
}

/* The middle of the space; where that is forbidden, another point. */
static bool find_example(const struct spec *spec, double *x)
{
    static const double places[] = {0.5, 0.25, 0.75, 0.1, 0.9, 0, 1};

    for (size_t k = 0; k < ARRAY_LEN(places); k++) {
        for (size_t i = 0; i < spec->space.n; i++)
            x[i] = example_at(&spec->space.params[i], places[k]);
        space_settle(&spec->space, x);
        if (!space_forbids(&spec->space, x))
            return true;
    }
    return false;
}

static void add_example(const struct spec *spec, struct str *to)
{
    struct command_line line = {0};
    autofree(mem) double *x = xcalloc(spec->space.n, sizeof(*x));
    autofree(mem) double *system = xcalloc(spec->system.n, sizeof(*system));

    spec_system_start(spec, spec->cpus, system);
    if (find_example(spec, x) && spec_command_line(spec, x, system, NULL, &line, NULL) == 0) {
        row(to, "for example");
        for (size_t i = 0; i < line.argv.len; i++) {
            str_add(to, i ? " " : "");
            shell_quote(line.argv.at[i], to);
        }
        str_add_char(to, '\n');
    }
    command_line_release(&line);
}

static void add_goal(const struct objective *objective, struct str *to)
{
    str_addf(to, "%s %s", objective->goal == GOAL_MAXIMIZE ? "maximize" : "minimize",
             objective->metric);
}

static void add_constraints(const struct spec *spec, struct str *to)
{
    if (spec->constraints.len == 0)
        return;
    row(to, "constraints");
    for (size_t i = 0; i < spec->constraints.len; i++) {
        const struct constraint *constraint = &spec->constraints.at[i];
        str_addf(to, "%s%s %s ", i ? ", " : "", constraint->metric,
                 constraint->at_least ? ">=" : "<=");
        str_add_double(to, constraint->bound);
    }
    str_add_char(to, '\n');
}

static void add_objective(const struct spec *spec, struct str *to)
{
    const struct objective *objective = &spec->objective;

    row(to, "objective");
    if (!objective->metric) {
        str_add(to, "none: trials only run\n");
        return;
    }
    add_goal(objective, to);
    vec_foreach (other, &spec->others) {
        str_add(to, ", ");
        add_goal(other, to);
    }
    str_add(to, spec->per == PER_SECONDS  ? " per second"
                : spec->per == PER_ENERGY ? " per joule"
                                          : "");
    if (!isnan(objective->target)) {
        str_add(to, ", until ");
        str_add_double(to, objective->target);
        if (objective->average > 1)
            str_addf(to, " (mean of %lld)", (long long)objective->average);
        if (objective->workers != QUORUM_ALL)
            str_addf(to, " by %s of the workers",
                     objective->workers == QUORUM_ANY ? "any" : "90 %");
    }
    if (spec->until_improvement > 0)
        str_addf(to, ", until less than %.3g %% are to be gained", 100 * spec->until_improvement);
    str_add_char(to, '\n');
    add_constraints(spec, to);
}

/* The numbers of the rule that were given. */
static void add_stop(const struct stop_settings *stop, struct str *to)
{
    const struct {
        const char *name;
        int64_t x;
    } numbers[] = {{"eta", stop->eta}, {"min", stop->min_step}, {"max", stop->max_step}};

    str_addf(to, ", stop %s", stop->rule);
    if (!isnan(stop->chance))
        str_addf(to, " %.3g %%", 100 * stop->chance);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].x > 0)
            str_addf(to, " %s %lld", numbers[i].name, (long long)numbers[i].x);
    if (stop->end)
        str_add(to, " without pauses");
}

static void add_search(const struct spec *spec, struct str *to)
{
    row(to, "search");
    str_addf(to, "%lld trial%s of ", (long long)spec->trials, spec->trials == 1 ? "" : "s");
    add_count(to, space_size(&spec->space));
    str_addf(to, " settings, algorithm %s, ", spec->algorithm);
    if (spec->parallel)
        str_addf(to, "%lld at once", (long long)spec->parallel);
    else
        str_add(to, "as many at once as fit");
    if (!str_eq(spec->stop.rule, "none"))
        add_stop(&spec->stop, to);
    str_addf(to, ", seed %llu\n", (unsigned long long)spec->seed);
    if (spec->tries.len > 0) {
        row(to, "first");
        str_addf(to, "%zu given setting%s\n", spec->tries.len, spec->tries.len == 1 ? "" : "s");
    }
}

static void add_knowledge(const struct spec *spec, struct str *to)
{
    if (spec->knowledge != KNOWLEDGE_LIST)
        return;
    row(to, "knowledge");
    for (size_t i = 0; i < spec->knowledge_from.len; i++)
        str_addf(to, "%s%s", i ? ", " : "from ", spec->knowledge_from.at[i]);
    str_add_char(to, '\n');
}

static void add_duration(struct str *to, const char *label, int64_t us)
{
    if (!us)
        return;
    str_addf(to, "%s ", label);
    duration_format(us, to);
    str_add(to, ", ");
}

static void add_limits(const struct spec *spec, struct str *to)
{
    row(to, "limits");
    add_duration(to, "time", spec->time_us);
    add_duration(to, "trial", spec->trial_time_us);
    if (spec->deadline)
        str_addf(to, "deadline %s, ", spec->deadline);
    if (spec->output_bytes) {
        str_add(to, "output ");
        size_format(spec->output_bytes, to);
        str_add(to, ", ");
    }
    add_duration(to, "grace", spec->grace_us);
    str_addf(to, "%lld retries\n", (long long)spec->retries);
}

static void add_resources(const struct spec *spec, struct str *to)
{
    row(to, "a trial has");
    str_add_double(to, spec->cpus);
    str_addf(to, " cpu%s, ", spec->cpus == 1 ? "" : "s");
    if (spec->memory_bytes)
        size_format(spec->memory_bytes, to);
    else
        str_add(to, "any");
    str_addf(to, " memory, %lld gpu%s\n", (long long)spec->gpus, spec->gpus == 1 ? "" : "s");
}

void spec_plan(const struct spec *spec, struct str *to)
{
    row(to, "experiment");
    str_addf(to, "%s\n", spec->name);
    row(to, "program");
    for (size_t i = 0; i < spec->command.len; i++) {
        str_add(to, i ? " " : "");
        shell_quote(spec->command.at[i], to);
    }
    str_add_char(to, '\n');
    row(to, "runs in");
    str_addf(to, "%s\n", spec->workdir == WORKDIR_TRIAL ? "each trial's own folder" : spec->dir);
    add_params(spec, to);
    add_system(spec, to);
    add_forbids(&spec->space, to);
    add_example(spec, to);
    add_objective(spec, to);
    add_search(spec, to);
    add_knowledge(spec, to);
    add_limits(spec, to);
    add_resources(spec, to);
    row(to, "code");
    str_addf(to, "%s%s\n", spec->code ? spec->code : "not recorded",
             spec->code_isolate ? ", run from its record" : "");
}
