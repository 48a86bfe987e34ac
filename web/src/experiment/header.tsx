/* SPDX-License-Identifier: MIT */
/*
 * header.tsx — what one wants to know first: how far, how good, how long yet; and what runs now.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { format } from "../address.ts";
import { actionsOf, editNote, editTags, leaving, star } from "../experiments/actions.tsx";
import { formatCount, formatNumber, formatSeconds, formatValue } from "../format.ts";
import { useStore } from "../store.ts";
import type { Experiment, Live, LiveTrial, Objective } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, Progress, Spark, StateChip } from "../ui/parts.tsx";

/* The first objective, from the row or the spec. */
export function objectiveOf(x: Experiment): Objective | null {
    if (x.objective) return x.objective;
    const o = x.spec?.objective;
    const one = Array.isArray(o) ? o[0] : o;
    return one?.metric ? one : null;
}

function Fact({ label, children }: { label: string; children: preact.ComponentChildren }) {
    return (
        <div class="fact">
            <dt>{label}</dt>
            <dd>{children}</dd>
        </div>
    );
}

/* Best so far over the trials: what the list knows, then every improvement as it is told. */
function BestSoFar({ experiment, live, spark }: { experiment: Experiment; live: Live | null; spark: (number | null)[] }) {
    const [more, setMore] = useState<number[]>([]);
    const best = live?.best?.value ?? experiment.best?.value ?? null;
    const last = useRef<number | null>(null);
    useEffect(() => {
        if (best === null || best === last.current) return;
        if (last.current !== null) setMore((all) => [...all.slice(-59), best]);
        last.current = best;
    }, [best]);
    useEffect(() => setMore([]), [spark]);
    return <Spark values={[...spark, ...more]} label="best so far" width={150} height={34} />;
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
    const left = trial.remaining_s ?? (trial.left_us === null ? null : trial.left_us / 1e6);
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
    const isLeaving = useStore(leaving).has(x.experiment);
    return (
        <div class="title">
            <Button kind="quiet" icon="star" filled={x.starred} pressed={x.starred} label={x.starred ? "Take the star away" : "Star"} onClick={() => void star(x, changed)} />
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
            <Button kind="quiet" icon="tag" label="Tags" onClick={() => void editTags(x, changed)} />
            <Button kind="quiet" icon="note" label={x.note ? "Change the note" : "Write a note"} onClick={() => void editNote(x, changed)} />
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
    const seconds = live ? live.elapsed_us / 1e6 : x.seconds;
    return (
        <header class="experiment-head">
            <Title x={x} changed={changed} />
            {x.error && <p class="head-error">{x.error}</p>}
            {x.note && <p class="head-note">{x.note}</p>}
            <dl class="facts">
                {(objective || best) && (
                    <Fact label={objective ? `Best ${objective.metric} (${objective.goal})` : "Best"}>
                        <span class="best" aria-live="polite" data-best>
                            {best ? <a href={format(["t", best.trial])}>{formatNumber(best.value, 5)}</a> : "–"}
                        </span>
                        {best && <small> trial {best.trial}</small>}
                    </Fact>
                )}
                {(objective || best) && (
                    <Fact label="Best so far">
                        <BestSoFar experiment={x} live={live} spark={spark} />
                    </Fact>
                )}
                <Fact label="Trials">
                    <span data-ended>{formatCount(ended)}</span>
                    {total ? ` of ${formatCount(total)}` : ""}
                    {counts.running > 0 && <small> · {formatCount(counts.running)} running</small>}
                    {counts.failed > 0 && <small class="bad-count"> · {formatCount(counts.failed)} failed</small>}
                    <Progress counts={counts} total={total} />
                </Fact>
                <Fact label={live?.eta_us != null ? "Time left" : "Time"}>
                    {live?.eta_us != null ? formatSeconds(live.eta_us / 1e6) : formatSeconds(seconds)}
                    <small>{live?.eta_us != null ? ` after ${formatSeconds(seconds)}` : <> · <Ago time={x.started ?? x.created} /></>}</small>
                </Fact>
                {x.owner && <Fact label="Owner">{x.owner}</Fact>}
                {best && (
                    <Fact label="Best parameters">
                        <Words params={best.params} trial={best.trial} />
                    </Fact>
                )}
            </dl>
            {live && <RunningNow live={live} />}
        </header>
    );
}
