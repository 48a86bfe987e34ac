/* SPDX-License-Identifier: MIT */
/*
 * page.tsx — one experiment: its header, live, and its tabs. Loaded anew when something of it
 * changed, at most every two seconds; the live document comes in between.
 *
 * The row of the list comes in a millisecond, the whole experiment with its spec and environment
 * later: header and table begin with the row.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { format, go, here, useAddress } from "../address.ts";
import * as api from "../api.ts";
import { useKeys } from "../keys.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useChanges, useLives, useWatch } from "../stream.ts";
import { tabs } from "../tabs.ts";
import type { Experiment, ExperimentRow, Live } from "../types.ts";
import { Failure, Loading, Tabs } from "../ui/parts.tsx";
import { Header } from "./header.tsx";
import "./page.css";
import { rowQuery } from "./queries.ts";

/* The choice of runs and the filter go along from tab to tab; the rest of the query belongs to one tab. */
function tabHref(experiment: string, tab: string): string {
    const kept = ["sel", "where"].flatMap((name) => {
        const value = here().query.get(name);
        return value ? [[name, value]] : [];
    });
    return format(["e", experiment, tab], Object.fromEntries(kept) as Record<string, string>);
}

function useTabKeys(experiment: string): void {
    useKeys(
        "Experiment",
        tabs.map((t, i) => ({ keys: String(i + 1), help: t.title.toLowerCase(), act: () => go(tabHref(experiment, t.id)) })),
    );
}

/* The title of the window tells how far it is: one sees it from another tab. */
function useTitle(x: Experiment, live: Live | null): void {
    const counts = live?.trials ?? x.trials;
    const total = live?.trials.total ?? x.budget;
    const ended = counts.completed + counts.stopped + counts.failed;
    const title = `${x.state === "running" && total ? `${ended}/${total} ` : ""}${x.name} · Hone`;
    useEffect(() => void (document.title = title), [title]);
}

function fromRow(row: ExperimentRow): Experiment {
    return { ...row, code: null, energy_j: null, energy: null, environment: null, spec: {}, live: null };
}

function Body({ name, experiment, isWhole, spark, reload }: { name: string; experiment: Experiment; isWhole: boolean; spark: (number | null)[]; reload: () => void }) {
    const address = useAddress();
    const [live, setLive] = useState<Live | null>(null);
    useEffect(() => void (experiment.live && setLive(experiment.live)), [experiment.live]);
    useWatch(experiment.experiment);
    useLives((batch) => {
        const mine = batch.findLast((l) => l.experiment === experiment.experiment);
        if (mine) setLive(mine);
    });
    useTitle(experiment, live);
    const at = address.path[2] ?? tabs[0]?.id ?? "";
    const tab = tabs.find((t) => t.id === at);
    const now = live && experiment.state === "running" ? live : null;
    return (
        <>
            <Header experiment={experiment} live={now} spark={spark} changed={reload} />
            <Tabs label="Views of the experiment" current={at} tabs={tabs.map((t) => ({ id: t.id, title: t.title, href: tabHref(name, t.id) }))} />
            {!tab && <p class="dim">There is no such view.</p>}
            {tab && (isWhole || tab.early ? <tab.tab key={tab.id} experiment={experiment} /> : <Loading what="the experiment" />)}
        </>
    );
}

export function ExperimentPage({ args }: { args: string[] }) {
    const name = args[0] ?? "last";
    const isNumber = /^\d+$/.test(name);
    const row = useLoad(isNumber ? name : null, async (signal) => (await api.experiments(rowQuery(name), signal)).experiments[0] ?? null);
    const whole = useLoad(name, (signal) => api.experiment(name, signal));
    const reload = () => (row.reload(), whole.reload());
    const soon = useThrottled(reload, 2000);
    const experiment = useMemo(() => whole.value ?? (row.value && fromRow(row.value)), [whole.value, row.value]);
    useChanges((batch) => batch.some((e) => e.experiment === experiment?.experiment) && soon());
    useTabKeys(name);
    if (experiment) return <Body name={name} experiment={experiment} isWhole={whole.value !== null} spark={row.value?.spark ?? []} reload={reload} />;
    return whole.error ? <Failure error={whole.error} retry={reload} /> : <Loading what="the experiment" />;
}
