/* SPDX-License-Identifier: MIT */
/* curve_over.test.ts — lines over another metric than the step. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Line, Series } from "../src/binary.ts";
import { columnsOver, over } from "../src/experiment/curve_over.ts";

const line = (x: number[], y: number[], count = y.filter(Number.isFinite).length, nans = 0): Line =>
    ({ x: Float64Array.from(x), y: Float64Array.from(y), marks: new Float64Array(), count, nans });
const series = (...lines: Line[]): Series => ({ x0: 0, x1: 9, lines, groups: [] });
const shown = (s: Series) => s.lines.map((l) => [...l.x].map((x, i) => `${x}:${l.y[i]}`).join(" "));

test("values of the same step are put together, by rising x", () => {
    const { data, thinned } = over(series(line([0, 1, 2, 4], [9, 8, 7, 5])), series(line([0, 2, 3, 4], [100, 300, 350, 200])));
    assert.deepEqual(shown(data), ["100:9 200:5 300:7"]);
    assert.deepEqual([data.x0, data.x1, thinned], [100, 300, 0]);
});

test("what is not finite has no place; a trial without the metric has no line", () => {
    const { data, thinned } = over(series(line([0, 1, 2], [9, NaN, 7], 3, 1), line([0], [1])), series(line([0, 1, 2], [1, 2, 3]), line([], [])));
    assert.deepEqual(shown(data), ["1:9 3:7", ""]);
    assert.equal(thinned, 0);
});

test("a line that was thinned is left out, and counted", () => {
    const whole = line([0, 1], [1, 2]);
    const { data, thinned } = over(series(line([0, 1], [1, 2], 5000), whole, whole), series(whole, line([0, 1], [1, 2], 5000), whole));
    assert.deepEqual(shown(data), ["", "", "1:1 2:2"]);
    assert.equal(thinned, 2);
});

test("many lines are asked for with fewer columns", () => {
    assert.deepEqual([1, 10, 100, 1000].map(columnsOver), [16384, 16384, 4000, 1000]);
});
