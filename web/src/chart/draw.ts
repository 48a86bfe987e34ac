/* SPDX-License-Identifier: MIT */
/*
 * draw.ts — lines, bands and marks on a canvas. Each line has its own x: trials log at different
 * steps, and aligning a hundred of them would cost more than drawing them.
 *
 * Points come thinned so that the picture equals that of all values (M4: first, smallest, largest
 * and last of each column of pixels).
 */
import { newRaster, trace, type Pen } from "./raster.ts";

export interface ChartLine {
    id: string;
    label: string;
    colour: string;
    x: Float64Array;
    y: Float64Array; /* NaN: a gap */
    marks?: Float64Array; /* x of values that were NaN or infinite */
    low?: Float64Array; /* with high: a band around the line */
    high?: Float64Array;
    dash?: number[];
    faint?: boolean;
}

/* The inner rectangle in canvas pixels, and what lies at its edges. */
export interface Frame {
    left: number;
    top: number;
    width: number;
    height: number;
    x: [number, number];
    y: [number, number];
    xLog: boolean;
    yLog: boolean;
    ratio: number; /* canvas pixels per CSS pixel */
}

/* A value, or its logarithm, becomes a pixel: at + (v - from)·scale. */
interface Mapping {
    log: boolean;
    from: number;
    scale: number;
    at: number;
}

function mapping([low, high]: [number, number], log: boolean, at: number, size: number): Mapping {
    const [from, to] = log ? [Math.log(low), Math.log(high)] : [low, high];
    return { log, from, scale: size / (to - from || 1), at };
}

const mappingX = (f: Frame) => mapping(f.x, f.xLog, f.left, f.width);
const mappingY = (f: Frame) => mapping(f.y, f.yLog, f.top + f.height, -f.height);

function mapper({ log, from, scale, at }: Mapping): (v: number) => number {
    return log ? (v) => at + (Math.log(v) - from) * scale : (v) => at + (v - from) * scale;
}

export function mapX(f: Frame): (v: number) => number {
    return mapper(mappingX(f));
}
export function mapY(f: Frame): (v: number) => number {
    return mapper(mappingY(f));
}

/* The same for many at once. */
function mapAll(values: Float64Array, { log, from, scale, at }: Mapping, ret: Float64Array): void {
    if (log) for (let i = 0; i < values.length; i++) ret[i] = at + (Math.log(values[i]!) - from) * scale;
    else for (let i = 0; i < values.length; i++) ret[i] = at + (values[i]! - from) * scale;
}

const far = 1e5; /* canvas coordinates beyond this are cut: some rasterizers overflow */
const clamp = (v: number) => (v > far ? far : v < -far ? -far : v);

/* From point `from` on. */
export function drawLine(ctx: CanvasRenderingContext2D, f: Frame, line: ChartLine, width: number, from = 0): void {
    const [px, py] = [mapX(f), mapY(f)];
    const { x, y } = line;
    ctx.beginPath();
    let pen = false;
    let alone = -1;
    for (let i = from; i < x.length; i++) {
        const cx = px(x[i] as number);
        const cy = py(y[i] as number);
        if (!(cx - cx === 0) || !(cy - cy === 0)) {
            if (alone >= 0) dot(ctx, px(x[alone]!), clamp(py(y[alone]!)), width);
            alone = -1;
            pen = false;
        } else if (pen) {
            ctx.lineTo(clamp(cx), clamp(cy));
            alone = -1;
        } else {
            ctx.moveTo(clamp(cx), clamp(cy));
            pen = true;
            alone = i;
        }
    }
    if (alone >= 0) dot(ctx, px(x[alone]!), clamp(py(y[alone]!)), width);
    ctx.strokeStyle = line.colour;
    ctx.lineWidth = width;
    ctx.setLineDash((line.dash ?? []).map((d) => d * f.ratio));
    ctx.stroke();
}

/* A value between two gaps: a point, lest it be lost. */
function dot(ctx: CanvasRenderingContext2D, cx: number, cy: number, width: number): void {
    ctx.moveTo(cx - width, cy);
    ctx.lineTo(cx + width, cy);
}

export function drawBand(ctx: CanvasRenderingContext2D, f: Frame, line: ChartLine): void {
    const { x, low, high } = line;
    if (!low || !high) return;
    const [px, py] = [mapX(f), mapY(f)];
    ctx.beginPath();
    let from = 0;
    const fill = (end: number) => {
        for (let i = from; i < end; i++) ctx[i === from ? "moveTo" : "lineTo"](px(x[i]!), clamp(py(high[i]!)));
        for (let i = end - 1; i >= from; i--) ctx.lineTo(px(x[i]!), clamp(py(f.yLog ? Math.max(low[i]!, f.y[0]) : low[i]!)));
        ctx.closePath();
    };
    for (let i = 0; i <= x.length; i++) {
        const gap = i === x.length || !(low[i]! - low[i]! === 0) || !(high[i]! - high[i]! === 0);
        if (!gap) continue;
        if (i > from) fill(i);
        from = i + 1;
    }
    ctx.fillStyle = line.colour;
    ctx.globalAlpha = 0.18;
    ctx.fill();
    ctx.globalAlpha = 1;
}

/* Small crosses at the lower edge where values were not finite; one at the end of x is whole. */
export function drawMarks(ctx: CanvasRenderingContext2D, f: Frame, line: ChartLine): void {
    if (!line.marks || line.marks.length === 0) return;
    const px = mapX(f);
    const r = 3.5 * f.ratio;
    const cy = f.top + f.height - 7 * f.ratio;
    ctx.beginPath();
    for (const at of line.marks) {
        const cx = px(at);
        if (!(cx >= f.left - 0.5 && cx <= f.left + f.width + 0.5)) continue; /* half a pixel: what a logarithm rounds */
        ctx.moveTo(cx - r, cy - r);
        ctx.lineTo(cx + r, cy + r);
        ctx.moveTo(cx + r, cy - r);
        ctx.lineTo(cx - r, cy + r);
    }
    ctx.strokeStyle = line.colour;
    ctx.lineWidth = 1.6 * f.ratio;
    ctx.setLineDash([]);
    ctx.stroke();
}

function begin(ctx: CanvasRenderingContext2D, f: Frame): void {
    ctx.save();
    ctx.beginPath();
    ctx.rect(f.left, f.top, f.width, f.height);
    ctx.clip();
    ctx.lineJoin = "bevel";
}

/* A stroke costs by the segment, a raster by the pixel: with more points than this the latter is
 * cheaper. */
const strokedMost = 20_000;

export function isDense(lines: ChartLine[]): boolean {
    return lines.reduce((n, line) => n + line.x.length, 0) > strokedMost;
}

const thickOf = (f: Frame) => 1.5 * f.ratio;

/* As red, green, blue: a canvas gives back a colour as #rrggbb, however it was written. */
function penOf(ctx: CanvasRenderingContext2D, f: Frame, line: ChartLine, alpha: number): Pen {
    ctx.fillStyle = line.colour;
    const rgb = parseInt(String(ctx.fillStyle).slice(1), 16);
    const [on = 0, off = 0] = line.dash ?? [];
    return { red: rgb >> 16, green: (rgb >> 8) & 255, blue: rgb & 255, alpha, thick: thickOf(f), on: on * f.ratio, off: off * f.ratio };
}

/* Lines as one image; the last one is the foremost. */
function drawRaster(ctx: CanvasRenderingContext2D, f: Frame, lines: ChartLine[], alphaOf: (line: ChartLine) => number): void {
    const [toX, toY] = [mappingX({ ...f, left: 0 }), mappingY({ ...f, top: 0 })];
    const raster = newRaster(f.width, f.height);
    const longest = Math.max(...lines.map((line) => line.x.length));
    const [x, y] = [new Float64Array(longest), new Float64Array(longest)];
    for (const line of [...lines].reverse()) {
        mapAll(line.x, toX, x);
        mapAll(line.y, toY, y);
        trace(raster, penOf(ctx, f, line, alphaOf(line)), x, y, line.x.length);
    }
    const image = new OffscreenCanvas(f.width, f.height);
    image.getContext("2d")?.putImageData(new ImageData(raster.bytes, f.width, f.height), 0, 0);
    ctx.drawImage(image, f.left, f.top);
}

function drawStrokes(ctx: CanvasRenderingContext2D, f: Frame, lines: ChartLine[], alphaOf: (line: ChartLine) => number): void {
    for (const line of lines) {
        ctx.globalAlpha = alphaOf(line);
        drawLine(ctx, f, line, thickOf(f));
    }
    ctx.globalAlpha = 1;
}

/* Only what was appended: lines[i] from point from[i] on, over the picture that is there. */
export function drawTails(ctx: CanvasRenderingContext2D, f: Frame, lines: ChartLine[], from: number[]): void {
    begin(ctx, f);
    lines.forEach((line, i) => {
        const at = from[i] ?? 0;
        if (at < line.x.length) drawLine(ctx, f, line, thickOf(f), Math.max(0, at - 1));
    });
    ctx.restore();
    for (const line of lines) drawMarks(ctx, f, line);
}

/* Bands below, then lines, the loud one last, then marks. */
export function drawAll(ctx: CanvasRenderingContext2D, f: Frame, lines: ChartLine[], loud: string | null): void {
    begin(ctx, f);
    for (const line of lines) drawBand(ctx, f, line);
    const quiet = lines.filter((line) => line.id !== loud);
    const alphaOf = (line: ChartLine) => (loud !== null || line.faint ? 0.25 : 1);
    (isDense(quiet) ? drawRaster : drawStrokes)(ctx, f, quiet, alphaOf);
    const one = lines.find((line) => line.id === loud);
    if (one) drawLine(ctx, f, one, 2.2 * f.ratio);
    ctx.restore();
    for (const line of lines) drawMarks(ctx, f, line);
}
