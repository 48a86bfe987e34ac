/* SPDX-License-Identifier: MIT */
/*
 * overview.tsx — a trial at a glance: its parameters, why it was made and why it ended, what it ran
 * on, and the curves of everything it measured.
 */
import { useMemo } from "preact/hooks";
import { format } from "../address.ts";
import { formatBytes, formatNumber, formatSeconds, formatValue } from "../format.ts";
import type { MetricSummary, Run, Trial } from "../types.ts";
import { Loading, Num } from "../ui/parts.tsx";
import { plainText } from "./ansi.ts";
import { Curves, objectivesFirst } from "./curves.tsx";
import type { Details } from "./details.ts";
import { settings, trialNumber } from "./event_words.ts";
import { ending, reasonEnded, reasonMade, significant, type Verdict, type Why } from "./reason.ts";

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

export function repeatName(trial: Trial): string | null {
    const of = trialNumber(trial.repeat_of);
    return of ? `${trial.experiment}.${of}` : null;
}

export function Reasons({ trial }: { trial: Trial }) {
    const repeat = repeatName(trial);
    const made = reasonMade(trial.why as Why | null, repeat);
    const ended = reasonEnded(trial.verdict as Verdict | null, trial.state);
    const state = trial.reason && !(ended && trial.reason === "pruned") ? ending(trial.reason) : null;
    if (!made && !ended && !state) return null;
    return (
        <section class="card reasons" aria-label="Reasons">
            {made && <p><b>Why it was made</b>{capital(made)}.{repeat && <> <a href={format(["t", repeat])}>Trial {repeat}</a></>}</p>}
            {ended && <p><b>Why it ended early</b>{capital(ended)}.</p>}
            {state && <p><b>{capital(trial.state)}</b>{capital(state)}.</p>}
        </section>
    );
}

export function Parameters({ trial }: { trial: Trial }) {
    const rows = Object.entries(trial.params);
    return (
        <section class="card" aria-label="Parameters">
            <h2>Parameters</h2>
            {rows.length === 0 ? <p class="dim">It has none.</p> : (
                <table class="facts">
                    <tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td class="mono" title={String(value)}>{formatValue(value)}</td></tr>)}</tbody>
                </table>
            )}
        </section>
    );
}

function endOf(run: Run): string {
    if (run.state !== "ended") return run.state;
    if (run.oom) return "out of memory";
    if (run.signal) return `signal ${run.signal}${run.reason ? ` (${run.reason})` : ""}`;
    return `exit ${run.exit ?? "?"}${run.reason ? ` (${run.reason})` : ""}`;
}

/* Of an attempt that runs the trial's time has the newest part; cpu and memory are told once they were looked at. */
function Attempts({ trial, runs }: { trial: Trial; runs: Run[] }) {
    if (runs.length === 0) return null;
    const ended = (run: Run) => run.state === "ended";
    const before = runs.filter(ended).reduce((sum, run) => sum + (run.seconds ?? 0), 0);
    return (
        <section class="card scroll" aria-label="Attempts">
            <h2>Attempts</h2>
            <table class="plain">
                <thead><tr><th scope="col" class="num">#</th><th scope="col">End</th><th scope="col" class="num">Time</th><th scope="col" class="num">CPU</th><th scope="col" class="num">Memory</th><th scope="col">Host</th></tr></thead>
                <tbody>
                    {runs.map((run) => (
                        <tr key={run.attempt}>
                            <td class="num">{run.attempt}</td><td>{endOf(run)}</td><td class="num">{formatSeconds(ended(run) ? run.seconds : Math.max(0, (trial.seconds ?? 0) - before))}</td>
                            <td class="num">{ended(run) || run.cpu_seconds ? formatSeconds(run.cpu_seconds) : "–"}</td><td class="num">{ended(run) || run.max_rss_bytes ? formatBytes(run.max_rss_bytes) : "–"}</td><td>{run.host ?? ""}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {runs.map((run) => run.error && <pre key={run.attempt} class="attempt-error">{plainText(run.error)}</pre>)}
        </section>
    );
}

function Machine({ details }: { details: Details | null }) {
    if (!details) return null;
    const rows: [string, string][] = [];
    const system = settings(details.system);
    if (system) rows.push(["configuration", system]);
    if (details.changes) rows.push(["changes", `${details.changes}, ${formatSeconds(details.change_cost_s)} in all`]);
    if (details.energy_j) rows.push(["energy", `${significant(details.energy_j, 3)} J ${details.energy ?? ""}`]);
    if (rows.length === 0) return null;
    return (
        <section class="card" aria-label="Machine">
            <h2>Machine</h2>
            <table class="facts"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table>
            {details.tuning?.length > 0 && <p class="tuned"><a href={format(["e", details.experiment, "tuning"], { trial: String(trialNumber(details.trial)) })}>Every decision of the tuner</a></p>}
        </section>
    );
}

export function MetricTable({ metrics }: { metrics: MetricSummary[] }) {
    return (
        <section class="card scroll" aria-label="Metrics">
            <h2>Metrics</h2>
            <table class="plain">
                <thead><tr><th scope="col">Metric</th><th scope="col" class="num">Last</th><th scope="col" class="num">Min</th><th scope="col" class="num">Max</th><th scope="col" class="num">Values</th></tr></thead>
                <tbody>
                    {metrics.map((m) => (
                        <tr key={m.metric}>
                            <th scope="row">{m.metric}{m.first_nan_step !== null && <small class="bad"> not finite from step {m.first_nan_step}</small>}</th>
                            <td class="num"><Num value={m.last} /></td><td class="num"><Num value={m.min} /></td><td class="num"><Num value={m.max} /></td><td class="num">{formatNumber(m.count)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

/* objectives: names of metrics; null: not known yet, and charts wait, lest they change places. */
export function Overview({ trial, details, objectives }: { trial: Trial; details: Details | null; objectives: string[] | null }) {
    const names = trial.metrics.map((m) => m.metric);
    const shown = useMemo(() => objectivesFirst(names, objectives ?? []), [names.join("\n"), objectives?.join("\n")]);
    const one = useMemo(() => [{ trial: trial.trial, label: `trial ${trial.trial}`, colour: trialNumber(trial.trial) ?? 0 }], [trial.trial]);
    return (
        <div class="trial-panes">
            <div class="trial-facts">
                <Reasons trial={trial} />
                <Parameters trial={trial} />
                <Machine details={details} />
                {trial.metrics.length > 0 && <MetricTable metrics={trial.metrics} />}
                <Attempts trial={trial} runs={trial.runs} />
            </div>
            {objectives ? <Curves trials={one} metrics={shown} sync={`trial ${trial.trial}`} /> : <Loading what="the curves" />}
        </div>
    );
}
