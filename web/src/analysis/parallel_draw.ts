/* SPDX-License-Identifier: MIT */
/*
 * parallel_draw.ts — lines of parallel coordinates on a canvas, 100,000 of them: those that no brush
 * holds in grey, the others by colour, the best on top.
 *
 * Lines of one colour share paths; some go into each frame, so the page stays awake while the rest
 * follows.
 */
import { colourOf } from "../theme.ts";
import { drawnPlace, type ParallelAxis } from "./parallel.ts";
import { goodColour } from "./scatter.tsx";

export interface ParallelFrame {
    xs: number[]; /* of the axes */
    top: number;
    height: number;
}

const BINS = 40, A_FRAME = 1600, A_PATH = 160;

export const yAt = (frame: ParallelFrame, place: number) => frame.top + frame.height * (1 - place);

function trace(ctx: CanvasRenderingContext2D, frame: ParallelFrame, places: readonly Float32Array[], row: number): void {
    for (let a = 0; a < places.length; a++) {
        const y = yAt(frame, places[a]![row]!);
        if (a === 0) ctx.moveTo(frame.xs[0]!, y);
        else ctx.lineTo(frame.xs[a]!, y);
    }
}

/* Where each row is on each axis. */
export function placesOf(axes: readonly ParallelAxis[]): Float32Array[] {
    return axes.map((axis) => {
        const places = new Float32Array(axis.values.length);
        for (let i = 0; i < places.length; i++) places[i] = drawnPlace(axis, axis.values[i]!);
        return places;
    });
}

const binOf = (share: number) => (Number.isNaN(share) ? 0 : Math.min(BINS - 1, Math.floor(share * BINS)));

/* Rows in the order in which they are drawn, by colour: the best last. */
export function byColour(rows: Int32Array, shares: Float64Array): Int32Array {
    const starts = new Int32Array(BINS + 1), ordered = new Int32Array(rows.length);
    for (const row of rows) starts[binOf(shares[row]!) + 1]!++;
    for (let bin = 0; bin < BINS; bin++) starts[bin + 1]! += starts[bin]!;
    for (const row of rows) ordered[starts[binOf(shares[row]!)]!++] = row;
    return ordered;
}

/* The best rows first. */
export function bestFirst(rows: Int32Array, shares: Float64Array, count: number): number[] {
    const key = (row: number) => (Number.isNaN(shares[row]!) ? -1 : shares[row]!);
    return [...rows].sort((a, b) => key(b) - key(a)).slice(0, count);
}

/* Draws over several frames; returns how to stop. */
export function drawLines(
    ctx: CanvasRenderingContext2D, frame: ParallelFrame, places: readonly Float32Array[], others: Int32Array, chosen: Int32Array, shares: Float64Array,
): () => void {
    const grey = colourOf("--edge");
    const ordered = byColour(chosen, shares);
    const alpha = Math.max(0.12, Math.min(0.9, 60 / Math.sqrt(chosen.length + 1)));
    const total = others.length + ordered.length;
    let at = 0, timer = 0;
    const some = () => {
        const end = Math.min(total, at + A_FRAME);
        let bin = -1, inPath = 0;
        ctx.lineWidth = 1;
        for (; at < end; at++) {
            const row = at < others.length ? others[at]! : ordered[at - others.length]!;
            const next = at < others.length ? -2 : binOf(shares[row]!);
            if (next !== bin || inPath === A_PATH) { /* long paths take more than their share of time */
                if (inPath) ctx.stroke();
                ctx.beginPath();
                ctx.strokeStyle = next === -2 ? grey : goodColour(next / (BINS - 1), alpha);
                bin = next;
                inPath = 0;
            }
            trace(ctx, frame, places, row);
            inPath++;
        }
        if (inPath) ctx.stroke();
        timer = at < total ? requestAnimationFrame(some) : 0;
    };
    some();
    return () => cancelAnimationFrame(timer);
}
