/* SPDX-License-Identifier: MIT */
/*
 * mlflow.ts — addresses that MLflow's own client prints, as ours. Pure.
 *
 *   #/experiments/3/runs/0123456789abcdef0000000300000007   →   #/t/3.7
 *   #/experiments/3                                         →   #/e/3
 *
 * The id of a run is the home's 16 hex digits, then 8 for the experiment and 8 for the trial. Number 0
 * is the experiment that MLflow calls Default; we know it by that name.
 */
export function fromMlflow(path: readonly string[]): string[] | null {
    const [first, experiment, runs, run] = path;
    if (first !== "experiments" || experiment === undefined) return null;
    const id = runs === "runs" ? /^[0-9a-f]{16}([0-9a-f]{8})([0-9a-f]{8})$/.exec(run ?? "") : null;
    if (id) return ["t", `${parseInt(id[1]!, 16)}.${parseInt(id[2]!, 16)}`];
    return ["e", experiment === "0" ? "Default" : experiment];
}
