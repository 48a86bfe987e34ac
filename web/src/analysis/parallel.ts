/* SPDX-License-Identifier: MIT */
/*
 * parallel.ts — parallel coordinates: which rows a set of brushes leaves, and where their lines go.
 *
 * Columns are typed arrays, so that 100,000 rows are filtered while one drags. A value that a row
 * does not have (NaN) is drawn at the axis' foot, below its end, and no brush holds it.
 */
import { type Axis, place, valueAt } from "./axis.ts";

export interface Brush {
    axis: string;
    low: number; /* places 0…1 on the unflipped axis */
    high: number;
}

export interface ParallelAxis extends Axis {
    flip: boolean;
    values: Float64Array;
}

export const ABSENT = -0.06; /* place of a missing value: just below the axis */

/* Place as drawn: 0 at the foot, 1 at the top. */
export function drawnPlace(axis: ParallelAxis, value: number): number {
    const at = place(axis, value);
    if (!Number.isFinite(at)) return ABSENT;
    return axis.flip ? 1 - at : at;
}

/* Rows that every brush holds, as their indices. */
export function brushed(axes: readonly ParallelAxis[], brushes: readonly Brush[], rows: number): Int32Array {
    const kept = new Uint8Array(rows).fill(1);
    for (const brush of brushes) {
        const axis = axes.find((a) => a.name === brush.axis);
        if (axis) keep(kept, axis, valueAt(axis, Math.min(brush.low, brush.high)), valueAt(axis, Math.max(brush.low, brush.high)));
    }
    return indices(kept, 1);
}

/* Places become values once, not values places for every row. */
function keep(kept: Uint8Array, axis: ParallelAxis, low: number, high: number): void {
    const slack = 1e-9 * (axis.log ? Math.abs(high) : axis.max - axis.min);
    for (let row = 0; row < kept.length; row++) {
        const value = axis.values[row]!;
        if (!(value >= low - slack && value <= high + slack)) kept[row] = 0;
    }
}

function indices(marks: Uint8Array, wanted: 0 | 1): Int32Array {
    const found = new Int32Array(marks.length);
    let n = 0;
    for (let row = 0; row < marks.length; row++) if (marks[row] === wanted) found[n++] = row;
    return found.subarray(0, n);
}

/* The rows that are not among these. */
export function without(rows: Int32Array, count: number): Int32Array {
    const marks = new Uint8Array(count);
    for (let i = 0; i < rows.length; i++) marks[rows[i]!] = 1;
    return indices(marks, 0);
}

/* The brushes with another one for its axis; null or an empty range takes it away. */
export function setBrush(brushes: readonly Brush[], axis: string, range: [number, number] | null): Brush[] {
    const others = brushes.filter((brush) => brush.axis !== axis);
    if (!range || Math.abs(range[0] - range[1]) < 0.004) return others;
    const clamp = (x: number) => Math.min(1, Math.max(0, x));
    return [...others, { axis, low: clamp(Math.min(...range)), high: clamp(Math.max(...range)) }];
}

/* "lr:0.25:0.5,batch:0:0.4" in the address; names are percent-encoded. */
export function formatBrushes(brushes: readonly Brush[]): string {
    return brushes.map((b) => `${encodeURIComponent(b.axis)}:${Number(b.low.toFixed(4))}:${Number(b.high.toFixed(4))}`).join(",");
}

export function parseBrushes(text: string): Brush[] {
    return text.split(",").flatMap((part) => {
        const [name, low, high] = part.split(":");
        const range = [Number(low), Number(high)] as [number, number];
        if (!name || low === undefined || high === undefined || !range.every((x) => x >= 0 && x <= 1)) return [];
        try {
            return setBrush([], decodeURIComponent(name), range);
        } catch {
            return [];
        }
    });
}

/* The x of each axis in a width, with room for labels at both ends. */
export function axisPositions(count: number, width: number, margin: number): number[] {
    if (count === 1) return [width / 2];
    return Array.from({ length: count }, (_, i) => margin + (i * (width - 2 * margin)) / (count - 1));
}

/* Which rows to draw when there are more than `most`: evenly thinned, the best always among them. */
export function thinned(rows: Int32Array, most: number, always: number): Int32Array {
    if (rows.length <= most) return rows;
    const few = Int32Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]!);
    return few.includes(always) ? few : Int32Array.from([...few, always]);
}
