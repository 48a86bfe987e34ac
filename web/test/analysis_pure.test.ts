/* SPDX-License-Identifier: MIT */
/* Axes, parallel coordinates, Pareto fronts and timelines, without a browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, place, ticks, valueAt, wantsLog } from "../src/analysis/axis.ts";
import { contourOf } from "../src/analysis/contour.ts";
import { lookAt, orFirstMetric, type Field, type Results } from "../src/analysis/data.ts";
import { barAt, busy, coresOf, packTimeline, pausedSeconds, type Piece } from "../src/analysis/packing.ts";
import { ABSENT, axisPositions, brushed, drawnPlace, formatBrushes, parseBrushes, setBrush, thinned, without, type ParallelAxis } from "../src/analysis/parallel.ts";
import { bestSoFar, paretoFront } from "../src/analysis/pareto.ts";

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("an axis places values and finds them again", () => {
    for (const log of [false, true]) {
        const axis = axisOf("lr", [0.001, 0.1, 0.01], { log });
        near(place(axis, 0.001), 0);
        near(place(axis, 0.1), 1);
        near(valueAt(axis, place(axis, 0.02)), 0.02);
    }
    near(place(axisOf("lr", [0.001, 0.1], { log: true }), 0.01), 0.5);
    assert.ok(Number.isNaN(place(axisOf("lr", [0.001, 0.1], { log: true }), 0)));
});

test("an axis of one value, of none, or of names has a width", () => {
    for (const axis of [axisOf("a", [3]), axisOf("a", [3], { log: true }), axisOf("a", []), axisOf("a", [Number.NaN, Infinity]), axisOf("a", [], { names: [] })])
        assert.ok(axis.max > axis.min);
    near(place(axisOf("a", [], { names: ["x", "y"] }), 0), 0.25);
});

test("ticks are round, within the axis, and not too many", () => {
    const many = (low: number, high: number) => Array.from({ length: 9 }, (_, i) => low + ((high - low) * i) / 8);
    assert.deepEqual(ticks(axisOf("a", many(0, 10)), 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(ticks(axisOf("a", many(0.001, 1), { log: true }), 5), [0.001, 0.01, 0.1, 1]);
    assert.ok(ticks(axisOf("a", many(0.3, 0.7), { log: true }), 5).length > 1);
    assert.ok(ticks(axisOf("a", many(1e-30, 1e30), { log: true }), 6).length <= 7);
    assert.ok(wantsLog([1e-4, 1]) && !wantsLog([0, 100]) && !wantsLog([1, 5]));
});

test("where a column has few values, ticks stand at them, but not on each other", () => {
    assert.deepEqual(ticks(axisOf("batch", [32, 64, 128, 64, 32]), 5), [32, 64, 128]);
    assert.deepEqual(ticks(axisOf("a", [0, 1, 1.01, 100]), 5), [0, 100]);
    assert.deepEqual(ticks(axisOf("a", [7]), 5), [7]);
});

const axis = (name: string, values: number[], flip = false): ParallelAxis => ({ ...axisOf(name, values), flip, values: Float64Array.from(values) });

test("brushes on several axes keep the rows that all of them hold", () => {
    const axes = [axis("a", [0, 1, 2, 3, Number.NaN]), axis("b", [3, 2, 1, 0, 1])];
    assert.deepEqual([...brushed(axes, [], 5)], [0, 1, 2, 3, 4]);
    assert.deepEqual([...brushed(axes, [{ axis: "a", low: 0.3, high: 1 }], 5)], [1, 2, 3]);
    assert.deepEqual([...brushed(axes, [{ axis: "a", low: 0.3, high: 1 }, { axis: "b", low: 0.3, high: 1 }], 5)], [1, 2]);
    assert.deepEqual([...brushed(axes, [{ axis: "gone", low: 0, high: 0.1 }], 5)].length, 5);
    assert.deepEqual([...without(Int32Array.of(1, 3), 5)], [0, 2, 4]);
    const log = { ...axisOf("l", [0.001, 0.01, 0.1, 0], { log: true }), flip: false, values: Float64Array.of(0.001, 0.01, 0.1, 0) };
    assert.deepEqual([...brushed([log], [{ axis: "l", low: 0, high: 0.5 }], 4)], [0, 1]);
});

test("a flipped axis is drawn upside down, a missing value at its foot", () => {
    near(drawnPlace(axis("a", [0, 4]), 1), 0.25);
    near(drawnPlace(axis("a", [0, 4], true), 1), 0.75);
    assert.equal(drawnPlace(axis("a", [0, 4]), Number.NaN), ABSENT);
});

test("brushes go into the address and come back; nonsense is left out", () => {
    const brushes = setBrush(setBrush([], "a,b:c", [0.9, 0.1]), "lr", [0.25, 0.5]);
    assert.deepEqual(parseBrushes(formatBrushes(brushes)), brushes);
    assert.deepEqual(parseBrushes("lr:2:3,x,%:0:1,:0:1,lr:0"), []);
    assert.deepEqual(setBrush(brushes, "lr", null).map((b) => b.axis), ["a,b:c"]);
    assert.deepEqual(setBrush(brushes, "lr", [0.3, 0.3]).length, 1);
});

test("many rows are thinned, the best stays", () => {
    const rows = Int32Array.from({ length: 1000 }, (_, i) => i);
    const few = thinned(rows, 100, 997);
    assert.equal(few.length, 101);
    assert.ok(few.includes(997));
    assert.deepEqual(axisPositions(3, 100, 10), [10, 50, 90]);
});

test("100,000 rows are brushed within a frame or two", () => {
    const n = 100_000, values = Float64Array.from({ length: n }, (_, i) => i);
    const axes = ["a", "b", "c"].map((name) => ({ ...axisOf(name, values), flip: false, values }));
    const kept = brushed(axes, axes.map((a) => ({ axis: a.name, low: 0.25, high: 0.75 })), n);
    assert.equal(kept.length, 50_000);
});

test("the front holds what no other beats in both", () => {
    const x = Float64Array.of(1, 2, 3, 2, Number.NaN), y = Float64Array.of(3, 2, 1, 1, 9);
    assert.deepEqual(paretoFront(x, y, [1, 1]).rows, [2, 1, 0]);
    assert.deepEqual(paretoFront(x, y, [-1, -1]).rows, [0, 3]);
    near(paretoFront(x, y, [1, 1]).hypervolume, 1 / 4);
    near(paretoFront(Float64Array.of(0, 1), Float64Array.of(0, 1), [1, 1]).hypervolume, 1);
    assert.deepEqual(paretoFront(Float64Array.of(), Float64Array.of(), [1, 1]), { rows: [], reference: [Infinity, Infinity], hypervolume: 0 });
});

test("the best so far never gets worse", () => {
    assert.deepEqual([...bestSoFar(Float64Array.of(Number.NaN, 3, 5, 2, Number.NaN), -1)], [Number.NaN, 3, 3, 2, 2]);
    assert.deepEqual([...bestSoFar(Float64Array.of(3, 5, 2), 1)], [3, 5, 5]);
});

const piece = (trial: number, started: number, ended: number | null, more: Partial<Piece> = {}): Piece =>
    ({ trial, attempt: 1, started, ended, state: "completed", cpus: 1, held: [], paused: [], host: "here", gpus: null, ...more });

test("cpus on any core fill the first free lanes, as many as were granted at once", () => {
    const lanes = packTimeline([piece(1, 0, 10), piece(2, 1, 4), piece(3, 5, null), piece(4, 4, 6)], 12);
    assert.deepEqual(lanes.bars.map((b) => b.lane), [0, 1, 1, 2]);
    assert.deepEqual(lanes.labels, ["any", "any", "any"]);
    assert.equal(lanes.to, 12);
    for (const a of lanes.bars) for (const b of lanes.bars)
        assert.ok(a === b || a.lane !== b.lane || a.to <= b.from || b.to <= a.from);
    const wide = packTimeline([piece(1, 0, 2, { cpus: 2 }), piece(2, 1, 3, { cpus: 0.5 }), piece(3, 2, 4, { cpus: 3 })], 4);
    assert.deepEqual(wide.bars.map((b) => [b.piece.trial, b.lane, b.span]), [[1, 0, 2], [2, 2, 1], [3, 0, 2], [3, 3, 1]]);
});

test("an attempt has the cores that it was held to, while it was held to them", () => {
    const lanes = packTimeline([piece(1, 0, 10, { held: [{ from: 0.1, cpus: [4] }, { from: 6, cpus: [4, 5] }] }), piece(2, 10, 14, { held: [{ from: 10, cpus: [4] }] })], 14);
    assert.deepEqual(lanes.labels, ["cpu 4", "cpu 5"]);
    assert.deepEqual(lanes.bars.map((b) => [b.piece.trial, b.lane, b.span, b.from, b.to]), [[1, 0, 1, 0, 6], [1, 0, 2, 6, 10], [2, 0, 1, 10, 14]]);
    assert.equal(busy(lanes).cpus, 2);
    near(busy(lanes).share, 18 / 28);
    assert.equal(lanes.bars[barAt(lanes, 0, 12, 0)]!.piece.trial, 2);
    assert.equal(lanes.bars[barAt(lanes, 1, 8, 0)]!.piece.trial, 1);
    assert.equal(barAt(lanes, 1, 3, 0), -1);
    assert.deepEqual([coresOf(lanes.bars[0]!.piece), coresOf(piece(1, 0, 1, { cpus: 2 })), coresOf(piece(1, 0, 1, { held: [{ from: 0, cpus: [0, 1, 2, 5] }] }))], ["4 → 4–5", "any 2", "0–2, 5"]);
});

test("a paused attempt stands still: others may have its lane, and it does not count as use", () => {
    const shown = (lanes: ReturnType<typeof packTimeline>) => lanes.bars.map((b) => `${b.piece.trial}: ${b.lane} ${b.from}–${b.to}${b.still ? " still" : ""}`).join(", ");
    const one = packTimeline([piece(1, 0, 10, { paused: [{ from: 2, to: 6 }] }), piece(2, 2, 6)], 10);
    assert.equal(shown(one), "1: 0 2–6 still, 1: 0 0–2, 2: 0 2–6, 1: 0 6–10");
    assert.deepEqual(busy(one), { cpus: 1, share: 1 });
    const alone = packTimeline([piece(1, 0, 10, { paused: [{ from: 2, to: 6 }] })], 10);
    assert.equal(busy(alone).share, 0.6);
    assert.equal(alone.bars[barAt(alone, 0, 4, 0)]!.still, true);
    const late = packTimeline([piece(1, 0, 10, { paused: [{ from: 2, to: 6 }] }), piece(2, 3, 8)], 10);
    assert.equal(shown(late), "1: 0 2–6 still, 1: 0 0–2, 2: 0 3–8, 1: 1 6–10", "its lane is taken when it goes on");
    const now = piece(1, 0, null, { paused: [{ from: 1, to: 2 }, { from: 5, to: null }], held: [{ from: 0, cpus: [3] }] });
    assert.equal(shown(packTimeline([now], 9)), "1: 0 1–2 still, 1: 0 5–9 still, 1: 0 0–1, 1: 0 2–5");
    assert.equal(pausedSeconds(now, 9), 5);
});

test("who is held late had any core before; GPUs and hosts have lanes of their own", () => {
    const late = packTimeline([piece(1, 0, 20, { held: [{ from: 10, cpus: [10] }, { from: 30, cpus: [1] }] }), piece(2, 0, 20, { held: [{ from: 0, cpus: [2] }], gpus: "1,GPU-a" })], 20);
    assert.deepEqual(late.labels, ["cpu 2", "cpu 10", "any", "gpu 1", "gpu GPU-a"]);
    assert.deepEqual(late.bars.filter((b) => b.piece.trial === 1).map((b) => [late.labels[b.lane], b.from, b.to]), [["any", 0, 10], ["cpu 10", 10, 20]]);
    assert.equal(busy(late).cpus, 3);
    const two = packTimeline([piece(1, 0, 1), piece(2, 0, 1, { host: "there" })], 1);
    assert.deepEqual(two.labels, ["here any", "there any"]);
});

test("no attempts, no bars", () => {
    const lanes = packTimeline([], 100);
    assert.deepEqual(lanes.bars, []);
    assert.ok(lanes.to > lanes.from);
    assert.equal(busy(lanes).share, 0);
});

test("a contour stays within its trials' values, and one that went astray does not take the colours", () => {
    const px = Float64Array.of(0, 1, 0, 1, 0.5), py = Float64Array.of(0, 0, 1, 1, Number.NaN), values = Float64Array.of(1, 2, 3, 4, 99);
    const [x, y] = [axisOf("x", px), axisOf("y", py)];
    const found = contourOf(x, y, px, py, values, -1)!;
    assert.equal(found.rows.length, 48);
    assert.ok(found.best >= 1 && found.best < 1.1 && found.worst <= 4 && found.worst > 3.9, `${found.best} ${found.worst}`);
    const many = Float64Array.from({ length: 20 }, (_, i) => i / 19);
    const one = contourOf(axisOf("x", many), axisOf("y", many), many, many, many.map((v, i) => (i === 3 ? 1e9 : v)), -1)!;
    assert.ok(one.worst <= 1, String(one.worst));
    assert.equal(contourOf(x, y, px, py, values.fill(Number.NaN), 1), null);
});

test("without an objective the first metric that trials have is looked at", () => {
    const field = (name: string, kind: Field["kind"], ...values: number[]): Field => ({ name, label: name.replace(/^metrics\.|\.last$/g, ""), kind, values: Float64Array.from(values), names: null, log: false });
    const value = field("value", "value", Number.NaN, Number.NaN);
    const metrics = [field("metrics.absent.last", "metric", Number.NaN, Number.NaN), field("metrics.system/cpu.last", "metric", 1, 2), field("metrics.val_acc.last", "metric", 0.5, 0.75), field("metrics.z.last", "metric", 4, 3)];
    const results: Results = { experiment: 1, rows: 2, numbers: Float64Array.of(1, 2), fields: [value, ...metrics], objective: value, goal: -1, objectives: [], best: -1 };
    const seen = orFirstMetric(results);
    assert.equal(seen.objective, metrics[2]);
    assert.deepEqual([seen.goal, seen.best, seen.fields.length], [1, 1, 4]);
    assert.equal(lookAt(seen, "metrics.val_acc.last"), seen);
    assert.equal(lookAt(seen, "metrics.z.last").objective, metrics[3]);
    const known: Results = { ...results, objectives: [{ field: "metrics.z.last", goal: -1 }] };
    assert.equal(orFirstMetric(known), known); /* none completed yet, but there is an objective */
});
