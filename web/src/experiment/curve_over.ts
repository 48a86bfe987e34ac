/* SPDX-License-Identifier: MIT */
/*
 * curve_over.ts — lines over another metric of their trials instead of the step: loss over tokens. The
 * server gives both over steps; values of the same step are put together, by rising x. A line that was
 * thinned would lose most of its pairs, and is left out. Pure.
 */
import type { Line, Series } from "../binary.ts";
import { extentOfAscending } from "../chart/scale.ts";

const columnsMost = 16384, cellsMost = 400_000;

/* Columns to ask for: so many that most lines come whole, and all together stay small. */
export function columnsOver(lines: number): number {
    return Math.max(1000, Math.min(columnsMost, Math.floor(cellsMost / Math.max(1, lines))));
}

function isWhole(line: Line): boolean {
    return line.y.reduce((n, v) => n + (Number.isFinite(v) ? 1 : 0), 0) === line.count - line.nans;
}

const none = new Float64Array();
const nothing = (y: Line): Line => ({ ...y, x: none, y: none, marks: none });

function joined(y: Line, x: Line): Line {
    const pairs: [number, number][] = [];
    for (let i = 0, k = 0; i < y.x.length && k < x.x.length; ) {
        if (y.x[i]! < x.x[k]!) i++;
        else if (y.x[i]! > x.x[k]!) k++;
        else pairs.push([x.y[k++]!, y.y[i++]!]);
    }
    const known = pairs.filter((p) => p.every(Number.isFinite)).sort((a, b) => a[0] - b[0]);
    return { ...y, x: Float64Array.from(known, (p) => p[0]), y: Float64Array.from(known, (p) => p[1]), marks: none };
}

/* Each line of `ys` over the line of `xs` at the same place; and how many were thinned. */
export function over(ys: Series, xs: Series): { data: Series; thinned: number } {
    const isFine = (y: Line, i: number) => isWhole(y) && xs.lines[i] !== undefined && isWhole(xs.lines[i]!);
    const lines = ys.lines.map((y, i) => (isFine(y, i) ? joined(y, xs.lines[i]!) : nothing(y)));
    const [x0, x1] = extentOfAscending(lines.map((l) => l.x)) ?? [NaN, NaN];
    return { data: { x0, x1, lines, groups: [] }, thinned: ys.lines.filter((y, i) => !isFine(y, i)).length };
}
