/* SPDX-License-Identifier: MIT */
/* Reasons and events are told in the words of `hone show`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventLine, isTuning, trialNumber } from "../src/trial/event_words.ts";
import { interval, reasonEnded, reasonMade, significant } from "../src/trial/reason.ts";
import { objectivesFirst } from "../src/trial/curves.tsx";

test("a suggestion names its maker, what it knew and what it expects", () => {
    assert.equal(
        reasonMade({ why: "model", by: "bayes", mean: 0.2103, deviation: 0.112, seen: 9 }, null),
        "suggested by bayes after 9 results: expects 0.21 ± 0.22 here, most promising of what is left");
    assert.equal(reasonMade({ why: "draw", by: "auto", seen: 0 }, null), "spread over the space by auto, whatever the results");
    assert.equal(reasonMade({ why: "repeat" }, "3.4"), "a repeat of 3.4: is that setting as good as it seems?");
    assert.equal(reasonMade(null, null), null);
    assert.equal(reasonMade({ why: "constructor" }, null), null);
});

test("a verdict names its rule, the step and the odds", () => {
    const verdict = { rule: "curve", step: 35, chance: 1e-6, threshold: 0.017, mean: 0.3741, deviation: 0.0194 };
    assert.equal(reasonEnded(verdict, "stopped"),
        "stopped by curve at step 35: chance to win under 0.01 %, below 1.7 %; it would have ended near 0.374 ± 0.038");
    assert.equal(reasonEnded({ rule: "median", threshold: 0.5 }, "completed"), "paused by median: not better than 0.5; it went on later");
    assert.equal(reasonEnded(null, "completed"), null);
});

test("numbers have the digits that they need", () => {
    assert.equal(interval(0.92981, 0.00056), "0.9298 ± 0.0011");
    assert.equal(interval(5, null), "5");
    assert.equal(significant(0.000001234), "1.234e-6");
    assert.equal(significant(1234567), "1.23457e6");
});

test("events are lines, known ones in words and others by their values", () => {
    assert.equal(eventLine({ event: "trial_ended", trial: "3.7", state: "completed", reason: "", value: 0.5, best: true, seconds: 2.04 }),
        "trial 7 completed after 2.0 s: 0.5 (best so far)");
    assert.equal(eventLine({ event: "trial_ended", trial: 7, state: "failed", seconds: 1, error: "exit status 1\nTraceback" }),
        "trial 7 failed after 1.0 s: exit status 1");
    assert.equal(eventLine({ event: "tuned", from: { threads: 2 }, to: { threads: 1 } }), "threads=2 → threads=1");
    assert.equal(eventLine({ event: "new_kind", trial: 2, size: 4 }), "trial 2 new kind size=4");
    assert.ok(isTuning({ event: "tune_note" }));
    assert.equal(trialNumber("3.12"), 12);
    assert.equal(trialNumber("x"), null);
});

test("charts of objectives come first, whatever they are called", () => {
    const names = Array.from({ length: 30 }, (_, i) => `a${i}`).concat("val_loss");
    assert.deepEqual(objectivesFirst(names, ["val_loss", "absent"]).slice(0, 3).map((m) => m.name), ["val_loss", "a0", "a1"]);
    assert.equal(objectivesFirst(names, ["val_loss"]).length, 31);
    assert.deepEqual(objectivesFirst(["b", "a"], []).map((m) => m.name), ["b", "a"]);
});
