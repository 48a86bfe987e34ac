/* SPDX-License-Identifier: MIT */
/* Results become a table for the model and rows for groups; verdicts claim no more than their numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../src/compare/explain.ts";
import { groupRows, modelOf, targetWords, usualTarget, valueOf, type Results } from "../src/compare/explain_data.ts";
import { letterOf, parseRuns } from "../src/compare/runs.ts";
import { verdict } from "../src/compare/seeds_view.tsx";
import { sideRows } from "../src/compare/side_by_side.tsx";
import { compareGroups } from "../src/compare/statistics.ts";
import type { Column } from "../src/types.ts";

const column = (name: string, type: Column["type"], choices?: string[]): Column => ({ name: `params.${name}`, kind: "param", type, choices });

/* Twelve trials: lr below 1, an optimizer by name, a constant. */
function results(): Results {
    const n = 12, at = (f: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => f(i));
    return {
        experiment: 3, params: [column("lr", "number"), column("opt", "text", ["sgd", "adam"]), column("fixed", "number")], metrics: [],
        numbers: at((i) => i + 1),
        values: new Map([
            ["value", at((i) => (i === 11 ? Number.NaN : (i % 3) + (i % 2)))], ["repeat_of", at((i) => (i === 3 ? 1 : Number.NaN))],
            ["params.lr", at((i) => [0.001, 0.01, 0.1][i % 3]!)], ["params.opt", at((i) => i % 2)], ["params.fixed", at(() => 7)],
        ]),
    };
}

test("a model takes what varies, fractions and names alike, and rows with a result", () => {
    const { table, point } = modelOf(results(), "value");
    assert.deepEqual(table.features, [{ name: "lr", names: false }, { name: "opt", names: true }]);
    assert.equal(table.y.length, 11);
    assert.deepEqual([...point({ lr: 0.01, opt: "adam" })], [Math.log(0.01), 1]);
    assert.deepEqual([...point({ lr: 0.01 })], [Math.log(0.01), Number.NaN]);
    const told = explain(table, point({ lr: 0.001, opt: "sgd" }), point({ lr: 0.1, opt: "adam" }))!;
    assert.deepEqual(told.contributions.map((c) => c.name).sort(), ["lr", "opt"]);
});

test("rows for groups have their values as they were given", () => {
    const rows = groupRows(results(), "value");
    assert.deepEqual(rows[3], { trial: "3.4", params: { lr: 0.001, opt: "adam", fixed: 7 }, value: 1, repeat_of: "3.1", program: "" });
    assert.equal(rows[11]!.value, null);
    assert.equal(valueOf(column("b", "bool"), 1), true);
    assert.equal(valueOf(column("b", "bool"), Number.NaN), undefined);
});

test("without an objective runs are compared by the first metric that somebody told", () => {
    const none = Float64Array.from([Number.NaN]), some = Float64Array.from([1]);
    const all = (values: [string, Float64Array][]): Results => ({ ...results(), metrics: ["metrics.empty.last", "metrics.loss.last"], values: new Map(values) });
    assert.equal(usualTarget([results()]), "value");
    assert.equal(usualTarget([all([["value", none], ["metrics.empty.last", none], ["metrics.loss.last", some]])]), "metrics.loss.last");
    assert.equal(usualTarget([all([["value", none]]), results()]), "value", "one of them has an objective");
    assert.equal(usualTarget([all([["value", none]])]), "value", "nothing is told");
    assert.deepEqual(["value", "metrics.train/loss.last"].map(targetWords), ["objective", "train/loss (last)"]);
});

test("a verdict follows both tests and the goal", () => {
    const clear = compareGroups([1, 1.1, 0.9, 1.05], [2, 2.1, 1.9, 2.05]);
    assert.match(verdict("A", "B", clear, "minimize"), /^B is worse than A by 1: 95 % interval/);
    assert.match(verdict("A", "B", clear, "maximize"), /^B is better than A by 1/);
    assert.match(verdict("A", "B", clear, ""), /^B is higher than A by 1/, "no objective, no better");
    assert.match(verdict("A", "B", compareGroups([1, 2, 3], [1.5, 2.5, 3]), "minimize"), /^Not told apart/);
    assert.match(verdict("A", "B", compareGroups([1], [2, 3]), "minimize"), /two runs or more/);
    assert.match(verdict("A", "B", compareGroups([1, 1.01, 0.99], [2, 2.01, 1.99]), "minimize"), /tests disagree/);
});

test("runs are read from an address, each once", () => {
    assert.deepEqual(parseRuns("3.7, 3.9,3.7 4"), ["3.7", "3.9", "4"]);
    assert.deepEqual(parseRuns(""), []);
    assert.deepEqual([0, 25, 26, 701].map(letterOf), ["A", "Z", "AA", "ZZ"]);
});

test("rows side by side know what differs, also what one has not", () => {
    const rows = sideRows([new Map([["lr", "1"], ["x", "2"]]), new Map([["lr", "1"]])]);
    assert.deepEqual(rows, [{ name: "lr", values: ["1", "1"], differs: false }, { name: "x", values: ["2", null], differs: true }]);
});
