/* SPDX-License-Identifier: MIT */
/*
 * page.tsx — the page of a trial, #/t/3.7: what it was, why, how it went, what it printed and left.
 * The tab is in the path (#/t/3.7/logs), its state in the query.
 */
import { useEffect } from "preact/hooks";
import * as api from "../api.ts";
import { format, go } from "../address.ts";
import { hasProgram, objectivesOf } from "../experiment/best.ts";
import { formatSeconds, formatValue } from "../format.ts";
import { useKeys } from "../keys.ts";
import { useLoad, useThrottled } from "../load.ts";
import { resets, useChanges, usePoints, useWatch } from "../stream.ts";
import type { Experiment, Trial } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Ago, Empty, Loaded, StateChip, Tabs } from "../ui/parts.tsx";
import { actionsOf, canStop, noDelete, useMay, type May } from "./actions.ts";
import { CodeTab } from "./code.tsx";
import { details as loadDetails, type Details } from "./details.ts";
import { mayTell, trialNumber } from "./event_words.ts";
import { LogView } from "./log_view.tsx";
import { Overview } from "./overview.tsx";
import { EnvironmentTab, EventsTab, FilesTab } from "./records.tsx";
import { SystemTab } from "./system.tsx";
import "./trial.css";

const TABS = [
    { id: "", title: "Overview" }, { id: "system", title: "System" }, { id: "logs", title: "Logs" }, { id: "code", title: "Code" },
    { id: "environment", title: "Environment" }, { id: "files", title: "Files" }, { id: "events", title: "Events" },
] as const;

/* Its number, and the name that a client of MLflow gave it. */
function Title({ trial, name }: { trial: Trial; name?: string | null }) {
    return <h1><a href={format(["e", trial.experiment])}>{trial.name}</a> <span class="dim">›</span> trial {trial.trial}{name && ` · ${name}`}</h1>;
}

function Marks({ trial, may, acts }: { trial: Trial; may: May; acts: ReturnType<typeof actionsOf> }) {
    const can = may.change === null;
    return (
        <>
            {(can || trial.tags.length > 0) && (
                <div><dt>Tags</dt><dd>
                    {trial.tags.map((t) => <span key={t} class="tag">{t}{can && <button type="button" class="run-off" aria-label={`Take the tag ${t} away`} onClick={() => void acts.untag(t)}>×</button>}</span>)}
                    {can && <Button kind="quiet" icon="tag" label="Add a tag" onClick={() => void acts.tag()} />}
                </dd></div>
            )}
            {(can || trial.note) && (
                <div><dt>Note</dt><dd>{trial.note}{can && <Button kind="quiet" icon="note" label={trial.note ? "Change the note" : "Add a note"} onClick={() => void acts.note()} />}</dd></div>
            )}
        </>
    );
}

function Figures({ trial, details, children }: { trial: Trial; details: Details | null; children: preact.ComponentChildren }) {
    const link = (name: string) => <a key={name} href={format(["t", name])}>{name}</a>;
    return (
        <dl class="trial-figures">
            <div><dt>Value</dt><dd>{formatValue(trial.value)}</dd></div>
            {trial.best !== null && trial.best !== trial.value && <div><dt>Best</dt><dd>{formatValue(trial.best)}</dd></div>}
            {trial.step !== null && <div><dt>Step</dt><dd>{formatValue(trial.step)}</dd></div>}
            <div><dt>Ran</dt><dd>{formatSeconds(trial.seconds)}</dd></div>
            <div><dt>Started</dt><dd><Ago time={trial.started} /></dd></div>
            {trial.attempts > 1 && <div><dt>Attempts</dt><dd>{trial.attempts}</dd></div>}
            {details?.rerun_of && <div><dt>Rerun of</dt><dd>{link(details.rerun_of)}</dd></div>}
            {details && details.reruns.length > 0 && <div><dt>Rerun as</dt><dd>{details.reruns.map(link)}</dd></div>}
            {children}
        </dl>
    );
}

/* The number of the last trial of its experiment; until it is known there may be a next one. */
function useLast(trial: Trial): number {
    const load = useLoad(`last ${trial.experiment} ${trial.state}`, (signal) => api.trials(trial.experiment, { columns: "number", sort: "number", desc: true, limit: 1 }, signal));
    const soon = useThrottled(load.reload, 2000);
    useChanges((batch) => batch.some((c) => c.experiment === trial.experiment && c.event === "trial_started") && soon());
    return load.value ? Number(load.value.rows[0]?.[0] ?? 0) : Infinity;
}

/* Why it is not compared with the best; null: it is. */
export function noBest(experiment: Experiment): string | null {
    if (experiment.best) return null;
    return objectivesOf(experiment).length === 0 ? "the experiment has no objective, so no trial is the best" : "no trial has a result yet";
}

function RunAgain({ experiment, rerun }: { experiment: Experiment | null; rerun: () => void }) {
    const can = !experiment || hasProgram(experiment);
    return <Button icon="play" label={can ? "Run again: same parameters, same code" : "Run again: Hone did not run it, so there is nothing to run"} disabled={!can} onClick={rerun}>Run again</Button>;
}

function Delete({ refused, remove }: { refused: string | null; remove: () => void }) {
    return <Button icon="trash" label={refused ? `Delete: ${refused}` : "Delete this trial"} disabled={refused !== null} onClick={remove} />;
}

/* experiment: null while it is not known, and then nothing is refused. */
function Head({ trial, details, experiment, reload }: { trial: Trial; details: Details | null; experiment: Experiment | null; reload: () => void }) {
    const number = trialNumber(trial.trial)!;
    const may = useMay(trial), acts = actionsOf(trial, reload), last = useLast(trial);
    const compare = format(["compare"], { runs: `${trial.trial},${trial.experiment}` }), alone = experiment && noBest(experiment);
    const refused = may.change ?? noDelete(trial, experiment);
    const step = (by: number) => go(format(["t", `${trial.experiment}.${number + by}`]));
    useKeys("Trial", [
        { keys: "]", help: "next trial", act: () => number < last && step(1) },
        { keys: "[", help: "trial before", act: () => number > 1 && step(-1) },
        ...(alone ? [] : [{ keys: "c", help: "compare with the best", act: () => go(compare) }]),
        ...(may.change === null ? [{ keys: "s", help: "star it, or take the star away", act: () => void acts.star() }] : []),
        ...(refused === null ? [{ keys: "D", help: "delete it", act: () => void acts.remove() }] : []),
    ]);
    const starWords = trial.starred ? "Take the star away" : "Star it";
    return (
        <header class="trial-head">
            <div class="row">
                <Title trial={trial} name={details?.run_name} />
                <Button icon="star" filled={trial.starred} label={may.change ? `${trial.starred ? "Starred" : "Not starred"}: ${may.change}` : starWords} kind="quiet" pressed={trial.starred}
                    disabled={may.change !== null} onClick={() => void acts.star()} />
                <StateChip state={trial.state} reason={trial.reason} />
                <span class="grow" />
                <Button icon="left" label="Trial before" disabled={number <= 1} onClick={() => step(-1)} />
                <Button icon="right" label="Next trial" disabled={number >= last} onClick={() => step(1)} />
                {may.change === null && canStop(trial) && <Button icon="stop" label="Stop this trial; the others go on" onClick={() => void acts.stop()}>Stop</Button>}
                {may.run === null && <RunAgain experiment={experiment} rerun={() => void acts.rerun()} />}
                {alone ? <Button disabled label={`Compare with the best: ${alone}`}>Compare with the best</Button> : <a class="button" href={compare}>Compare with the best</a>}
                <Delete refused={refused} remove={() => void acts.remove()} />
            </div>
            <Figures trial={trial} details={details}><Marks trial={trial} may={may} acts={acts} /></Figures>
        </header>
    );
}

/* Its experiment: what it is about, and whether it has a best trial. */
function useExperiment(number: number | null): ReturnType<typeof useLoad<Experiment>> {
    const load = useLoad(number === null ? null : `experiment ${number}`, (signal) => api.experiment(number!, signal));
    const soon = useThrottled(load.reload, 3000);
    useChanges((batch) => batch.some((c) => c.experiment === number && c.event === "trial_ended") && soon());
    return load;
}

function Body({ tab, trial, details, objectives }: { tab: string; trial: Trial; details: ReturnType<typeof useLoad<Details>>; objectives: string[] | null }) {
    if (tab === "system") return <SystemTab trial={trial} />;
    if (tab === "logs") return <LogView trial={trial} />;
    if (tab === "files") return <FilesTab trial={trial} />;
    if (tab === "events") return <EventsTab trial={trial} />;
    if (tab === "code") return <Loaded of={details} what="the code">{(d) => <CodeTab details={d} />}</Loaded>;
    if (tab === "environment") return <Loaded of={details} what="the environment">{(d) => <EnvironmentTab environment={d.environment} />}</Loaded>;
    return <Overview trial={trial} details={details.value} objectives={objectives} />;
}

/* Another trial is another page: nothing of the one before stays on the screen. */
export function TrialPage({ args }: { args: string[] }) {
    return <OneTrial key={args[0]} name={args[0] ?? ""} tab={args[1] ?? ""} />;
}

function OneTrial({ name, tab }: { name: string; tab: string }) {
    const [experiment, number] = [Number(name.split(".")[0]), trialNumber(name)];
    const known = Number.isInteger(experiment) && number !== null && name.includes(".");
    const load = useLoad(known ? name : null, (signal) => api.trial(name, signal));
    const details = useLoad(known ? `details ${name}` : null, (signal) => loadDetails(name, signal));
    const whole = useExperiment(known ? experiment : null);
    const objectives = whole.value ? objectivesOf(whole.value).map((o) => o.metric) : whole.error ? [] : null;
    const soon = useThrottled(() => (load.reload(), details.reload()), 1500);
    const soft = useThrottled(load.reload, 3000);
    useWatch(known ? experiment : null);
    useChanges((batch) => batch.some((e) => mayTell(e, experiment, number)) && soon());
    usePoints((batch) => batch.some((p) => p.experiment === experiment && p.trial === number) && soft());
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    if (!known) return <Empty title="No such trial"><p>“{name}” is not the name of a trial, such as 3.7.</p></Empty>;
    return (
        <Loaded of={load} what={`trial ${name}`}>
            {(trial) => (
                <>
                    <Head trial={trial} details={details.value} experiment={whole.value} reload={load.reload} />
                    <Tabs label="Parts of the trial" current={tab} tabs={TABS.map((t) => ({ ...t, href: format(t.id ? ["t", name, t.id] : ["t", name]) }))} />
                    <Body tab={tab} trial={trial} details={details} objectives={objectives} />
                </>
            )}
        </Loaded>
    );
}
