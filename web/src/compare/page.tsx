/* SPDX-License-Identifier: MIT */
/*
 * page.tsx — runs side by side, #/compare?runs=3.7,3.9: results, parameters and curves; what explains
 * the difference; whether it is real; code and environment. "3" stands for the best trial of
 * experiment 3. For the views of two runs, `a` and `b` say which.
 */
import { useMemo, useState } from "preact/hooks";
import { choice, flag, format, here, text, useQuery } from "../address.ts";
import { experiment as loadExperiment } from "../api.ts";
import { formatPlural } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useChanges, useWatch } from "../stream.ts";
import type { Objective } from "../types.ts";
import { ranCode } from "../trial/details.ts";
import { Curves, Legend, objectivesFirst, type CurveTrial } from "../trial/curves.tsx";
import { mayTell, trialNumber } from "../trial/event_words.ts";
import { SystemOverlay } from "../trial/system.tsx";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/field.tsx";
import { Empty, Loading, Tabs } from "../ui/parts.tsx";
import { CodeDiff } from "./code_diff.tsx";
import "./compare.css";
import "../trial/trial.css";
import { ExplainView } from "./explain_view.tsx";
import { labelOf, parseRuns, useRuns, type Run } from "./runs.ts";
import { environmentColumns, metricColumns, paramColumns, resultColumns, Rows, RunHeads, sideRows } from "./side_by_side.tsx";
import { SeedsView } from "./seeds_view.tsx";

const VIEWS = ["table", "curves", "system", "explain", "seeds", "code", "environment"] as const;
const TITLES: Record<(typeof VIEWS)[number], string> = {
    table: "Side by side", curves: "Curves", system: "System", explain: "What explains it", seeds: "Is it real?", code: "Code", environment: "Environment",
};

/* Without an objective the goal is "". */
function useObjective(experiment: number | null): { metric: string; goal: string } {
    const load = useLoad(experiment === null ? null : `objective ${experiment}`, (signal) => loadExperiment(experiment!, signal));
    const given = load.value?.spec?.objective ?? load.value?.objective;
    const first: Objective | null | undefined = Array.isArray(given) ? given[0] : given;
    return { metric: first?.metric ?? "objective", goal: first ? (first.goal ?? "minimize") : "" };
}

function SideBySide({ runs, remove }: { runs: Run[]; remove: (asked: string) => void }) {
    const [only, setOnly] = useQuery("differ", flag(true));
    return (
        <>
            <div class="toolbar"><Check label="Only what differs" value={only} onChange={setOnly} /></div>
            <div class="side-box" tabIndex={0} role="region" aria-label="Runs side by side">
                <table class="side">
                    <thead><RunHeads runs={runs} remove={remove} /></thead>
                    <Rows title="Results" rows={sideRows(resultColumns(runs))} only={only && runs.length > 1} span={runs.length} />
                    <Rows title="Parameters" rows={sideRows(paramColumns(runs))} only={only && runs.length > 1} span={runs.length} />
                    <Rows title="Metrics, last value" rows={sideRows(metricColumns(runs))} only={only && runs.length > 1} span={runs.length} />
                </table>
            </div>
        </>
    );
}

function Overlaid({ runs, metric }: { runs: Run[]; metric: string }) {
    const names = [...new Set(runs.flatMap((run) => run.trial.metrics.map((m) => m.metric)))];
    const metrics = useMemo(() => objectivesFirst(names, [metric]), [names.join("\n"), metric]);
    return <Curves trials={useColoured(runs)} metrics={metrics} sync="compare" />;
}

function OverlaidSystem({ runs }: { runs: Run[] }) {
    const trials = useColoured(runs);
    return <SystemOverlay trials={trials} legend={<Legend trials={trials} />} />;
}

function useColoured(runs: Run[]): CurveTrial[] {
    return useMemo(() => runs.map((run, i) => ({ trial: run.name, label: labelOf(run), colour: distinct(runs, i) })), [runs.map(labelOf).join("\n")]);
}

/* A trial's own colour, unless a run before has it. */
function distinct(runs: readonly Run[], i: number): number {
    const taken = new Set<number>();
    let colour = 0;
    for (let k = 0; k <= i; k++) {
        colour = trialNumber(runs[k]!.name) ?? k;
        while (taken.has(colour % 12) && taken.size < 12) colour++;
        taken.add(colour % 12);
    }
    return colour;
}

function Environment({ runs }: { runs: Run[] }) {
    const [only, setOnly] = useQuery("differ", flag(true));
    const rows = sideRows(environmentColumns(runs));
    return (
        <>
            <div class="toolbar"><Check label="Only what differs" value={only} onChange={setOnly} /></div>
            {only && rows.every((row) => !row.differs) ? <Empty title="The same environment"><p>{formatPlural(rows.length, "row")} are equal in all runs.</p></Empty> : (
                <div class="side-box" tabIndex={0} role="region" aria-label="Environments side by side">
                    <table class="side"><thead><RunHeads runs={runs} /></thead><Rows title="Environment" rows={rows} only={only} span={runs.length} /></table>
                </div>
            )}
        </>
    );
}

/* Which two of the runs; the first two unless the address says otherwise. */
function usePair(runs: Run[]): { a: Run; b: Run; bar: preact.ComponentChildren } | null {
    const [first, setFirst] = useQuery("a", text());
    const [second, setSecond] = useQuery("b", text());
    const a = runs.find((run) => run.name === first) ?? runs[0];
    const b = runs.find((run) => run.name === second && run !== a) ?? runs.find((run) => run !== a);
    if (!a || !b) return null;
    const options = runs.map((run) => ({ value: run.name, label: labelOf(run) }));
    const swap = () => {
        setFirst(b.name);
        setSecond(a.name);
    };
    return {
        a, b,
        bar: (
            <div class="toolbar">
                <Select label="From" value={a.name} options={options} onChange={setFirst} />
                <Select label="to" value={b.name} options={options.filter((o) => o.value !== a.name)} onChange={setSecond} />
                <Button onClick={swap}>Swap</Button>
            </div>
        ),
    };
}

function Pair({ runs, view, goal, metric }: { runs: Run[]; view: string; goal: string; metric: string }) {
    const pair = usePair(runs);
    if (!pair) return <Empty title="This needs two runs" />;
    const { a, b, bar } = pair;
    if (view === "explain") return <>{runs.length > 2 && bar}<ExplainView a={a} b={b} goal={goal} metric={metric} /></>;
    const [x, y] = [a, b].map((run) => run.details && ranCode(run.details));
    return <>{runs.length > 2 && bar}{x && y ? <CodeDiff a={{ label: a.name, sha: x }} b={{ label: b.name, sha: y }} /> : <Empty title={`No snapshot of the code of ${x ? b.name : a.name}`} />}</>;
}

function View({ view, runs, remove }: { view: string; runs: Run[]; remove: (asked: string) => void }) {
    const { metric, goal } = useObjective(runs[0]?.trial.experiment ?? null);
    if (view === "curves") return <Overlaid runs={runs} metric={metric} />;
    if (view === "system") return <OverlaidSystem runs={runs} />;
    if (view === "seeds") return <SeedsView runs={runs} goal={goal} metric={metric} />;
    if (view === "environment") return <Environment runs={runs} />;
    if (view === "explain" || view === "code") return <Pair runs={runs} view={view} goal={goal} metric={metric} />;
    return <SideBySide runs={runs} remove={remove} />;
}

function AddRun({ add, first }: { add: (names: string) => void; first: boolean }) {
    const [words, setWords] = useState("");
    return (
        <form class="row" onSubmit={(e) => (e.preventDefault(), add(words), setWords(""))}>
            <label class="field inline"><span>{first ? "Runs" : "Add a run"}</span>
                <input value={words} placeholder="3.7 or 3" size={12} onInput={(e) => setWords((e.target as HTMLInputElement).value)} />
            </label>
            <Button submit disabled={!words.trim()}>{first ? "Compare" : "Add"}</Button>
        </form>
    );
}

export function ComparePage(_: { args: string[] }) {
    const [asked, setAsked] = useQuery("runs", text());
    const [view] = useQuery("view", choice(VIEWS, "table"));
    const names = parseRuns(asked);
    const { runs, failures, loading, reload } = useRuns(names);
    const soon = useThrottled(reload, 3000);
    useChanges((batch) => batch.some((e) => runs.some((run) => mayTell(e, run.trial.experiment, trialNumber(run.trial.trial)))) && soon());
    const running = runs.find((run) => run.trial.state === "running");
    useWatch(running?.trial.experiment ?? null);
    const add = (more: string) => setAsked(parseRuns(`${asked},${more}`).join(","), true);
    const remove = (name: string) => setAsked(names.filter((n) => n !== name).join(","), true);
    const link = (to: string) => {
        const query = new URLSearchParams();
        for (const name of ["runs", "a", "b"]) if (here().query.get(name)) query.set(name, here().query.get(name)!);
        if (to !== "table") query.set("view", to);
        return format(["compare"], query);
    };
    return (
        <>
            <header class="row compare-head">
                <h1>Compare{runs.length > 0 && <span class="dim"> {formatPlural(runs.length, "run")}</span>}</h1>
                <span class="grow" />
                <AddRun add={add} first={names.length === 0} />
            </header>
            {failures.map((f) => <p key={f.asked} class="bad" role="alert">{f.asked}: {f.error}</p>)}
            {names.length === 0 ? <Empty title="No runs chosen"><p>Choose rows in the table of an experiment, or write names of trials above: 3.7 is trial 7 of experiment 3, and 3 is its best.</p></Empty>
                : runs.length === 0 ? (loading ? <Loading what="the runs" /> : null)
                : (
                    <>
                        <Tabs label="Views of the comparison" current={view} tabs={VIEWS.map((v) => ({ id: v, title: TITLES[v], href: link(v) }))} />
                        <View view={view} runs={runs} remove={remove} />
                    </>
                )}
        </>
    );
}
