/* SPDX-License-Identifier: MIT */
/*
 * records.tsx — what is kept with a trial: environment, files, events. Tables of text; every name a
 * user can set is text.
 */
import { useEffect, useState } from "preact/hooks";
import { events } from "../api.ts";
import { text, useQuery } from "../address.ts";
import { formatBytes, formatDate, formatPlural } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { resets, useChanges } from "../stream.ts";
import type { HoneEvent, Trial } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Ago, Empty, Loaded } from "../ui/parts.tsx";
import { plainText } from "./ansi.ts";
import { fileAddress, flatten, trialFiles } from "./details.ts";
import { eventLine, isTuning, trialNumber } from "./event_words.ts";

export function Facts({ rows, label }: { rows: [string, string][]; label: string }) {
    return (
        <table class="facts" aria-label={label}>
            <tbody>
                {rows.map(([name, value]) => (
                    <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>
                ))}
            </tbody>
        </table>
    );
}

export function EnvironmentTab({ environment }: { environment: Record<string, unknown> | null }) {
    const [part, setPart] = useQuery("find", text());
    const rows = flatten(environment);
    const lower = part.toLowerCase();
    const fits = rows.filter(([name, value]) => name.toLowerCase().includes(lower) || value.toLowerCase().includes(lower));
    if (rows.length === 0) return <Empty title="Nothing is kept of its environment" />;
    return (
        <>
            <div class="toolbar">
                <input type="search" aria-label="Find in the environment" placeholder="find …" value={part} onInput={(e) => setPart((e.target as HTMLInputElement).value)} />
                <span class="dim">{formatPlural(fits.length, "row")}</span>
            </div>
            <Facts rows={fits} label="Environment" />
        </>
    );
}

export function FilesTab({ trial }: { trial: Trial }) {
    const load = useLoad(`${trial.trial} ${trial.state}`, (signal) => trialFiles(trial.trial, signal));
    return (
        <Loaded of={load} what="the files">
            {(files) => files.length === 0 ? <Empty title="No files" /> : (
                <table class="plain">
                    <thead><tr><th scope="col">File</th><th scope="col" class="num">Size</th><th scope="col">Changed</th></tr></thead>
                    <tbody>
                        {files.map((f) => (
                            <tr key={f.path}>
                                <td class="mono"><a href={fileAddress(trial.trial, f.path)} download={f.path.slice(f.path.lastIndexOf("/") + 1)}>{f.path}</a></td>
                                <td class="num">{formatBytes(f.size)}</td>
                                <td><Ago time={f.modified} /></td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </Loaded>
    );
}

const AT_ONCE = 500;

/* Events of a trial from the first; more on demand, new ones as they happen. */
export function EventsTab({ trial }: { trial: Trial }) {
    const number = trialNumber(trial.trial)!;
    const [pages, setPages] = useState(1);
    const load = useLoad(`${trial.trial} ${pages}`, async (signal) => {
        const all: HoneEvent[] = [];
        let next: number | null = 0;
        for (let i = 0; i < pages && next !== null; i++) {
            const page: { events: HoneEvent[]; next: number | null } = await events(trial.experiment, { after: next, limit: AT_ONCE, trial: number }, signal);
            all.push(...page.events);
            next = page.next;
        }
        return { all, more: next !== null };
    });
    const soon = useThrottled(load.reload, 1000);
    useChanges((batch) => batch.some((e) => e.experiment === trial.experiment && trialNumber(e.trial) === number) && soon());
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    return (
        <Loaded of={load} what="the events">
            {({ all, more }) => (
                <>
                    <EventTable rows={all} />
                    {more && <Button onClick={() => setPages(pages + 1)}>More</Button>}
                </>
            )}
        </Loaded>
    );
}

export function EventTable({ rows }: { rows: HoneEvent[] }) {
    if (rows.length === 0) return <Empty title="No events" />;
    return (
        <table class="plain events">
            <thead><tr><th scope="col">Time</th><th scope="col">What happened</th></tr></thead>
            <tbody>
                {rows.map((e, i) => (
                    <tr key={e.id ?? i} class={isTuning(e) ? "tuning" : e.event === "alert" || e.state === "failed" ? "bad" : ""}>
                        <td class="time">{formatDate(e.time)}</td>
                        <td>{eventLine(e)}{typeof e.error === "string" && e.error.includes("\n") && <pre>{plainText(e.error)}</pre>}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
