/* SPDX-License-Identifier: MIT */
/*
 * page.tsx — all experiments: filter, sort, act. What happens elsewhere shows up by itself: an event
 * makes the list load anew, at most once a second.
 */
import { useState } from "preact/hooks";
import { flag, format, go, text, useQuery } from "../address.ts";
import * as api from "../api.ts";
import { formatPlural } from "../format.ts";
import { useKeys } from "../keys.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useStore } from "../store.ts";
import { useChanges } from "../stream.ts";
import type { ExperimentPage, ExperimentRow } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Filter } from "../ui/field.tsx";
import { Icon } from "../ui/icons.tsx";
import { Empty, Failure, Loading } from "../ui/parts.tsx";
import { attempt } from "../ui/toast.tsx";
import { editNote, editTags, isSteered, leaving, pause, remove, star } from "./actions.tsx";
import "./page.css";
import { pageSize } from "./page_size.ts";
import { Row } from "./row.tsx";

/* As many as are on the page already, however many the server gives at once. */
async function loadList(query: api.ListQuery, shown: number, signal: AbortSignal): Promise<ExperimentPage> {
    const first = await api.experiments({ ...query, limit: Math.min(shown, 200) }, signal);
    const all = { ...first, experiments: [...first.experiments] };
    while (all.next !== null && all.experiments.length < shown) {
        const more = await api.experiments({ ...query, limit: 200, cursor: all.next }, signal);
        if (more.experiments.length === 0) break;
        all.experiments.push(...more.experiments);
        all.next = more.next;
    }
    return all;
}

const heads: { id: string; title: string; sort?: string; class?: string }[] = [
    { id: "star", title: "Star", class: "cell-star" },
    { id: "name", title: "Experiment", sort: "name" },
    { id: "state", title: "State", sort: "state" },
    { id: "progress", title: "Trials", sort: "trials" },
    { id: "best", title: "Best", sort: "best", class: "num" },
    { id: "spark", title: "Best so far" },
    { id: "owner", title: "Owner", sort: "owner" },
    { id: "time", title: "Started", sort: "created" },
    { id: "more", title: "Actions" },
];

function Head({ sort, desc, onSort }: { sort: string; desc: boolean; onSort: (sort: string, desc: boolean) => void }) {
    return (
        <thead>
            <tr>
                {heads.map((h) => (
                    <th key={h.id} scope="col" class={`cell-${h.id} ${h.class ?? ""}`} aria-sort={h.sort && h.sort === sort ? (desc ? "descending" : "ascending") : undefined}>
                        {h.sort ? (
                            <button type="button" class="head" onClick={() => onSort(h.sort!, h.sort === sort && !desc)}>
                                {h.title}
                                {h.sort === sort && <Icon name={desc ? "down" : "up"} />}
                            </button>
                        ) : (
                            <span class={h.id === "star" || h.id === "more" ? "sr" : ""}>{h.title}</span>
                        )}
                    </th>
                ))}
            </tr>
        </thead>
    );
}

function FirstSteps() {
    return (
        <Empty title="No experiment yet">
            <p>Start one on this machine:</p>
            <pre>
                <code>{"hone init                 # writes hone.yaml beside your program\nhone submit hone.yaml     # or: hone run hone.yaml"}</code>
            </pre>
        </Empty>
    );
}

/* j and k move through the list; the other keys act on the current row. */
function useListKeys(rows: ExperimentRow[], changed: () => void): number {
    const [at, setAt] = useState(-1);
    const row = rows[at];
    const move = (by: number) => {
        const to = Math.max(0, Math.min(rows.length - 1, at + by));
        setAt(to);
        document.querySelectorAll<HTMLElement>("[data-experiment] th a")[to]?.focus();
    };
    const on = (act: (row: ExperimentRow) => unknown) => () => void (row && act(row));
    useKeys("Experiments", [
        { keys: "j", help: "next row", act: () => move(1) },
        { keys: "k", help: "row before", act: () => move(-1) },
        { keys: "Enter", help: "open", act: on((r) => go(format(["e", r.experiment]))) },
        { keys: "s", help: "star", act: on((r) => star(r, changed)) },
        { keys: "t", help: "tags", act: on((r) => editTags(r, changed)) },
        { keys: "n", help: "note", act: on((r) => editNote(r, changed)) },
        { keys: "p", help: "pause or go on", act: on((r) => isSteered(r) && pause(r, changed)) },
        { keys: "D", help: "delete", act: on((r) => !isSteered(r) && remove(r, changed)) },
    ]);
    return at;
}

function SearchHelp() {
    const [open, setOpen] = useState(false);
    const examples: [string, string][] = [
        ["fashion resnet", "each word is in the name, a tag, the note, the owner or the description"],
        ["state = 'running'", "a field and a value; texts in quotes"],
        ["best < 0.1 and 'paper' in tags", "and, or, not join"],
        ["name ~ '^mnist' or owner = 'ann'", "~ takes a pattern"],
        ["created > now - 7d", "times and durations"],
    ];
    return (
        <>
            <Button kind="quiet" label="How to search" onClick={() => setOpen(true)}>
                ?
            </Button>
            {open && (
                <Dialog title="How to search" onClose={() => setOpen(false)} wide>
                    <dl class="search-help">
                        {examples.map(([text, words]) => (
                            <div key={text}>
                                <dt>
                                    <code>{text}</code>
                                </dt>
                                <dd>{words}</dd>
                            </div>
                        ))}
                    </dl>
                    <p class="dim">
                        Fields: number, name, state, reason, trials, completed, failed, best, created, ended, duration, tags, note, starred, owner, priority, paused. docs/expressions.md tells
                        it all.
                    </p>
                </Dialog>
            )}
        </>
    );
}

/* Whether anything starts at all; an admin says so. */
function Queue() {
    const load = useLoad("queue", api.queue);
    const me = useStore(api.myself);
    useChanges(useThrottled(load.reload, 1000));
    const paused = load.value?.paused ?? false;
    const flip = async () => {
        if (await attempt(() => api.pauseQueue(!paused), paused ? "The queue goes on" : "The queue is paused: no new trial starts")) load.reload();
    };
    if (!load.value) return null;
    if (me?.role !== "admin") return paused ? <span class="queue-paused">The queue is paused</span> : null;
    return (
        <Button kind={paused ? "primary" : "quiet"} icon={paused ? "play" : "pause"} onClick={() => void flip()}>
            {paused ? "The queue is paused: go on" : "Pause the queue"}
        </Button>
    );
}

export function ExperimentsPage() {
    const [where, setWhere] = useQuery("where", text());
    const [sort, setSort] = useQuery("sort", text());
    const [desc, setDesc] = useQuery("desc", flag());
    const [shown, setShown] = useState(pageSize);
    const gone = useStore(leaving);
    const key = JSON.stringify([where, sort, desc, shown]);
    const load = useLoad(key, (signal) => loadList({ where, sort, desc }, shown, signal));
    useChanges(useThrottled(load.reload, 1000));
    const rows = (load.value?.experiments ?? []).filter((r) => !gone.has(r.experiment));
    const current = useListKeys(rows, load.reload);
    const isFilterError = load.error?.status === 400 && where !== "";
    return (
        <section class="experiments">
            <h1 class="sr">Experiments</h1>
            <div class="toolbar">
                <Filter label="Filter experiments" placeholder="words, or:  state = 'running'  ·  best < 0.1 and 'paper' in tags" value={where} onChange={setWhere}
                    error={isFilterError ? load.error?.message : null} busy={load.loading} />
                <SearchHelp />
                <Queue />
                <span class="count dim" role="status">
                    {load.value && formatPlural(load.value.total, "experiment")}
                </span>
            </div>
            {load.error && !isFilterError && !load.value && <Failure error={load.error} retry={load.reload} />}
            {!load.value && !load.error && <Loading what="experiments" />}
            {load.value && rows.length === 0 && !isFilterError && (where ? <Empty title="No experiment fits the filter" /> : <FirstSteps />)}
            {rows.length > 0 && (
                <table class="list">
                    <Head sort={sort} desc={desc} onSort={(s, d) => (setSort(s), setDesc(d))} />
                    <tbody>
                        {rows.map((row, i) => (
                            <Row key={row.experiment} row={row} changed={load.reload} isCurrent={i === current} />
                        ))}
                    </tbody>
                </table>
            )}
            {load.value?.next && (
                <div class="more-rows">
                    <Button onClick={() => setShown(shown + pageSize)}>Show more</Button>
                </div>
            )}
        </section>
    );
}
