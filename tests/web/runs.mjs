/* SPDX-License-Identifier: MIT */
/*
 * runs.mjs — the experiment that the tests of trial, compare and analysis look at: a grid of three
 * learning rates, two optimizers and three seeds, whose results follow from them. One trial fails,
 * with words on stderr.
 *
 *   loss at the end = 0.1·(1 + |lg lr + 2|) + 0.05 with sgd + seed/1000;   acc = 1 - loss
 */
import { run, write } from "./lib.mjs";

const script = `#!/bin/sh
for arg; do case $arg in --lr=*) lr=\${arg#*=};; --opt=*) opt=\${arg#*=};; --seed=*) seed=\${arg#*=};; esac; done
printf '\\033[1;32mstarted\\033[0m with \\033[31mred\\033[0m words\\n'
printf ' 10%%\\r 55%%\\r100%%\\n'
printf '<b>bold?</b> & <script>alert(1)</script>\\n'
awk -v lr="$lr" -v opt="$opt" -v seed="$seed" 'BEGIN {
    away = log(lr) / log(10) + 2; if (away < 0) away = -away
    end = 0.1 * (1 + away) + (opt == "sgd" ? 0.05 : 0) + seed / 1000
    for (s = 0; s < 40; s++) { loss = end + 2 * exp(-s / 4); printf "loss=%.6f acc=%.6f step=%d\\n", s < 39 ? loss : end, 1 - (s < 39 ? loss : end), s }
}'
echo finished
if [ "$opt" = sgd ] && [ "$seed" = 3 ] && [ "$lr" = 0.1 ]; then
    printf 'Traceback (most recent call last):\\n  File "train.py", line 7\\nRuntimeError: CUDA out of memory\\n' >&2
    exit 1
fi
`;

const spec = `name: grid
command: sh train.sh
params: {lr: [0.001, 0.01, 0.1], opt: [adam, sgd], seed: [1, 2, 3]}
objective: {metric: loss, goal: minimize}
search: {algorithm: grid, trials: 18, stop: none}
limits: {retries: 0}
code: .
`;

/* Experiment 1, ended. */
export function makeRuns() {
    write("train.sh", script);
    write("grid.yaml", spec);
    run("run", "grid.yaml");
}

/* Trials of experiment 1 with these parameters, as `hone ls --json` tells them. */
export function trialsWith(params) {
    const all = JSON.parse(run("ls", "1", "--all", "--json"));
    return all.filter((t) => Object.entries(params).every(([name, value]) => t.params[name] === value));
}
export const trialWith = (params) => trialsWith(params)[0].trial;
