/* SPDX-License-Identifier: MIT */
/* binary.test.ts — series and columns as the server writes them; what is cut or foreign is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeColumns, decodeSeries } from "../src/binary.ts";

const u32 = (...v: number[]) => Buffer.from(Uint32Array.from(v).buffer);
const u64 = (...v: bigint[]) => Buffer.from(BigUint64Array.from(v).buffer);
const f64 = (...v: number[]) => Buffer.from(Float64Array.from(v).buffer);
const whole = (...parts: Buffer[]) => {
    const b = Buffer.concat(parts);
    return b.buffer.slice(b.byteOffset, b.byteOffset + b.length) as ArrayBuffer;
};

test("lines have points, gaps, marks and counts", () => {
    const s = decodeSeries(whole(Buffer.from("HSR2"), u32(0, 2, 0), f64(0, 9), u32(3, 1), u64(100n, 2n), f64(0, 0), u64(8n), f64(0, 1, 2), f64(5, NaN, 7), f64(1), u32(0, 0), u64(0n, 0n), f64(0, 1), u64(4n)));
    assert.equal(s.x1, 9);
    assert.equal(s.lines.length, 2);
    assert.deepEqual([...s.lines[0]!.x], [0, 1, 2]);
    assert.ok(Number.isNaN(s.lines[0]!.y[1]));
    assert.deepEqual([...s.lines[0]!.marks], [1]);
    assert.equal(s.lines[0]!.count, 100);
    assert.equal(s.lines[0]!.nans, 2);
    assert.equal(s.lines[1]!.x.length, 0);
});

test("what fits comes in half the room", () => {
    const s = decodeSeries(whole(Buffer.from("HSR2"), u32(0, 1, 0), f64(0, 9), u32(3, 0), u64(3n, 0n), f64(1700000000.25, 1000), u64(4n), u32(0, 1, 500, 0), Buffer.from(Float32Array.of(0.1, NaN, -2, 0).buffer)));
    assert.deepEqual([...s.lines[0]!.x], [1700000000.25, 1700000000.251, 1700000000.75]);
    assert.deepEqual([...s.lines[0]!.y], [Math.fround(0.1), NaN, -2]);
});

test("groups have a middle and a band", () => {
    const s = decodeSeries(whole(Buffer.from("HSR2"), u32(1, 1, 0), f64(0, 1), u32(2, 5), f64(0, 1), f64(3, 4), f64(2, 3), f64(4, 5)));
    assert.equal(s.groups[0]!.trials, 5);
    assert.deepEqual([...s.groups[0]!.high], [4, 5]);
});

test("an answer that is cut, too long or no series is an error", () => {
    const good = whole(Buffer.from("HSR2"), u32(0, 1, 0), f64(0, 1), u32(1, 0), u64(1n, 0n), f64(0, 0), u64(8n), f64(0), f64(5));
    for (let n = 0; n < good.byteLength; n++) assert.throws(() => decodeSeries(good.slice(0, n)), /cut short|no series/);
    assert.throws(() => decodeSeries(whole(Buffer.from(good), u32(0, 0))), /longer/);
    assert.throws(() => decodeSeries(whole(Buffer.from("<htm"), u32(0, 0, 0), f64(0, 0))), /no series/);
    assert.throws(() => decodeSeries(whole(Buffer.from("HSR2"), u32(0, 0xffffffff, 0), f64(0, 0))), /cut short/);
});

test("columns come with the numbers of their trials", () => {
    const c = decodeColumns(whole(u32(2, 2), f64(1, 7), f64(0.5, NaN), f64(0, 2)));
    assert.deepEqual([...c.numbers], [1, 7]);
    assert.deepEqual([...c.columns[1]!], [0, 2]);
    assert.throws(() => decodeColumns(whole(u32(2, 2), f64(1, 7))), /cut short/);
});
