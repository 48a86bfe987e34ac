/* SPDX-License-Identifier: MIT */
/*
 * explain_view.tsx — what explains the difference between two runs, parameter by parameter, from a
 * model of all results, with intervals and the limits of such a statement on the screen.
 */
import { useEffect, useState } from "preact/hooks";
import { formatNumber, formatPlural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Empty, Loaded } from "../ui/parts.tsx";
import { explain, ROWS_MIN, type Contribution, type Explanation } from "./explain.ts";
import { loadResults, modelOf, targetWords, usualTarget, type Results } from "./explain_data.ts";
import type { Run } from "./runs.ts";

/* A bar from 0 to the mean, a thin one over its interval; zero is a line through all. */
function Bar({ part, scale }: { part: Contribution; scale: number }) {
    const at = (v: number) => 50 + (48 * v) / scale;
    const span = (a: number, b: number) => ({ left: `${Math.min(at(a), at(b))}%`, width: `${Math.abs(at(a) - at(b))}%` });
    return (
        <span class="contribution" aria-hidden="true">
            <i class={part.mean < 0 ? "down" : "up"} style={span(0, part.mean)} />
            <i class="whisker" style={span(part.low, part.high)} />
        </span>
    );
}

const signed = (v: number) => `${v > 0 ? "+" : ""}${formatNumber(v, 3)}`;

/* What a run has reached: of the objective, or of a metric's column. */
function reached(run: Run, target: string): number | null {
    return target === "value" ? run.trial.value : (run.trial.metrics.find((m) => `metrics.${m.metric}.last` === target)?.last ?? null);
}

function Told({ told, a, b, goal, metric, target }: { told: Explanation; a: Run; b: Run; goal: string; metric: string; target: string }) {
    const [from, to] = [reached(a, target), reached(b, target)], measured = from !== null && to !== null ? to - from : null;
    const scale = Math.max(...told.contributions.flatMap((c) => [Math.abs(c.low), Math.abs(c.high), Math.abs(c.mean)]), 1e-300);
    const clear = told.contributions.filter((c) => c.low > 0 || c.high < 0);
    return (
        <>
            <p>
                From {a.name} to {b.name} the {metric} changed by <b>{measured === null ? "–" : signed(measured)}</b>; a model of {formatPlural(told.rows, "result")} expects <b>{signed(told.predicted)}</b>
                {measured !== null && <>, so <b>{signed(measured - told.predicted)}</b> is left to what it does not see: seeds, noise, code, machine</>}.
                {clear.length > 0 ? <> Clear of the model's own noise: <b>{clear.slice(0, 4).map((c) => c.name).join(", ")}</b>.</> : " No parameter is clear of the model's own noise."}
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label={`What each parameter adds to ${metric}`}>
                <table class="plain contributions">
                    <thead><tr><th scope="col">Parameter</th><th scope="col">{a.letter} → {b.letter}</th><th scope="col" class="num">Adds</th><th scope="col" class="num">9 of 10 resamplings</th><th scope="col"><span class="sr">picture</span></th></tr></thead>
                    <tbody>
                        {told.contributions.map((c) => (
                            <tr key={c.name}>
                                <th scope="row">{c.name}</th>
                                <td class="mono">{short(a.trial.params[c.name])} → {short(b.trial.params[c.name])}</td>
                                <td class="num">{signed(c.mean)}</td>
                                <td class="num">{signed(c.low)} … {signed(c.high)}</td>
                                <td class="wide"><Bar part={c} scale={scale} /></td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="dim">
                {told.explained > 0.05
                    ? `The model explains ${formatNumber(100 * told.explained, 2)} % of the spread of results it has not seen.`
                    : "The model explains next to nothing of the spread of results it has not seen: take this as no more than a hint."}
                {" "}A random forest; each parameter is changed from {a.letter} to {b.letter} in many orders and its effects averaged (Shapley values), so they sum to what it expects.
                {goal && ` ${goal === "maximize" ? "Larger" : "Smaller"} is better.`} It tells what goes along with better results in the trials that were run, not what causes them.
            </p>
        </>
    );
}

const short = (value: unknown) => (value === undefined ? "none" : typeof value === "number" ? formatNumber(value) : String(value));

/* Computed after the page is painted: it takes some tenths of a second. */
function useExplanation(results: Results | null, target: string, a: Run, b: Run): Explanation | null | undefined {
    const [told, setTold] = useState<Explanation | null | undefined>(undefined);
    useEffect(() => {
        setTold(undefined);
        if (!results) return;
        const timer = setTimeout(() => {
            const model = modelOf(results, target);
            setTold(explain(model.table, model.point(a.trial.params), model.point(b.trial.params)));
        }, 30);
        return () => clearTimeout(timer);
    }, [results, target, a.name, b.name]);
    return told;
}

function Same({ a, b, results, goal, metric }: { a: Run; b: Run; results: Results; goal: string; metric: string }) {
    const target = usualTarget([results]);
    const told = useExplanation(results, target, a, b);
    if (told === undefined) return <p class="dim" role="status">Fitting a model to the results …</p>;
    if (told === null) return (
        <Empty title="Nothing to tell">
            <p>{results.numbers.length < ROWS_MIN ? `A model needs ${ROWS_MIN} results or more.` : "The two do not differ in a parameter that varies in this experiment."}</p>
        </Empty>
    );
    return <Told told={told} a={a} b={b} goal={target === "value" ? goal : ""} metric={target === "value" ? metric : targetWords(target)} target={target} />;
}

export function ExplainView({ a, b, goal, metric }: { a: Run; b: Run; goal: string; metric: string }) {
    const same = a.trial.experiment === b.trial.experiment;
    const load = useLoad(same ? `results ${a.trial.experiment}` : null, (signal) => loadResults(a.trial.experiment, signal));
    if (!same) return (
        <Empty title="They are of different experiments">
            <p>A model of one experiment cannot tell about another. Parameters, code and environment show how they differ.</p>
        </Empty>
    );
    return <Loaded of={load} what="the results">{(results) => <Same a={a} b={b} results={results} goal={goal} metric={metric} />}</Loaded>;
}
