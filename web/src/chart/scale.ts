/* SPDX-License-Identifier: MIT */
/*
 * scale.ts — ranges, ticks and nearest points: the arithmetic of charts. Pure.
 */

/* The smallest and largest finite value (positive, for a log axis) of some arrays; null if none. */
export function extent(arrays: Iterable<Float64Array | number[]>, log = false): [number, number] | null {
    let low = Infinity;
    let high = -Infinity;
    for (const array of arrays) {
        for (let i = 0; i < array.length; i++) {
            const v = array[i] as number;
            if (!(v - v === 0) || (log && v <= 0)) continue;
            if (v < low) low = v;
            if (v > high) high = v;
        }
    }
    return low <= high ? [low, high] : null;
}

/* The extent of arrays that never fall: that of their ends. */
export function extentOfAscending(arrays: Iterable<Float64Array>, log = false): [number, number] | null {
    const isIn = (v: number) => v - v === 0 && !(log && v <= 0);
    const ends: number[] = [];
    for (const array of arrays) {
        const first = array.findIndex(isIn);
        if (first >= 0) ends.push(array[first]!, array[array.findLastIndex(isIn)]!);
    }
    return extent([ends]);
}

/* The range of x that lines take, with their marks: a run that diverges ends in values that are not finite. */
export function extentOfLines(lines: readonly { x: Float64Array; marks?: Float64Array }[], log: boolean): [number, number] | null {
    return extentOfAscending(lines.flatMap((line) => (line.marks ? [line.x, line.marks] : [line.x])), log);
}

/* Index of the first value of an ascending array that is not below `at`. */
export function firstFrom(x: ArrayLike<number>, at: number): number {
    let low = 0;
    let high = x.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((x[middle] as number) < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The extent of y where x, which never falls, lies in a view. */
export function extentIn(x: Float64Array, y: Float64Array, from: number, to: number, log: boolean): [number, number] | null {
    let low = Infinity;
    let high = -Infinity;
    for (let i = firstFrom(x, from); i < x.length && x[i]! <= to; i++) {
        const v = y[i] as number;
        if (!(v - v === 0) || (log && v <= 0)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    return low <= high ? [low, high] : null;
}

/* A little room above and below; a flat line gets some, too. */
export function pad([low, high]: [number, number], log: boolean, share = 0.04): [number, number] {
    if (log) {
        const [a, b] = [Math.log10(low), Math.log10(high)];
        const room = (b - a) * share || 0.2;
        return [10 ** (a - room), 10 ** (b + room)];
    }
    const room = (high - low) * share || Math.abs(low) * 0.1 || 1;
    return [low - room, high + room];
}

/* Ticks of a log axis: powers of ten, thinned to fit; with few of them also twice and five times. */
export function logTicks(low: number, high: number, most: number): number[] {
    if (!(low > 0) || !(high > low)) return low > 0 ? [low] : [];
    const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const step = Math.max(1, Math.ceil((b - a + 1) / Math.max(1, most)));
    const ticks: number[] = [];
    if (step === 1 && (b - a + 1) * 3 <= most) {
        for (let e = a - 1; e <= b; e++) for (const m of [1, 2, 5]) ticks.push(m * 10 ** e);
    } else {
        for (let e = Math.ceil(a / step) * step; e <= b; e += step) ticks.push(10 ** e);
    }
    const seen = ticks.map((t) => Number(t.toPrecision(12))).filter((t) => t >= low * (1 - 1e-9) && t <= high * (1 + 1e-9));
    return seen.length >= 2 ? seen : linearTicks(low, high, most).filter((t) => t > 0);
}

/* Round ticks of a linear axis. */
export function linearTicks(low: number, high: number, most: number): number[] {
    const raw = (high - low) / Math.max(1, most);
    if (!(raw > 0)) return [low];
    const base = 10 ** Math.floor(Math.log10(raw));
    const step = base * ([1, 2, 5, 10].find((m) => m * base >= raw * 0.999) ?? 10);
    const ticks: number[] = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
}

/* Index of the value nearest to `at` in an ascending array; -1 if it is empty. */
export function nearest(x: ArrayLike<number>, at: number): number {
    let low = 0;
    let high = x.length - 1;
    if (high < 0) return -1;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((x[middle] as number) <= at) low = middle;
        else high = middle;
    }
    return Math.abs((x[low] as number) - at) <= Math.abs((x[high] as number) - at) ? low : high;
}

/* A line, as far as it matters whether another continues it. */
export interface Points {
    id: string;
    colour: string;
    x: Float64Array;
    y: Float64Array;
    marks?: Float64Array;
}

/* Are `fresh` the lines of `old`, each with some values more at its end? */
export function isExtension(old: Points[], fresh: Points[]): boolean {
    if (old.length === 0 || old.length !== fresh.length) return false;
    return old.every((a, i) => {
        const b = fresh[i]!;
        const n = a.x.length;
        if (a.id !== b.id || a.colour !== b.colour || b.x.length < n) return false;
        return n === 0 || (a.x[0] === b.x[0] && a.x[n - 1] === b.x[n - 1] && Object.is(a.y[n - 1], b.y[n - 1]));
    });
}

/* Do all points of the lines from `from` on, and all marks, lie inside a view, or behind it where it is fixed? */
export function staysIn(lines: Points[], from: number[], x: [number, number], y: [number, number], isFixed: boolean): boolean {
    return lines.every((line, i) => {
        if (!isFixed && (line.marks?.at(-1) ?? -Infinity) > x[1]) return false;
        for (let k = from[i] ?? 0; k < line.x.length; k++) {
            const [at, v] = [line.x[k]!, line.y[k]!];
            if (at > x[1] ? !isFixed : v < y[0] || v > y[1]) return false;
        }
        return true;
    });
}
