/* SPDX-License-Identifier: MIT */
/*
 * selection_acts.ts — what is done to all selected trials at once: star, tag, delete. The server takes
 * one trial at a time; a few are on their way together. What has not ended is not deleted, and then
 * nothing is.
 */
import * as api from "../api.ts";
import { isSteered } from "../experiments/actions.tsx";
import { formatCount, formatPlural } from "../format.ts";
import type { Experiment } from "../types.ts";
import { confirm } from "../ui/dialog.tsx";
import { attempt, toastError } from "../ui/toast.tsx";

/* A selected trial, as far as acts need to know it. */
export interface Picked {
    number: number;
    state: string;
    tags: string[];
}

const atOnce = 8, askedMost = 200;

/* Those of the selected that are there. */
export async function pickedOf(e: number, numbers: number[], signal?: AbortSignal): Promise<Picked[]> {
    const all: Picked[] = [];
    for (let i = 0; i < numbers.length; i += askedMost) {
        const where = `number in (${numbers.slice(i, i + askedMost).join(", ")})`;
        const { rows } = await api.trials(e, { where, columns: "number,state,tags", limit: askedMost }, signal);
        all.push(...rows.map(([number, state, tags]) => ({ number: Number(number), state: String(state), tags: tags as string[] })));
    }
    return all;
}

async function each(numbers: number[], act: (number: number) => Promise<unknown>): Promise<void> {
    for (let i = 0; i < numbers.length; i += atOnce) await Promise.all(numbers.slice(i, i + atOnce).map(act));
}

/* Each tag with how many of them have it, by name. */
export function tagCounts(picked: Picked[]): [string, number][] {
    const counts = new Map<string, number>();
    for (const tag of picked.flatMap((p) => p.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

const isEnded = (p: Picked) => p.state === "completed" || p.state === "stopped" || p.state === "failed";

/* Why these are not deleted; null: they may be. */
export function noDelete(e: number, picked: Picked[]): string | null {
    const busy = picked.filter((p) => !isEnded(p));
    if (picked.length === 0) return "None of the selected trials is there any more";
    if (busy.length === 0) return null;
    if (busy.length === 1) return `Trial ${e}.${busy[0]!.number} is ${busy[0]!.state}: stop it first, or do not select it`;
    return `${formatCount(busy.length)} of these trials have not ended: stop them first, or do not select them`;
}

const these = (n: number) => (n === 1 ? "It goes with its curves, logs and files." : "They go with their curves, logs and files.");

export async function star(e: number, numbers: number[], add: boolean): Promise<void> {
    const words = add ? `${formatPlural(numbers.length, "trial")} starred` : `${formatPlural(numbers.length, "trial")} without a star`;
    await attempt(() => each(numbers, (n) => api.star(e, n, add)), words);
}

export async function tag(e: number, numbers: number[], name: string, add: boolean): Promise<void> {
    const words = add ? `${formatPlural(numbers.length, "trial")} tagged “${name}”` : `${formatPlural(numbers.length, "trial")} without “${name}”`;
    await attempt(() => each(numbers, (n) => api.tag(e, n, name, add)), words);
}

/* True: they are gone. */
export async function remove(x: Experiment, numbers: number[]): Promise<boolean> {
    const e = x.experiment;
    let picked: Picked[] = [];
    if (!(await attempt(async () => (picked = await pickedOf(e, numbers))))) return false;
    const words = noDelete(e, picked) ?? (isSteered(x) ? `${x.name} is running: stop it first, then its trials can be deleted` : null);
    if (words) return toastError(words), false;
    const many = formatPlural(picked.length, "trial");
    const which = picked.length === 1 ? `trial ${e}.${picked[0]!.number}` : many;
    if (!(await confirm(`Delete ${which}?`, `${these(picked.length)} This cannot be undone.`, `Delete ${many}`, true))) return false;
    return attempt(() => each(picked.map((p) => p.number), (n) => api.remove(e, n)), picked.length === 1 ? `${which} is deleted` : `${many} are deleted`);
}
