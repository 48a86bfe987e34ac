/* SPDX-License-Identifier: MIT */
/* Logs become lines of spans: colours, bars that overwrite themselves, and errors that can be found. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LINE_MAX, Terminal, lineSlice, lineText, parseAnsi } from "../src/trial/ansi.ts";
import { findLine, isErrorLine } from "../src/trial/errors.ts";

const texts = (text: string) => parseAnsi(text).map(lineText);

test("plain lines stay as they are, a last newline begins none", () => {
    assert.deepEqual(texts("one\ntwo\n"), ["one", "two"]);
    assert.deepEqual(texts("one\r\ntwo"), ["one", "two"]);
    assert.deepEqual(texts(""), []);
});

test("colours and bold become classes, and end where they end", () => {
    assert.deepEqual(parseAnsi("\x1b[1;31mbad\x1b[0m and \x1b[32mgood\x1b[39m."), [[
        { text: "bad", style: "a1 ab" }, { text: " and ", style: "" }, { text: "good", style: "a2" }, { text: ".", style: "" },
    ]]);
});

test("256 and true colours become the nearest of the sixteen", () => {
    assert.equal(parseAnsi("\x1b[38;5;196mx")[0]![0]!.style, "a1");
    assert.equal(parseAnsi("\x1b[38;2;90;250;90mx")[0]![0]!.style, "a10");
    assert.equal(parseAnsi("\x1b[48;5;21mx")[0]![0]!.style, "g4");
});

test("inverse exchanges the colours, also those that are not set", () => {
    assert.equal(parseAnsi("\x1b[7mx")[0]![0]!.style, "a-inv g-inv");
    assert.equal(parseAnsi("\x1b[31;7mx")[0]![0]!.style, "a-inv g1");
});

test("a progress bar overwrites itself", () => {
    assert.deepEqual(texts(" 10%\r 55%\r100%\ndone\n"), ["100%", "done"]);
    assert.deepEqual(texts("a long line\rshort\x1b[K\n"), ["short"]);
    assert.deepEqual(texts("abc\b\bX"), ["aXc"]);
});

test("nested bars go up a line and come back", () => {
    assert.deepEqual(texts("outer 1\ninner 1\x1b[A\router 2\n\rinner 2"), ["outer 2", "inner 2"]);
});

test("sequences may be cut anywhere", () => {
    const whole = "a\x1b[1;32mgreen\x1b[0mb\r\x1b[2Kc\x1b]0;title\x07d\n";
    for (let i = 0; i <= whole.length; i++) {
        const terminal = new Terminal();
        terminal.write(whole.slice(0, i));
        terminal.write(whole.slice(i));
        assert.deepEqual(terminal.lines.map(lineText), ["cd", ""], `cut at ${i}`);
    }
});

test("unknown sequences and control signs leave no trace", () => {
    assert.deepEqual(texts("\x1b[?25l\x1b(Ba\x07\x00b\x1b[6n\x1bc"), ["ab"]);
});

test("a line without end is cut, not kept for ever", () => {
    const [line] = parseAnsi("x".repeat(LINE_MAX * 2) + "y".repeat(9));
    assert.equal(lineText(line!).length, LINE_MAX);
    assert.ok(lineText(line!).endsWith("…"));
});

test("random bytes never break it, and spans are never empty", () => {
    let seed = 1;
    const next = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
    const signs = ["\x1b", "[", "1", ";", "3", "8", "5", "m", "K", "A", "B", "G", "\n", "\r", "\b", "\t", "ab", "é", "]", "\x07"];
    for (let round = 0; round < 300; round++) {
        let text = "";
        for (let i = 0; i < 60; i++) text += signs[next(signs.length)];
        for (const line of parseAnsi(text)) for (const span of line) assert.ok(span.text.length > 0);
    }
});

test("a slice of a line keeps its styles", () => {
    const [line] = parseAnsi("ab\x1b[31mcd\x1b[0mef");
    assert.deepEqual(lineSlice(line!, 1, 4), [{ text: "b", style: "" }, { text: "cd", style: "a1" }]);
});

test("errors are told from figures", () => {
    for (const line of [
        "Traceback (most recent call last):", "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB", "torch.cuda.OutOfMemoryError",
        "ERROR: no such file", "2026-01-01 10:00:00 ERROR training failed", "[rank0] FATAL: x", "main.c:12:3: error: expected ';'",
        "Segmentation fault (core dumped)", "thread 'main' panicked at src/main.rs:4", "loss is nan at step 12", "Assertion `x > 0' failed.",
        "NCCL error in: ProcessGroup", "E0513 12:00:00 something",
    ]) assert.ok(isErrorLine(line), line);
    for (const line of [
        "error=0.12 step=3", "test error: 0.034", "0 errors", "loss 0.4 error rate 0.1", "KeyErrors were ignored", "epoch 3: val_error 0.2", "",
    ]) assert.ok(!isErrorLine(line), line);
});

test("the next and the one before are found, and none beyond the ends", () => {
    const lines = ["a", "Killed", "b", "Killed"];
    const at = (i: number) => lines[i]!;
    assert.equal(findLine(4, at, -1, 1, isErrorLine), 1);
    assert.equal(findLine(4, at, 1, 1, isErrorLine), 3);
    assert.equal(findLine(4, at, 3, 1, isErrorLine), -1);
    assert.equal(findLine(4, at, 3, -1, isErrorLine), 1);
});
