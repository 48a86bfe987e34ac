/* SPDX-License-Identifier: MIT */
/*
 * seeds_view.tsx — is B really better than A? Each chosen run stands for its group: trials with the
 * same parameters but for the seed, repeats and reruns, of its experiment and of the others that are
 * compared or that reran it. Groups get a mean with a 95 % interval, and every other one a test
 * against the first.
 */
import { useMemo } from "preact/hooks";
import { format, text, useQuery } from "../address.ts";
import { formatNumber, formatPlural, formatValue } from "../format.ts";
import { useLoad } from "../load.ts";
import { Select } from "../ui/field.tsx";
import { details, type Details } from "../trial/details.ts";
import { Empty, Loaded as Ready } from "../ui/parts.tsx";
import { groupRows, loadProgram, loadResults, targetWords, usualTarget, type Results } from "./explain_data.ts";
import { groupLabels, seedGroups, type SeedGroup } from "./groups.ts";
import type { Run } from "./runs.ts";
import { compareGroups, describe, type Difference } from "./statistics.ts";

const RERUNS_MAX = 40; /* of a run that are looked at */

interface Shown {
    letter: string;
    group: SeedGroup;
    label: string;
}

/* The group of each run, each group once, labelled by the first of its runs. */
function groupsOf(runs: readonly Run[], all: Loaded, target: string): Shown[] {
    const groups = seedGroups(all.experiments.flatMap(({ results, program }) => groupRows(results, target, program, all.rerun_of)));
    const found = runs.flatMap((run) => groups.find((group) => group.trials.includes(run.name)) ?? []);
    const unique = [...new Set(found)];
    const labels = groupLabels(unique, formatValue);
    return unique.map((group, i) => ({ group, label: labels[i]!, letter: runs.find((run) => group.trials.includes(run.name))!.letter }));
}

interface Loaded {
    experiments: { results: Results; program: string }[]; /* older ones first: a rerun comes after what it reruns */
    rerun_of: Map<string, string>;
}

/* A run, what it is a rerun of, and the reruns of that: all that repeat the same. */
async function kinOf(run: Details, signal: AbortSignal): Promise<Details[]> {
    const seen = new Map([[run.trial, run]]);
    let first = run;
    while (first.rerun_of && !seen.has(first.rerun_of)) {
        const before: Details | null = await details(first.rerun_of, signal).catch(() => null); /* it may be removed */
        if (!before) break;
        seen.set(before.trial, (first = before));
    }
    for (const name of first.reruns.filter((r) => !seen.has(r)).slice(0, RERUNS_MAX)) {
        const again = await details(name, signal).catch(() => null);
        if (again) seen.set(name, again);
    }
    return [...seen.values()];
}

async function loadGroups(runs: readonly Run[], signal: AbortSignal): Promise<Loaded> {
    const kin = (await Promise.all(runs.map((run) => (run.details ? kinOf(run.details, signal) : [])))).flat();
    const numbers = [...new Set([...runs.map((run) => run.trial.experiment), ...kin.map((k) => k.experiment)])].sort((a, b) => a - b);
    const experiments = await Promise.all(numbers.map(async (number) => {
        const [results, program] = await Promise.all([loadResults(number, signal), loadProgram(number, signal)]);
        return { results, program };
    }));
    return { experiments, rerun_of: new Map(kin.flatMap((k): [string, string][] => (k.rerun_of ? [[k.trial, k.rerun_of]] : []))) };
}

const p = (value: number) => (Number.isNaN(value) ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3));

/* One sentence that claims no more than the numbers do. Without a goal nothing is better. */
export function verdict(a: string, b: string, test: Difference, goal: string): string {
    const better = goal === "maximize" ? test.difference > 0 : test.difference < 0;
    const word = goal === "" ? (test.difference > 0 ? "higher" : "lower") : better ? "better" : "worse";
    const size = formatNumber(Math.abs(test.difference), 3);
    if (Number.isNaN(test.p)) return `Each needs two runs or more to tell ${b} from ${a}; 'hone rerun' makes repeats.`;
    const range = `95 % interval of the difference ${formatNumber(test.low, 3)} to ${formatNumber(test.high, 3)}`;
    if (test.p < 0.05 && test.permuted < 0.05)
        return `${b} is ${word} than ${a} by ${size}: ${range}, p = ${p(test.p)} (Welch), ${p(test.permuted)} (permutation).`;
    if (test.p < 0.05 || test.permuted < 0.05)
        return `${b} may be ${word} than ${a} by ${size}, but the two tests disagree: ${range}, p = ${p(test.p)} (Welch), ${p(test.permuted)} (permutation). More repeats would tell.`;
    return `Not told apart: ${range}, p = ${p(test.p)} (Welch), ${p(test.permuted)} (permutation). More repeats, or no difference that matters.`;
}

/* All values as dots, the interval as a bar, on one scale. */
function Strip({ shown, low, high }: { shown: Shown; low: number; high: number }) {
    const at = (v: number) => `${high > low ? (100 * (v - low)) / (high - low) : 50}%`;
    const d = describe(shown.group.values);
    return (
        <span class="strip" aria-hidden="true">
            {Number.isFinite(d.low) && <i class="range" style={{ left: at(Math.max(d.low, low)), right: `calc(100% - ${at(Math.min(d.high, high))})` }} />}
            {shown.group.values.slice(0, 300).map((v, i) => <i key={i} class="dot" style={{ left: at(v) }} />)}
            <i class="mean" style={{ left: at(d.mean) }} />
        </span>
    );
}

function Groups({ shown, goal }: { shown: Shown[]; goal: string }) {
    const having = shown.filter((s) => s.group.values.length > 0);
    const first = having[0];
    const ends = having.map((s) => describe(s.group.values));
    const low = Math.min(...ends.map((d) => Math.min(d.min, Number.isFinite(d.low) ? d.low : d.min)));
    const high = Math.max(...ends.map((d) => Math.max(d.max, Number.isFinite(d.high) ? d.high : d.max)));
    if (!first) return <Empty title="None of these runs has a result yet" />;
    return (
        <>
            <div class="scroll" tabIndex={0} role="region" aria-label="Groups">
                <table class="plain seeds">
                    <thead><tr><th scope="col">Group</th><th scope="col">Trials</th><th scope="col" class="num">Runs</th><th scope="col" class="num">Mean</th><th scope="col" class="num">95 % interval</th><th scope="col" class="num">Deviation</th><th scope="col"><span class="sr">picture</span></th></tr></thead>
                    <tbody>
                        {having.map((s, i) => (
                            <tr key={s.group.key}>
                                <th scope="row"><span class="run-letter">{s.letter}</span> {s.label}</th>
                                <td>{s.group.trials.slice(0, 8).map((t, k) => <>{k > 0 && " "}<a href={format(["t", t])}>{t}</a></>)}{s.group.trials.length > 8 && ` and ${s.group.trials.length - 8} more`}</td>
                                <td class="num">{ends[i]!.n}</td><td class="num">{formatNumber(ends[i]!.mean, 5)}</td>
                                <td class="num">{Number.isFinite(ends[i]!.low) ? `${formatNumber(ends[i]!.low)} … ${formatNumber(ends[i]!.high)}` : "one run"}</td>
                                <td class="num">{Number.isFinite(ends[i]!.deviation) ? formatNumber(ends[i]!.deviation, 3) : "–"}</td>
                                <td class="wide"><Strip shown={s} low={low} high={high} /></td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {having.slice(1).map((s) => (
                <p key={s.group.key} class="verdict">{verdict(first.letter, s.letter, compareGroups(first.group.values, s.group.values), goal)}</p>
            ))}
            {having.length < 2 && <p class="dim">All chosen runs are repeats of one setting: {formatPlural(first.group.values.length, "result")}.</p>}
        </>
    );
}

export function SeedsView({ runs, goal, metric }: { runs: Run[]; goal: string; metric: string }) {
    const [asked, setTarget] = useQuery("target", text());
    const load = useLoad(`groups ${runs.map((run) => `${run.name} ${run.trial.state}`).join()}`, (signal) => loadGroups(runs, signal));
    const usual = useMemo(() => usualTarget(load.value?.experiments.map((e) => e.results) ?? []), [load.value]), target = asked || usual;
    const isGoal = target === "value" || target === `metrics.${metric}.last`;
    const shown = useMemo(() => (load.value ? groupsOf(runs, load.value, target) : []), [load.value, target, runs.map((r) => r.name).join()]);
    return (
        <Ready of={load} what="the results">
            {(all) => (
                <>
                    <div class="toolbar">
                        <Select label="Compare by" value={target} onChange={setTarget}
                            options={[...(usual === "value" ? ["value"] : []), ...new Set(all.experiments.flatMap((e) => e.results.metrics))].map((m) => ({ value: m, label: targetWords(m) }))} />
                    </div>
                    <Groups shown={shown} goal={isGoal ? goal : ""} />
                    <p class="dim">A group is all trials of an experiment with the same parameters but for the seed, repeats and reruns of it, and those of the other experiments here that ran the same code. Welch's t test allows unequal variances; the permutation test assumes no distribution. With several groups, some differences look real by luck.</p>
                </>
            )}
        </Ready>
    );
}
