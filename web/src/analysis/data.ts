/* SPDX-License-Identifier: MIT */
/*
 * data.ts — the results of an experiment as columns, for all charts of the analysis: one request for
 * the names, one for the numbers. Trials that completed, unless all are wanted; a filter in the
 * expression language narrows them.
 */
import { useEffect, useMemo } from "preact/hooks";
import { columns, trials } from "../api.ts";
import { flag, text, useQuery } from "../address.ts";
import { objectivesOf } from "../experiment/best.ts";
import { type Loaded, useLoad, useThrottled } from "../load.ts";
import { resets, useChanges } from "../stream.ts";
import type { Column, Experiment, ParamSpec } from "../types.ts";
import { type Axis, axisOf, wantsLog } from "./axis.ts";

export interface Field {
    name: string; /* "params.lr" */
    label: string; /* "lr" */
    kind: "value" | "param" | "metric" | "other";
    values: Float64Array;
    names: string[] | null;
    log: boolean; /* drawn so unless told otherwise */
}

export interface Results {
    experiment: number;
    rows: number;
    numbers: Float64Array;
    fields: Field[];
    objective: Field; /* label: the metric; without objectives the first metric */
    goal: 1 | -1;
    objectives: { field: string; goal: 1 | -1 }[];
    best: number; /* row; -1: none */
}

const METRICS_MAX = 60;

function namesOf(column: Column): string[] | null {
    if (column.type === "text") return (column.choices ?? []).map(String);
    return column.type === "bool" ? ["false", "true"] : null;
}

function specLog(experiment: Experiment, label: string): boolean | undefined {
    const param = experiment.spec?.params?.[label] as ParamSpec | undefined;
    return typeof param === "object" && param !== null && param.scale ? param.scale === "log" : undefined;
}

function fieldOf(experiment: Experiment, column: Column, values: Float64Array): Field {
    const label = column.name.replace(/^(params|metrics)\./, "").replace(/\.last$/, "");
    const names = namesOf(column);
    const log = !names && (column.kind === "param" ? (specLog(experiment, label) ?? wantsLog(values)) : false);
    const kind = column.kind === "param" ? "param" : column.kind === "metric" ? "metric" : "other";
    return { name: column.name, label, kind, values, names, log };
}

/* Does it tell anything: two different values or more. */
export function varies(field: Field): boolean {
    const first = field.values.find((v) => !Number.isNaN(v));
    return field.values.some((v) => !Number.isNaN(v) && v !== first);
}

function bestRow(values: Float64Array, goal: number): number {
    let best = -1;
    values.forEach((v, i) => {
        if (Number.isFinite(v) && (best < 0 || v * goal > values[best]! * goal)) best = i;
    });
    return best;
}

async function load(experiment: Experiment, where: string, signal: AbortSignal): Promise<Results> {
    const e = experiment.experiment;
    const head = await trials(e, { limit: 1 }, signal);
    const params = head.columns.filter((c) => c.kind === "param"), metrics = head.columns.filter((c) => c.kind === "metric").slice(0, METRICS_MAX);
    const seconds: Column = { name: "seconds", kind: "field", type: "number" }, started: Column = { name: "started", kind: "field", type: "time" };
    const joules: Column = { name: "joules", kind: "field", type: "number" };
    const wanted = [...params, ...metrics, seconds, joules, started];
    const answer = await columns(e, ["value", ...wanted.map((c) => c.name)], where, signal);
    const goals = objectivesOf(experiment), goal = goals[0]?.goal === "maximize" ? 1 : -1;
    const objective: Field = { name: "value", label: goals[0]?.metric ?? "value", kind: "value", values: answer.columns[0]!, names: null, log: false };
    return orFirstMetric({
        experiment: e, rows: answer.numbers.length, numbers: answer.numbers, objective, goal,
        fields: [objective, ...wanted.map((c, i) => fieldOf(experiment, c, answer.columns[i + 1]!))],
        objectives: goals.map((o) => ({ field: `metrics.${o.metric}.last`, goal: o.goal === "maximize" ? 1 : -1 })),
        best: bestRow(objective.values, goal),
    });
}

/* Without an objective no trial has a value: what is looked at is the first metric that trials have,
 * rather one of their own than one of the machine's. */
export function orFirstMetric(results: Results): Results {
    if (results.objectives.length > 0 || results.best >= 0) return results;
    const had = results.fields.filter((f) => f.kind === "metric" && f.values.some(Number.isFinite));
    const objective = had.find((f) => !f.label.startsWith("system/")) ?? had[0];
    if (!objective) return results;
    const goal = goalOf(results, objective);
    return { ...results, fields: results.fields.filter((f) => f.kind !== "value"), objective, goal, best: bestRow(objective.values, goal) };
}

/* What is better of a metric: as the spec says, else as its name does. */
export function goalOf(results: Results, field: Field | undefined): 1 | -1 {
    if (field?.kind === "value") return results.goal;
    return results.objectives.find((o) => o.field === field?.name)?.goal ?? (field && /acc|f1|auc|score|reward|precision|recall|throughput/i.test(field.label) ? 1 : -1);
}

/* The results as seen by another metric; "": by the first objective, or what stands for it. */
export function lookAt(results: Results, name: string): Results {
    const field = results.fields.find((f) => f.name === name && f.kind === "metric");
    if (!field || field === results.objective || name === results.objectives[0]?.field) return results;
    const goal = goalOf(results, field);
    return { ...results, objective: field, goal, best: bestRow(field.values, goal) };
}

const COMPLETED = "state = 'completed'";

/* isFiltered: by what the address says; else all that completed. */
export function useResults(experiment: Experiment, isFiltered = true): { load: Loaded<Results>; all: boolean; setAll: (v: boolean) => void; where: string; setWhere: (v: string) => void } {
    const [all, setAll] = useQuery("all", flag());
    const [where, setWhere] = useQuery("where", text());
    const filter = !isFiltered ? COMPLETED : all ? where : where ? `${COMPLETED} and (${where})` : COMPLETED;
    const loaded = useLoad(`${experiment.experiment} ${filter}`, (signal) => load(experiment, filter, signal));
    const soon = useThrottled(loaded.reload, 5000);
    useChanges((batch) => batch.some((e) => e.experiment === experiment.experiment && e.event === "trial_ended") && soon());
    useEffect(() => resets.subscribe(loaded.reload), [loaded.reload]);
    return { load: loaded, all, setAll, where, setWhere };
}

export function axisFor(field: Field, log = field.log): Axis {
    return axisOf(field.label, field.values, { log: log && !field.names, names: field.names });
}

/* 0 (worst) … 1 (best) for each row of a field, for colours; NaN stays. */
export function useShares(field: Field, goal: number): Float64Array {
    return useMemo(() => {
        let low = Infinity, high = -Infinity;
        for (const v of field.values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
        const span = high - low;
        return field.values.map((v) => (Number.isFinite(v) ? (span > 0 ? (goal > 0 ? (v - low) / span : (high - v) / span) : 1) : Number.NaN));
    }, [field.values, goal]);
}
