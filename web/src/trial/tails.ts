/* SPDX-License-Identifier: MIT */
/*
 * tails.ts — values that came in since a curve was loaded, put behind it. Pure.
 *
 * A loaded curve is thinned to the pixels of its view; the tail is not, and is thrown away when the
 * curve is loaded anew. So a live chart costs one frame a batch, and stays exact.
 */
import type { Line } from "../binary.ts";
import type { Points } from "../types.ts";

export interface Tail {
    x: number[];
    y: number[];
    marks: number[];
}

export const TAIL_MAX = 20_000; /* values; a curve with more of them is due to be loaded anew */

export const lineKey = (trial: string, metric: string): string => `${trial} ${metric}`;

/* Put a batch into its tail; false: not one of the curves shown. */
export function addPoints(tails: Map<string, Tail>, wanted: ReadonlySet<string>, batch: Points, x: "step" | "time"): boolean {
    const key = lineKey(`${batch.experiment}.${batch.trial}`, batch.metric);
    if (!wanted.has(key)) return false;
    let tail = tails.get(key);
    if (!tail) tails.set(key, (tail = { x: [], y: [], marks: [] }));
    for (let i = 0; i < batch.value.length && tail.x.length < TAIL_MAX; i++) {
        const at = x === "step" ? batch.step[i] : batch.time[i], value = Number(batch.value[i]);
        if (typeof at !== "number") continue;
        if (Number.isFinite(value)) {
            tail.x.push(at);
            tail.y.push(value);
        } else tail.marks.push(at);
    }
    return true;
}

/* The curve with its tail behind it: only what lies beyond its last value. */
export function withTail(line: Line, tail: Tail | undefined): { x: Float64Array; y: Float64Array; marks: Float64Array } {
    if (!tail || (tail.x.length === 0 && tail.marks.length === 0)) return line;
    const last = line.x.length ? line.x[line.x.length - 1]! : -Infinity;
    const lastMark = line.marks.length ? line.marks[line.marks.length - 1]! : -Infinity;
    const begin = tail.x.findIndex((at) => at > last);
    const more = begin < 0 ? [] : tail.x.slice(begin), values = begin < 0 ? [] : tail.y.slice(begin);
    return {
        x: joined(line.x, more),
        y: joined(line.y, values),
        marks: joined(line.marks, tail.marks.filter((at) => at > Math.max(last, lastMark))),
    };
}

function joined(a: Float64Array, b: readonly number[]): Float64Array {
    const both = new Float64Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
}
