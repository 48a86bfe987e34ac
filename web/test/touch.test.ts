/* SPDX-License-Identifier: MIT */
/* touch.test.ts — what is under a finger stays under it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dragged, type Finger } from "../src/chart/touch.ts";

const finger = (from: number, at: number): Finger => ({ from, at });
const near = (a: readonly number[], b: readonly number[]) => a.forEach((v, i) => assert.ok(Math.abs(v - b[i]!) < 1e-9, `${a.join()} is not ${b.join()}`));

test("one finger moves the range, none leaves it", () => {
    near(dragged([0, 100], [finger(0.5, 0.25)], false), [25, 125]);
    near(dragged([0, 100], [], false), [0, 100]);
});

test("two fingers that part look closer, and each stays over its value", () => {
    near(dragged([0, 100], [finger(0.4, 0.2), finger(0.6, 0.8)], false), [100 / 3, 200 / 3]);
    near(dragged([0, 100], [finger(0.6, 0.8), finger(0.4, 0.2)], false), [100 / 3, 200 / 3]);
    near(dragged([0, 100], [finger(0.2, 0.4), finger(0.8, 0.6)], false), [-100, 200]);
});

test("on a logarithmic axis ratios are kept", () => {
    near(dragged([1, 10000], [finger(0.25, 0), finger(0.75, 1)], true), [10, 1000]);
});

test("fingers that meet or cross make no range of nothing", () => {
    for (const at of [0.5, 0.4999, 0.3]) {
        const [low, high] = dragged([0, 100], [finger(0.4, 0.5), finger(0.6, at)], false);
        assert.ok(Number.isFinite(low) && high > low);
    }
});
