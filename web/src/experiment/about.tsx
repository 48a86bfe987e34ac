/* SPDX-License-Identifier: MIT */
/*
 * about.tsx — the tab "About": what the experiment is (what `hone show` tells of it: command, folder,
 * parameters, objective, search, limits, code), its spec as it was submitted with all defaults, and
 * what happened, the newest first.
 */
import { useEffect, useState } from "preact/hooks";
import { flag, format, useQuery } from "../address.ts";
import * as api from "../api.ts";
import { formatCount, formatDate, formatPlural, formatValue } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { resets, useChanges } from "../stream.ts";
import { isTuning } from "../trial/event_words.ts";
import { EventTable, Facts } from "../trial/records.tsx";
import type { Experiment, HoneEvent, ParamSpec } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";
import { Loaded } from "../ui/parts.tsx";
import "../trial/trial.css";
import { rangeWords, specWords, yamlOf } from "./about_words.ts";

function Parameters({ params }: { params: Record<string, unknown> }) {
    const rows = Object.entries(params);
    if (rows.length === 0) return null;
    const isSome = rows.some(([, param]) => formatWhen(param) !== "");
    return (
        <section class="card scroll" tabIndex={0} role="region" aria-label="Parameters">
            <h2>Parameters</h2>
            <table class="plain">
                <thead><tr><th scope="col">Name</th><th scope="col">Values</th>{isSome && <th scope="col">Only when</th>}</tr></thead>
                <tbody>
                    {rows.map(([name, param]) => (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td>{rangeWords(param)}</td>
                            {isSome && <td class="mono">{formatWhen(param)}</td>}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function formatWhen(param: unknown): string {
    const when = typeof param === "object" && param !== null ? (param as ParamSpec).when : undefined;
    return when === undefined || when === null ? "" : formatValue(when);
}

function Spec({ x }: { x: Experiment }) {
    return (
        <details class="card">
            <summary><h2 class="inline">The whole spec</h2> <span class="dim">as it was submitted, with all defaults</span></summary>
            <pre class="spec" tabIndex={0}>{yamlOf(x.spec)}</pre>
        </details>
    );
}

const PAGE = 5000, PAGES = 20, SHOWN = 200;
const isOfTrial = (e: HoneEvent) => e.event === "trial_started" || e.event === "trial_ended" || isTuning(e);

/* The newest that are wanted, `most` of them or all there are. */
async function newest(e: number, few: boolean, most: number, signal: AbortSignal): Promise<{ rows: HoneEvent[]; more: boolean }> {
    const rows: HoneEvent[] = [];
    let before: number | null = 0;
    for (let i = 0; i < PAGES && before !== null && rows.length < most; i++) {
        const page: { events: HoneEvent[]; next: number | null } = await api.events(e, { before, limit: few ? PAGE : Math.min(PAGE, most - rows.length) }, signal);
        rows.push(...(few ? page.events.filter((event) => !isOfTrial(event)) : page.events));
        before = page.next;
    }
    return { rows: rows.slice(0, most), more: before !== null || rows.length > most };
}

function Events({ e }: { e: number }) {
    const [few, setFew] = useQuery("few", flag());
    const [most, setMost] = useState(SHOWN);
    const load = useLoad(`${e} ${few} ${most}`, (signal) => newest(e, few, most, signal));
    const soon = useThrottled(load.reload, 2000);
    useChanges((batch) => batch.some((c) => c.experiment === e && !(few && isOfTrial(c))) && soon());
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    return (
        <section class="card scroll" tabIndex={0} role="region" aria-label="Events">
            <header class="row"><h2>Events</h2><span class="dim">newest first</span><span class="grow" /><Check label="Without starts and ends of trials" value={few} onChange={setFew} /></header>
            <Loaded of={load} what="the events">
                {({ rows, more }) => (
                    <>
                        <EventTable rows={rows} />
                        {more && <Button onClick={() => setMost(most + 1000)}>Older ones</Button>}
                    </>
                )}
            </Loaded>
        </section>
    );
}

function Code({ x }: { x: Experiment }) {
    if (!x.code) return null;
    return <p class="row"><span class="dim">Code as it was: snapshot <span class="mono">{x.code.slice(0, 12)}</span></span> <a class="button" href={format(["t", `${x.experiment}.1`, "code"])}>Look at it</a></p>;
}

export function AboutTab({ experiment: x }: { experiment: Experiment }) {
    const times: [string, string][] = [["created", formatDate(x.created)], ...(x.ended ? [["ended", formatDate(x.ended)] as [string, string]] : [])];
    const trials: [string, string][] = x.budget ? [["trials", `${formatPlural(x.budget, "trial")} planned`]] : [];
    const owner: [string, string][] = [...(x.owner ? [["owner", x.owner] as [string, string]] : []), ["priority", formatCount(x.priority ?? 0)]];
    const marks: [string, string][] = [...(x.tags.length ? [["tags", x.tags.join(", ")] as [string, string]] : []), ...(x.note ? [["note", x.note] as [string, string]] : [])];
    return (
        <div class="stack about">
            <h2 class="sr">About</h2>
            <section class="card scroll" tabIndex={0} role="region" aria-label="What it is">
                <Facts label="What it is" rows={[["name", x.name], ...specWords(x.spec), ...trials, ...owner, ...marks, ...times]} />
                <Code x={x} />
            </section>
            <Parameters params={x.spec.params ?? {}} />
            <Spec x={x} />
            <Events e={x.experiment} />
        </div>
    );
}
