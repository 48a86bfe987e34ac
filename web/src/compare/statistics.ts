/* SPDX-License-Identifier: MIT */
/*
 * statistics.ts — is B really better than A? Groups of repeats get a mean with a 95 % interval
 * (Student's t), and two of them a test of the difference: Welch's (unequal variances, 1947) and a
 * permutation test, which assumes no distribution.
 *
 * The permutation test looks at every split where there are few, else at draws of a seeded
 * generator: the same values give the same p.
 */
export interface Group {
    n: number;
    mean: number;
    deviation: number; /* of the values, n - 1; NaN for one value */
    low: number; /* 95 % interval of the mean; NaN for one value */
    high: number;
    min: number;
    max: number;
}

/* A generator of numbers in [0, 1): mulberry32. */
export function random(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

function mean(values: ArrayLike<number>): number {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[i]!;
    return sum / values.length;
}

function variance(values: readonly number[], middle: number): number {
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/* ---- Student's distribution ---- */

/* ln Γ(x), x > 0 (Lanczos). */
function lnGamma(x: number): number {
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    const t = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
    let sum = 1.000000000190015;
    c.forEach((value, i) => (sum += value / (x + 1 + i)));
    return -t + Math.log((2.5066282746310005 * sum) / x);
}

/* The continued fraction of the incomplete beta function (Lentz). */
function betaFraction(a: number, b: number, x: number): number {
    const tiny = 1e-300;
    const away = (v: number) => (Math.abs(v) < tiny ? tiny : v);
    let c = 1, d = 1 / away(1 - ((a + b) * x) / (a + 1)), h = d;
    for (let m = 1; m <= 300; m++) {
        const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away(1 + even * d);
        c = away(1 + even / c);
        h *= d * c;
        const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away(1 + odd * d);
        c = away(1 + odd / c);
        h *= d * c;
        if (Math.abs(d * c - 1) < 1e-14) break;
    }
    return h;
}

function incompleteBeta(a: number, b: number, x: number): number {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
    return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/* Probability of |T| ≥ |t| with `df` degrees of freedom. */
export function studentTwoSided(t: number, df: number): number {
    if (!Number.isFinite(t)) return Number.isNaN(t) ? Number.NaN : 0;
    return incompleteBeta(df / 2, 0.5, df / (df + t * t));
}

/* The t that is exceeded on either side with probability `p` together (0.05: the 95 % interval). */
export function studentQuantile(p: number, df: number): number {
    let low = 0, high = 1;
    while (studentTwoSided(high, df) > p && high < 1e8) high *= 2;
    for (let i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        const middle = (low + high) / 2;
        if (studentTwoSided(middle, df) > p) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

/* ---- groups ---- */

export function describe(values: readonly number[]): Group {
    const n = values.length, middle = mean(values);
    const deviation = n > 1 ? Math.sqrt(variance(values, middle)) : Number.NaN;
    const half = n > 1 ? (studentQuantile(0.05, n - 1) * deviation) / Math.sqrt(n) : Number.NaN;
    return { n, mean: middle, deviation, low: middle - half, high: middle + half, min: Math.min(...values), max: Math.max(...values) };
}

export interface Difference {
    difference: number; /* mean of B less mean of A */
    low: number; /* 95 % interval of it (Welch) */
    high: number;
    t: number;
    df: number;
    p: number; /* Welch, two-sided; NaN when a group has fewer than two values */
    permuted: number; /* permutation test, two-sided */
    exact: boolean; /* every split was looked at */
}

export function compareGroups(a: readonly number[], b: readonly number[], seed = 1): Difference {
    const ma = mean(a), mb = mean(b), difference = mb - ma;
    const enough = a.length > 1 && b.length > 1;
    const va = enough ? variance(a, ma) / a.length : Number.NaN, vb = enough ? variance(b, mb) / b.length : Number.NaN;
    const error = Math.sqrt(va + vb);
    const df = error > 0 ? (va + vb) ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1)) : a.length + b.length - 2;
    const t = error > 0 ? difference / error : difference === 0 ? 0 : difference * Infinity;
    const half = enough ? studentQuantile(0.05, df) * error : Number.NaN;
    const { p: permuted, exact } = permutationTest(a, b, seed);
    return {
        difference, low: difference - half, high: difference + half, t: enough ? t : Number.NaN, df: enough ? df : Number.NaN,
        p: enough ? studentTwoSided(t, df) : Number.NaN, permuted, exact,
    };
}

const SPLITS_MAX = 20_000;

function splits(n: number, k: number): number {
    let count = 1;
    for (let i = 1; i <= Math.min(k, n - k) && count <= SPLITS_MAX; i++) count = (count * (n - i + 1)) / i;
    return Math.round(count);
}

/* How often a split of all values at random gives a difference as large as this one. */
export function permutationTest(a: readonly number[], b: readonly number[], seed = 1): { p: number; exact: boolean } {
    const all = [...a, ...b], n = all.length, k = a.length;
    if (k === 0 || k === n) return { p: Number.NaN, exact: true };
    const total = all.reduce((sum, value) => sum + value, 0);
    const gap = (sum: number) => Math.abs(sum / k - (total - sum) / (n - k));
    const observed = gap(a.reduce((sum, value) => sum + value, 0));
    const edge = observed - 1e-12 * (observed + Math.abs(total));
    const count = splits(n, k);
    return count <= SPLITS_MAX ? { p: everySplit(all, k, gap, edge) / count, exact: true } : { p: drawnSplits(all, k, gap, edge, seed), exact: false };
}

function everySplit(all: readonly number[], k: number, gap: (sum: number) => number, edge: number): number {
    let hits = 0;
    const choose = (from: number, left: number, sum: number): void => {
        if (left === 0) {
            if (gap(sum) >= edge) hits++;
            return;
        }
        for (let i = from; i <= all.length - left; i++) choose(i + 1, left - 1, sum + all[i]!);
    };
    choose(0, k, 0);
    return hits;
}

/* The observed split counts as one, so that p is never 0 (Phipson & Smyth 2010). */
function drawnSplits(all: readonly number[], k: number, gap: (sum: number) => number, edge: number, seed: number): number {
    const next = random(seed), values = [...all];
    let hits = 1;
    for (let draw = 0; draw < SPLITS_MAX; draw++) {
        let sum = 0;
        for (let i = 0; i < k; i++) {
            const j = i + Math.floor(next() * (values.length - i));
            [values[i], values[j]] = [values[j]!, values[i]!];
            sum += values[i]!;
        }
        if (gap(sum) >= edge) hits++;
    }
    return hits / (SPLITS_MAX + 1);
}
