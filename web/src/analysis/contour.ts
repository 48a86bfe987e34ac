/* SPDX-License-Identifier: MIT */
/*
 * contour.ts — values over two parameters, guessed between the trials from those nearby: a mean weighed
 * by distance (Shepard 1968), so it never leaves their range. As `hone plot contour` does it
 * (src/cli/plot_contour.c), for the trials and the metric that are looked at.
 */
import { type Axis, place } from "./axis.ts";

const CELLS = 48, NEAR = 0.02, SPOTS_MAX = 1500;

export interface Cells {
    rows: number[][]; /* lowest row first */
    worst: number;
    best: number;
}

interface Spot {
    x: number; /* places, 0 … 1 */
    y: number;
    value: number;
}

/* Those with a place and a value; of very many every n-th. */
function spotsOf(x: Axis, y: Axis, px: Float64Array, py: Float64Array, values: Float64Array): Spot[] {
    const spots: Spot[] = [], step = Math.max(1, Math.floor(values.length / SPOTS_MAX));
    for (let i = 0; i < values.length; i += step) {
        const spot = { x: place(x, px[i]!), y: place(y, py[i]!), value: values[i]! };
        if (Number.isFinite(spot.x) && Number.isFinite(spot.y) && Number.isFinite(spot.value)) spots.push(spot);
    }
    return spots;
}

/* One trial that went astray must not take all of the colours: the worst tenth counts as its best. */
function tame(spots: Spot[], goal: 1 | -1): void {
    const sorted = spots.map((s) => s.value * goal).sort((a, b) => a - b);
    const least = sorted[Math.floor(sorted.length / 10)]!;
    for (const s of spots) s.value = Math.max(s.value * goal, least) * goal;
}

function guess(spots: readonly Spot[], x: number, y: number): number {
    let sum = 0, weights = 0;
    for (const s of spots) {
        const w = 1 / ((s.x - x) ** 2 + (s.y - y) ** 2 + NEAR * NEAR);
        sum += w * w * s.value;
        weights += w * w;
    }
    return sum / weights;
}

const cellsOf = (axis: Axis) => (axis.names ? Math.min(axis.names.length, CELLS) : CELLS);

/* null: no trial has both parameters and a value. */
export function contourOf(x: Axis, y: Axis, px: Float64Array, py: Float64Array, values: Float64Array, goal: 1 | -1): Cells | null {
    const spots = spotsOf(x, y, px, py, values), [across, up] = [cellsOf(x), cellsOf(y)];
    if (spots.length === 0) return null;
    tame(spots, goal);
    const rows = Array.from({ length: up }, (_, r) => Array.from({ length: across }, (_, c) => guess(spots, (c + 0.5) / across, (r + 0.5) / up)));
    let low = Infinity, high = -Infinity;
    for (const v of rows.flat()) [low, high] = [Math.min(low, v), Math.max(high, v)];
    return { rows, worst: goal > 0 ? low : high, best: goal > 0 ? high : low };
}
