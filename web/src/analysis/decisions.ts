/* SPDX-License-Identifier: MIT */
/*
 * decisions.ts — the decisions of the tuner out of the events: what was changed, what was expected,
 * what it cost, and which configuration is in force. Pure.
 */
import { isTuning, settings, trialNumber, type EventRow } from "../trial/event_words.ts";

export interface Decision {
    id: number;
    time: string;
    trial: number | null;
    kind: "decision" | "change" | "note";
    asked: boolean; /* for a change that was refused, or of which nobody heard again */
    advice: string; /* probe, use, revert …; "" for notes */
    from: string;
    to: string;
    words: string;
    why: string;
    step: number | null;
    predicted: [number, number, number] | null; /* relative change of seconds per step: expected, low, high */
    measured: number | null;
    cost: number | null; /* seconds */
    saving: number | null;
    remaining: number | null;
}

const num = (x: unknown): number | null => (typeof x === "number" && Number.isFinite(x) ? x : null);

/* Changes in place that never were: what came of the others is told by an answer, by their cost, or by
 * the next decision, which rests on them. */
function askedOnly(events: readonly EventRow[]): Set<EventRow> {
    const open = new Map<number | null, EventRow>(), asked = new Set<EventRow>();
    for (const e of events) {
        const trial = trialNumber(e.trial), before = open.get(trial);
        if (e.event === "answered" && before && e.generation !== before.generation) continue;
        if (e.event === "answered" && before && e.applied !== true) asked.add(before);
        if (e.event !== "tune_note") open.delete(trial);
        if (e.event === "tuned" && e.kind === "live") open.set(trial, e);
    }
    for (const e of open.values()) asked.add(e);
    return asked;
}

function decisionOf(e: EventRow, asked: boolean): Decision {
    const predicted = num(e.predicted);
    return {
        asked,
        id: e.id ?? 0, time: e.time ?? "", trial: trialNumber(e.trial), kind: e.event === "tuned" ? "decision" : e.event === "changed" ? "change" : "note",
        advice: typeof e.advice === "string" ? e.advice : "", from: settings(e.from), to: settings(e.event === "changed" ? e.system : e.to),
        words: typeof e.words === "string" ? e.words : typeof e.text === "string" ? e.text : "", why: typeof e.why === "string" ? e.why : "", step: num(e.step),
        predicted: predicted === null ? null : [predicted, num(e.predicted_low) ?? predicted, num(e.predicted_high) ?? predicted],
        measured: num(e.measured), cost: num(e.cost_s), saving: num(e.saving_s), remaining: num(e.remaining_s),
    };
}

export function decisionsOf(events: readonly EventRow[]): Decision[] {
    const tuning = events.filter(isTuning), asked = askedOnly(tuning);
    return tuning.filter((e) => e.event !== "answered").map((e) => decisionOf(e, asked.has(e)));
}

/* "−12 % (−18 to −5)": of the seconds per step. */
export function change(value: number | null, range?: [number, number] | null): string {
    if (value === null) return "";
    const percent = (x: number) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${Math.abs(100 * x).toFixed(Math.abs(x) < 0.0995 ? 1 : 0)}`;
    return range && range[0] !== range[1] ? `${percent(value)} % (${percent(range[0])} to ${percent(range[1])})` : `${percent(value)} %`;
}

/* The configuration that each trial was last left with, and how many trials have it. */
export function inForce(decisions: readonly Decision[]): { settings: string; trials: number }[] {
    const last = new Map<number, string>();
    for (const d of decisions) if (d.trial !== null && d.to) last.set(d.trial, d.asked ? d.from : d.to);
    const counts = new Map<string, number>();
    for (const to of last.values()) counts.set(to, (counts.get(to) ?? 0) + 1);
    return [...counts].map(([words, trials]) => ({ settings: words, trials })).sort((a, b) => b.trials - a.trials);
}
