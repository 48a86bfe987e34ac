/* SPDX-License-Identifier: MIT */
/* Two texts side by side: nothing is lost, and as much as can be is equal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changedPart, changesOf, diffLines, diffTexts, foldEqual, splitLines, type Row } from "../src/compare/textdiff.ts";

const lefts = (rows: Row[]) => rows.filter((r) => r.left !== null).map((r) => r.left);
const rights = (rows: Row[]) => rows.filter((r) => r.right !== null).map((r) => r.right);
const edits = (rows: Row[]) => rows.reduce((n, r) => n + (r.kind === "equal" ? 0 : r.kind === "change" ? 2 : 1), 0);

/* Length of the longest common subsequence, by the table. */
function common(a: string[], b: string[]): number {
    const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
    for (let i = 1; i <= a.length; i++)
        for (let j = 1; j <= b.length; j++)
            table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
    return table[a.length]![b.length]!;
}

test("equal texts are equal rows", () => {
    assert.deepEqual(diffTexts("a\nb\n", "a\nb").map((r) => r.kind), ["equal", "equal"]);
    assert.deepEqual(diffTexts("", ""), []);
});

test("a changed, a new and a gone line", () => {
    assert.deepEqual(diffTexts("a\nb\nc\nd", "a\nB\nc\nd\ne").map((r) => r.kind), ["equal", "change", "equal", "equal", "insert"]);
    assert.deepEqual(diffTexts("a\nb\nc", "a\nc").map((r) => [r.kind, r.leftNumber, r.rightNumber]),
        [["equal", 1, 1], ["delete", 2, 0], ["equal", 3, 2]]);
});

test("for any two texts both sides are whole and the edits are the fewest", () => {
    let seed = 7;
    const next = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 400; round++) {
        const make = () => Array.from({ length: next(14) }, () => "abcd"[next(4)]!);
        const a = make(), b = make(), rows = diffLines(a, b);
        assert.deepEqual(lefts(rows), a);
        assert.deepEqual(rights(rows), b);
        for (const row of rows) assert.ok(row.kind !== "equal" || row.left === row.right);
        assert.equal(edits(rows), a.length + b.length - 2 * common(a, b), `${a.join("")} ${b.join("")}`);
    }
});

test("texts without a common line are replaced, however long", () => {
    const a = Array.from({ length: 6000 }, (_, i) => `a${i}`), b = Array.from({ length: 6000 }, (_, i) => `b${i}`);
    const rows = diffLines(a, b);
    assert.equal(rows.length, 6000);
    assert.ok(rows.every((r) => r.kind === "change"));
});

test("far equal rows are folded into their number", () => {
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const changed = text.with(15, "other");
    const folded = foldEqual(diffLines(text, changed), 2);
    assert.equal(folded[0], 13);
    assert.equal(folded.at(-1), 12);
    assert.equal(folded.length, 7);
    assert.deepEqual(foldEqual(diffLines(text, text)), [30]);
});

test("the part of a line that differs is found", () => {
    assert.deepEqual(changedPart("lr = 0.1", "lr = 0.25"), { left: [7, 8], right: [7, 9] });
    assert.deepEqual(changedPart("aa", "aaa"), { left: [2, 2], right: [2, 3] });
});

test("line ends of either kind", () => {
    assert.deepEqual(splitLines("a\r\nb\n"), ["a", "b"]);
    assert.deepEqual(splitLines("\n"), [""]);
});

test("the list of files that differ is read line by line, blanks in names and all", () => {
    assert.deepEqual(changesOf("added a b.py\nremoved c\n"), [{ kind: "added", path: "a b.py" }, { kind: "removed", path: "c" }]);
    assert.deepEqual(changesOf(""), []);
});
