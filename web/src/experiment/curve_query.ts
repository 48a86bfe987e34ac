/* SPDX-License-Identifier: MIT */
/*
 * curve_query.ts — what the address says of curves, and what is asked of the server for it: which
 * trials, then their lines. Pure, and alone: ahead.ts asks it before there is a page.
 */
import type { SeriesQuery, TableQuery } from "../api.ts";
import { choice, list, maybe, number, text, type Codec } from "../codec.ts";
import type { MetricName, Objective } from "../types.ts";
import type { Bundle, CurveTrial, XKind } from "./curve_data.ts";

export const picks = ["selected", "best", "newest", "running"] as const;
export type Pick = (typeof picks)[number];

/* How many trials one may choose to see; an address may say another number. */
export function countsWith(n: number): string[] {
    return [...new Set([5, 10, 20, 50, 100, 200, n])].sort((a, b) => a - b).map(String);
}

/* How the values are written in the address. */
export const codecs = {
    sel: list,
    where: text(),
    pick: (selected: string[]): Codec<Pick> => choice(picks, selected.length > 0 ? "selected" : "best"),
    n: number(10),
    metric: list,
    x: choice<XKind>(["step", "time", "relative"], "step"),
    over: text(), /* a metric instead of x */
    smooth: number(0),
    group: text(),
    facet: text(),
    middle: choice(["mean", "median"] as const, "mean"),
    band: choice(["minmax", "quartiles", "interval"] as const, "minmax"),
    from: maybe,
    to: maybe,
};

/* Which trials: those selected, or the best or newest few of those that fit. */
export function trialsQuery(objective: Objective | null, pick: Pick, count: number, selected: string[], where: string): TableQuery {
    if (pick === "selected") return { where: `number in (${selected.map(Number).join(", ")})`, limit: Math.min(500, selected.length) };
    const order = pick === "newest" ? { sort: "number", desc: true } : { sort: "value", desc: objective?.goal === "maximize" };
    const running = where ? `state = 'running' and (${where})` : "state = 'running'";
    return { ...order, where: pick === "running" ? running : where || undefined, limit: count };
}

/* The objective first; without one, the first that is no figure of the system. */
export function usualMetrics(objective: Objective | null, names: MetricName[]): string[] {
    const metric = objective?.metric;
    const first = names.find((m) => m.name === metric) ?? names.find((m) => !m.system) ?? names[0];
    return first ? [first.name] : metric ? [metric] : [];
}

export function viewOf(from: number | null, to: number | null): [number, number] | null {
    return from !== null && to !== null && to > from ? [from, to] : null;
}

/* What a chart shows. */
export interface Shown {
    metric: string;
    trials: CurveTrial[];
    groups: Bundle[] | null;
    x: XKind;
    smooth: number;
    middle: "mean" | "median";
    band: "minmax" | "quartiles" | "interval";
    view: [number, number] | null;
}

/* Chart widths are asked for in steps, so that a small change of the window asks nothing. */
export function widthOf(pixels: number): number {
    return Math.max(100, Math.ceil(pixels / 100) * 100);
}

const linesMost = 40; /* more have as many points as these */

/* Columns of pixels to thin to: all of them, but with many lines fewer, since nobody sees through a
 * hundred of them and each column costs four points a line. Spikes stay: a column's are its own. */
function columnsOf(width: number, lines: number): number {
    if (lines <= 20) return Math.round(width * devicePixelRatio);
    return lines <= linesMost ? width : Math.max(300, Math.round((width * linesMost) / lines));
}

/* Over a metric: both over steps, the whole of them; the zoom is the chart's own. */
export function overQueries(s: Shown, metric: string, columns: number): [SeriesQuery, SeriesQuery] {
    const ys = { ...seriesQuery({ ...s, x: "step", view: null, groups: null }, columns), width: columns };
    return [ys, { ...ys, smooth: 0, lines: ys.lines.map((l) => ({ ...l, metric })) }];
}

export function seriesQuery(s: Shown, width: number): SeriesQuery {
    const margin = s.view ? (s.view[1] - s.view[0]) * 0.02 : 0; /* lines go on to the edges */
    const groups = s.groups?.map((g) => g.trials.map((t) => s.trials.indexOf(t))).filter((g) => g.length > 0);
    return {
        x: s.x,
        from: s.view ? s.view[0] - margin : null,
        to: s.view ? s.view[1] + margin : null,
        width: columnsOf(width, s.trials.length),
        smooth: s.smooth,
        lines: s.trials.map((t) => ({ trial: t.name, metric: s.metric })),
        groups: groups ?? null,
        middle: s.middle,
        band: s.band,
    };
}
