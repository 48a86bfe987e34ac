/* SPDX-License-Identifier: MIT */
/*
 * scatter.tsx — points over two axes on a canvas, 100,000 of them if need be: slices, histories,
 * fronts, contours. The nearest point to the pointer tells what it is; a click goes to its trial.
 */
import { useState } from "preact/hooks";
import { colourOf, scaleColour, theme } from "../theme.ts";
import { boxOf, drawFrame, tickText, xOf, yOf, type Box } from "./axes_draw.ts";
import type { Axis } from "./axis.ts";
import { pointerAt, useCanvas } from "./canvas.ts";
import { goToTrial } from "./links.tsx";

export interface ScatterProps {
    title: string; /* for a screen reader */
    x: Axis;
    y: Axis;
    px: Float64Array;
    py: Float64Array;
    trials: ArrayLike<number>;
    experiment: number;
    shares?: Float64Array | null; /* 0 … 1 for the colour; null: one colour */
    loud?: readonly number[]; /* rows drawn larger, above */
    path?: { x: ArrayLike<number>; y: ArrayLike<number>; step?: boolean } | null;
    cells?: { rows: (number | null)[][]; worst: number; best: number } | null; /* lowest row first */
    height: number;
}

/* On white the dark end of the scale stands out, on black the bright one: the best gets that. */
export function goodColour(share: number, alpha = 1): string {
    return scaleColour(theme.get() === "dark" ? 0.08 + 0.92 * share : 0.86 * (1 - share), alpha);
}

const BINS = 48;

function drawCells(ctx: CanvasRenderingContext2D, box: Box, cells: NonNullable<ScatterProps["cells"]>): void {
    const n = cells.rows.length, m = cells.rows[0]?.length ?? 0;
    const [w, h] = [(box.width * 0.96) / m, (box.height * 0.94) / n];
    cells.rows.forEach((row, r) => row.forEach((value, c) => {
        if (value === null) return;
        const share = cells.best === cells.worst ? 0.5 : (value - cells.worst) / (cells.best - cells.worst);
        ctx.fillStyle = goodColour(Math.min(1, Math.max(0, share)));
        ctx.fillRect(box.left + box.width * 0.02 + c * w, box.top + box.height * 0.97 - (r + 1) * h, w + 0.6, h + 0.6);
    }));
}

/* Rows by their colour, the best last. */
function binned(p: ScatterProps): number[][] {
    const bins: number[][] = Array.from({ length: BINS }, () => []);
    for (let i = 0; i < p.px.length; i++) {
        const share = p.shares ? p.shares[i]! : 1;
        if (Number.isFinite(p.px[i]!) && Number.isFinite(p.py[i]!)) bins[Number.isNaN(share) ? 0 : Math.min(BINS - 1, Math.floor(share * BINS))]!.push(i);
    }
    return bins;
}

/* Many points: squares, the best first, each place once. What is below would not be seen. */
function drawMany(ctx: CanvasRenderingContext2D, box: Box, p: ScatterProps, size: number, colour: (bin: number) => string): void {
    const across = Math.ceil(box.width / size) + 2, taken = new Uint8Array(across * (Math.ceil(box.height / size) + 2));
    const bins = binned(p);
    for (let bin = BINS - 1; bin >= 0; bin--) {
        ctx.fillStyle = colour(bin);
        for (const i of bins[bin]!) {
            const x = Math.round((xOf(box, p.x, p.px[i]!) - box.left) / size), y = Math.round((yOf(box, p.y, p.py[i]!) - box.top) / size);
            if (taken[y * across + x]) continue;
            taken[y * across + x] = 1;
            ctx.fillRect(box.left + x * size - size / 2, box.top + y * size - size / 2, size, size);
        }
    }
}

/* Few points: discs, those of one colour at once. */
function drawFew(ctx: CanvasRenderingContext2D, box: Box, p: ScatterProps, colour: (bin: number) => string): void {
    ctx.strokeStyle = colourOf("--text");
    ctx.lineWidth = 0.8;
    binned(p).forEach((rows, bin) => {
        ctx.fillStyle = colour(bin);
        ctx.beginPath();
        for (const i of rows) {
            const x = xOf(box, p.x, p.px[i]!), y = yOf(box, p.y, p.py[i]!);
            ctx.moveTo(x + 2.5, y);
            ctx.arc(x, y, 2.5, 0, 7);
        }
        ctx.fill();
        if (p.cells) ctx.stroke();
    });
}

function drawPoints(ctx: CanvasRenderingContext2D, box: Box, p: ScatterProps): void {
    const plain = p.cells ? colourOf("--bg") : colourOf("--bar-now");
    const colour = (bin: number) => (p.shares ? goodColour(bin / (BINS - 1)) : plain);
    if (p.px.length > 2000) drawMany(ctx, box, p, p.px.length > 20_000 ? 2 : 3, colour);
    else drawFew(ctx, box, p, colour);
}

function drawPath(ctx: CanvasRenderingContext2D, box: Box, p: ScatterProps): void {
    if (!p.path) return;
    ctx.beginPath();
    let before: number | null = null;
    for (let i = 0; i < p.path.x.length; i++) {
        const [x, y] = [xOf(box, p.x, p.path.x[i]!), yOf(box, p.y, p.path.y[i]!)];
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        if (before === null) ctx.moveTo(x, y);
        else {
            if (p.path.step) ctx.lineTo(x, before);
            ctx.lineTo(x, y);
        }
        before = y;
    }
    ctx.strokeStyle = colourOf("--accent");
    ctx.lineWidth = 2;
    ctx.stroke();
}

function drawLoud(ctx: CanvasRenderingContext2D, box: Box, p: ScatterProps, rows: readonly number[]): void {
    ctx.lineWidth = 2;
    for (const i of rows) {
        ctx.beginPath();
        ctx.arc(xOf(box, p.x, p.px[i]!), yOf(box, p.y, p.py[i]!), 5, 0, 7);
        ctx.fillStyle = colourOf("--accent");
        ctx.strokeStyle = colourOf("--bg");
        ctx.fill();
        ctx.stroke();
    }
}

function nearest(box: Box, p: ScatterProps, x: number, y: number): number {
    let best = -1, least = 16 ** 2;
    for (let i = 0; i < p.px.length; i++) {
        const d = (xOf(box, p.x, p.px[i]!) - x) ** 2 + (yOf(box, p.y, p.py[i]!) - y) ** 2;
        if (d < least) [best, least] = [i, d];
    }
    return best;
}

export function Scatter(p: ScatterProps) {
    const [at, setAt] = useState<{ row: number; x: number; y: number } | null>(null);
    const { canvas, width } = useCanvas(p.height, (ctx, size) => {
        const box = boxOf(size);
        ctx.clearRect(0, 0, size.width, size.height);
        drawFrame(ctx, box, p.x, p.y);
        if (p.cells) drawCells(ctx, box, p.cells);
        drawPoints(ctx, box, p);
        drawPath(ctx, box, p);
        drawLoud(ctx, box, p, p.loud ?? []);
    }, [p.px, p.py, p.x, p.y, p.shares, p.path, p.cells, p.loud]);
    const onMove = (event: PointerEvent) => {
        const { x, y } = pointerAt(event);
        const row = nearest(boxOf({ width, height: p.height }), p, x, y);
        setAt(row < 0 ? null : { row, x, y });
    };
    const style = at && (at.x > width / 2 ? { right: `${width - at.x + 12}px`, top: `${at.y}px` } : { left: `${at.x + 12}px`, top: `${at.y}px` });
    return (
        <div class="canvas-box">
            <canvas ref={canvas} role="img" aria-label={p.title} class={at ? "pick" : ""} onPointerMove={onMove} onPointerLeave={() => setAt(null)}
                onClick={() => at && goToTrial(`${p.experiment}.${p.trials[at.row]}`)} />
            {at && (
                <div class="hover-box" style={style!} aria-hidden="true">
                    <div class="hover-x">trial {p.experiment}.{p.trials[at.row]}</div>
                    <div class="hover-row"><span>{p.x.name}</span><b>{tickText(p.x, p.px[at.row]!)}</b></div>
                    <div class="hover-row"><span>{p.y.name}</span><b>{tickText(p.y, p.py[at.row]!)}</b></div>
                </div>
            )}
        </div>
    );
}
