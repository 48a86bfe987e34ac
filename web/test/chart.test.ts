/* SPDX-License-Identifier: MIT */
/* chart.test.ts — ranges, ticks, nearest points, pixels. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawAll, drawLine, isDense, mapX, mapY, type Frame } from "../src/chart/draw.ts";
import { SharedAxis } from "../src/chart/shared.ts";
import { extent, extentIn, extentOfAscending, extentOfLines, firstFrom, isExtension, linearTicks, logTicks, nearest, pad, staysIn } from "../src/chart/scale.ts";

test("an extent passes over what is not finite, and over zero on a log axis", () => {
    assert.deepEqual(extent([[1, NaN, 3], [-2, Infinity]]), [-2, 3]);
    assert.deepEqual(extent([[0, -1, 0.1, 5]], true), [0.1, 5]);
    assert.equal(extent([[NaN]]), null);
    assert.deepEqual(extentIn(Float64Array.of(0, 1, 2, 3), Float64Array.of(9, 1, 2, 9), 1, 2, false), [1, 2]);
});

test("a flat line gets room", () => {
    const [low, high] = pad([5, 5], false);
    assert.ok(low < 5 && high > 5);
    const [a, b] = pad([0.01, 0.01], true);
    assert.ok(a > 0 && a < 0.01 && b > 0.01);
    assert.deepEqual(pad([0, 0], false), [-1, 1]);
});

test("ticks are round, inside, ascending, and not more than fit", () => {
    assert.deepEqual(linearTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(linearTicks(0.1, 0.3, 4), [0.1, 0.15, 0.2, 0.25, 0.3]);
    assert.deepEqual(logTicks(0.001, 1000, 8), [0.001, 0.01, 0.1, 1, 10, 100, 1000]);
    assert.deepEqual(logTicks(1, 10, 8), [1, 2, 5, 10]);
    for (const [low, high] of [[1e-9, 1e9], [3, 4], [0.9, 1.1], [1e-300, 1e300]] as const) {
        const ticks = logTicks(low, high, 6);
        assert.ok(ticks.length >= 2 && ticks.length <= 12, String(ticks));
        ticks.forEach((t, i) => assert.ok(t >= low * 0.999 && t <= high * 1.001 && (i === 0 || t > ticks[i - 1]!)));
    }
    assert.deepEqual(logTicks(0, 1, 5), []);
});

test("the nearest point, at the ends and between", () => {
    const x = [0, 10, 20, 100];
    assert.equal(nearest(x, -5), 0);
    assert.equal(nearest(x, 14), 1);
    assert.equal(nearest(x, 16), 2);
    assert.equal(nearest(x, 1e9), 3);
    assert.equal(nearest([], 1), -1);
});

const frame: Frame = { left: 10, top: 20, width: 100, height: 50, x: [1, 100], y: [0, 5], xLog: true, yLog: false, ratio: 1 };

test("edges of the data lie on edges of the frame", () => {
    assert.equal(mapX(frame)(1), 10);
    assert.ok(Math.abs(mapX(frame)(10) - 60) < 1e-9);
    assert.equal(mapY(frame)(0), 70);
    assert.equal(mapY(frame)(5), 20);
});

test("a line that ends in values that are not finite goes on to the last of them", () => {
    const line = { id: "a", colour: "red", x: Float64Array.of(1, 2, 3), y: Float64Array.of(1, 1, 1), marks: Float64Array.of(4, 9) };
    const never = { ...line, x: new Float64Array(), y: new Float64Array(), marks: Float64Array.of(0, 20) };
    assert.deepEqual(extentOfLines([line], false), [1, 9]);
    assert.deepEqual(extentOfLines([line, never], false), [0, 20]);
    assert.deepEqual(extentOfLines([never], true), [20, 20]);
    assert.equal(staysIn([line], [3], [1, 5], [0, 2], false), false);
    assert.equal(staysIn([line], [3], [1, 9], [0, 2], false), true);
    assert.equal(staysIn([line], [3], [1, 5], [0, 2], true), true);
});

test("a mark at the edge is drawn whole: nothing cuts it", () => {
    const calls: string[] = [];
    const ctx = new Proxy({}, { get: (_t, name) => (...args: number[]) => calls.push(`${String(name)} ${args.map((a) => Math.round(a)).join(" ")}`), set: () => true });
    const line = { id: "a", label: "a", colour: "red", x: Float64Array.of(1, 10), y: Float64Array.of(0, 5), marks: Float64Array.of(100, 1000) };
    drawAll(ctx as CanvasRenderingContext2D, frame, [line], null);
    const after = calls.slice(calls.findIndex((c) => c.startsWith("restore")));
    assert.equal(after.filter((c) => /^moveTo (107|114) /.test(c)).length, 2, calls.join("\n"));
    assert.equal(after.filter((c) => c.startsWith("moveTo")).length, 2); /* what is outside is not drawn */
});

test("a line is broken at a gap, and a lonely value is a point", () => {
    const calls: string[] = [];
    const ctx = new Proxy({}, { get: (_t, name) => (...args: number[]) => calls.push(`${String(name)} ${args.map((a) => Math.round(a)).join(" ")}`), set: () => true });
    const line = { id: "a", label: "a", colour: "red", x: Float64Array.of(1, 10, 100, 100), y: Float64Array.of(0, NaN, 5, 5) };
    drawLine(ctx as CanvasRenderingContext2D, frame, line, 2);
    assert.equal(calls.filter((c) => c.startsWith("moveTo")).length, 3); /* start, its point, after the gap */
    assert.equal(calls.filter((c) => c.startsWith("lineTo")).length, 2);
});

test("lines that only grew are known as such, and whether the axes still fit", () => {
    const line = (id: string, y: number[]) => ({ id, colour: "red", x: Float64Array.from(y.keys()), y: Float64Array.from(y) });
    const old = [line("a", [5, 4]), line("b", [])];
    assert.ok(isExtension(old, [line("a", [5, 4, 3]), line("b", [9])]));
    assert.ok(isExtension([line("a", [5, NaN])], [line("a", [5, NaN, 1])]));
    assert.ok(!isExtension(old, [line("a", [5, 4, 3])]));
    assert.ok(!isExtension(old, [line("a", [5]), line("b", [])]));
    assert.ok(!isExtension(old, [line("a", [5, 4.5, 3]), line("b", [])]));
    assert.ok(!isExtension([], []));
    const grown = [line("a", [5, 4, 3])];
    assert.ok(staysIn(grown, [2], [0, 2], [0, 6], false));
    assert.ok(!staysIn(grown, [2], [0, 2], [3.5, 6], false));
    assert.ok(!staysIn(grown, [2], [0, 1], [0, 6], false));
    assert.ok(staysIn(grown, [2], [0, 1], [3.5, 6], true));
});

test("few points are stroked, many are drawn as pixels", () => {
    const lines = (n: number, points: number) => Array.from({ length: n }, (_, i) => ({ id: String(i), label: "", colour: "red", x: new Float64Array(points), y: new Float64Array(points) }));
    assert.ok(!isDense(lines(10, 500)));
    assert.ok(isDense(lines(100, 3400)));
});

test("arrays that never fall: their ends are their extent, a view of them is found by halves", () => {
    assert.deepEqual(extentOfAscending([Float64Array.of(2, 3, 9), Float64Array.of(), Float64Array.of(-1, 0)]), [-1, 9]);
    assert.deepEqual(extentOfAscending([Float64Array.of(-1, 0, 0.5, 4)], true), [0.5, 4]);
    assert.equal(extentOfAscending([Float64Array.of(NaN)]), null);
    assert.deepEqual([-1, 0, 1, 5, 9].map((at) => firstFrom([0, 1, 1, 5], at)), [0, 0, 1, 3, 4]);
});

test("charts that share an axis show the whole of it, and are drawn anew only when it changes", () => {
    const axis = new SharedAxis(), [a, b] = [{}, {}];
    let drawn = 0;
    axis.join(a, () => drawn++);
    axis.join(b, () => drawn++);
    axis.tell(a, [0, 1]);
    axis.tell(b, [0.2, 5]);
    assert.deepEqual(axis.whole(), [0, 5]);
    assert.equal(drawn, 2);
    axis.tell(a, [0, 4]);
    assert.equal(drawn, 2);
    axis.leave(b);
    assert.deepEqual(axis.whole(), [0, 4]);
    axis.tell(b, [9, 9]);
    assert.deepEqual(axis.whole(), [0, 4]);
});
