/* SPDX-License-Identifier: MIT */
/*
 * model.ts — the document of a report becomes what the charts of the pages take: columns of numbers.
 * Pure. What is missing or of another kind is left out; a report is never broken by one odd value.
 */
import type { ChartLine } from "../chart/draw.ts";
import { wantsLog } from "../analysis/axis.ts";
import type { Field, Results } from "../analysis/data.ts";
import type { ParamSpec } from "../types.ts";
import type { Report, ReportColumn } from "./shape.ts";

function textColumn(column: ReportColumn, cells: unknown[]): { names: string[]; values: Float64Array } {
    const names = column.type === "bool" ? ["false", "true"] : [...new Set([...(column.choices ?? []).map(String), ...cells.filter((c) => c !== null && c !== undefined).map(String)])];
    const index = new Map(names.map((name, i) => [name, i]));
    return { names, values: Float64Array.from(cells, (c) => (c === null || c === undefined ? Number.NaN : (index.get(String(c)) ?? Number.NaN))) };
}

/* As the spec has it: its scale, not what the values look like. */
function specLog(report: Report, label: string): boolean | undefined {
    const spec = report.experiment.spec as { params?: Record<string, ParamSpec | undefined> } | null | undefined;
    const scale = spec?.params?.[label]?.scale;
    return typeof scale === "string" ? scale === "log" : undefined;
}

function fieldOf(report: Report, column: ReportColumn, cells: unknown[]): Field {
    const label = column.name.replace(/^(params|metrics)\./, "").replace(/\.last$/, "");
    const kind = column.kind === "field" ? "other" : column.kind;
    if (column.type === "text" || column.type === "bool") return { name: column.name, label, kind, log: false, ...textColumn(column, cells) };
    const number = (c: unknown) => (typeof c === "number" ? c : column.type === "time" && typeof c === "string" ? Date.parse(c) / 1000 : Number.NaN);
    const values = Float64Array.from(cells, number);
    return { name: column.name, label, kind, values, names: null, log: kind === "param" && (specLog(report, label) ?? column.log ?? wantsLog(values)) };
}

const cellsOf = (report: Report, name: string) => {
    const at = report.columns.findIndex((c) => c.name === name);
    return at < 0 ? null : report.rows.map((row) => row[at]);
};

/* Trials that completed, as columns; null: there is none. */
export function resultsOf(report: Report): Results | null {
    const states = cellsOf(report, "state");
    const rows = states ? report.rows.filter((_, i) => states[i] === "completed") : report.rows;
    const only: Report = { ...report, rows };
    const numbers = Float64Array.from(cellsOf(only, "number") ?? [], Number);
    const value = fieldOf(report, { name: "value", kind: "field", type: "number" }, cellsOf(only, "value") ?? []);
    if (numbers.length === 0 || value.values.length !== numbers.length) return null;
    const goal = report.objective?.goal === "maximize" ? 1 : -1;
    const objective: Field = { ...value, label: report.objective?.metric ?? "value", kind: "value" };
    const others = report.columns.flatMap((c, i) => (c.kind === "field" && c.name !== "seconds" ? [] : [fieldOf(report, c, rows.map((row) => row[i]))]));
    const objectives: Results["objectives"] = (report.objectives ?? []).map((o) => ({ field: `metrics.${o.metric}.last`, goal: o.goal === "maximize" ? 1 : -1 }));
    let best = -1;
    objective.values.forEach((v, i) => {
        if (Number.isFinite(v) && (best < 0 || v * goal > objective.values[best]! * goal)) best = i;
    });
    return { experiment: Number(report.experiment.experiment ?? 0), rows: rows.length, numbers, fields: [objective, ...others], objective, goal, objectives, best };
}

/* Trial numbers, values, and the best so far. */
export function historyOf(report: Report): { px: Float64Array; py: Float64Array; best: Float64Array } {
    const column = (k: 0 | 1 | 2) => Float64Array.from(report.history, (row) => (typeof row[k] === "number" ? row[k] : Number.NaN));
    return { px: column(0), py: column(1), best: column(2) };
}

export function linesOf(lines: Report["curves"][number]["lines"], colour: (trial: number) => string): ChartLine[] {
    return lines.map((line) => ({
        id: String(line.trial), label: `trial ${line.trial}`, colour: colour(line.trial),
        x: Float64Array.from(line.x), y: Float64Array.from(line.y, (v) => (typeof v === "number" ? v : Number.NaN)),
    }));
}

/* Rows of the table of the best trials: the value's column first in worth. */
export function topRows(results: Results, count: number): number[] {
    const v = results.objective.values;
    return [...v.keys()].filter((i) => Number.isFinite(v[i]!)).sort((a, b) => (v[b]! - v[a]!) * results.goal).slice(0, count);
}

/* The document out of the page's script element; an error with a sentence if it is none. */
export function readReport(text: string): Report {
    const report = JSON.parse(text) as Report;
    for (const name of ["columns", "rows", "history", "curves"] as const) if (!Array.isArray(report[name])) throw new Error(`the report has no ${name}`);
    if (typeof report.experiment !== "object" || report.experiment === null) throw new Error("the report has no experiment");
    return report;
}
