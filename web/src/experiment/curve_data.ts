/* SPDX-License-Identifier: MIT */
/*
 * curve_data.ts — which trials a curve chart shows, how they are grouped and split into facets, and
 * how live values are appended. Pure.
 */
import { formatValue } from "../format.ts";
import type { Points, TrialTable } from "../types.ts";

/* A trial with what groups and facets need of it. */
export interface CurveTrial {
    number: number;
    name: string; /* "3.7" */
    label: string; /* and how a tracking client called it: "3.7 fox" */
    state: string;
    params: Record<string, unknown>;
}

export function trialsOf(e: number, table: TrialTable): CurveTrial[] {
    const at = (name: string) => table.columns.findIndex((c) => c.name === name);
    const [numberAt, stateAt, calledAt] = [at("number"), at("state"), at("run_name")];
    const labelOf = (row: unknown[]) => `${e}.${String(row[numberAt])}${row[calledAt] ? ` ${String(row[calledAt])}` : ""}`;
    const params = table.columns.flatMap((c, i) => (c.name.startsWith("params.") ? [[c.name.slice(7), i] as const] : []));
    return table.rows.map((row) => ({
        number: Number(row[numberAt]),
        name: `${e}.${String(row[numberAt])}`,
        label: labelOf(row),
        state: String(row[stateAt] ?? ""),
        params: Object.fromEntries(params.map(([name, i]) => [name, row[i]])),
    }));
}

export interface Bundle {
    label: string;
    trials: CurveTrial[];
}

const numericMost = 6;

/* By the value of a parameter; a number with many values is cut into ranges of equal count. */
export function split(trials: CurveTrial[], param: string): Bundle[] {
    const values = trials.map((t) => t.params[param]);
    const numbers = [...new Set(values.filter((v): v is number => typeof v === "number"))].sort((a, b) => a - b);
    const others = values.some((v) => v !== null && v !== undefined && typeof v !== "number");
    if (!others && numbers.length > numericMost) return ranges(trials, param, numbers);
    const bundles = new Map<string, CurveTrial[]>();
    const order = [...new Set(values)].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
    for (const value of order) bundles.set(formatValue(value), []);
    for (const t of trials) bundles.get(formatValue(t.params[param]))?.push(t);
    return [...bundles].map(([label, some]) => ({ label: `${param} ${label}`, trials: some }));
}

function ranges(trials: CurveTrial[], param: string, sorted: number[]): Bundle[] {
    const count = 4;
    const edges = Array.from({ length: count }, (_, i) => sorted[Math.floor((i * sorted.length) / count)]!);
    const of = (v: unknown) => (typeof v === "number" ? edges.findLastIndex((e) => v >= e) : -1);
    const bundles: Bundle[] = edges.map((from, i) => ({
        label: `${param} ${formatValue(from)}${i + 1 < count ? ` … ${formatValue(edges[i + 1])}` : " and more"}`,
        trials: trials.filter((t) => of(t.params[param]) === i),
    }));
    const none = trials.filter((t) => of(t.params[param]) < 0);
    return (none.length > 0 ? [...bundles, { label: `${param} –`, trials: none }] : bundles).filter((b) => b.trials.length > 0);
}

/* The same groups in a facet, with its trials only. Places are kept, so that colours are, too. */
export function within(bundles: Bundle[], trials: CurveTrial[]): Bundle[] {
    const some = new Set(trials);
    return bundles.map((b) => ({ label: b.label, trials: b.trials.filter((t) => some.has(t)) }));
}

/* The parameters in which these differ. */
export function differing(trials: CurveTrial[]): string[] {
    const names = [...new Set(trials.flatMap((t) => Object.keys(t.params)))];
    return names.filter((name) => trials.some((t) => formatValue(t.params[name]) !== formatValue(trials[0]!.params[name])));
}

const dashes = [[], [7, 3], [2, 2.5]];

/* Trials whose colours are the same get different dashes. */
export function dashesOf(trials: CurveTrial[], colours: number): number[][] {
    const seen = new Map<number, number>();
    return trials.map((t) => {
        const colour = t.number % colours;
        const nth = seen.get(colour) ?? 0;
        seen.set(colour, nth + 1);
        return dashes[nth % dashes.length]!;
    });
}

/* A pair of arrays that grows at its end without being copied each time. */
export class Growing {
    private xs: Float64Array;
    private ys: Float64Array;
    length: number;

    constructor(x: Float64Array, y: Float64Array) {
        this.xs = x;
        this.ys = y;
        this.length = x.length;
    }
    get x(): Float64Array {
        return this.xs.subarray(0, this.length);
    }
    get y(): Float64Array {
        return this.ys.subarray(0, this.length);
    }
    /* Values behind the end only: an older one is there already, or comes with the next load. */
    push(x: number, y: number): boolean {
        if (!Number.isFinite(x) || (this.length > 0 && x <= this.xs[this.length - 1]!)) return false;
        if (this.length === this.xs.length) {
            this.xs = grown(this.xs, this.length);
            this.ys = grown(this.ys, this.length);
        }
        this.xs[this.length] = x;
        this.ys[this.length++] = y;
        return true;
    }
}

function grown(from: Float64Array, length: number): Float64Array {
    const to = new Float64Array(Math.max(64, length * 2));
    to.set(from);
    return to;
}

export type XKind = "step" | "time" | "relative";

/* The values of a batch as (x, y); `first` is the time at which the line begins. */
export function pointsOf(batch: Points, x: XKind, first: number): [number, number][] {
    return batch.value.map((v, i) => {
        const at = batch.time[i] ?? NaN;
        const y = typeof v === "number" ? v : NaN;
        return [x === "step" ? (batch.step[i] ?? NaN) : x === "time" ? at : at - first, y];
    });
}

/* A range made wider or narrower around its middle, and moved by a share of its width. */
export function zoomed([from, to]: [number, number], factor: number, move: number): [number, number] {
    const width = to - from;
    const middle = (from + to) / 2 + move * width;
    return [middle - (width * factor) / 2, middle + (width * factor) / 2];
}
