/* SPDX-License-Identifier: MIT */
/*
 * explain_data.ts — all results of an experiment (of trials that completed) as a table for the model,
 * and as rows to find repeats in. Names become indices; a parameter that never varies is no feature; one that spans
 * powers of ten is taken by its logarithm.
 */
import { columns, experiment as loadExperiment, trials } from "../api.ts";
import { wantsLog } from "../analysis/axis.ts";
import type { Column } from "../types.ts";
import type { Table } from "./explain.ts";
import type { GroupRow } from "./groups.ts";

export interface Results {
    experiment: number;
    params: Column[];
    metrics: string[]; /* names of columns: "metrics.loss.last" */
    numbers: Float64Array;
    values: Map<string, Float64Array>; /* by column name, "value" among them */
}

export async function loadResults(experiment: number, signal: AbortSignal): Promise<Results> {
    const head = await trials(experiment, { limit: 1 }, signal);
    const params = head.columns.filter((c) => c.kind === "param");
    const metrics = head.columns.filter((c) => c.kind === "metric").map((c) => c.name).slice(0, 60);
    const names = ["value", ...metrics, "repeat_of", ...params.map((c) => c.name)];
    const [answer, completed] = await Promise.all([
        columns(experiment, names, "", signal), columns(experiment, ["value"], "state = 'completed'", signal),
    ]);
    const whole = new Set(completed.numbers);
    const values = new Map(names.map((name, i) => [name, i <= metrics.length ? only(answer.columns[i]!, answer.numbers, whole) : answer.columns[i]!]));
    return { experiment, params, metrics, numbers: answer.numbers, values };
}

const isTold = (results: Results, name: string) => results.values.get(name)?.some((v) => Number.isFinite(v)) === true;

/* What runs are compared by unless somebody says otherwise: the objective, or without one the first metric
 * that a trial has told. */
export function usualTarget(all: readonly Results[]): string {
    const told = ["value", ...new Set(all.flatMap((r) => r.metrics))].find((name) => all.some((r) => isTold(r, name)));
    return told ?? "value";
}

/* "loss (last)" */
export const targetWords = (name: string): string => (name === "value" ? "objective" : name.replace(/^metrics\./, "").replace(/\.last$/, " (last)"));

/* What a trial had when it was ended early is no result. */
function only(values: Float64Array, numbers: Float64Array, whole: ReadonlySet<number>): Float64Array {
    return values.map((value, i) => (whole.has(numbers[i]!) ? value : Number.NaN));
}

/* A value of a row as it was given: a name for its index. */
export function valueOf(column: Column, cell: number): unknown {
    if (Number.isNaN(cell)) return undefined;
    if (column.type === "text") return column.choices?.[cell] ?? null;
    return column.type === "bool" ? cell !== 0 : cell;
}

function indexOf(column: Column, value: unknown): number {
    if (value === undefined || value === null) return Number.NaN;
    if (column.type !== "text") return Number(value);
    const at = (column.choices ?? []).findIndex((choice) => choice === value || String(choice) === String(value));
    return at < 0 ? Number.NaN : at;
}

export interface Model {
    table: Table;
    point: (params: Record<string, unknown>) => Float64Array;
}

const bare = (column: Column) => column.name.replace(/^params\./, "");

/* Rows that have a finite `target` ("value", or a metric's column). */
export function modelOf(results: Results, target: string): Model {
    const y = results.values.get(target) ?? new Float64Array();
    const rows = Int32Array.from(y.keys()).filter((i) => Number.isFinite(y[i]!));
    const used = results.params.filter((column) => new Set(Array.from(rows, (i) => results.values.get(column.name)![i]!)).size > 1);
    const logs = used.map((column) => column.type === "number" && wantsLog(results.values.get(column.name)!));
    const scaled = (value: number, k: number) => (logs[k] ? Math.log(value) : value);
    const table: Table = {
        features: used.map((column) => ({ name: bare(column), names: column.type === "text" })),
        x: used.map((column, k) => Float64Array.from(rows, (i) => scaled(results.values.get(column.name)![i]!, k))),
        y: Float64Array.from(rows, (i) => y[i]!),
    };
    return { table, point: (params) => Float64Array.from(used, (column, k) => scaled(indexOf(column, params[bare(column)]), k)) };
}

/* What the trials of an experiment ran, told apart by text. Without a snapshot nobody knows whether
 * two experiments ran the same. Within one it is the same for all: a program may leave files in its
 * folder, and the code of the next trial is then another to the byte. */
export async function loadProgram(experiment: number, signal: AbortSignal): Promise<string> {
    const known = await loadExperiment(experiment, signal);
    return known.code ? JSON.stringify([known.code, known.spec.command]) : `experiment ${experiment}`;
}

/* `rerun_of` has what trials are reruns of. */
export function groupRows(results: Results, target: string, program = "", rerun_of?: ReadonlyMap<string, string>): GroupRow[] {
    const y = results.values.get(target), repeats = results.values.get("repeat_of");
    return [...results.numbers].map((number, i) => ({
        trial: `${results.experiment}.${number}`,
        params: Object.fromEntries(results.params.map((c) => [bare(c), valueOf(c, results.values.get(c.name)![i]!)]).filter(([, value]) => value !== undefined)) as Record<string, unknown>,
        value: y && Number.isFinite(y[i]!) ? y[i]! : null,
        repeat_of: rerun_of?.get(`${results.experiment}.${number}`) ?? (repeats && repeats[i]! > 0 ? `${results.experiment}.${repeats[i]}` : null),
        program,
    }));
}
