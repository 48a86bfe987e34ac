/* SPDX-License-Identifier: MIT */
/*
 * raster.ts — dense lines as pixels, without a path: in each column of pixels that a line passes, one
 * run from its lowest to its highest point there, with soft ends. Pure.
 *
 * A canvas strokes segment after segment, though hundreds of them fall onto the same pixels. Here the
 * foremost line comes first, and what lies behind it is not drawn. Nothing else of a column counts than
 * where the line enters, its lowest, its highest and where it leaves: so thinned values (M4) give the
 * picture of all, to the pixel.
 *
 * The functions are written for their first call, which an interpreter runs: no small arrays.
 */

/* Pixels as ImageData has them: red, green, blue, alpha, the colours not multiplied by it. */
export interface Raster {
    width: number;
    height: number;
    bytes: Uint8ClampedArray<ArrayBuffer>;
    pixels: Uint32Array; /* the same memory */
    tops: Int32Array; /* of each column: the rows from here … */
    ends: Int32Array; /* … to before here are opaque */
}

export function newRaster(width: number, height: number): Raster {
    const bytes = new Uint8ClampedArray(4 * width * height);
    return { width, height, bytes, pixels: new Uint32Array(bytes.buffer), tops: new Int32Array(width), ends: new Int32Array(width) };
}

export interface Pen {
    red: number;
    green: number;
    blue: number;
    alpha: number;
    thick: number; /* pixels, at least 1 */
    on: number; /* a dash, in columns */
    off: number; /* 0: a solid line */
}

/* Below what is there. */
function blend({ bytes }: Raster, pen: Pen, at: number, alpha: number): void {
    const i = 4 * at;
    if (bytes[i + 3] === 255) return;
    const above = bytes[i + 3]! / 255;
    const mine = alpha * (1 - above);
    const all = above + mine;
    if (!(all > 0)) return;
    bytes[i] = (bytes[i]! * above + pen.red * mine) / all;
    bytes[i + 1] = (bytes[i + 1]! * above + pen.green * mine) / all;
    bytes[i + 2] = (bytes[i + 2]! * above + pen.blue * mine) / all;
    bytes[i + 3] = 255 * all;
}

/* The rows of a column from `from` to before `to`. */
function fill(raster: Raster, pen: Pen, column: number, from: number, to: number): void {
    const { width } = raster;
    const end = to * width + column;
    for (let at = from * width + column; at < end; at += width) blend(raster, pen, at, pen.alpha);
}

/* The same with an opaque pen: what is known to be opaque is passed over. */
function cover(raster: Raster, pen: Pen, column: number, from: number, to: number): void {
    const top = raster.tops[column]!;
    const end = raster.ends[column]!;
    if (from >= to || (from >= top && to <= end)) return;
    if (from > end || to < top) {
        fill(raster, pen, column, from, to);
        if (to - from <= end - top) return;
        raster.tops[column] = from;
        raster.ends[column] = to;
        return;
    }
    fill(raster, pen, column, from, Math.min(to, top));
    fill(raster, pen, column, Math.max(from, end), to);
    raster.tops[column] = Math.min(from, top);
    raster.ends[column] = Math.max(to, end);
}

/* Each pixel by how much of it is covered. */
function run(raster: Raster, pen: Pen, column: number, low: number, high: number): void {
    const { width, height } = raster;
    const top = low - pen.thick / 2;
    const bottom = high + pen.thick / 2;
    if (column < 0 || column >= width || !(bottom > 0) || !(top < height)) return;
    const first = Math.floor(top);
    const last = Math.ceil(bottom) - 1;
    if (first >= raster.tops[column]! && last < raster.ends[column]!) return;
    if (first >= 0) blend(raster, pen, first * width + column, pen.alpha * (Math.min(bottom, first + 1) - top));
    if (last > first && last < height) blend(raster, pen, last * width + column, pen.alpha * (bottom - last));
    (pen.alpha < 1 ? fill : cover)(raster, pen, column, Math.max(first + 1, 0), Math.min(last, height));
}

/* A dash leaves out calm columns only: it must not hide a spike. */
function put(raster: Raster, pen: Pen, column: number, low: number, high: number): void {
    if (pen.off > 0 && high - low < 2 * pen.thick && column % (pen.on + pen.off) >= pen.on) return;
    const wide = pen.thick < 3 ? 1 : Math.round(pen.thick / 2);
    for (let i = 0; i < wide; i++) run(raster, pen, column - (wide >> 1) + i, low, high);
}

/* The last run before a gap. A value between two gaps is a point, lest it be lost. */
function lift(raster: Raster, pen: Pen, column: number, low: number, high: number, points: number): void {
    if (points > 1) return put(raster, pen, column, low, high);
    const reach = Math.max(1, Math.round(pen.thick / 2));
    if (points === 1) for (let i = -reach; i <= reach; i++) run(raster, pen, column + i, low, high);
}

/* The line through the first n points (x[i], y[i]), in pixels, behind the lines that are there; x never
 * falls, what is not finite is a gap. */
export function trace(raster: Raster, pen: Pen, x: Float64Array, y: Float64Array, n: number): void {
    let column = 0; /* the one whose run grows */
    let low = 0;
    let high = 0;
    let points = 0; /* since the pen is down */
    for (let i = 0; i < n; i++) {
        const cx = x[i]!;
        const cy = y[i]!;
        if (!(cx - cx === 0) || !(cy - cy === 0)) {
            lift(raster, pen, column, low, high, points);
            points = 0;
            continue;
        }
        if (points++ === 0) {
            column = Math.floor(cx);
            low = high = cy;
        } else if (cx >= column + 1) {
            const ax = x[i - 1]!;
            const ay = y[i - 1]!;
            const slope = (cy - ay) / (cx - ax);
            const to = Math.floor(cx);
            for (let border = Math.max(column + 1, 0); border <= to && border <= raster.width; border++) {
                const at = ay + (border - ax) * slope;
                put(raster, pen, column, Math.min(low, at), Math.max(high, at));
                column = border;
                low = high = at;
            }
            if (column < to) {
                column = to;
                low = high = cy;
            }
        }
        if (cy < low) low = cy;
        if (cy > high) high = cy;
    }
    lift(raster, pen, column, low, high, points);
}
