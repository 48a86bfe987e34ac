/* SPDX-License-Identifier: MIT */
/* selection.test.ts — what may be done to selected trials, and how it is said. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { noDelete, tagCounts, type Picked } from "../src/experiment/selection_acts.ts";

const trial = (number: number, state = "completed", tags: string[] = []): Picked => ({ number, state, tags });

test("only trials that have ended are deleted, and what is in the way is named", () => {
    assert.equal(noDelete(3, [trial(1), trial(2, "failed"), trial(4, "stopped")]), null);
    assert.equal(noDelete(3, [trial(1), trial(7, "running")]), "Trial 3.7 is running: stop it first, or do not select it");
    assert.match(noDelete(3, [trial(1, "queued"), trial(2, "paused"), trial(3)])!, /^2 of these trials have not ended/);
    assert.match(noDelete(3, [])!, /^None of the selected trials is there/);
});

test("tags are counted over the selected trials", () => {
    assert.deepEqual(tagCounts([trial(1, "", ["b", "a"]), trial(2, "", ["b"]), trial(3)]), [["a", 1], ["b", 2]]);
});
