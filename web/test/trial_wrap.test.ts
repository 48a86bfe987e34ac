/* SPDX-License-Identifier: MIT */
/* trial_wrap.test.ts — rows of wrapped lines, as lines come and go at both ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, Wrap } from "../src/trial/wrap.ts";

test("a line takes the rows that its columns need", () => {
    assert.deepEqual(["", "a", "x".repeat(10), "x".repeat(11), "x".repeat(30)].map((t) => rowsOf(t, 10)), [1, 1, 1, 2, 3]);
    assert.equal(rowsOf("\tab", 10), 1);
    assert.equal(rowsOf("\tabc", 10), 2);
    assert.equal(rowsOf("汉字汉字汉", 10), 1);
    assert.equal(rowsOf("汉字汉字汉字", 10), 2);
    assert.equal(rowsOf("e\u0301".repeat(10), 10), 1);
    assert.equal(rowsOf("汉", 1), 1);
});

/* Lines 0, 1, 2 … of a file, of which a window is known. */
function makeWindow(from: number, count: number) {
    const w = { from, count, asked: 0 };
    const lengthOf = (i: number) => (i % 3) * 10 + 1;
    const wrap = new Wrap(10, (i) => (w.asked++, "x".repeat(lengthOf(w.from + i))));
    wrap.update(count, 0);
    const check = () => {
        let row = 0;
        for (let i = 0; i < w.count; i++) {
            assert.equal(wrap.top(i), row);
            assert.equal(wrap.at(row), i);
            row += ((w.from + i) % 3) + 1;
            assert.equal(wrap.at(row - 1), i);
        }
        assert.equal(wrap.rows, row);
    };
    return { w, wrap, check };
}

test("lines that come behind, come in front and go at either end keep all places right", () => {
    const { w, wrap, check } = makeWindow(100, 50);
    check();
    w.asked = 0;
    wrap.update((w.count = 80), 0);
    check();
    assert.equal(w.asked, 31, "only new ones are counted, and the last");
    w.from -= 40;
    wrap.update((w.count = 100), 40); /* twenty went at the end */
    check();
    w.asked = 0;
    w.from += 30;
    wrap.update((w.count = 75), 10);
    check();
    assert.ok(w.asked <= 6, "what went in front costs nothing");
    wrap.update((w.count = 3), 10);
    check();
    wrap.update((w.count = 0), 10);
    assert.equal(wrap.rows, 0);
    assert.equal(wrap.at(5), 0);
});

test("a line that was measured counts as it is", () => {
    const { wrap } = makeWindow(0, 10);
    const rows = wrap.rows;
    assert.ok(wrap.correct(4, 5));
    assert.ok(!wrap.correct(4, 5));
    assert.equal(wrap.rows, rows + 3);
    assert.equal(wrap.top(5) - wrap.top(4), 5);
    assert.ok(!wrap.correct(10, 5), "it is not there");
});
