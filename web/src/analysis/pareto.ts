/* SPDX-License-Identifier: MIT */
/*
 * pareto.ts — two objectives: the trials that no other one beats in both, and the area that they
 * dominate (hypervolume). Goals are +1 (maximize) or -1 (minimize) for each axis.
 */
export interface Front {
    rows: number[]; /* of the front, along the first objective from its best */
    reference: [number, number]; /* the worst of both that was seen */
    hypervolume: number; /* dominated share of the box between the worst and the best of both, 0…1 */
}

export function paretoFront(x: Float64Array, y: Float64Array, goals: readonly [number, number]): Front {
    const rows: number[] = [];
    for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) rows.push(i);
    const gx = (i: number) => x[i]! * goals[0], gy = (i: number) => y[i]! * goals[1];
    const order = [...rows].sort((a, b) => gx(b) - gx(a) || gy(b) - gy(a) || a - b);
    const front: number[] = [];
    let best = -Infinity;
    for (const row of order)
        if (gy(row) > best) {
            front.push(row);
            best = gy(row);
        }
    const worst = (of: (i: number) => number) => rows.reduce((least, i) => Math.min(least, of(i)), Infinity);
    const most = (of: (i: number) => number) => rows.reduce((m, i) => Math.max(m, of(i)), -Infinity);
    const low: [number, number] = [worst(gx), worst(gy)], high = [most(gx), most(gy)];
    const box = (high[0]! - low[0]) * (high[1]! - low[1]);
    return { rows: front, reference: [low[0] * goals[0], low[1] * goals[1]], hypervolume: box > 0 ? area(front, gx, gy, low) / box : rows.length ? 1 : 0 };
}

/* Slabs between neighbours of the front, the best x first. */
function area(front: readonly number[], gx: (i: number) => number, gy: (i: number) => number, low: readonly [number, number]): number {
    let sum = 0;
    front.forEach((row, i) => {
        const next = front[i + 1];
        sum += (gx(row) - (next === undefined ? low[0] : gx(next))) * (gy(row) - low[1]);
    });
    return sum;
}

/* The best value so far at every row, NaN before the first. */
export function bestSoFar(values: Float64Array, goal: number): Float64Array {
    const best = new Float64Array(values.length);
    let so = Number.NaN;
    for (let i = 0; i < values.length; i++) {
        const value = values[i]!;
        if (!Number.isNaN(value) && !(so * goal >= value * goal)) so = value;
        best[i] = so;
    }
    return best;
}
