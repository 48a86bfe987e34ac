/* SPDX-License-Identifier: MIT */
/*
 * groups.ts — trials that are repeats of each other: the same parameters but for a seed, or a repeat
 * that the search itself asked for.
 */
export interface GroupRow {
    trial: string; /* "3.7" */
    params: Record<string, unknown>;
    value: number | null;
    repeat_of: string | null;
}

export interface SeedGroup {
    key: string;
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
        const key = (row.repeat_of && keys.get(row.repeat_of)) ?? JSON.stringify(params);
        keys.set(row.trial, key);
        let group = groups.get(key);
        if (!group) groups.set(key, (group = { key, params, trials: [], values: [] }));
        group.trials.push(row.trial);
        if (row.value !== null && Number.isFinite(row.value)) group.values.push(row.value);
    }
    return [...groups.values()];
}

/* What sets the groups apart: "lr=0.1 batch=32", only what differs among them. */
export function groupLabels(groups: readonly SeedGroup[], format: (value: unknown) => string): string[] {
    const names = [...new Set(groups.flatMap((group) => Object.keys(group.params)))];
    const differ = names.filter((name) => new Set(groups.map((group) => JSON.stringify(group.params[name]))).size > 1);
    return groups.map((group) =>
        differ.filter((name) => group.params[name] !== undefined).map((name) => `${name}=${format(group.params[name])}`).join(" ") || "same parameters");
}
