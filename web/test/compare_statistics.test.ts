/* SPDX-License-Identifier: MIT */
/* Groups of repeats: intervals and tests against tables, a worked example and identities. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareGroups, describe, permutationTest, random, studentQuantile, studentTwoSided } from "../src/compare/statistics.ts";

const near = (a: number, b: number, within = 1e-6) => assert.ok(Math.abs(a - b) <= within * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

test("Student's distribution agrees with its table", () => {
    near(studentQuantile(0.05, 1), 12.706204736, 1e-6);
    near(studentQuantile(0.05, 4), 2.776445105, 1e-6);
    near(studentQuantile(0.05, 30), 2.042272456, 1e-6);
    near(studentTwoSided(2.0, 10), 0.0733880348, 1e-6);
    near(studentTwoSided(0, 5), 1, 1e-9);
    near(studentTwoSided(-2.0, 10), studentTwoSided(2.0, 10), 1e-12);
});

test("a group has a mean with its interval; one value has none", () => {
    const group = describe([1, 2, 3, 4, 5]);
    near(group.mean, 3);
    near(group.deviation, 1.5811388);
    near(group.low, 1.0367568, 1e-6);
    near(group.high, 4.9632432, 1e-6);
    assert.ok(Number.isNaN(describe([7]).low));
    assert.equal(describe([7]).mean, 7);
});

test("Welch's test agrees with a worked example: t = 2.46, 25.0 degrees of freedom, p = 0.021", () => {
    const a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    const b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
    const result = compareGroups(a, b);
    near(result.t, 2.46, 3e-3);
    near(result.df, 25.0, 3e-3);
    near(result.p, 0.021, 6e-4);
    assert.ok(result.low > 0 && result.high > result.low);
    assert.ok(Math.abs(result.p - result.permuted) < 0.02, "both tests tell the same here");
});

test("equal groups do not differ, and one value gives no test of Welch", () => {
    const same = compareGroups([1, 2, 3], [1, 2, 3]);
    near(same.p, 1, 1e-9);
    assert.equal(same.permuted, 1);
    assert.ok(Number.isNaN(compareGroups([1], [2, 3]).p));
    assert.equal(compareGroups([1, 1, 1], [2, 2, 2]).p, 0);
});

test("every split is looked at where there are few", () => {
    const { p, exact } = permutationTest([1, 2, 3], [10, 11, 12]);
    assert.ok(exact);
    near(p, 2 / 20, 1e-12);
    assert.ok(Number.isNaN(permutationTest([], [1]).p));
});

test("many splits are drawn, the same for the same seed, and agree with the truth", () => {
    const next = random(3), a = Array.from({ length: 20 }, () => next()), b = Array.from({ length: 20 }, () => next() + 0.1);
    const first = permutationTest(a, b, 5), second = permutationTest(a, b, 5);
    assert.deepEqual(first, second);
    assert.ok(!first.exact);
    assert.ok(Math.abs(first.p - compareGroups(a, b).p) < 0.03);
});
