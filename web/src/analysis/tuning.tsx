/* SPDX-License-Identifier: MIT */
/*
 * tuning.tsx — how the machine was tuned: the configuration in force, and every decision of the tuner
 * with its numbers, newest first.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { format, maybe, useQuery } from "../address.ts";
import { events } from "../api.ts";
import { formatDate, formatNumber, formatPlural, formatSeconds } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { resets, useChanges, useLives } from "../stream.ts";
import type { Experiment, HoneEvent, Live } from "../types.ts";
import { isTuning } from "../trial/event_words.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/parts.tsx";
import { change, decisionsOf, inForce, type Decision } from "./decisions.ts";

const PAGE = 5000, PAGES = 20, SHOWN = 200;

/* What was read so far of an experiment's events: asked again, only newer ones are read. */
interface Read {
    key: string;
    found: HoneEvent[];
    after: number;
}

async function readOn(read: Read, experiment: number, trial: number | null, signal: AbortSignal): Promise<{ decisions: Decision[]; whole: boolean }> {
    for (let i = 0; i < PAGES; i++) {
        const page = await events(experiment, { after: read.after, limit: PAGE, ...(trial ? { trial } : {}) }, signal);
        read.found.push(...page.events.filter(isTuning));
        read.after = page.next ?? page.events.reduce((last, e) => Math.max(last, e.id ?? 0), read.after);
        if (page.next === null) return { decisions: decisionsOf(read.found), whole: true };
    }
    return { decisions: decisionsOf(read.found), whole: false };
}

function Now({ live }: { live: Live | null }) {
    const active = (live?.active ?? []).filter((t) => t.system);
    if (active.length === 0) return null;
    return (
        <section class="card" aria-label="In force now">
            <h2>In force now</h2>
            <table class="plain">
                <thead><tr><th scope="col">Trial</th><th scope="col">Configuration</th><th scope="col">Doing</th><th scope="col">Left</th></tr></thead>
                <tbody>
                    {active.map((t) => (
                        <tr key={t.trial}>
                            <th scope="row"><a href={format(["t", t.trial])}>{t.trial}</a></th><td class="mono">{t.system}</td><td>{t.tuning ?? "running"}</td>
                            <td>{t.remaining_s === undefined ? "–" : <>{formatSeconds(t.remaining_s)}{t.remaining_low_s !== undefined && t.remaining_high_s !== undefined && <span class="dim"> ({formatSeconds(t.remaining_low_s)} – {formatSeconds(t.remaining_high_s)})</span>}</>}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Sums({ experiment, decisions }: { experiment: Experiment; decisions: Decision[] }) {
    const force = inForce(decisions);
    return (
        <section class="card" aria-label="Configurations">
            <h2>Configurations that trials were left with</h2>
            {force.length === 0 ? <p class="dim">None was changed.</p> : (
                <table class="plain">
                    <thead><tr><th scope="col">Configuration</th><th scope="col" class="num">Trials</th></tr></thead>
                    <tbody>{force.slice(0, 12).map((f) => <tr key={f.settings}><td class="mono">{f.settings}</td><td class="num">{f.trials}</td></tr>)}</tbody>
                </table>
            )}
            {experiment.changes !== undefined && <p class="dim figure-note">{formatPlural(experiment.changes, "change")} of the machine, which cost {formatSeconds(experiment.change_cost_s ?? 0)} in all.{!!experiment.changes_asked && ` ${experiment.changes_asked} more ${experiment.changes_asked === 1 ? "was" : "were"} asked for and not made.`}</p>}
        </section>
    );
}

function Row({ d, experiment }: { d: Decision; experiment: number }) {
    return (
        <tr class={d.kind}>
            <td class="time">{formatDate(d.time)}</td>
            <td>{d.trial !== null && <a href={format(["t", `${experiment}.${d.trial}`])}>{experiment}.{d.trial}</a>}</td>
            <td class="num">{formatNumber(d.step)}</td>
            <td class="decision">{d.words ? <>{d.advice && <b>{d.advice} </b>}{d.words}</> : d.kind === "change" ? <>applied <span class="mono">{d.to}</span></> : d.advice}
                {d.asked && <div class="dim">asked for, not in place</div>}
                {d.why && <div class="dim">{d.why}{d.remaining !== null && `; ${formatSeconds(d.remaining)} were left`}</div>}
            </td>
            <td class="num">{change(d.predicted?.[0] ?? null, d.predicted ? [d.predicted[1], d.predicted[2]] : null)}</td>
            <td class="num">{change(d.measured)}</td>
            <td class="num">{d.cost === null ? "" : formatSeconds(d.cost)}</td>
            <td class="num">{d.saving === null ? "" : formatSeconds(d.saving)}</td>
        </tr>
    );
}

function Decisions({ decisions, experiment }: { decisions: Decision[]; experiment: number }) {
    const [shown, setShown] = useState(SHOWN);
    const newest = decisions.slice(-shown).reverse();
    return (
        <section class="card scroll" tabIndex={0} role="region" aria-label="Decisions of the tuner">
            <h2>Decisions</h2>
            <table class="plain events">
                <thead><tr><th scope="col">Time</th><th scope="col">Trial</th><th scope="col" class="num">Step</th><th scope="col">Decision</th><th scope="col" class="num">Expected change of a step</th><th scope="col" class="num">Measured</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Saving</th></tr></thead>
                <tbody>{newest.map((d, i) => <Row key={d.id || i} d={d} experiment={experiment} />)}</tbody>
            </table>
            {decisions.length > shown && <Button onClick={() => setShown(shown + 1000)}>Older ones</Button>}
        </section>
    );
}

export function TuningTab({ experiment }: { experiment: Experiment }) {
    const e = experiment.experiment;
    const [trial] = useQuery("trial", maybe);
    const [live, setLive] = useState<Live | null>(experiment.live);
    const key = `tuning ${e} ${trial}`;
    const read = useRef<Read>({ key, found: [], after: 0 });
    const load = useLoad(key, (signal) => {
        if (read.current.key !== key) read.current = { key, found: [], after: 0 };
        return readOn(read.current, e, trial, signal);
    });
    const soon = useThrottled(load.reload, 2000);
    useChanges((batch) => batch.some((c) => c.experiment === e && isTuning(c)) && soon());
    useLives((batch) => batch.forEach((l) => l.experiment === e && setLive(l)));
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    return (
        <Loaded of={load} what="the decisions">
            {({ decisions, whole }) => (
                <div class="stack">
                    <Now live={live} />
                    {decisions.length === 0 ? (
                        <Empty title="The tuner has decided nothing"><p>With <code>system:</code> in the spec, or <code>hone tune</code>, it looks for the threads and cpus that make trials fastest while they run. Its decisions appear here with their numbers.</p></Empty>
                    ) : <><Sums experiment={experiment} decisions={decisions} /><Decisions decisions={decisions} experiment={e} /></>}
                    {!whole && <p><Button onClick={load.reload}>Look at more events</Button></p>}
                </div>
            )}
        </Loaded>
    );
}
