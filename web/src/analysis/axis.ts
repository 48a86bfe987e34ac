/* SPDX-License-Identifier: MIT */
/*
 * axis.ts — one axis of a chart: numbers on a linear or logarithmic scale, or names in a row.
 * place() gives 0…1, value() goes back. What is not on the axis (NaN, or ≤ 0 on a log scale) has
 * the place NaN.
 */
export interface Axis {
    name: string;
    min: number;
    max: number;
    log: boolean;
    names: string[] | null; /* then values are indices */
    few?: number[]; /* all values there are, when they are few: ticks stand there */
}

const FEW = 6;

/* Over the finite values of a column; of names, half a step is left at both ends. */
export function axisOf(name: string, values: ArrayLike<number>, options: { log?: boolean; names?: string[] | null } = {}): Axis {
    const log = options.log ?? false, names = options.names ?? null;
    if (names) return { name, min: -0.5, max: Math.max(names.length - 0.5, 0.5), log: false, names };
    let min = Infinity, max = -Infinity;
    const some = new Set<number>();
    for (let i = 0; i < values.length; i++) {
        const value = values[i]!;
        if (!Number.isFinite(value) || (log && value <= 0)) continue;
        if (value < min) min = value;
        if (value > max) max = value;
        if (some.size <= FEW) some.add(value);
    }
    const few = some.size <= FEW ? [...some].sort((a, b) => a - b) : undefined;
    if (min > max) return { name, min: log ? 0.1 : 0, max: 1, log, names };
    if (min === max) return log ? { name, min: min / 2, max: max * 2, log, names, few } : { name, min: min - 0.5, max: max + 0.5, log, names, few };
    return { name, min, max, log, names, few };
}

export function place(axis: Axis, value: number): number {
    if (axis.log) return value > 0 ? (Math.log(value) - Math.log(axis.min)) / (Math.log(axis.max) - Math.log(axis.min)) : Number.NaN;
    return (value - axis.min) / (axis.max - axis.min);
}

export function valueAt(axis: Axis, at: number): number {
    if (axis.log) return Math.exp(Math.log(axis.min) + at * (Math.log(axis.max) - Math.log(axis.min)));
    return axis.min + at * (axis.max - axis.min);
}

/* Can it be logarithmic, and would one want it: positive, and most values over powers of ten. */
export function wantsLog(values: ArrayLike<number>): boolean {
    const some: number[] = [];
    const step = Math.max(1, Math.floor(values.length / 2000));
    for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i]!)) some.push(values[i]!);
    some.sort((a, b) => a - b);
    const at = (q: number) => some[Math.round(q * (some.length - 1))]!;
    return some.length > 1 && some[0]! > 0 && at(0.95) / at(0.05) > 30;
}

/* Round values to write at an axis, about `count` of them; of names every one, or evenly thinned. */
export function ticks(axis: Axis, count: number): number[] {
    if (axis.names) {
        const step = Math.max(1, Math.ceil(axis.names.length / Math.max(count, 1)));
        return axis.names.map((_, i) => i).filter((i) => i % step === 0);
    }
    if (axis.few) return apart(axis, axis.few, count);
    return axis.log ? logTicks(axis, count) : linearTicks(axis.min, axis.max, count);
}

/* Those that do not stand on each other, the ends first. */
function apart(axis: Axis, values: readonly number[], count: number): number[] {
    const kept: number[] = [], least = 0.6 / Math.max(count, 1);
    for (const value of [values[0]!, values[values.length - 1]!, ...values])
        if (kept.every((other) => Math.abs(place(axis, other) - place(axis, value)) >= least)) kept.push(value);
    return kept.sort((a, b) => a - b);
}

function linearTicks(min: number, max: number, count: number): number[] {
    const rough = (max - min) / Math.max(count, 1);
    if (!(rough > 0) || !Number.isFinite(rough)) return [];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
    const found: number[] = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9 && found.length < 100; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
}

function logTicks(axis: Axis, count: number): number[] {
    const low = Math.floor(Math.log10(axis.min)), high = Math.ceil(Math.log10(axis.max));
    const inside = (value: number) => value >= axis.min * (1 - 1e-9) && value <= axis.max * (1 + 1e-9);
    const decades: number[] = [];
    for (let power = low; power <= high; power++) decades.push(Number(`1e${power}`));
    const tens = decades.filter(inside);
    if (tens.length < 2) {
        const fine = decades.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter(inside);
        return fine.length >= 2 ? fine : linearTicks(axis.min, axis.max, count);
    }
    const step = Math.max(1, Math.ceil(tens.length / Math.max(count, 1)));
    return tens.filter((_, i) => i % step === 0);
}
