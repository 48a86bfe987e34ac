/* SPDX-License-Identifier: MIT */
/*
 * docs.c — docs/spec.md from the option table, and the starting spec of `hone init`.
 */
#include "base/shell.h"
#include "spec/reader.h"

static const char head[] =
    "# The spec\n"
    "\n"
    "One YAML (or JSON) file is one experiment. This page is made from the option table\n"
    "(`src/spec/options.c`). `hone check FILE` reads a spec and shows what it would run; `hone "
    "init`\n"
    "writes one to start from.\n"
    "\n"
    "```yaml\n"
    "name: fashion-cnn\n"
    "command: python3 train.py\n"
    "params:\n"
    "  lr: {min: 1e-4, max: 1e-1, scale: log}\n"
    "  batch: [32, 64, 128, 256]\n"
    "  optimizer: [sgd, adam]\n"
    "  momentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\n"
    "objective: {metric: val_acc, goal: maximize}\n"
    "search: {trials: 64}\n"
    "limits: {time: 2h}\n"
    "```\n"
    "\n"
    "## Keys\n"
    "\n"
    "| key | value | default | what it does |\n"
    "|---|---|---|---|\n";

static const char tail[] =
    "\n"
    "## Parameters\n"
    "\n"
    "| form | meaning |\n"
    "|---|---|\n"
    "| `seed: 7` | a constant |\n"
    "| `batch: [32, 64]`, `{values: [32, 64]}` | choices, passed exactly as written; a list of "
    "numbers is ordered |\n"
    "| `lr: {min: 1e-4, max: 1e-1, scale: log}` | a number between bounds, both included. `scale` "
    "is linear or log. `step` allows only min, min + step, … |\n"
    "| `layers: {min: 1, max: 4, type: int}` | whole numbers. Without `type` a parameter is a "
    "float, also between whole bounds |\n"
    "| `epochs: {range: [5, 20, 5]}` | 5, 10, 15: from the start, by the step (1 if left out), "
    "without the end. Decimals stay exact |\n"
    "| `momentum: {…, when: {optimizer: sgd}}` | only where the other parameter has this value, or "
    "one of a list; else it is not passed. The other may stand earlier or later |\n"
    "| `lr: {…, prior: 0.01}` | good values are expected about there; see below |\n"
    "\n"
    "Names are letters, digits, `_`, `-` and `.`, beginning with a letter or `_`. Quoted values "
    "are "
    "texts.\n"
    "\n"
    "In the command, `{name}` is replaced for known parameters, `{checkpoint}` by the newest "
    "checkpoint of the trial (empty at first); `{{` and `}}` are literal braces. A word that is "
    "only "
    "`{name}` of an inactive parameter goes away, with the option word before it; so does "
    "`--x={name}`. Parameters that the command does not name are passed as `pass` says.\n"
    "\n"
    "### Priors\n"
    "\n"
    "What you expect, as a `prior` of the parameter. It moves where the search looks first; "
    "results "
    "outweigh it.\n"
    "\n"
    "- `prior: 0.01` for a number: a normal distribution there, whose standard deviation is 15 % "
    "of "
    "the parameter's axis (of its logarithm with `scale: log`).\n"
    "- `prior: {mean: 0.01, sd: 0.02}`: the deviation is given, in the parameter's unit. With "
    "`scale: log` it is a factor above 1: `sd: 3` means that two thirds lie between a third of the "
    "mean and three times the mean. It is never taken as less than 0.1 % of the axis.\n"
    "- `prior: adam` for a choice: three times as likely as each other one.\n"
    "- `prior: {adam: 5, sgd: 2}`: weights from 0.001 to 1000; what is not named has 1.\n"
    "\n"
    "### Forbidden combinations\n"
    "\n"
    "```yaml\n"
    "forbid:\n"
    "- {optimizer: adam, lr: {min: 0.1}}      # adam with 0.1 or more\n"
    "- {layers: 4, width: [512, 1024]}        # four layers with one of these widths\n"
    "- {dropout: {min: 0.2, max: 0.3}}        # both bounds are forbidden too\n"
    "```\n"
    "A setting is forbidden where all of one combination holds. A parameter that is not active is "
    "in "
    "none. Where `-p` fixes a parameter to another value, the combination falls away. A spec that "
    "forbids everything is refused (beyond some millions of settings: as far as can be counted).\n"
    "\n"
    "### Settings to run first\n"
    "\n"
    "```yaml\n"
    "try:\n"
    "- {lr: 0.01, batch: 64, optimizer: adam}\n"
    "- {lr: 0.1, optimizer: sgd}              # the search fills in batch and momentum\n"
    "```\n"
    "\n"
    "## System parameters\n"
    "\n"
    "```yaml\n"
    "system:\n"
    "  threads: [1, 2, 4]                        # starts with the first\n"
    "  cpus: {min: 1, max: 4, start: 2}          # whole numbers, both ends included\n"
    "  workers: {min: 0, max: 4, apply: restart} # the program's own\n"
    "tune: pipelined\n"
    "```\n"
    "What may be changed about the machine under a trial while it runs, to make it faster; never "
    "part of the model. Up to 16 of them, with the forms of parameters (a constant, a list, `min` "
    "and `max`, `range`), without `when` and `prior`. A range has whole numbers.\n"
    "\n"
    "| name | value | what it does |\n"
    "|---|---|---|\n"
    "| `cpus` | 1 or more, or `auto` | cpus that the program may run on |\n"
    "| `threads` | 1 or more, or `auto` | threads of OpenMP, OpenBLAS, MKL, PyTorch: by the "
    "environment, and in place with the SDK |\n"
    "| `interop` | 1 or more | threads between operations, by the environment; only by a restart "
    "|\n"
    "| `cpu_quota` | 0.01 or more | processor time, in cpus |\n"
    "| `memory` | a list of sizes | limit of memory |\n"
    "| `nice` | -20 to 19 | niceness |\n"
    "| `frequency` | a list like `[1.2GHz, 2400MHz]`; a number is kHz | highest frequency |\n"
    "| `workers` | 0 or more | processes that load data; passed to the program |\n"
    "| `ps`, `worker` | 0 or more, 1 or more | counts of roles; passed to the program; only by a "
    "restart |\n"
    "| any other | a number or a text | the program's own; passed to the program |\n"
    "\n"
    "- `start`: where a trial starts. Default: the first of a list; of a range of `cpus` or "
    "`threads` the cpus that the trial has, of another its `min`.\n"
    "- `apply`: `live` changes it in the running program, `restart` starts the program again from "
    "its checkpoint. Default: live for those that Hone puts in place (not `interop`), restart for "
    "what is passed to the program.\n"
    "- `learning: true`: it changes what a step teaches, not only how long it takes (asynchronous "
    "workers). Then Hone compares configurations by how fast the objective falls, not by steps. "
    "Default: true for `ps` and `worker`, false for all others.\n"
    "- `auto`: from 1 to the machine's cpus. Values of `cpus` beyond these, and of `threads` "
    "beyond "
    "four times as many, are left out; where none is left the spec is refused.\n"
    "- `{name}` in the command is replaced for these too. What is passed to the program is passed "
    "as `pass` says. With `tune: off` and `off-raw` none is passed.\n"
    "- With `tune: joint` they are parameters of the search: `forbid` and `try` may name them, and "
    "`objective.per` is seconds unless you say otherwise.\n"
    "\n"
    "## Objectives and constraints\n"
    "\n"
    "```yaml\n"
    "objective: [{metric: acc, goal: maximize}, latency_ms]\n"
    "constraint: [memory_mb <= 512, acc >= 60%]\n"
    "```\n"
    "Several objectives (up to 8) have no single best: the settings that no other beats in all of "
    "them are kept. `target`, `average`, `workers` and `per` go with one objective only. A "
    "constraint is a "
    "metric, `<=` "
    "or `>=`, and a number; at the bound it is kept.\n"
    "\n"
    "## Early stopping\n"
    "\n"
    "A trial that reports its objective by steps can be ended, or paused, before it is done.\n"
    "\n"
    "| rule | meaning |\n"
    "|---|---|\n"
    "| `stop: curve` | when its extrapolated curve has hardly a chance to win. `{curve: 2%}` is "
    "the "
    "chance, over the whole experiment, that the eventual winner is stopped (the default; up to "
    "50 %) |\n"
    "| `stop: asha` | one in `eta` goes on from each rung; the others are paused, and go on if "
    "they "
    "turn out to be good. `{asha: {eta: 4, min: 1, max: 81, pause: false}}`: first rung at step "
    "`min`, a whole run has `max` steps, `pause: false` ends them instead |\n"
    "| `stop: hyperband` | several such brackets. `{hyperband: {eta: 3, min: 1, max: 81}}` |\n"
    "| `stop: median` | when it is worse than the median of the others at the same step |\n"
    "| `stop: none` | never |\n"
    "\n"
    "## Metrics\n"
    "\n"
    "`name: 0.5`, `name=0.5`, progress bars and JSON lines are recognised by themselves. For other "
    "output:\n"
    "\n"
    "```yaml\n"
    "metrics: {val_loss: 'validation loss is ([0-9.]+)'}      # metric: pattern with a group\n"
    "```\n"
    "```yaml\n"
    "metrics: ['epoch (?<epoch>\\d+) loss (?<loss>\\S+)']        # named groups\n"
    "```\n"
    "```yaml\n"
    "metrics: {only: true, patterns: {loss: 'loss ([0-9.]+)'}}  # nothing else is recognised\n"
    "```\n"
    "```yaml\n"
    "metrics: {tensorboard: logs/}                            # event files under that folder\n"
    "```\n"
    "\n"
    "A number with the name and the value of one of the trial's parameters (`lr=0.01 batch=32`, "
    "`Namespace(lr=0.01, …)`) is the program telling what it was given: it is no metric, and "
    "`batch` "
    "then no step. Once it was printed with another value (a schedule, a counter), all its values "
    "count. Patterns, the metrics file, and a spec whose objective or constraint is called like a "
    "parameter are taken at their word.\n"
    "\n"
    "`tensorboard`: the scalars of TensorBoard's event files (TensorFlow, torch, tensorboardX) are "
    "read as they grow, from the folder (relative to where the trial runs) and all folders in it; "
    "of `train/events…` the tag `loss` is the metric `train/loss`. Files from before the trial "
    "began are an old run's, and are not read. Where several trials write to one folder at a time, "
    "the process id in a file's name tells whose it is; tensorboardX puts none there: say "
    "`workdir: trial`.\n"
    "\n"
    "```yaml\n"
    "metrics: {system: 5s}                                    # or off; 1s if not said\n"
    "```\n"
    "\n"
    "`system`: how often Hone looks at the machine and at the trial's processes; docs/system.md "
    "lists what it sees.\n"
    "\n"
    "## Alerts\n"
    "\n"
    "```yaml\n"
    "alerts:\n"
    "- {when: 'min(val_loss, step > 1000) > 2', do: stop}   # any expression: "
    "docs/expressions.md\n"
    "- {when: diverged, do: [notify, stop]}\n"
    "- {when: {plateau: 50 steps}, do: notify, command: ./page-me.sh}\n"
    "- {when: stall, do: requeue, webhook: 'https://example.org/hook'}\n"
    "```\n"
    "docs/alerts.md tells what each of them means, and what a command and a webhook get.\n"
    "\n"
    "## Units\n"
    "\n"
    "- times: `90` (seconds), `90s`, `1.5h`, `2h30m`, `10 min`, `3d`, `250ms`\n"
    "- sizes: `2G`, `2GiB`, `512 MB`, `4096`; K, M, G, T are powers of 1024, with or without B "
    "or iB\n"
    "- percentages, where a number is wanted: `93%` is 0.93\n"
    "\n"
    "## On the command line\n"
    "\n"
    "- `--set search.parallel=4`: any key, the value in YAML\n"
    "- `--set system.threads='[1, 2]'`, `--set tune=off`: so too the machine\n"
    "- `-p lr=0.1`: give a parameter of the spec, or a system parameter, one value\n"
    "- `--param lr=0.001..0.1:log`, `--param batch=32,64`, `--param layers=1..4:int`, "
    "`--param epochs=5..20..5`, `--param seed=7`: add or replace a parameter\n"
    "- `hone run --param lr=0.001..0.1:log -- python3 train.py`: without a file\n"
    "\n"
    "## Older formats\n"
    "\n"
    "mlframework's `parameters.yml` (`hone run parameters.yml -- python3 train.py`): every "
    "combination is a trial; scalars, lists, `!!python/tuple [start, end, step]`, true as a bare "
    "flag, false as nothing. PipeTune's `pipetune.conf` with its BigDL application file: becomes a "
    "`spark-submit` command, accuracy is maximised. Its `cores` and `memory` become the system "
    "parameters `cores` and "
    "`executor_memory`, and start with their first values.\n";

static void add_value_form(const struct option *option, struct str *to)
{
    autorelease(str) struct str words = STR_INIT;

    if (option->words)
        option_list_words(option, &words);
    if (option->words)
        str_addf(to, "%s%s%s", words.s, option->form ? "; or " : "",
                 option->form ? option->form : "");
    else if (option->type == OPTION_DURATION)
        str_addf(to, "a time%s", option->zero ? " or none" : "");
    else if (option->type == OPTION_SIZE)
        str_addf(to, "a size%s", option->zero ? " or none" : "");
    else if (option->type == OPTION_BOOL)
        str_add(to, "true or false");
    else
        str_add(to, option->form);
}

static void add_row(const struct option *option, struct str *to)
{
    str_addf(to, "| `%s` | ", option->path);
    add_value_form(option, to);
    str_add(to, " | ");
    if (option->fallback)
        str_addf(to, "`%s`", option->fallback);
    str_addf(to, " | %s |\n", option->help);
}

static void add_later(struct str *to)
{
    const char *gap = "";

    str_add(to, "\nRecognised, but not available yet: ");
    for (size_t i = 0; i < n_options; i++) {
        if (options[i].type == OPTION_LATER) {
            str_addf(to, "%s`%s`", gap, options[i].path);
            gap = ", ";
        }
        for (const struct option_word *word = options[i].words; word && word->word; word++)
            if (word->later) {
                str_addf(to, "%s`%s: %s`", gap, options[i].path, word->word);
                gap = ", ";
            }
    }
    str_add(to, ".\n");
}

void spec_docs(struct str *to)
{
    str_add(to, head);
    for (size_t i = 0; i < n_options; i++)
        if (options[i].type != OPTION_LATER && !options[i].internal)
            add_row(&options[i], to);
    add_later(to);
    str_add(to, tail);
}

void spec_template(const char *name, const char *command, struct str *to)
{
    autofree(mem) char *valid = spec_name_from(name && *name ? name : "experiment");
    struct json_out quoted = JSON_OUT(to);

    str_addf(
        to,
        "# A Hone experiment. `hone check FILE` shows what it would run, `hone run FILE` runs it.\n"
        "name: %s\n\n"
        "# Your program, unchanged: parameters are appended as --name=value,\n"
        "# or put {name} where a value belongs.\n"
        "command: ",
        valid);
    if (command)
        json_text(&quoted, command);
    else
        str_add(to, "python3 train.py");
    str_add(to, "\n\n"
                "# What may vary.\n"
                "params:\n"
                "  lr: {min: 1e-4, max: 1e-1, scale: log}\n"
                "  batch: [32, 64, 128]\n"
                "  # layers: {min: 1, max: 4, type: int}\n"
                "  # optimizer: [sgd, adam]\n"
                "  # momentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\n"
                "  # seed: 7\n"
                "\n"
                "# What is good. Lines like \"val_loss: 0.41\" in the output are recognised.\n"
                "objective: {metric: val_loss, goal: minimize}\n"
                "# metrics: {val_loss: 'validation loss is ([0-9.]+)'}\n"
                "\n"
                "search:\n"
                "  trials: 20\n"
                "  # parallel: 2\n"
                "  # stop: none          # let poor trials run to their end\n"
                "  # seed: 1             # the same settings again\n"
                "\n"
                "# system: {threads: auto}    # tuned inside the running trials\n"
                "# limits: {time: 2h, trial_time: 10m}\n"
                "# resources: {cpus: 1, memory: 2G, gpus: 0}\n");
}
