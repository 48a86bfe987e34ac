/* SPDX-License-Identifier: MIT */
/* Repeats of a setting find each other, whatever their seed is called. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupLabels, isSeed, seedGroups } from "../src/compare/groups.ts";

const row = (trial: string, params: Record<string, unknown>, value: number | null, repeat_of: string | null = null) => ({ trial, params, value, repeat_of });

test("the same parameters but the seed are a group, in any order of names", () => {
    const groups = seedGroups([row("1.1", { lr: 0.1, seed: 1 }, 5), row("1.2", { seed: 2, lr: 0.1 }, 6), row("1.3", { lr: 0.2, seed: 1 }, null)]);
    assert.deepEqual(groups.map((g) => g.trials), [["1.1", "1.2"], ["1.3"]]);
    assert.deepEqual(groups.map((g) => g.values), [[5, 6], []]);
});

test("a repeat belongs to what it repeats", () => {
    const groups = seedGroups([row("1.1", { lr: 0.1 }, 5), row("1.4", { lr: 0.1 }, 4, "1.1"), row("1.5", { lr: 0.3 }, 4)]);
    assert.deepEqual(groups.map((g) => g.trials), [["1.1", "1.4"], ["1.5"]]);
});

test("seeds have many names, and other words are none", () => {
    for (const name of ["seed", "random_seed", "SEED", "data.seed", "random_state", "model_seed"]) assert.ok(isSeed(name), name);
    for (const name of ["seeded", "lr", "seed_fraction"]) assert.ok(!isSeed(name), name);
});

test("labels tell only what differs", () => {
    const groups = seedGroups([row("1.1", { lr: 0.1, batch: 32 }, 5), row("1.2", { lr: 0.2, batch: 32 }, 6)]);
    assert.deepEqual(groupLabels(groups, String), ["lr=0.1", "lr=0.2"]);
    assert.deepEqual(groupLabels(groups.slice(0, 1), String), ["same parameters"]);
});

test("over experiments the same program is needed too, or that one is a rerun of the other", () => {
    const of = (trial: string, program: string, repeat_of: string | null = null) => ({ ...row(trial, { lr: 0.1 }, 5, repeat_of), program });
    const groups = seedGroups([of("1.1", '["aaaabbbbcccc","x"]'), of("2.1", '["aaaabbbbcccc","x"]'), of("3.1", '["ddddeeeeffff","x"]'), of("4.1", "experiment 4", "3.1")]);
    assert.deepEqual(groups.map((g) => g.trials), [["1.1", "2.1"], ["3.1", "4.1"]]);
    assert.deepEqual(groupLabels(groups, String), ["same parameters, experiments 1, 2, code aaaabbbb", "same parameters, experiments 3, 4, code ddddeeee"]);
});
