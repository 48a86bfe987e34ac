/* SPDX-License-Identifier: MIT */
/*
 * event_words.ts — events of an experiment as lines for people, in the words of the terminal's view.
 * An event that is not known gets its name and its plain values: nothing is hidden.
 */
import { formatSeconds as duration } from "../format.ts";
import { plainText } from "./ansi.ts";
import { significant } from "./reason.ts";

export interface EventRow {
    id?: number;
    time?: string;
    event: string;
    trial?: number | string | null;
    experiment?: number;
    [key: string]: unknown;
}

const text = (x: unknown): string => (typeof x === "string" ? x : "");
const num = (x: unknown): number | null => (typeof x === "number" && Number.isFinite(x) ? x : null);

/* "threads=2 cpus=1" */
export function settings(object: unknown): string {
    if (!object || typeof object !== "object") return "";
    return Object.entries(object).map(([name, value]) => `${name}=${typeof value === "number" ? significant(value, 5) : String(value)}`).join(" ");
}

/* A trial is told as 7 or as "3.7". */
export function trialNumber(trial: unknown): number | null {
    const n = typeof trial === "string" ? Number(trial.slice(trial.lastIndexOf(".") + 1)) : num(trial);
    return n !== null && Number.isInteger(n) && n > 0 ? n : null;
}

/* Does an event tell of this trial? One without a trial may: rows of several were written. */
export function mayTell(event: EventRow, experiment: number, number: number | null): boolean {
    const trial = trialNumber(event.trial);
    return event.experiment === experiment && (trial === null ? event.event === "updated" || event.event === "removed" : trial === number);
}

function who(event: EventRow): string {
    const n = trialNumber(event.trial);
    return n === null ? "" : `trial ${n} `;
}

function ended(event: EventRow): string {
    const value = num(event.value), state = text(event.state) || "completed", reason = text(event.reason);
    const after = `after ${duration(num(event.seconds) ?? 0)}`;
    if (state === "failed") return `${who(event)}failed ${after}: ${text(event.error).split("\n")[0] || reason || "for an unknown reason"}`;
    return `${who(event)}${state}${reason ? ` (${reason})` : ""} ${after}${value === null ? "" : `: ${significant(value, 5)}`}${event.best === true ? " (best so far)" : ""}`;
}

function paused(verb: string): (event: EventRow) => string {
    return (event) => {
        const step = num(event.step), value = num(event.value);
        return `${who(event)}${verb}${step === null ? "" : ` at step ${step}`}${value === null ? "" : `: ${significant(value, 5)}`}`;
    };
}

function tuned(event: EventRow): string {
    return text(event.words) || `${settings(event.from)} → ${settings(event.to)}`;
}

const FORMATS: Record<string, (event: EventRow) => string> = {
    started: (event) => `experiment started: ${text(event.name)}`,
    finished: (event) => `experiment ${text(event.state) || "finished"}`,
    trial_started: (event) => `${who(event)}started${(num(event.attempt) ?? 1) > 1 ? `, attempt ${String(event.attempt)}` : ""}  ${text(event.words)}`,
    trial_ended: ended,
    trial_retry: (event) => `${who(event)}was ended (${text(event.reason)}) and starts again${num(event.wait_s) ? ` in ${duration(num(event.wait_s)!)}` : ""}`,
    trial_paused: paused("paused"),
    trial_resumed: paused("goes on"),
    trial_parked: (event) => paused(event.reason === "interrupted" ? "interrupted, still paused" : "ended with a checkpoint, still paused")(event),
    notice: (event) => text(event.text),
    alert: (event) => `alert${event.trial ? ` in ${who(event).trim()}` : ""}: ${text(event.text)}`,
    extended: (event) => `goes on to ${String(event.trials)} trials`,
    knowledge: (event) => `learning from experiment${Array.isArray(event.from) && event.from.length > 1 ? "s" : ""} ${Array.isArray(event.from) ? event.from.join(", ") : ""}`,
    tuned,
    changed: (event) => `${settings(event.system)}: the ${event.kind === "restart" ? "restart" : "change"} cost ${significant(num(event.cost_s) ?? Number.NaN, 2)} s`,
    answered: (event) => `${who(event)}configuration ${String(event.generation)} ${event.applied ? "is in place" : "could not be put in place"}`,
    pinned: (event) => `${who(event)}is held to cpu ${text(event.cpus)}`,
    tune_note: (event) => text(event.text),
};

const HIDDEN = new Set(["id", "time", "event", "experiment", "trial"]);

/* One event as a plain line. */
export function eventLine(event: EventRow): string {
    if (Object.hasOwn(FORMATS, event.event)) return plainText(FORMATS[event.event]!(event)).trim();
    const rest = Object.entries(event).filter(([key, value]) => !HIDDEN.has(key) && value !== null && typeof value !== "object");
    return `${who(event)}${event.event.replaceAll("_", " ")} ${rest.map(([key, value]) => `${key}=${String(value)}`).join(" ")}`.trim();
}

/* Is it of tuning the machine? */
export function isTuning(event: EventRow): boolean {
    return event.event === "tuned" || event.event === "answered" || event.event === "changed" || event.event === "tune_note";
}
