/* SPDX-License-Identifier: MIT */
/* The window of a log: whichever way its bytes arrive, its lines are those of the file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Logbook } from "../src/trial/logbook.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const all = (book: Logbook) => Array.from({ length: book.count }, (_, i) => book.text(i));
const FILE = Array.from({ length: 500 }, (_, i) => `line ${i} é`).join("\n") + "\n";
const BYTES = encode(FILE);
const LINES = FILE.trimEnd().split("\n");

test("appended in pieces of any size, the lines are the same", () => {
    for (const size of [1, 7, 64, 10_000]) {
        const book = new Logbook(Infinity, 200);
        for (let at = 0; at < BYTES.length; at += size) book.append(BYTES.subarray(at, at + size));
        assert.deepEqual(all(book), LINES, `pieces of ${size}`);
        assert.equal(book.to, BYTES.length);
    }
});

test("opened at its end it skips the broken line, older parts go before it", () => {
    const book = new Logbook(Infinity, 200), at = BYTES.length - 100;
    book.open(BYTES.subarray(at), at, false);
    assert.equal(all(book).at(-1), "line 499 é");
    assert.ok(book.from > at);
    while (book.from > 0) {
        const from = Math.max(0, book.from - 333), before = book.text(0);
        const added = book.prepend(BYTES.subarray(from, book.from), from);
        assert.ok(added > 0);
        assert.equal(book.text(added), before);
    }
    assert.deepEqual(all(book), LINES);
});

test("a part without a whole line asks for more", () => {
    const book = new Logbook(), text = encode("x".repeat(50) + "\nend\n");
    book.open(text.subarray(51), 51, true);
    assert.equal(book.prepend(text.subarray(20, 51), 20), 1 - 1);
    assert.equal(book.prepend(text.subarray(0, 51), 0), 1);
    assert.deepEqual(all(book), ["x".repeat(50), "end"]);
});

test("a large window lets go of the end that is not looked at", () => {
    const book = new Logbook(2000, 200);
    let dropped = 0;
    for (let at = 0; at < BYTES.length; at += 100) dropped += book.append(BYTES.subarray(at, at + 100));
    assert.ok(book.to - book.from <= 2300);
    assert.equal(book.text(0), LINES[dropped]);
    const from = Math.max(0, book.from - 1500);
    book.prepend(BYTES.subarray(from, book.from), from);
    assert.ok(book.to < BYTES.length, "the newest is let go");
    const first = Number(book.text(0).split(" ")[1]);
    assert.deepEqual(all(book), LINES.slice(first, first + book.count));
});

test("a bar that goes on in the next piece still overwrites itself", () => {
    const book = new Logbook();
    book.append(encode("10%\r"));
    book.append(encode("20%"));
    assert.deepEqual(all(book), ["20%"]);
    book.append(encode("\rdone\n"));
    assert.deepEqual(all(book), ["done"]);
});
