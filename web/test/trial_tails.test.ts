/* SPDX-License-Identifier: MIT */
/* Live values behind a loaded curve: none twice, none lost, none of another curve. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { addPoints, lineKey, TAIL_MAX, withTail, type Tail } from "../src/trial/tails.ts";
import type { Points } from "../src/types.ts";

const points = (step: number[], value: Points["value"]): Points => ({ experiment: 3, trial: 7, metric: "loss", step, time: step.map((s) => 100 + s), value });
const line = (x: number[], y: number[]) => ({ x: Float64Array.from(x), y: Float64Array.from(y), marks: Float64Array.of(), count: x.length, nans: 0 });
const wanted = new Set([lineKey("3.7", "loss")]);

test("a batch goes behind the curve, what the curve has already is left out", () => {
    const tails = new Map<string, Tail>();
    assert.ok(addPoints(tails, wanted, points([2, 3, 4], [0.2, 0.3, 0.4]), "step"));
    const merged = withTail(line([1, 2], [0.1, 0.2]), tails.get(lineKey("3.7", "loss")));
    assert.deepEqual([...merged.x], [1, 2, 3, 4]);
    assert.deepEqual([...merged.y], [0.1, 0.2, 0.3, 0.4]);
});

test("values that are no numbers become marks", () => {
    const tails = new Map<string, Tail>();
    addPoints(tails, wanted, points([5, 6, 7], ["NaN", 1, "-Infinity"]), "step");
    const merged = withTail(line([1], [1]), tails.get(lineKey("3.7", "loss")));
    assert.deepEqual([...merged.marks], [5, 7]);
    assert.deepEqual([...merged.x], [1, 6]);
});

test("by time the clock is x, and other curves are not touched", () => {
    const tails = new Map<string, Tail>();
    addPoints(tails, wanted, points([1], [9]), "time");
    assert.deepEqual(tails.get(lineKey("3.7", "loss"))!.x, [101]);
    assert.ok(!addPoints(tails, new Set([lineKey("3.8", "loss")]), points([1], [9]), "step"));
});

test("a tail does not grow for ever, and no tail changes nothing", () => {
    const tails = new Map<string, Tail>();
    for (let i = 0; i < 30; i++) addPoints(tails, wanted, points(Array.from({ length: 1000 }, (_, k) => i * 1000 + k), new Array(1000).fill(1)), "step");
    assert.equal(tails.get(lineKey("3.7", "loss"))!.x.length, TAIL_MAX);
    const plain = line([1], [1]);
    assert.equal(withTail(plain, undefined), plain);
});
