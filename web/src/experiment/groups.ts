/* SPDX-License-Identifier: MIT */
/*
 * groups.ts — trials grouped by one column: count, mean ± standard deviation and best of the others.
 * Pure, over the arrays of GET …/columns. A number with many values is cut into bins of equal count.
 */
import { formatNumber } from "../format.ts";
import type { Column, Scalar } from "../types.ts";

export interface Sum {
    count: number;
    mean: number;
    sd: number; /* NaN below two values */
    min: number;
    max: number;
}

export interface GroupRow {
    label: string;
    value: Scalar | undefined; /* undefined: a bin */
    from?: number; /* of a bin: from ≤ v < to (the last: ≤) */
    to?: number;
    last?: boolean;
    rows: number[]; /* indices into the arrays */
}

const binsMost = 8;
const valuesMost = 24;

function label(column: Column, value: number): { label: string; value: Scalar } {
    if (Number.isNaN(value)) return { label: "none", value: null };
    if (column.type === "bool") return { label: value ? "true" : "false", value: value !== 0 };
    const choice = column.choices?.[value];
    if (column.type === "text" && choice !== undefined) return { label: String(choice), value: choice };
    return { label: formatNumber(value), value };
}

function byValue(column: Column, values: Float64Array): GroupRow[] {
    const groups = new Map<number, number[]>();
    for (let i = 0; i < values.length; i++) {
        const v = values[i]!;
        const rows = groups.get(v);
        if (rows) rows.push(i);
        else groups.set(v, [i]);
    }
    const order = (v: number) => (Number.isNaN(v) ? Infinity : v);
    return [...groups.entries()].sort((a, b) => order(a[0]) - order(b[0])).map(([v, rows]) => ({ ...label(column, v), rows }));
}

function byBins(values: Float64Array): GroupRow[] {
    const sorted = values.filter((v) => !Number.isNaN(v)).sort();
    const edges = [...new Set(Array.from({ length: binsMost + 1 }, (_, i) => sorted[Math.min(sorted.length - 1, Math.round((i * sorted.length) / binsMost))]!))];
    const bins: GroupRow[] = edges.slice(0, -1).map((from, i) => {
        const to = edges[i + 1]!;
        return { label: `${formatNumber(from)} … ${formatNumber(to)}`, value: undefined, from, to, last: i === edges.length - 2, rows: [] };
    });
    const none: GroupRow = { label: "none", value: null, rows: [] };
    for (let i = 0; i < values.length; i++) {
        const v = values[i]!;
        const bin = Number.isNaN(v) ? none : bins.findLast((b) => v >= b.from!);
        bin?.rows.push(i);
    }
    return none.rows.length > 0 ? [...bins, none] : bins;
}

export function groupRows(column: Column, values: Float64Array): GroupRow[] {
    const distinct = new Set<number>();
    for (let i = 0; i < values.length && distinct.size <= valuesMost; i++) distinct.add(values[i]!);
    return column.type === "number" && distinct.size > valuesMost ? byBins(values) : byValue(column, values);
}

/* Of the finite values at these rows (Welford, so that large offsets do no harm). */
export function summarize(values: Float64Array, rows: number[]): Sum {
    let count = 0;
    let mean = 0;
    let m2 = 0;
    let min = Infinity;
    let max = -Infinity;
    for (const i of rows) {
        const v = values[i]!;
        if (!Number.isFinite(v)) continue;
        count++;
        const d = v - mean;
        mean += d / count;
        m2 += d * (v - mean);
        if (v < min) min = v;
        if (v > max) max = v;
    }
    if (count === 0) return { count, mean: NaN, sd: NaN, min: NaN, max: NaN };
    return { count, mean, sd: count > 1 ? Math.sqrt(m2 / (count - 1)) : NaN, min, max };
}
