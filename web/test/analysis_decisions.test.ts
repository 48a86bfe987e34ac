/* SPDX-License-Identifier: MIT */
/* The tuner's decisions, out of the events that a real run wrote. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { change, decisionsOf, inForce } from "../src/analysis/decisions.ts";

const EVENTS = [
    { id: 1, time: "t", event: "trial_started", trial: 1 },
    { id: 2, time: "t", event: "tuned", trial: "4.1", advice: "try", kind: "live", from: { threads: 1, cpus: 1 }, to: { threads: 2, cpus: 2 }, why: "may save more than it costs",
        predicted: -0.4375, predicted_low: -0.86, predicted_high: 1.31, measured: null, cost_s: 0.1, saving_s: 13, remaining_s: 29.7, step: 581, words: "threads 1 → 2" },
    { id: 3, time: "t", event: "changed", trial: 1, generation: 2, kind: "live", system: { threads: 2, cpus: 2 }, cost_s: 0, step: 1291 },
    { id: 4, time: "t", event: "tuned", trial: 2, advice: "adopt", from: { threads: 1 }, to: { threads: 2, cpus: 2 }, measured: -0.017 },
    { id: 5, time: "t", event: "tune_note", text: "1 side by side → 2" },
];

test("decisions, changes and notes are told apart and keep their numbers", () => {
    const all = decisionsOf(EVENTS);
    assert.deepEqual(all.map((d) => d.kind), ["decision", "change", "decision", "note"]);
    assert.deepEqual(all[0]!.predicted, [-0.4375, -0.86, 1.31]);
    assert.equal(all[0]!.why, "may save more than it costs");
    assert.equal(all[0]!.trial, 1);
    assert.equal(all[1]!.to, "threads=2 cpus=2");
    assert.equal(all[3]!.words, "1 side by side → 2");
});

test("what is in force is what each trial was left with", () => {
    assert.deepEqual(inForce(decisionsOf(EVENTS)), [{ settings: "threads=2 cpus=2", trials: 2 }]);
    assert.deepEqual(inForce([]), []);
});

test("what was asked for and never answered, or refused, is not in force", () => {
    const tuned = (id: number, generation: number, from: number, to: number) =>
        ({ id, event: "tuned", trial: "1.1", kind: "live", generation, from: { threads: from }, to: { threads: to } });
    const answered = (generation: number, applied: boolean) => ({ event: "answered", trial: "1.1", attempt: 1, generation, applied });
    const left = (...events: { event: string }[]) => inForce(decisionsOf(events)).map((f) => f.settings).join();
    assert.equal(left(tuned(1, 2, 4, 2)), "threads=4");
    assert.equal(left(tuned(1, 2, 4, 2), answered(2, true)), "threads=2");
    assert.equal(left(tuned(1, 2, 4, 2), answered(2, false)), "threads=4");
    assert.equal(left(tuned(1, 2, 4, 2), answered(1, true)), "threads=4");
    assert.deepEqual(decisionsOf([tuned(1, 2, 4, 2), tuned(2, 3, 2, 1)]).map((d) => d.asked), [false, true]);
});

test("changes are in percent with their range", () => {
    assert.equal(change(-0.4375, [-0.86, 1.31]), "−44 % (−86 to +131)");
    assert.equal(change(-0.0171), "−1.7 %");
    assert.equal(change(null), "");
});
