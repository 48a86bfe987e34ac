/* SPDX-License-Identifier: MIT */
/* What explains a difference: a made world in which the truth is known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, type Table } from "../src/compare/explain.ts";
import { growForest, predictTree } from "../src/compare/forest.ts";
import { random } from "../src/compare/statistics.ts";

/* y = 3·x0 + (1 if the name is 2) + noise; x2 does nothing. */
function world(n: number): Table {
    const next = random(11);
    const x = [Float64Array.from({ length: n }, next), Float64Array.from({ length: n }, () => Math.floor(next() * 3)), Float64Array.from({ length: n }, next)];
    const y = Float64Array.from({ length: n }, (_, i) => 3 * x[0]![i]! + (x[1]![i] === 2 ? 1 : 0) + 0.05 * (next() - 0.5));
    return { features: [{ name: "slope", names: false }, { name: "kind", names: true }, { name: "idle", names: false }], x, y };
}

test("the forest learns what there is to learn", () => {
    const { features, x, y } = world(300);
    const forest = growForest(features, x, y, 30, 1);
    assert.ok(forest.explained > 0.9, String(forest.explained));
    const at = (point: number[]) => forest.trees.reduce((sum, tree) => sum + predictTree(tree, point), 0) / forest.trees.length;
    assert.ok(Math.abs(at([0.9, 2, 0.5]) - 3.7) < 0.4);
});

test("contributions find the cause, sum to the difference, and hold the truth", () => {
    const table = world(300);
    const told = explain(table, Float64Array.of(0.1, 0, 0.1), Float64Array.of(0.9, 2, 0.9))!;
    assert.deepEqual(told.contributions.map((c) => c.name), ["slope", "kind", "idle"]);
    const [slope, kind, idle] = told.contributions;
    assert.ok(Math.abs(slope!.mean - 2.4) < 0.4, String(slope!.mean));
    assert.ok(Math.abs(kind!.mean - 1) < 0.3, String(kind!.mean));
    assert.ok(Math.abs(idle!.mean) < 0.15 && idle!.low <= 0 && idle!.high >= 0);
    assert.ok(Math.abs(told.contributions.reduce((s, c) => s + c.mean, 0) - told.predicted) < 1e-9);
    for (const c of told.contributions) assert.ok(c.low <= c.mean && c.mean <= c.high);
});

test("only parameters that differ take part, and the same is told twice", () => {
    const table = world(60), a = Float64Array.of(0.2, 1, 0.5), b = Float64Array.of(0.8, 1, 0.5);
    const told = explain(table, a, b)!;
    assert.deepEqual(told.contributions.map((c) => c.name), ["slope"]);
    assert.deepEqual(explain(table, a, b), told);
});

test("a parameter that one setting does not have is a cause like others", () => {
    const table = world(200);
    for (let i = 0; i < 200; i += 2) {
        table.x[2]![i] = Number.NaN;
        table.y[i]! += 5;
    }
    const told = explain(table, Float64Array.of(0.5, 1, 0.5), Float64Array.of(0.5, 1, Number.NaN))!;
    assert.ok(Math.abs(told.contributions[0]!.mean - 5) < 1, String(told.contributions[0]!.mean));
});

test("with few results, or nothing that differs, nothing is made up", () => {
    const table = world(7);
    assert.equal(explain(table, Float64Array.of(0, 0, 0), Float64Array.of(1, 0, 0)), null);
    assert.equal(explain(world(50), Float64Array.of(1, 0, Number.NaN), Float64Array.of(1, 0, Number.NaN)), null);
});
