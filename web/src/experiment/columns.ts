/* SPDX-License-Identifier: MIT */
/*
 * columns.ts — columns of the run table: their names, widths, the expressions that sort and filter by
 * them, how a cell reads. Pure.
 *
 * Names as in the API: "number", "params.lr", "metrics.loss.last".
 */
import { formatAgo, formatNumber, formatSeconds, formatValue } from "../format.ts";
import type { Column } from "../types.ts";

/* What every trial has, beside parameters and metrics. */
export const fields = [
    "number", "state", "reason", "value", "best", "step", "seconds", "started", "ended", "attempts", "starred", "tags", "note", "energy", "repeat_of", "run_name",
] as const;

const titles: Record<string, string> = { number: "#", repeat_of: "repeat of", starred: "★", run_name: "name" };
/* Fields whose name in an expression is another one. */
const spelled: Record<string, string> = { seconds: "duration", energy: "joules" };

export function isParam(name: string): boolean {
    return name.startsWith("params.");
}

/* "metrics.train/loss.last" → ["train/loss", "last"] */
export function metricOf(name: string): [string, string] | null {
    const m = /^metrics\.(.+)\.(last|min|max|count)$/s.exec(name);
    return m ? [m[1]!, m[2]!] : null;
}

export function titleOf(name: string): string {
    const metric = metricOf(name);
    if (metric) return metric[1] === "last" ? metric[0] : `${metric[1]} ${metric[0]}`;
    if (isParam(name)) return name.slice("params.".length);
    return titles[name] ?? name;
}

/* A name as the expression language writes it: in backquotes where it is odd. */
function quoted(name: string): string {
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `\`${name}\``;
}

/* The expression that has the column's value: for sort and where. */
export function expressionOf(name: string): string {
    const metric = metricOf(name);
    if (metric) return `${metric[1]}(metric.${quoted(metric[0])})`;
    if (isParam(name)) return `param.${quoted(name.slice("params.".length))}`;
    return `trial.${spelled[name] ?? name}`;
}

/* An expression that only rows with this value fulfil. */
export function equals(name: string, value: unknown): string {
    const e = expressionOf(name);
    if (value === null || value === undefined) return `${e} is null`;
    if (typeof value === "string") return `${e} = '${value.replace(/'/g, "''")}'`;
    return `${e} = ${String(value)}`;
}

export function both(a: string, b: string): string {
    if (!a) return b;
    return /\bor\b|\|\|/i.test(a) ? `(${a}) and ${b}` : `${a} and ${b}`;
}

/* In pixels; the table is laid out before its cells are known. */
export function widthOf(column: Column): number {
    const title = titleOf(column.name).length * 7 + 40;
    if (column.name === "number") return 72;
    if (column.name === "state") return 136;
    if (column.name === "starred") return 48;
    if (["note", "tags", "run_name"].includes(column.name)) return 180;
    if (column.type === "time") return Math.max(96, title);
    if (column.type === "text") return Math.min(220, Math.max(110, title));
    return Math.min(200, Math.max(100, title));
}

export function isNumeric(column: Column): boolean {
    return column.type === "number" && column.name !== "number" && column.name !== "repeat_of";
}

export function formatCell(column: Column, value: unknown, nowMs: number): string {
    if (value === null || value === undefined || value === "") return "";
    if (column.type === "time") return formatAgo(String(value), nowMs);
    if (column.name === "seconds" && typeof value === "number") return formatSeconds(value);
    if (column.name === "starred") return value ? "★" : "";
    if (Array.isArray(value)) return value.join(", ");
    if (typeof value === "string" && (value === "NaN" || value === "Infinity" || value === "-Infinity")) return formatNumber(Number(value));
    return formatValue(value);
}

/* Where a value lies between the smallest and the largest of its column: 0 … 1, or null. By its
 * logarithm where they lie far apart: one outlier must not make all others look alike. */
export function shareOf(column: Column, value: unknown): number | null {
    const { min, max } = column;
    if (typeof value !== "number" || typeof min !== "number" || typeof max !== "number" || !(max > min)) return null;
    if (min > 0 && max / min > 20) return Math.log(value / min) / Math.log(max / min);
    return (value - min) / (max - min);
}

/* Pinned first, both in the order they are chosen in. */
export function arrange(columns: Column[], pinned: string[]): Column[] {
    const isPinned = (c: Column) => pinned.includes(c.name);
    return [...columns.filter(isPinned), ...columns.filter((c) => !isPinned(c))];
}

/* Move `name` before `target` (null: to the end). */
export function reorder(names: string[], name: string, target: string | null): string[] {
    if (name === target) return names;
    const rest = names.filter((n) => n !== name);
    const at = target === null ? rest.length : rest.indexOf(target);
    return at < 0 ? names : [...rest.slice(0, at), name, ...rest.slice(at)];
}

/* Which columns behind the pinned ones are on the screen: [from, to). With few columns, all of them:
 * moving sideways then costs nothing. */
export function visibleColumns(lefts: number[], widths: number[], pinned: number, scrollLeft: number, width: number): [number, number] {
    if (lefts.length <= 30) return [pinned, lefts.length];
    let from = pinned;
    while (from < lefts.length && lefts[from]! + widths[from]! < scrollLeft) from++;
    let to = from;
    while (to < lefts.length && lefts[to]! < scrollLeft + width) to++;
    return [Math.max(pinned, from - 2), Math.min(lefts.length, to + 2)];
}
