/* SPDX-License-Identifier: MIT */
/*
 * explain.ts — what explains the difference between two settings: the contribution of each parameter
 * in which they differ, from a model of all results of the experiment, with intervals.
 *
 * The model is a random forest over the finished trials. Going from A to B one parameter at a time
 * changes its prediction; how much one parameter changes it, averaged over the orders in which they
 * can be changed (Shapley 1953), is its contribution. They sum to the predicted difference exactly.
 * The interval is of the mean over groups of trees, each grown on resampled results: it says how
 * much of it is the luck of which trials were run. What the model does not see (seeds, noise, code)
 * is the rest: measured difference less predicted difference.
 */
import { type Feature, type Forest, growForest, predictTree } from "./forest.ts";
import { random } from "./statistics.ts";

export interface Table {
    features: Feature[];
    x: Float64Array[]; /* column by column */
    y: Float64Array; /* results; rows without one are left out by the caller */
}

export interface Contribution {
    name: string;
    mean: number; /* what it adds to the prediction, from A to B */
    low: number; /* 9 of 10 resamplings are within */
    high: number;
}

export interface Explanation {
    contributions: Contribution[]; /* largest first */
    predicted: number; /* prediction at B less that at A */
    explained: number; /* share of the spread of the results that the model tells of unseen rows */
    rows: number;
}

export const ROWS_MIN = 8; /* fewer results make no model */
const ROWS_MAX = 800, BATCHES = 24, TREES = 4, ORDERS = 12;

function shuffled(n: number, next: () => number): number[] {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1));
        [order[i], order[j]] = [order[j]!, order[i]!];
    }
    return order;
}

/* No more than ROWS_MAX rows, evenly thinned. */
function thin(table: Table): Table {
    const n = table.y.length;
    if (n <= ROWS_MAX) return table;
    const rows = Int32Array.from({ length: ROWS_MAX }, (_, i) => Math.floor((i * n) / ROWS_MAX));
    const take = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!);
    return { features: table.features, x: table.x.map(take), y: take(table.y) };
}

function predict(forest: Forest, x: Float64Array): number {
    let sum = 0;
    for (const tree of forest.trees) sum += predictTree(tree, x);
    return sum / forest.trees.length;
}

/* The contributions of the features in `differ` along every order of `orders`, averaged. */
function contributionsOf(forest: Forest, a: Float64Array, b: Float64Array, differ: readonly number[], orders: readonly number[][]): Float64Array {
    const sums = new Float64Array(differ.length);
    for (const order of orders) {
        const x = a.slice();
        let before = predict(forest, x);
        for (const i of order) {
            x[differ[i]!] = b[differ[i]!]!;
            const after = predict(forest, x);
            sums[i]! += after - before;
            before = after;
        }
    }
    return sums.map((sum) => sum / orders.length);
}

const same = (a: number, b: number) => a === b || (Number.isNaN(a) && Number.isNaN(b));

/* Both directions of each order: halves the noise of drawing them. */
function drawOrders(n: number, next: () => number): number[][] {
    return Array.from({ length: n <= 1 ? 1 : ORDERS }, () => shuffled(n, next)).flatMap((order) => [order, [...order].reverse()]);
}

function quantile(sorted: readonly number[], q: number): number {
    const at = q * (sorted.length - 1), low = Math.floor(at), high = Math.ceil(at);
    return sorted[low]! + (sorted[high]! - sorted[low]!) * (at - low);
}

/* Settings `a` and `b` in the order of the features. null: too few results, or no parameter differs. */
export function explain(table: Table, a: Float64Array, b: Float64Array, seed = 1): Explanation | null {
    const differ = table.features.map((_, f) => f).filter((f) => !same(a[f]!, b[f]!));
    if (table.y.length < ROWS_MIN || differ.length === 0) return null;
    const { features, x, y } = thin(table);
    const orders = drawOrders(differ.length, random(seed));
    const batches = Array.from({ length: BATCHES }, (_, i) => growForest(features, x, y, TREES, seed * 1000 + i));
    const parts = batches.map((forest) => contributionsOf(forest, a, b, differ, orders));
    const contributions = differ.map((f, i) => {
        const values = parts.map((part) => part[i]!).sort((p, q) => p - q);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        return { name: features[f]!.name, mean, low: quantile(values, 0.05), high: quantile(values, 0.95) };
    });
    const predicted = contributions.reduce((sum, part) => sum + part.mean, 0);
    const all = growForest(features, x, y, 40, seed);
    contributions.sort((p, q) => Math.abs(q.mean) - Math.abs(p.mean));
    return { contributions, predicted, explained: all.explained, rows: y.length };
}
