/* SPDX-License-Identifier: MIT */
/*
 * best.ts — the best trial as `hone best` has it, and its words: a lucky run is not the best, so where
 * the search has a model of the results, its choice is. With several objectives those that no other
 * trial beats in all of them. What is only the lowest or highest value seen is called so.
 */
import { useLoad } from "../load.ts";
import { ask } from "../trial/details.ts";
import { interval } from "../trial/reason.ts";
import type { Counts, Experiment, Objective } from "../types.ts";

export interface BestRow {
    trial: string;
    value: number | null;
    params: Record<string, unknown>;
    runs: number;
    mean: number | null; /* null: no model */
    deviation: number | null;
    values: (number | null)[]; /* by objective */
}

export function objectivesOf(x: Experiment): Objective[] {
    const given = x.spec?.objective ?? x.objective;
    const all = Array.isArray(given) ? given : given ? [given] : [];
    return all.filter((o): o is Objective => typeof o?.metric === "string");
}

/* "lowest" or "highest": of the values that were seen. */
export function extremeOf(goal: Objective["goal"] | undefined): "lowest" | "highest" {
    return goal === "maximize" ? "highest" : "lowest";
}

/* "model 0.042 ± 0.011, run 2 times", as the command line says it; nothing where the value says it all. */
export function bestWords(row: BestRow): string {
    if (row.mean === null && row.runs < 2) return "";
    const runs = row.runs === 1 ? "run once" : `run ${row.runs} times`;
    return row.mean === null ? runs : `model ${interval(row.mean, row.deviation)}, ${runs}`;
}

/* Of the front, the one that is best in the i-th objective. */
export function bestIn(front: BestRow[], i: number, goal: Objective["goal"]): BestRow | null {
    let best: BestRow | null = null;
    for (const row of front) {
        const [value, most] = [row.values[i] ?? null, best?.values[i] ?? null];
        if (value !== null && (most === null || (goal === "maximize" ? value > most : value < most))) best = row;
    }
    return best;
}

/* Is there a program that Hone ran, as the server sees it? What was imported, or logged by a client, has
 * "(imported)" in its place. */
export function hasProgram(x: Experiment): boolean {
    const command = x.spec?.command;
    return Array.isArray(command) && (command.length > 1 || (command.length === 1 && !String(command[0]).startsWith("(")));
}

/* Can `hone best` tell more than the trial and its value: a front, a model, repeats? */
export function tellsMore(x: Experiment): boolean {
    const search = x.spec?.search as { algorithm?: string } | undefined;
    if (objectivesOf(x).length > 1) return true;
    const isRun = Array.isArray(x.spec?.command) && x.spec.command.length > 0; /* what was imported has no search */
    return objectivesOf(x).length === 1 && isRun && !["grid", "random", "sobol"].includes(search?.algorithm ?? "grid");
}

/* While it runs it is asked for less and less often: it takes the server a process. */
export function useBest(x: Experiment, counts: Counts, trial: string | null): BestRow[] {
    const known = counts.completed > 0 && tellsMore(x);
    const often = x.state === "running" ? Math.floor(Math.log2(counts.completed) * 4) : counts.completed;
    const load = useLoad(known ? `${x.experiment} ${x.state} ${trial} ${often}` : null, async (signal) => {
        const told = await ask<BestRow | BestRow[]>("best", [String(x.experiment)], signal);
        return Array.isArray(told) ? told : [told];
    });
    return load.value ?? [];
}
