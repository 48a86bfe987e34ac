/* SPDX-License-Identifier: MIT */
/*
 * machine.tsx — the machines and who waits for them: load of every cpu, memory, devices, now and over the time of the experiment; the queue in
 * the order in which it is served; and the energy of the experiment, always with the word measured
 * or estimated.
 */
import { useEffect, useMemo } from "preact/hooks";
import { format } from "../address.ts";
import { machines, queue } from "../api.ts";
import { objectivesOf } from "../experiment/best.ts";
import { formatBytes, formatCount, formatNumber } from "../format.ts";
import { useLoad } from "../load.ts";
import type { Experiment, Machine, QueueEntry } from "../types.ts";
import { Failure, StateChip } from "../ui/parts.tsx";
import { axisFor, type Field, type Results, useResults, varies } from "./data.ts";
import { Card, type TableData } from "./figure.tsx";
import { MachineSeries } from "./machine_series.tsx";
import { TrialLink } from "./links.tsx";
import { Scatter } from "./scatter.tsx";

const EVERY_MS = 2000;

function useRefreshed<T>(key: string, load: (signal: AbortSignal) => Promise<T>) {
    const loaded = useLoad(key, load);
    useEffect(() => {
        const timer = setInterval(() => document.hidden || loaded.reload(), EVERY_MS);
        return () => clearInterval(timer);
    }, [loaded.reload]);
    return loaded;
}

function Meter({ label, share, words }: { label: string; share: number; words: string }) {
    return (
        <div class="meter-row">
            <span>{label}</span>
            <span class="meter" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(100 * share)} aria-valuetext={words}>
                <i style={{ width: `${100 * Math.min(1, Math.max(0, share))}%` }} />
            </span>
            <span class="dim">{words}</span>
        </div>
    );
}

function MachineCard({ machine }: { machine: Machine }) {
    const loads = machine.load.filter((l): l is number => typeof l === "number"); /* null: not measured yet */
    const mean = loads.length ? loads.reduce((a, b) => a + b, 0) / loads.length : 0;
    const taken = machine.mem_bytes - machine.mem_available;
    return (
        <Card title={machine.name}>
            <Meter label="Given out" share={machine.cpus_used / Math.max(1, machine.cpus)} words={`${formatNumber(machine.cpus_used)} of ${formatCount(machine.cpus)} cpus`} />
            <Meter label="Load" share={mean} words={loads.length ? `${Math.round(100 * mean)} % of all cpus` : "not measured yet"} />
            <Meter label="Memory" share={taken / Math.max(1, machine.mem_bytes)} words={`${formatBytes(taken)} of ${formatBytes(machine.mem_bytes)} in use, ${formatBytes(machine.mem_used)} given out`} />
            <div class="cpu-grid" role="img" aria-label={`Load of ${loads.length} cpus: ${loads.slice(0, 64).map((l, i) => `${i}: ${Math.round(100 * l)} %`).join(", ")}`}>
                {loads.map((l, i) => <span key={i} title={`cpu ${i}: ${Math.round(100 * l)} %`}><i style={{ height: `${100 * Math.min(1, Math.max(0, l))}%` }} /></span>)}
            </div>
            {machine.gpus.length > 0 && <p class="row gpus">{machine.gpus.map((g) => <span key={g.id} class={g.used ? "tag used" : "tag"}>gpu {g.id} {g.used ? "used" : "free"}</span>)}</p>}
        </Card>
    );
}

function QueueTable({ rows, paused, here }: { rows: QueueEntry[]; paused: boolean; here: number }) {
    return (
        <Card title="Queue" note={paused ? "The queue is paused: nothing new starts." : rows.length > 1 ? "In the order in which they are served." : null}>
            {rows.length === 0 ? <p class="dim">Nobody waits.</p> : (
                <div class="scroll" tabIndex={0} role="region" aria-label="Who waits">
                    <table class="plain">
                        <thead><tr><th scope="col">Experiment</th><th scope="col">State</th><th scope="col">Owner</th><th scope="col" class="num">Priority</th><th scope="col" class="num">Running</th><th scope="col" class="num">Wanted</th></tr></thead>
                        <tbody>
                            {rows.map((q) => (
                                <tr key={q.experiment} class={q.experiment === here ? "mine" : ""}>
                                    <th scope="row"><a href={format(["e", q.experiment])}>{q.experiment} {q.name}</a></th><td><StateChip state={q.state} paused={q.paused} /></td>
                                    <td>{q.owner ?? ""}</td><td class="num">{q.priority}</td><td class="num">{q.running}</td><td class="num">{q.wanted}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
        </Card>
    );
}

/* What the results cost: energy where it is known, else time. */
function EnergyCard({ experiment }: { experiment: Experiment }) {
    const { load } = useResults(experiment, false);
    const results = load.value;
    const done = experiment.trials.completed + experiment.trials.stopped;
    const joules = experiment.energy_j, word = experiment.energy ?? "estimated";
    const cost = useMemo(() => {
        const find = (name: string) => results?.fields.find((f) => f.name === name);
        const energy = find("joules"), seconds = find("seconds");
        return energy && varies(energy) ? { ...energy, label: `energy in J, ${word}` } : seconds && { ...seconds, label: "time in seconds" };
    }, [results, word]);
    const axes = useMemo(() => (results && cost ? [axisFor(cost), axisFor(results.objective)] as const : null), [results, cost]);
    const best = objectivesOf(experiment).length < 2 ? experiment.best : null;
    return (
        <Card title={joules ? "Energy" : "Time"} table={results && cost ? () => costTable(results, cost) : undefined} note={joules ? `Energy is ${word}${word === "estimated" ? ": from the time on the cpus, not from a meter" : " by the machine's own meters"}.` : "No energy is known of this experiment."}>
            {joules ? (
                <dl class="trial-figures">
                    <div><dt>Energy, {word}</dt><dd>{energy(joules)}</dd></div>
                    {done > 0 && <div><dt>A trial, {word}</dt><dd>{energy(joules / done)}</dd></div>}
                    {best && <div><dt>Best {results?.objective.label ?? "value"}, trial {best.trial}</dt><dd>{formatNumber(best.value)}</dd></div>}
                </dl>
            ) : null}
            {results && cost && axes && results.rows > 1 && (
                <Scatter title={`${results.objective.label} against ${cost.label}`} x={axes[0]} y={axes[1]} px={cost.values} py={results.objective.values} trials={results.numbers} experiment={results.experiment} height={220} />
            )}
        </Card>
    );
}

const ROWS_SHOWN = 50;

function costTable(results: Results, cost: Field): TableData {
    const rows = Array.from({ length: Math.min(results.rows, ROWS_SHOWN) }, (_, i) => i);
    return {
        head: ["trial", cost.label, results.objective.label], total: results.rows,
        rows: rows.map((i) => [<TrialLink key={i} name={`${results.experiment}.${results.numbers[i]}`} />, formatNumber(cost.values[i]!), formatNumber(results.objective.values[i]!, 6)]),
    };
}

export function energy(joules: number): string {
    if (joules >= 3.6e6) return `${formatNumber(joules / 3.6e6, 3)} kWh`;
    if (joules >= 3600) return `${formatNumber(joules / 3600, 3)} Wh`;
    return `${formatNumber(joules, 3)} J`;
}

export function MachineTab({ experiment }: { experiment: Experiment }) {
    const waiting = useRefreshed("queue", queue), all = useRefreshed("machines", machines);
    return (
        <div class="figures three">
            {(all.value ?? []).map((m) => <MachineCard key={m.name} machine={m} />)}
            {all.error && !all.value && <Failure error={all.error} retry={all.reload} />}
            {waiting.value && <QueueTable rows={waiting.value.experiments} paused={waiting.value.paused} here={experiment.experiment} />}
            {waiting.error && !waiting.value && <Failure error={waiting.error} retry={waiting.reload} />}
            <EnergyCard experiment={experiment} />
            <MachineSeries experiment={experiment} gpus={Math.max(0, ...(all.value ?? []).map((m) => m.gpus.length))} />
        </div>
    );
}
