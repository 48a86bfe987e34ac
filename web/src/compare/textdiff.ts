/* SPDX-License-Identifier: MIT */
/*
 * textdiff.ts — two texts as rows side by side: what is equal, changed, gone and new.
 *
 * Lines are matched by Myers' algorithm (1986, the greedy one); what they share at both ends is
 * taken off first. Texts that differ in more than EDITS_MAX lines are not matched any further:
 * their middle is shown as replaced, which is true, only less helpful.
 * Invariant: the left sides in order are the first text, the right sides the second.
 */
export type Kind = "equal" | "change" | "delete" | "insert";

export interface Row {
    kind: Kind;
    left: string | null;
    right: string | null;
    leftNumber: number; /* from 1; 0: none on this side */
    rightNumber: number;
}

const EDITS_MAX = 2000;

export function splitLines(text: string): string[] {
    if (text === "") return [];
    const lines = text.split(/\r?\n/);
    if (lines[lines.length - 1] === "") lines.pop();
    return lines;
}

/* Pairs (i, j) of equal lines, ascending in both. */
function match(a: readonly string[], b: readonly string[]): [number, number][] {
    const traces: Int32Array[] = [];
    const most = Math.min(a.length + b.length, EDITS_MAX);
    const middle = most + 1;
    const reach = new Int32Array(2 * most + 3);
    for (let d = 0; d <= most; d++) {
        traces.push(reach.slice(middle - d - 1, middle + d + 2));
        for (let k = -d; k <= d; k += 2) {
            const down = k === -d || (k !== d && reach[middle + k - 1]! < reach[middle + k + 1]!);
            let x = down ? reach[middle + k + 1]! : reach[middle + k - 1]! + 1;
            while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
            reach[middle + k] = x;
            if (x >= a.length && x - k >= b.length) return walkBack(traces, a.length, b.length);
        }
    }
    return [];
}

/* trace d holds the reach for k in -d-1 … d+1, as it was before step d. */
function walkBack(traces: readonly Int32Array[], n: number, m: number): [number, number][] {
    const pairs: [number, number][] = [];
    let x = n, y = m;
    for (let d = traces.length - 1; d >= 0; d--) {
        const reach = (k: number) => traces[d]![k + d + 1]!;
        const k = x - y;
        const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
        const before = down ? k + 1 : k - 1;
        const startX = d === 0 ? 0 : reach(before), startY = d === 0 ? 0 : startX - before;
        while (x > startX && y > startY && !(d > 0 && x === (down ? startX : startX + 1) && y === (down ? startY + 1 : startY)))
            pairs.push([--x, --y]);
        if (d > 0) [x, y] = [startX, startY];
    }
    return pairs.reverse();
}

/* The lines of both sides between two matches: paired while both last. */
function addGap(rows: Row[], a: readonly string[], b: readonly string[], i: number, iEnd: number, j: number, jEnd: number): void {
    for (; i < iEnd || j < jEnd; i++, j++) {
        const left = i < iEnd ? a[i]! : null, right = j < jEnd ? b[j]! : null;
        rows.push({
            kind: left === null ? "insert" : right === null ? "delete" : "change",
            left, right, leftNumber: left === null ? 0 : i + 1, rightNumber: right === null ? 0 : j + 1,
        });
    }
}

export function diffLines(a: readonly string[], b: readonly string[]): Row[] {
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head++;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
    const rows: Row[] = [];
    const same = (i: number, j: number) =>
        rows.push({ kind: "equal", left: a[i]!, right: b[j]!, leftNumber: i + 1, rightNumber: j + 1 });
    for (let i = 0; i < head; i++) same(i, i);
    let i = head, j = head;
    for (const [x, y] of match(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
        addGap(rows, a, b, i, head + x, j, head + y);
        same(head + x, head + y);
        i = head + x + 1;
        j = head + y + 1;
    }
    addGap(rows, a, b, i, a.length - tail, j, b.length - tail);
    for (let k = tail; k > 0; k--) same(a.length - k, b.length - k);
    return rows;
}

export const diffTexts = (a: string, b: string): Row[] => diffLines(splitLines(a), splitLines(b));

/* Rows near a change; each run of hidden ones becomes its number. */
export function foldEqual(rows: readonly Row[], context = 3): (Row | number)[] {
    const near = new Uint8Array(rows.length);
    rows.forEach((row, at) => {
        if (row.kind === "equal") return;
        near.fill(1, Math.max(0, at - context), Math.min(rows.length, at + context + 1));
    });
    const shown: (Row | number)[] = [];
    rows.forEach((row, at) => {
        const last = shown.length - 1;
        if (near[at]) shown.push(row);
        else if (typeof shown[last] === "number") shown[last]++;
        else shown.push(1);
    });
    return shown;
}

/* What differs within a changed line: [from, to) on either side, by common ends. */
export function changedPart(left: string, right: string): { left: [number, number]; right: [number, number] } {
    let head = 0, tail = 0;
    const least = Math.min(left.length, right.length);
    while (head < least && left[head] === right[head]) head++;
    while (tail < least - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
    return { left: [head, left.length - tail], right: [head, right.length - tail] };
}

/* A file that differs, as `hone diff` lists it: "added a.py". */
export interface Change {
    kind: string;
    path: string;
}

export function changesOf(list: string): Change[] {
    return list.split("\n").flatMap((line) => {
        const at = line.indexOf(" ");
        return at > 0 ? [{ kind: line.slice(0, at), path: line.slice(at + 1) }] : [];
    });
}
