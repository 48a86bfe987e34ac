/* SPDX-License-Identifier: MIT */
/*
 * forest.ts — a small random forest over settings (Breiman 2001), to say in the browser what a model
 * of the results makes of two of them.
 *
 * Numbers are split by order, names by being equal to one of them; a value that a setting does not
 * have (NaN) is a branch of its own. Every tree sees a bootstrap sample; the same seed, the same
 * forest.
 */
import { random } from "./statistics.ts";

export interface Feature {
    name: string;
    names: boolean; /* values are indices of names, without an order */
}

interface Leaf { value: number }
interface Cut {
    feature: number;
    at: number;
    equal: boolean; /* left where x === at, else where x < at */
    absentLeft: boolean;
}
interface Split extends Cut {
    left: Tree;
    right: Tree;
}
type Tree = Leaf | Split;

export interface Forest {
    trees: Tree[];
    explained: number; /* share of the spread that it tells of rows a tree has not seen; may be below 0 */
}

const LEAF = 3, DEPTH = 12, CUTS = 16;

interface Job {
    x: readonly Float64Array[]; /* column by column */
    y: Float64Array;
    features: readonly Feature[];
    next: () => number;
}

function meanOf(y: Float64Array, rows: Int32Array): number {
    let sum = 0;
    for (const row of rows) sum += y[row]!;
    return sum / rows.length;
}

function goesLeft(split: Cut, value: number): boolean {
    if (Number.isNaN(value)) return split.absentLeft;
    return split.equal ? value === split.at : value < split.at;
}

/* Sum of squares about the means that a split takes away. The inner loop of it all. */
function gain(job: Job, rows: Int32Array, split: Cut): number {
    const column = job.x[split.feature]!, y = job.y, { at, equal, absentLeft } = split;
    let n = 0, sum = 0, total = 0;
    for (let i = 0; i < rows.length; i++) {
        const row = rows[i]!, x = column[row]!, result = y[row]!;
        total += result;
        if (equal ? x === at || (absentLeft && x !== x) : x < at || (absentLeft && x !== x)) {
            n++;
            sum += result;
        }
    }
    const m = rows.length - n;
    if (n < LEAF || m < LEAF) return 0;
    return (sum * sum) / n + (total - sum) ** 2 / m - (total * total) / rows.length;
}

/* A cut of one feature to try: at the value of a random row. */
function candidate(job: Job, rows: Int32Array, feature: number): Cut | null {
    const column = job.x[feature]!;
    const pick = () => column[rows[Math.floor(job.next() * rows.length)]!]!;
    const a = pick(), b = pick();
    const absentLeft = job.next() < 0.5;
    if (Number.isNaN(a) && Number.isNaN(b)) return null;
    if (Number.isNaN(a) || Number.isNaN(b)) return { feature, at: Infinity, equal: true, absentLeft: true };
    if (job.features[feature]!.names) return { feature, at: a, equal: true, absentLeft };
    return { feature, at: a, equal: false, absentLeft };
}

function bestOf(job: Job, rows: Int32Array, features: readonly number[]): Cut | null {
    let best: Cut | null = null, most = 1e-12;
    for (const feature of features)
        for (let i = 0; i < CUTS; i++) {
            const cut = candidate(job, rows, feature);
            const better = cut ? gain(job, rows, cut) : 0;
            if (better > most) [best, most] = [cut, better];
        }
    return best;
}

/* Over some of the features, since trees that differ tell more together; over all if those do not help. */
function bestSplit(job: Job, rows: Int32Array): Cut | null {
    const all = job.features.map((_, f) => f);
    return bestOf(job, rows, all.filter(() => job.next() < 0.7)) ?? bestOf(job, rows, all);
}

function grow(job: Job, rows: Int32Array, depth: number): Tree {
    const split = depth > 0 && rows.length >= 2 * LEAF ? bestSplit(job, rows) : null;
    if (!split) return { value: meanOf(job.y, rows) };
    const column = job.x[split.feature]!;
    const left = rows.filter((row) => goesLeft(split, column[row]!)), right = rows.filter((row) => !goesLeft(split, column[row]!));
    return { ...split, left: grow(job, left, depth - 1), right: grow(job, right, depth - 1) };
}

export function predictTree(tree: Tree, x: ArrayLike<number>): number {
    while ("feature" in tree) tree = goesLeft(tree, x[tree.feature]!) ? tree.left : tree.right;
    return tree.value;
}

/* `x` column by column, rows as many as in `y`. */
export function growForest(features: readonly Feature[], x: readonly Float64Array[], y: Float64Array, count: number, seed: number): Forest {
    const next = random(seed), n = y.length, trees: Tree[] = [];
    const sums = new Float64Array(n), votes = new Float64Array(n), point = new Float64Array(features.length);
    for (let t = 0; t < count; t++) {
        const rows = Int32Array.from({ length: n }, () => Math.floor(next() * n));
        const tree = grow({ x, y, features, next }, rows, DEPTH);
        const seen = new Set(rows);
        trees.push(tree);
        for (let row = 0; row < n; row++) {
            if (seen.has(row)) continue;
            features.forEach((_, f) => (point[f] = x[f]![row]!));
            sums[row]! += predictTree(tree, point);
            votes[row]!++;
        }
    }
    return { trees, explained: explainedShare(y, sums, votes) };
}

function explainedShare(y: Float64Array, sums: Float64Array, votes: Float64Array): number {
    const middle = y.reduce((sum, value) => sum + value, 0) / y.length;
    let left = 0, spread = 0;
    for (let i = 0; i < y.length; i++) {
        if (!votes[i]) continue;
        left += (y[i]! - sums[i]! / votes[i]!) ** 2;
        spread += (y[i]! - middle) ** 2;
    }
    return spread > 0 ? 1 - left / spread : 0;
}
