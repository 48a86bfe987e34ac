/* SPDX-License-Identifier: MIT */
/*
 * options.c — the table of every key, in the order of docs and canonical JSON. A group's keys
 * follow it directly.
 */
#include "spec/options.h"
#include "base/suggest.h"
#include "spec/reader.h"

#define AT(member)                                                                                 \
    .offset = offsetof(struct spec, member), .size = sizeof(((struct spec *)0)->member)

static const struct option_word pass_words[] = {
    {"args", PASS_ARGS, false}, {"env", PASS_ENV, false}, {"file", PASS_FILE, false}, {0}};
static const struct option_word flags_words[] = {{"bare", 0, false}, {"value", 1, false}, {0}};
static const struct option_word workdir_words[] = {
    {"spec", WORKDIR_SPEC, false}, {"trial", WORKDIR_TRIAL, false}, {0}};
static const struct option_word output_words[] = {{"files", 0, false}, {"pty", 1, false}, {0}};
static const struct option_word goal_words[] = {{"minimize", GOAL_MINIMIZE, false},
                                                {"maximize", GOAL_MAXIMIZE, false},
                                                {"min", GOAL_MINIMIZE, false},
                                                {"max", GOAL_MAXIMIZE, false},
                                                {0}};
static const struct option_word quorum_words[] = {
    {"all", QUORUM_ALL, false}, {"90%", QUORUM_MOST, false}, {"any", QUORUM_ANY, false}, {0}};
static const struct option_word algorithm_words[] = {{"auto", 0, false},   {"random", 0, false},
                                                     {"grid", 0, false},   {"sobol", 0, false},
                                                     {"bayes", 0, false},  {"forest", 0, false},
                                                     {"tpe", 0, false},    {"cmaes", 0, false},
                                                     {"evolve", 0, false}, {0}};
static const struct option_word stop_words[] = {{"none", 0, false},      {"median", 0, false},
                                                {"curve", 0, false},     {"asha", 0, false},
                                                {"hyperband", 0, false}, {0}};
static const struct option_word per_words[] = {{"trial", PER_TRIAL, false},
                                               {"seconds", PER_SECONDS, false},
                                               {"energy", PER_ENERGY, false},
                                               {0}};
static const struct option_word tune_words[] = {
    {"pipelined", TUNE_PIPELINED, false}, {"joint", TUNE_JOINT, false},
    {"hyper", TUNE_HYPER, false},         {"off", TUNE_OFF, false},
    {"off-raw", TUNE_OFF_RAW, false},     {0}};
static const struct option_word repeats_words[] = {{"auto", 0, false}, {"never", 1, false}, {0}};

/* clang-format off */
const struct option options[] = {
    { .path = "name", .type = OPTION_SPECIAL, .read = read_name, .write = write_name, AT(name),
      .form = "a name", .help = "Name of the experiment: letters, digits, `_`, `-`; not beginning with a digit or `-`. Default: the file's name, or the program's." },
    { .path = "description", .type = OPTION_TEXT, AT(description),
      .form = "a text", .help = "A sentence for people." },
    { .path = "tags", .type = OPTION_TEXTS, AT(tags),
      .form = "a list of texts", .help = "Tags of the experiment, as `hone tag` sets them." },
    { .path = "priority", .type = OPTION_INT, AT(priority), .min = -100, .max = 100, .fallback = "0",
      .form = "a whole number", .help = "Place in the queue of the home: experiments of a higher priority start their trials first. `hone queue` changes it later." },
    { .path = "command", .type = OPTION_SPECIAL, .read = read_command, .write = write_command, AT(command),
      .form = "a text or a list of words", .help = "The program. A text is split into words by POSIX quoting, without a shell; write `[sh, -c, …]` for one. `{name}` is replaced for known parameters and `{checkpoint}`; `{{` and `}}` are literal braces. May also stand after `--` on the command line." },
    { .path = "params", .type = OPTION_SPECIAL, .read = read_params, .write = write_params, AT(space),
      .form = "a mapping of parameters", .help = "The hyperparameters; see below." },
    { .path = "system", .type = OPTION_SPECIAL, .read = read_system, .write = write_system, AT(system), .late = true,
      .form = "a mapping of system parameters", .help = "What may be changed about the machine under a trial; see below." },
    { .path = "tune", .type = OPTION_ENUM, .words = tune_words, AT(tune), .fallback = "pipelined",
      .help = "How `system` is tuned: inside running trials, as further hyperparameters (joint), not at all (hyper: each stays where it starts; off: as if there were none; off-raw: nor does Hone set variables for threads)." },
    { .path = "forbid", .type = OPTION_SPECIAL, .read = read_forbid, .write = write_forbid, AT(space.forbids), .late = true,
      .form = "a list of combinations", .help = "Settings that must not be tried; see below." },
    { .path = "try", .type = OPTION_SPECIAL, .read = read_tries, .write = write_tries, AT(tries), .late = true,
      .form = "a list of settings", .help = "Settings to run first. Parameters that one does not name are filled in by the search." },
    { .path = "knowledge", .type = OPTION_SPECIAL, .read = read_knowledge, .write = write_knowledge, AT(knowledge), .fallback = "auto",
      .form = "auto, off, an experiment, or a list of them", .help = "Which earlier experiments teach this one. auto: those of this home whose parameters overlap. An experiment is its name or its number." },
    { .path = "pass", .type = OPTION_ENUM, .words = pass_words, AT(pass), .fallback = "args",
      .help = "How parameters that the command does not name reach the program: appended as `--name=value`, as variables `HONE_PARAM_NAME`, or only in the JSON file `$HONE_PARAMS`." },
    { .path = "flags", .type = OPTION_ENUM, .words = flags_words, AT(flags_value), .fallback = "bare",
      .help = "How true and false are passed as arguments: bare gives `--name` and nothing, value gives `--name=true` and `--name=false`." },
    { .path = "env", .type = OPTION_PAIRS, AT(env),
      .form = "a mapping of names to texts", .help = "Environment variables for the program. A value that looks like a secret (by its name, `TOKEN`, `KEY`, …, or by itself) is shown to nobody: `•••`." },
    { .path = "workdir", .type = OPTION_ENUM, .words = workdir_words, AT(workdir), .fallback = "spec",
      .help = "Where the program runs: in the spec's folder, or in the trial's own folder (for programs that write fixed file names)." },
    { .path = "output", .type = OPTION_ENUM, .words = output_words, AT(pty), .fallback = "files",
      .help = "Where output goes: straight to files, or through a pseudo-terminal (for programs that hold it back otherwise)." },
    { .path = "metrics", .type = OPTION_SPECIAL, .read = read_metrics, .write = write_metrics, AT(patterns),
      .form = "a mapping of metrics to patterns, or a list of patterns", .help = "How to read metrics from the output, beside what is recognised by itself, and from TensorBoard's event files; see below." },
    { .path = "diverge", .type = OPTION_TEXTS, AT(diverge),
      .form = "a list of metrics", .help = "Metrics whose NaN or Inf means that the trial diverged; the objective always does." },

    { .path = "objective", .type = OPTION_GROUP, .read = read_objective, .write = write_objectives,
      .form = "a mapping, the metric to minimize, or a list of these", .help = "What to optimise. Without it, trials only run. With several, the best compromises are looked for (the Pareto front)." },
    { .path = "objective.metric", .type = OPTION_TEXT, AT(objective.metric),
      .form = "a metric", .help = "The metric. Its last value counts." },
    { .path = "objective.goal", .type = OPTION_ENUM, .words = goal_words, AT(objective.goal), .fallback = "minimize",
      .help = "Which way is better." },
    { .path = "objective.target", .type = OPTION_NUMBER, AT(objective.target), .min = -1e308, .max = 1e308,
      .form = "a number or a percentage", .help = "The experiment ends when a trial reaches this." },
    { .path = "objective.average", .type = OPTION_INT, AT(objective.average), .min = 1, .max = 1e9, .fallback = "1",
      .form = "a whole number", .help = "The target is compared with the mean of this many last values. Not with several objectives." },
    { .path = "objective.workers", .type = OPTION_ENUM, .words = quorum_words, AT(objective.workers), .fallback = "all",
      .help = "Where the workers of a trial report the metric one by one (`train,worker=2 loss=0.4`, or a metric `loss{worker=2}`), its value is their mean, and so many of them must reach the target." },
    { .path = "objective.per", .type = OPTION_ENUM, .words = per_words, AT(per), .fallback = "trial",
      .help = "What an improvement is weighed against when the next setting is chosen: seconds prefers settings that run short, energy those that take few joules. Default with `tune: joint` and system parameters: seconds. Not in a list." },
    { .path = "constraint", .type = OPTION_SPECIAL, .read = read_constraints, .write = write_constraints, AT(constraints),
      .form = "a text, or a list of them", .help = "Bounds that a trial's metrics must keep to count as good: `latency_ms <= 20`, `acc >= 90%`. Their last values count." },
    { .path = "until", .type = OPTION_GROUP, .form = "a mapping", .help = "When to end before all trials were run." },
    { .path = "until.improvement", .type = OPTION_SPECIAL, .read = read_improvement, .write = write_improvement, AT(until_improvement), .fallback = "never",
      .form = "a percentage or never", .help = "The experiment ends when the next trial is expected to improve the best by less than this share of it, or of its distance from the median of the first results if that is larger (a best near zero has no size of its own). For one objective, and algorithms that learn." },

    { .path = "search", .type = OPTION_GROUP, .form = "a mapping", .help = "How to search." },
    { .path = "search.algorithm", .type = OPTION_CHOICE, .words = algorithm_words, AT(algorithm), .fallback = "auto",
      .help = "Which settings to try next. auto takes the best for the space and the number of trials." },
    { .path = "search.trials", .type = OPTION_INT, AT(trials), .min = 1, .max = 1e9,
      .form = "a whole number", .help = "How many trials. Default: 100, or the whole space if it is smaller; with `algorithm: grid` the whole space." },
    { .path = "search.parallel", .type = OPTION_INT, AT(parallel), .min = 1, .max = 100000, .zero = "auto", .fallback = "auto",
      .form = "a whole number or auto", .help = "How many trials at once. auto: as many as the machine's cpus, memory and GPUs allow; with `system`, of these as many as give the most runs an hour, found while they run." },
    { .path = "search.stop", .type = OPTION_SPECIAL, .read = read_stop, .write = write_stop, .words = stop_words, AT(stop), .fallback = "curve",
      .form = "a mapping with its numbers", .help = "Rule that ends poor trials early; see below. Without an objective: none." },
    { .path = "search.seed", .type = OPTION_INT, AT(seed), .min = 0, .max = 9e15,
      .form = "a whole number", .help = "Same seed, same settings. Default: a random one, which is recorded." },
    { .path = "search.repeats", .type = OPTION_ENUM, .words = repeats_words, AT(no_repeats), .fallback = "auto",
      .help = "Whether good settings are run again, as trials of the experiment, to tell merit from luck: at most a fifth of the trials, in the last third." },
    { .path = "search.paused_memory", .type = OPTION_NUMBER, AT(paused_memory), .min = 0, .max = 0.9, .fallback = "25%",
      .form = "a percentage", .help = "How much of the machine's memory paused trials may hold (`stop: asha`, `hyperband`); beyond it the least promising are ended." },

    { .path = "limits", .type = OPTION_GROUP, .form = "a mapping", .help = "Limits of the experiment and of each trial." },
    { .path = "limits.time", .type = OPTION_DURATION, AT(time_us), .zero = "none", .fallback = "none",
      .help = "The experiment ends after running this long." },
    { .path = "limits.trial_time", .type = OPTION_DURATION, AT(trial_time_us), .zero = "none", .fallback = "none",
      .help = "A trial is ended after running this long." },
    { .path = "limits.retries", .type = OPTION_INT, AT(retries), .min = 0, .max = 1000, .fallback = "2",
      .form = "a whole number", .help = "How often a trial is started again when its machine or keeper was lost, it could not be started, or it ended with a code listed under `retry`." },
    { .path = "limits.deadline", .type = OPTION_SPECIAL, .read = read_deadline, .write = write_deadline, AT(deadline_us),
      .form = "a time", .help = "The experiment ends then: `18:00` (the next one, local time), `2026-11-20 18:00`, or RFC 3339." },
    { .path = "limits.output", .type = OPTION_SIZE, AT(output_bytes), .zero = "none", .fallback = "1G",
      .help = "Cap of each trial's stdout, and of its stderr; the middle of longer ones is dropped." },
    { .path = "limits.grace", .type = OPTION_DURATION, AT(grace_us), .fallback = "10s",
      .help = "Time between asking a program to end and killing it." },
    { .path = "retry", .type = OPTION_CODES, AT(retry_codes), .min = 1, .max = 255,
      .form = "a list of exit codes", .help = "Exit codes after which a trial is started again, up to `limits.retries` times. (85 always means: checkpointed, start me again.)" },

    { .path = "alerts", .type = OPTION_SPECIAL, .read = read_alerts, .write = write_alerts, AT(alerts), .late = true,
      .form = "a list of alerts", .help = "What is watched while a trial runs, and what is done about it: notify, stop, requeue; see below." },

    { .path = "resources", .type = OPTION_GROUP, .form = "a mapping", .help = "What one trial takes." },
    { .path = "resources.cpus", .type = OPTION_NUMBER, AT(cpus), .min = 0.01, .max = 100000, .fallback = "1",
      .form = "a number", .help = "Cpus of a trial." },
    { .path = "resources.memory", .type = OPTION_SIZE, AT(memory_bytes), .zero = "none", .fallback = "none",
      .help = "Memory of a trial; more ends it." },
    { .path = "resources.gpus", .type = OPTION_INT, AT(gpus), .min = 0, .max = 64, .fallback = "0",
      .form = "a whole number", .help = "GPUs of a trial; running trials get distinct ones." },

    { .path = "code", .type = OPTION_GROUP, .read = read_code_short,
      .form = "a folder, a mapping, or none", .help = "The code that is recorded with the experiment (without what `.honeignore` lists)." },
    { .path = "code.path", .type = OPTION_SPECIAL, .read = read_code_path, .write = write_code_path, AT(code), .fallback = ".",
      .form = "a folder or none", .help = "Folder of the code, relative to the spec's folder." },
    { .path = "code.isolate", .type = OPTION_BOOL, AT(code_isolate), .fallback = "false",
      .help = "Run trials in a checkout of the recorded code instead of the spec's folder." },

    { .path = "keep", .type = OPTION_GROUP, .form = "a mapping", .help = "What `hone gc` keeps." },
    { .path = "keep.checkpoints", .type = OPTION_SPECIAL, .read = read_keep_checkpoints, .write = write_keep_checkpoints, AT(keep_checkpoints), .fallback = "all",
      .form = "all, best N, or last N", .help = "Which checkpoints of ended trials: all, those of the N best trials, the N newest of each trial." },
    { .path = "keep.trials", .type = OPTION_DURATION, AT(keep_trials_us), .zero = "none", .fallback = "none",
      .help = "How long trials are kept after their end: then `hone gc` removes them with their values, samples and files, but for starred ones; none: for ever." },

    { .path = "file", .type = OPTION_TEXT, AT(file), .internal = true, .form = "a path" },
    { .path = "dir", .type = OPTION_TEXT, AT(dir), .internal = true, .form = "a path" },

    { .path = "roles", .type = OPTION_LATER },
    { .path = "container", .type = OPTION_LATER },
};
/* clang-format on */
const size_t n_options = ARRAY_LEN(options);

const struct option *option_find(const char *path)
{
    for (size_t i = 0; i < n_options; i++)
        if (str_eq(options[i].path, path))
            return &options[i];
    return NULL;
}

const char *option_suggest(const char *path)
{
    const char *paths[ARRAY_LEN(options)];
    size_t n = 0;

    for (size_t i = 0; i < n_options; i++)
        if (!options[i].internal && options[i].type != OPTION_LATER &&
            !strchr(options[i].path, '.') == !strchr(path, '.'))
            paths[n++] = options[i].path;
    return suggest(path, paths, n);
}

void option_list_words(const struct option *option, struct str *to)
{
    const char *gap = "";

    for (const struct option_word *word = option->words; word->word; word++) {
        if (word->later)
            continue;
        str_addf(to, "%s%s", gap, word->word);
        gap = ", ";
    }
}
