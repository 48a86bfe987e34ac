/* SPDX-License-Identifier: MIT */
/*
 * runs.ts — which runs are compared. An address names trials ("3.7"), or experiments ("3"): of those
 * their best trial.
 */
import { useMemo } from "preact/hooks";
import { ApiError, experiment, trial } from "../api.ts";
import { useLoad } from "../load.ts";
import type { Trial } from "../types.ts";
import { details, type Details } from "../trial/details.ts";

export const RUNS_MAX = 40;

export interface Run {
    asked: string;
    name: string; /* of the trial */
    trial: Trial;
    details: Details | null; /* null: no more than the row is known */
    letter: string; /* A, B … */
}

/* "B 3.7 fox": with the name that a tracking client gave it. */
export function labelOf(run: Run): string {
    return [run.letter, run.name, run.details?.run_name].filter(Boolean).join(" ");
}

/* Names out of a text of the address, or what somebody wrote: commas or blanks between them. */
export function parseRuns(text: string): string[] {
    const names = text.split(/[\s,]+/).filter((name) => name !== "");
    return [...new Set(names)].slice(0, RUNS_MAX);
}

export function letterOf(index: number): string {
    const low = String.fromCharCode(65 + (index % 26));
    return index < 26 ? low : letterOf(Math.floor(index / 26) - 1) + low;
}

async function nameOf(asked: string, signal: AbortSignal): Promise<string> {
    if (/\.\d+$/.test(asked)) return asked;
    const found = await experiment(asked, signal);
    if (!found.best) throw new ApiError(`experiment ${asked} has no best trial yet`, 404, "not_found");
    return found.best.trial;
}

async function loadRun(asked: string, signal: AbortSignal): Promise<Omit<Run, "letter">> {
    const name = await nameOf(asked, signal);
    const [row, more] = await Promise.all([trial(name, signal), details(name, signal).catch(() => null)]);
    return { asked, name: row.trial, trial: row, details: more };
}

export interface Runs {
    runs: Run[];
    failures: { asked: string; error: string }[];
    loading: boolean;
    reload: () => void;
}

/* All that can be loaded; what cannot is told, and hides nothing else. */
export function useRuns(asked: string[]): Runs {
    const load = useLoad(asked.length ? asked.join() : null, async (signal) => {
        const answers = await Promise.all(asked.map((name) => loadRun(name, signal).catch((error: unknown) => ({ asked: name, error: error instanceof Error ? error.message : String(error) }))));
        return answers;
    });
    return useMemo(() => {
        const failures = (load.value ?? []).filter((a): a is { asked: string; error: string } => "error" in a);
        const seen = new Set<string>();
        const runs = (load.value ?? []).filter((a): a is Omit<Run, "letter"> => !("error" in a) && !seen.has(a.name) && Boolean(seen.add(a.name)));
        return { runs: runs.map((run, i) => ({ ...run, letter: letterOf(i) })), failures, loading: load.loading, reload: load.reload };
    }, [load.value, load.loading]);
}
