/* SPDX-License-Identifier: MIT */
/*
 * binary.ts — the two binary answers of the server become typed arrays: little endian, every part at
 * a multiple of 8. What comes as f64 is not copied. Pure; a short or foreign body is an error with a sentence.
 */
export interface Line {
    x: Float64Array;
    y: Float64Array; /* NaN: a gap */
    marks: Float64Array; /* x where values were NaN or infinite */
    count: number; /* values in view, before they were thinned */
    nans: number;
}

export interface Group {
    x: Float64Array;
    middle: Float64Array;
    low: Float64Array;
    high: Float64Array;
    trials: number;
}

export interface Series {
    x0: number;
    x1: number;
    lines: Line[]; /* kind 0 */
    groups: Group[]; /* kind 1 */
}

class Reader {
    private readonly view: DataView;
    private at = 0;
    constructor(private readonly buffer: ArrayBuffer) {
        this.view = new DataView(buffer);
    }
    private take(bytes: number): number {
        const at = this.at;
        if (at + bytes > this.buffer.byteLength) throw new Error("the server's answer is cut short");
        this.at += bytes;
        return at;
    }
    u32(): number {
        return this.view.getUint32(this.take(4), true);
    }
    u64(): number {
        return Number(this.view.getBigUint64(this.take(8), true));
    }
    f64(): number {
        return this.view.getFloat64(this.take(8), true);
    }
    array(length: number): Float64Array {
        return new Float64Array(this.buffer, this.take(8 * length), length);
    }
    /* Numbers of 4 bytes, filled up to 8. */
    private halves(length: number): number {
        return this.take(8 * Math.ceil(length / 2));
    }
    floats(length: number): Float64Array {
        return Float64Array.from(new Float32Array(this.buffer, this.halves(length), length));
    }
    /* first + k / per */
    counts(length: number, first: number, per: number): Float64Array {
        const counts = new Uint32Array(this.buffer, this.halves(length), length);
        const x = new Float64Array(length);
        for (let i = 0; i < length; i++) x[i] = first + counts[i]! / per;
        return x;
    }
    end(): void {
        if (this.at !== this.buffer.byteLength) throw new Error("the server's answer is longer than it says");
    }
}

const magic = 0x32525348; /* "HSR2" */

/* The answer of POST /v1/series. */
export function decodeSeries(buffer: ArrayBuffer): Series {
    const r = new Reader(buffer);
    if (r.u32() !== magic) throw new Error("the server's answer is no series");
    const kind = r.u32();
    const n = r.u32();
    r.u32();
    const series: Series = { x0: r.f64(), x1: r.f64(), lines: [], groups: [] };
    for (let i = 0; i < n; i++) {
        if (kind === 0) series.lines.push(decodeLine(r));
        else series.groups.push(decodeGroup(r));
    }
    r.end();
    return series;
}

function decodeLine(r: Reader): Line {
    const points = r.u32();
    const marks = r.u32();
    const count = r.u64();
    const nans = r.u64();
    const first = r.f64();
    const per = r.f64();
    const bytes = r.u64();
    const x = per ? r.counts(points, first, per) : r.array(points);
    const y = bytes === 4 ? r.floats(points) : r.array(points);
    return { count, nans, x, y, marks: r.array(marks) };
}

function decodeGroup(r: Reader): Group {
    const points = r.u32();
    const trials = r.u32();
    return { trials, x: r.array(points), middle: r.array(points), low: r.array(points), high: r.array(points) };
}

export interface Columns {
    numbers: Float64Array; /* of the trials, ascending */
    columns: Float64Array[]; /* in the order asked for; NaN: none; texts as index into choices */
}

/* The answer of GET …/columns: the numbers of the trials, then as many columns as were asked for. */
export function decodeColumns(buffer: ArrayBuffer): Columns {
    const r = new Reader(buffer);
    const rows = r.u32();
    const count = r.u32();
    const numbers = r.array(rows);
    const columns: Float64Array[] = [];
    for (let i = 0; i < count; i++) columns.push(r.array(rows));
    r.end();
    return { numbers, columns };
}
