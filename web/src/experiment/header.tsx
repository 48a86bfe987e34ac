/* SPDX-License-Identifier: MIT */
/*
 * header.tsx — what one wants to know first: how far, how good, how long yet; and what runs now.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { format } from "../address.ts";
import { actionsOf, editNote, editTags, leaving, star, useRefusal } from "../experiments/actions.tsx";
import { formatCount, formatNumber, formatPlural, formatSeconds, formatValue } from "../format.ts";
import { useStore } from "../store.ts";
import type { Experiment, Live, LiveTrial, Objective } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, Progress, Spark, StateChip } from "../ui/parts.tsx";
import { bestIn, bestWords, extremeOf, objectivesOf, useBest, type BestRow } from "./best.ts";

/* The first objective, from the row or the spec. */
export function objectiveOf(x: Experiment): Objective | null {
    return x.objective ?? objectivesOf(x)[0] ?? null;
}

function Fact({ label, children }: { label: string; children: preact.ComponentChildren }) {
    return (
        <div class="fact">
            <dt>{label}</dt>
            <dd>{children}</dd>
        </div>
    );
}

/* The lowest or highest value so far over the trials: what the list knows, then every improvement as it is told. */
function SeenSoFar({ now, goal, spark }: { now: number | null; goal: Objective["goal"] | undefined; spark: (number | null)[] }) {
    const [more, setMore] = useState<number[]>([]);
    const last = useRef<number | null>(null);
    useEffect(() => {
        if (now === null || (last.current !== null && (goal === "maximize" ? now <= last.current : now >= last.current))) return;
        if (last.current !== null) setMore((all) => [...all.slice(-59), now]);
        last.current = now;
    }, [now]);
    useEffect(() => setMore([]), [spark]);
    return <Spark values={[...spark, ...more]} label={`${extremeOf(goal)} value so far`} width={150} height={34} />;
}

const whyBest = "As `hone best` has it: a single run may be lucky, so where the search has a model of the results, the trial that it takes for the best is told.";

function Best({ best, objective, rows }: { best: { trial: string; value: number } | null; objective: Objective | null; rows: BestRow[] }) {
    const row = rows.find((r) => r.trial === best?.trial);
    const words = row ? bestWords(row) : "";
    return (
        <Fact label={objective ? `Best ${objective.metric} (${objective.goal})` : "Best"}>
            <span class="best" aria-live="polite" data-best title={whyBest}>
                {best ? <a href={format(["t", best.trial])}>{formatNumber(best.value, 5)}</a> : "–"}
            </span>
            {best && <small title={whyBest}> trial {best.trial}{words && <span data-model> ({words})</span>}</small>}
        </Fact>
    );
}

/* Several objectives have no best trial, but those that no other one beats in all of them. */
function Front({ x, objectives, front, completed }: { x: Experiment; objectives: Objective[]; front: BestRow[]; completed: number }) {
    const size = x.front ?? front.length;
    return (
        <>
            <Fact label="Pareto front">
                <span class="best" data-front>{size > 0 ? <a href={format(["e", x.experiment, "analysis"])}>{formatPlural(size, "trial")}</a> : "–"}</span>
                {size > 0 && <small> of {formatCount(completed)} completed, beaten by no other in all objectives</small>}
            </Fact>
            {objectives.map((o, i) => {
                const row = bestIn(front, i, o.goal);
                return (
                    <Fact key={o.metric} label={`Best ${o.metric} (${o.goal})`}>
                        <span class="best" data-best={o.metric}>{row ? <a href={format(["t", row.trial])}>{formatNumber(row.values[i], 5)}</a> : "–"}</span>
                        {row && <small> trial {row.trial}</small>}
                    </Fact>
                );
            })}
        </>
    );
}

const wordsMost = 12;

function Words({ params, trial }: { params: Record<string, unknown>; trial: string }) {
    const all = Object.entries(params);
    return (
        <span class="params">
            {all.slice(0, wordsMost).map(([name, value]) => (
                <span key={name}>
                    <span class="dim">{name}</span> {formatValue(value)}
                </span>
            ))}
            {all.length > wordsMost && <a href={format(["t", trial])}>{all.length - wordsMost} more</a>}
        </span>
    );
}

function Active({ trial }: { trial: LiveTrial }) {
    const left = trial.paused ? null : (trial.remaining_s ?? (trial.left_us === null ? null : trial.left_us / 1e6));
    return (
        <li class="active">
            <a href={format(["t", trial.trial])}>{trial.trial}</a>
            <Spark values={trial.curve} label={`curve of trial ${trial.trial}`} width={72} height={20} />
            <b>{formatNumber(trial.value)}</b>
            <span class="dim active-words" title={trial.words}>
                {trial.step !== null && `step ${formatCount(trial.step)} · `}
                {trial.stopping ? "stopping" : trial.paused ? "paused" : left === null ? formatSeconds(trial.elapsed_us / 1e6) : `${formatSeconds(left)} left`}
                {trial.tuning ? ` · ${trial.tuning}` : ""}
            </span>
        </li>
    );
}

function RunningNow({ live }: { live: Live }) {
    const [all, setAll] = useState(false);
    const shown = all ? live.active : live.active.slice(0, 8);
    if (live.active.length === 0) return null;
    return (
        <section class="running" aria-label="Running now">
            <ul>
                {shown.map((t) => (
                    <Active key={t.trial} trial={t} />
                ))}
            </ul>
            {live.active.length > 8 && (
                <Button kind="quiet" onClick={() => setAll(!all)}>
                    {all ? "Fewer" : `${live.active.length - 8} more`}
                </Button>
            )}
        </section>
    );
}

function Title({ x, changed }: { x: Experiment; changed: () => void }) {
    const isLeaving = useStore(leaving).has(x.experiment), refused = useRefusal(x), off = refused !== null;
    return (
        <div class="title">
            <Button kind="quiet" icon="star" filled={x.starred} pressed={x.starred} label={refused ?? (x.starred ? "Take the star away" : "Star")} disabled={off} onClick={() => void star(x, changed)} />
            <h1>
                <span class="dim">{x.experiment}</span> {x.name}
            </h1>
            <StateChip state={x.state} reason={x.reason} paused={x.paused} />
            {isLeaving && <span class="tag">will be deleted</span>}
            {x.tags.map((t) => (
                <span key={t} class="tag">
                    {t}
                </span>
            ))}
            <Button kind="quiet" icon="tag" label="Tags" disabled={off} onClick={() => void editTags(x, changed)} />
            <Button kind="quiet" icon="note" label={x.note ? "Change the note" : "Write a note"} disabled={off} onClick={() => void editNote(x, changed)} />
            <span class="grow" />
            <Menu button={{ icon: "more", children: "Actions", label: undefined }} items={() => actionsOf(x, changed)} />
        </div>
    );
}

export function Header({ experiment: x, live, spark, changed }: { experiment: Experiment; live: Live | null; spark: (number | null)[]; changed: () => void }) {
    const counts = live?.trials ?? x.trials;
    const ended = counts.completed + counts.stopped + counts.failed;
    const planned = live?.trials.total ?? x.budget ?? 0;
    const total = planned >= ended ? planned : null; /* what others tell has no plan */
    const best = live?.best ?? x.best;
    const objective = objectiveOf(x);
    const objectives = objectivesOf(x);
    const rows = useBest(x, counts, best?.trial ?? null);
    const seen = extremeOf(objective?.goal) === "lowest" ? "Lowest" : "Highest";
    const eta = live?.eta_us != null && !x.paused && counts.running > 0 ? live.eta_us / 1e6 : null; /* who stands still has no time left */
    const seconds = live ? live.elapsed_us / 1e6 : x.seconds;
    return (
        <header class="experiment-head">
            <Title x={x} changed={changed} />
            {x.error && <p class="head-error">{x.error}</p>}
            {x.note && <p class="head-note">{x.note}</p>}
            <dl class="facts">
                {objectives.length > 1 ? <Front x={x} objectives={objectives} front={rows} completed={counts.completed} /> : (objective || best) && <Best best={best} objective={objective} rows={rows} />}
                {(objective || best) && (
                    <Fact label={objectives.length > 1 ? `${seen} ${objective?.metric} so far` : `${seen} value so far`}>
                        <SeenSoFar now={live?.best?.value ?? x.best?.value ?? null} goal={objective?.goal} spark={spark} />
                    </Fact>
                )}
                <Fact label="Trials">
                    <span data-ended>{formatCount(ended)}</span>
                    {total ? ` of ${formatCount(total)}` : ""}
                    {counts.running > 0 && <small> · {formatCount(counts.running)} running</small>}
                    {counts.failed > 0 && <small class="bad-count"> · {formatCount(counts.failed)} failed</small>}
                    <Progress counts={counts} total={total} />
                </Fact>
                <Fact label={eta !== null ? "Time left" : "Time"}>
                    {formatSeconds(eta ?? seconds)}
                    <small>{eta !== null ? ` after ${formatSeconds(seconds)}` : <> · <Ago time={x.started ?? x.created} /></>}</small>
                </Fact>
                {x.owner && <Fact label="Owner">{x.owner}</Fact>}
                {best && objectives.length < 2 && Object.keys(best.params).length > 0 && (
                    <Fact label="Best parameters">
                        <Words params={best.params} trial={best.trial} />
                    </Fact>
                )}
            </dl>
            {live && <RunningNow live={live} />}
        </header>
    );
}
