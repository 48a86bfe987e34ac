/* SPDX-License-Identifier: MIT */
/* raster.test.ts — dense lines as pixels. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newRaster, trace, type Pen, type Raster } from "../src/chart/raster.ts";

const pen: Pen = { red: 10, green: 20, blue: 200, alpha: 1, thick: 1, on: 0, off: 0 };
const red: Pen = { ...pen, red: 200, blue: 10 };

function draw(to: Raster, points: [number, number][], how: Pen = pen): Raster {
    trace(to, how, Float64Array.from(points, (p) => p[0]), Float64Array.from(points, (p) => p[1]), points.length);
    return to;
}

const alpha = (r: Raster, x: number, y: number) => r.bytes[4 * (y * r.width + x) + 3]!;
const column = (r: Raster, x: number) => Array.from({ length: r.height }, (_, y) => alpha(r, x, y));

/* The first, smallest, largest and last value of each column and each piece between gaps, in their order. */
function thinned(points: [number, number][]): [number, number][] {
    const kept: [number, number][] = [];
    for (let i = 0; i < points.length; ) {
        let end = i + 1;
        const [x, y] = points[i]!;
        while (!Number.isNaN(y) && end < points.length && Math.floor(points[end]![0]) === Math.floor(x) && !Number.isNaN(points[end]![1])) end++;
        const some = points.slice(i, end);
        const by = [...some].sort((a, b) => a[1] - b[1]);
        kept.push(...some.filter((p, k) => k === 0 || k === some.length - 1 || p === by[0] || p === by.at(-1)));
        i = end;
    }
    return kept;
}

/* A walk that is the same each time, with gaps. */
function walk(count: number, width: number, height: number, seed: number): [number, number][] {
    let state = seed;
    const next = () => (state = (state * 48271) % 2147483647) / 2147483647;
    let y = height / 2;
    return Array.from({ length: count }, (_, i) => {
        y += (next() - 0.5) * 9;
        return [(i / count) * (width + 20) - 10, next() < 0.001 ? NaN : y];
    });
}

test("thinned values give the picture of all, to the pixel", () => {
    for (const thick of [1, 1.5, 3]) {
        const [all, few] = [newRaster(120, 60), newRaster(120, 60)];
        for (let seed = 1; seed <= 5; seed++) {
            const points = walk(20_000, 120, 60, seed * 7919);
            const some = thinned(points);
            assert.ok(some.length < 700, String(some.length));
            draw(all, points, { ...pen, thick, red: seed * 40 });
            draw(few, some, { ...pen, thick, red: seed * 40 });
        }
        assert.deepEqual(few.bytes, all.bytes);
    }
});

test("a pixel is as strong as it is covered", () => {
    const r = draw(newRaster(4, 6), [[0, 2.25], [4, 2.25]]);
    assert.deepEqual(column(r, 1), [0, 64, 191, 0, 0, 0]);
    assert.deepEqual([...r.bytes.subarray(4 * 4, 4 * 4 + 3)], [10, 20, 200]);
});

test("a steep line fills its columns from where it enters to where it leaves", () => {
    const r = draw(newRaster(2, 8), [[0, 0.5], [2, 8.5]]);
    assert.deepEqual(column(r, 0), [255, 255, 255, 255, 255, 0, 0, 0]);
    assert.deepEqual(column(r, 1), [0, 0, 0, 0, 255, 255, 255, 255]);
});

test("what comes later lies behind, soft edges mix", () => {
    const both = draw(draw(newRaster(3, 9), [[0, 4.5], [3, 4.5]]), [[0, 2.5], [1.5, 6.5], [3, 2.5]], red);
    for (let x = 0; x < 3; x++) assert.equal(both.bytes[4 * (4 * 3 + x)], 10);
    assert.equal(both.bytes[4 * (5 * 3 + 1)], 200);
    const soft = draw(draw(newRaster(1, 3), [[0, 1], [1, 1]]), [[0, 0.5], [0.9, 2.5]], red);
    assert.deepEqual(column(soft, 0), [255, 255, 255]);
    assert.ok(Math.abs(soft.bytes[0]! - 105) <= 1, "half of each");
});

test("a run over others, beside others, within others leaves no hole", () => {
    const runs: [number, number][] = [[10.5, 14.5], [2.5, 4.5], [11.5, 12.5], [13.5, 19.5], [3.5, 16.5], [0.5, 30.5]];
    const r = newRaster(1, 32);
    const seen = new Set<number>();
    for (const [from, to] of runs) {
        draw(r, [[0.2, from], [0.8, to]]);
        for (let y = Math.floor(from); y <= Math.floor(to); y++) seen.add(y);
        assert.deepEqual(column(r, 0).map((a) => a === 255), Array.from({ length: 32 }, (_, y) => seen.has(y)));
    }
});

test("gaps are left, a value between two of them is a point", () => {
    const r = draw(newRaster(12, 3), [[0, 1.5], [3, 1.5], [4, NaN], [6.5, 1.5], [8, NaN], [10, 1.5], [11, 1.5]]);
    assert.deepEqual(Array.from({ length: 12 }, (_, x) => alpha(r, x, 1) > 0), [true, true, true, true, false, true, true, true, false, false, true, true]);
});

test("a dash leaves out what is calm, never a spike", () => {
    const r = draw(newRaster(8, 20), [[0, 10.5], [6.2, 10.5], [6.5, 1.5], [6.8, 10.5], [8, 10.5]], { ...pen, on: 2, off: 2 });
    assert.deepEqual(Array.from({ length: 8 }, (_, x) => alpha(r, x, 10) > 0), [true, true, false, false, true, true, true, false]);
    assert.equal(alpha(r, 6, 3), 255);
});

test("what is far outside costs nothing and enters where it should", () => {
    const r = draw(newRaster(4, 4), [[-1e12, -1e12], [1e12, 1e12]]);
    for (let x = 0; x < 4; x++) assert.equal(alpha(r, x, x), 255);
    assert.deepEqual(draw(newRaster(4, 4), [[5, 1], [1e300, 2]]).bytes, newRaster(4, 4).bytes);
    assert.deepEqual(draw(newRaster(4, 4), [[0, 1e300], [4, 1e300]]).bytes, newRaster(4, 4).bytes);
});

test("a pen that shines through does so at every crossing", () => {
    const faint = { ...pen, alpha: 0.25 };
    const r = draw(draw(newRaster(1, 3), [[0, 0.5], [0.9, 2.5]], faint), [[0, 0.5], [0.9, 2.5]], faint);
    assert.ok(Math.abs(alpha(r, 0, 1) - 255 * (1 - 0.75 ** 2)) <= 1);
});
