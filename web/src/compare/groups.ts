/* SPDX-License-Identifier: MIT */
/*
 * groups.ts — trials that are repeats of each other: the same parameters but for a seed, or a repeat
 * that the search itself asked for, or one that `hone rerun` made. Trials of different experiments
 * are, if these ran the same program: the same command with the same snapshot of code.
 */
export interface GroupRow {
    trial: string; /* "3.7" */
    params: Record<string, unknown>;
    value: number | null;
    repeat_of: string | null; /* of any experiment, in a row before */
    program?: string; /* what it ran; the same in two experiments: the same program */
}

export interface SeedGroup {
    key: string;
    program: string;
    params: Record<string, unknown>; /* without seeds */
    trials: string[];
    values: number[]; /* of those that have one */
}

const SEED = /^(?:.*[._-])?(?:random[_-]?)?(?:seed|random[_-]?state)s?$/i;

export function isSeed(name: string): boolean {
    return SEED.test(name);
}

function withoutSeeds(params: Record<string, unknown>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(params).filter(([name]) => !isSeed(name)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/* Groups in the order of their first trial; one of a kind is a group of one. */
export function seedGroups(rows: readonly GroupRow[]): SeedGroup[] {
    const groups = new Map<string, SeedGroup>();
    const keys = new Map<string, string>();
    for (const row of rows) {
        const params = withoutSeeds(row.params);
        const program = row.program ?? "";
        const key = (row.repeat_of && keys.get(row.repeat_of)) ?? JSON.stringify([program, params]);
        keys.set(row.trial, key);
        let group = groups.get(key);
        if (!group) groups.set(key, (group = { key, program, params, trials: [], values: [] }));
        group.trials.push(row.trial);
        if (row.value !== null && Number.isFinite(row.value)) group.values.push(row.value);
    }
    return [...groups.values()];
}

/* What sets the groups apart: "lr=0.1 batch=32", only what differs among them. */
export function groupLabels(groups: readonly SeedGroup[], format: (value: unknown) => string): string[] {
    const names = [...new Set(groups.flatMap((group) => Object.keys(group.params)))];
    const differ = names.filter((name) => new Set(groups.map((group) => JSON.stringify(group.params[name]))).size > 1);
    const labels = groups.map((group) =>
        differ.filter((name) => group.params[name] !== undefined).map((name) => `${name}=${format(group.params[name])}`).join(" ") || "same parameters");
    const twice = (label: string) => labels.indexOf(label) !== labels.lastIndexOf(label);
    return labels.map((label, i) => (twice(label) ? `${label}, ${experimentsOf(groups[i]!)}${codeOf(groups[i]!)}` : label));
}

/* ", code 1a2b3c4d": its program is [code, command], if that is known. */
function codeOf(group: SeedGroup): string {
    return group.program.startsWith("[") ? `, code ${String(JSON.parse(group.program)[0]).slice(0, 8)}` : "";
}

/* "experiment 3", "experiments 3, 5" */
function experimentsOf(group: SeedGroup): string {
    const numbers = [...new Set(group.trials.map((trial) => trial.split(".")[0]))];
    return `experiment${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`;
}
