/* SPDX-License-Identifier: MIT */
/* page.tsx — the sections of a report, in the order in which one asks. */
import { useMemo } from "preact/hooks";
import "../analysis/analysis.css";
import { axisFor, type Results, useShares, varies } from "../analysis/data.ts";
import { axisOf } from "../analysis/axis.ts";
import { ParetoCard } from "../analysis/cards.tsx";
import { Card } from "../analysis/figure.tsx";
import { type Importance, ImportancePicture } from "../analysis/importance.tsx";
import { ParallelCard } from "../analysis/parallel_view.tsx";
import { goodColour, Scatter } from "../analysis/scatter.tsx";
import { LineView } from "../chart/line_view.tsx";
import { extremeOf } from "../experiment/best.ts";
import { formatCount, formatDate, formatNumber, formatPlural, formatSeconds, formatValue } from "../format.ts";
import { useStore } from "../store.ts";
import { choice, lineColour, theme } from "../theme.ts";
import { Facts } from "./facts.tsx";
import "../trial/trial.css";
import { Button } from "../ui/button.tsx";
import { Progress, StateChip } from "../ui/parts.tsx";
import type { Counts } from "../types.ts";
import { historyOf, linesOf, resultsOf, topRows } from "./model.ts";
import "./report.css";
import type { Report } from "./shape.ts";

const TOP = 20;
const words = (x: unknown): string => (typeof x === "string" ? x : "");
const num = (x: unknown): number | null => (typeof x === "number" && Number.isFinite(x) ? x : null);

const several = (report: Report) => (report.objectives?.length ?? 0) > 1;

/* What the colours of points and lines mean. */
function ColourKey({ metric }: { metric: string }) {
    useStore(theme);
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => goodColour(share)).join(", ");
    return <p class="report-key">worse {metric} <i style={{ background: `linear-gradient(to right, ${stops})` }} /> better</p>;
}

function Head({ report }: { report: Report }) {
    const e = report.experiment, best = several(report) ? null : (e.best as { trial?: string; value?: number; params?: Record<string, unknown> } | null);
    const shade = useStore(theme);
    const counts = e.trials as Counts | undefined;
    const description = words((e.spec as { description?: unknown } | null)?.description);
    return (
        <header class="report-head">
            <div class="row">
                <h1><span class="dim">{formatValue(e.experiment)}</span> {words(e.name)}</h1>
                <StateChip state={words(e.state)} reason={words(e.reason)} />
                <span class="grow" />
                <Button kind="quiet" icon={shade === "dark" ? "sun" : "moon"} label={shade === "dark" ? "Light" : "Dark"} onClick={() => choice.set(shade === "dark" ? "light" : "dark")} />
            </div>
            {description && <p class="report-note">{description}</p>}
            {words(e.note) && <p class="report-note"><span class="dim">Note:</span> {words(e.note)}</p>}
            <dl class="trial-figures">
                {best && <div><dt>Best {report.objective?.metric ?? "value"}{report.objective && ` (${report.objective.goal})`}</dt><dd class="best-value">{formatNumber(num(best.value), 6)}</dd></div>}
                {best && <div><dt>Trial</dt><dd>{best.trial}</dd></div>}
                {several(report) && <div><dt>On the front</dt><dd class="best-value">{formatCount(report.front?.length ?? 0)}</dd></div>}
                <div><dt>Trials</dt><dd>{formatCount(report.total)}{counts && counts.failed > 0 && <small class="bad"> {counts.failed} failed</small>}</dd></div>
                <div><dt>Time</dt><dd>{formatSeconds(num(e.seconds))}</dd></div>
                <div><dt>Started</dt><dd>{formatDate(words(e.started) || words(e.created))}</dd></div>
                {num(e.energy_j) !== null && <div><dt>Energy, {words(e.energy) || "estimated"}</dt><dd>{formatNumber(num(e.energy_j), 3)} J</dd></div>}
            </dl>
            {counts && <Progress counts={counts} total={report.total} />}
            {report.best_words && (
                <p class="report-best">
                    {report.best_words}.{report.by_model && ` It is named by the mean that the search expects of its setting${report.best_words.includes("±") ? " (± is its 95 % interval)" : ""}, not by the luckiest value.`}
                </p>
            )}
            {best?.params && <p class="report-params">{Object.entries(best.params).map(([name, value]) => <span key={name}><span class="dim">{name}</span> <b>{formatValue(value)}</b></span>)}</p>}
        </header>
    );
}

function History({ report, results }: { report: Report; results: Results | null }) {
    const chart = useMemo(() => historyOf(report), [report]);
    const x = useMemo(() => axisOf("trial", chart.px), [chart]), y = useMemo(() => axisOf(report.objective?.metric ?? "value", [...chart.py, ...chart.best]), [chart]);
    const path = useMemo(() => ({ x: chart.px, y: chart.best, step: true }), [chart]);
    const seen = extremeOf(report.objective?.goal);
    const improved = [...chart.px.keys()].filter((i) => !Number.isNaN(chart.best[i]!) && chart.best[i] !== chart.best[i - 1]);
    return (
        <Card title={`${seen[0]!.toUpperCase()}${seen.slice(1)} value so far`} table={() => ({ head: ["trial", `${seen} so far`], rows: improved.map((i) => [chart.px[i]!, formatNumber(chart.best[i]!, 6)]) })}>
            <Scatter title={`Value of each trial, and the ${seen} so far`} x={x} y={y} px={chart.px} py={chart.py} trials={chart.px} experiment={results?.experiment ?? 0} path={path} height={280} />
        </Card>
    );
}

function Top({ report, results }: { report: Report; results: Results }) {
    const rows = topRows(results, TOP);
    const others = results.objectives.slice(1).map((o) => results.fields.find((f) => f.name === o.field)).filter((f) => f !== undefined);
    const params = [...others, ...results.fields.filter((f) => f.kind === "param" && varies(f)).slice(0, 12)];
    const named = (report.experiment.best as { trial?: string } | null)?.trial, front = new Set(report.front);
    const mark = (row: number) => (front.has(results.numbers[row]!) ? " on the front" : `${results.experiment}.${results.numbers[row]}` === named ? " named best" : "");
    return (
        <section class="card figure wide scroll" tabIndex={0} role="region" aria-label="Best trials">
            <h2>Best trials</h2>
            <table class="plain">
                <thead><tr><th scope="col">Trial</th><th scope="col" class="num">{report.objective?.metric ?? "value"}</th>{params.map((f) => <th key={f.name} scope="col" class="num">{f.label}</th>)}</tr></thead>
                <tbody>
                    {rows.map((row) => (
                        <tr key={row}>
                            <th scope="row">{results.experiment}.{results.numbers[row]}<small class="dim">{mark(row)}</small></th><td class="num">{formatNumber(results.objective.values[row]!, 6)}</td>
                            {params.map((f) => <td key={f.name} class="num">{Number.isNaN(f.values[row]!) ? "–" : f.names ? f.names[f.values[row]!] : formatNumber(f.values[row]!)}</td>)}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Curves({ report }: { report: Report }) {
    const shade = useStore(theme);
    const charts = useMemo(() => report.curves.map((c) => ({ metric: c.metric, lines: linesOf(c.lines, lineColour) })), [report, shade]);
    if (charts.length === 0) return null;
    return (
        <section class="wide" aria-label="Curves of the best trials">
            <h2>Curves of the best trials</h2>
            <p class="report-key">{charts[0]!.lines.map((line) => <span key={line.id}><i class="line" style={{ background: line.colour }} /> {line.label}</span>)}</p>
            <div class="curve-grid">
                {charts.map((c) => <section key={c.metric} class="card curve" aria-label={c.metric}><h3>{c.metric}</h3><LineView title={c.metric} lines={c.lines} xKind="number" sync="report" height={210} /></section>)}
            </div>
        </section>
    );
}

function Slices({ results }: { results: Results }) {
    const y = useMemo(() => axisFor(results.objective), [results]);
    const shares = useShares(results.objective, results.goal);
    const fields = results.fields.filter((f) => f.kind === "param" && varies(f)).slice(0, 6);
    if (fields.length === 0) return null;
    return (
        <Card title="Slices" wide note="Each trial over one parameter; the best stand out.">
            <ColourKey metric={results.objective.label} />
            <div class="slice-grid">{fields.map((f) => <Scatter key={f.name} title={`${results.objective.label} over ${f.label}`} x={axisFor(f)} y={y} px={f.values} py={results.objective.values} trials={results.numbers} experiment={results.experiment} shares={shares} height={220} />)}</div>
        </Card>
    );
}

export function ReportPage({ report }: { report: Report }) {
    const results = useMemo(() => resultsOf(report), [report]);
    const e = report.experiment;
    return (
        <main class="report">
            <Head report={report} />
            {words(e.error) && <p class="bad" role="alert">{words(e.error)}</p>}
            <div class="figures">
                <History report={report} results={results} />
                <Card title="Importance">{report.importance ? <ImportancePicture told={report.importance as unknown as Importance} /> : <p class="dim">{report.importance_why ?? "Not known."}</p>}</Card>
                {results && <Top report={report} results={results} />}
                {results && several(report) && <ParetoCard results={results} />}
                {results && results.rows > 1 && <ParallelCard results={results} />}
                <Curves report={report} />
                {results && results.rows > 1 && <Slices results={results} />}
                <Facts title="What was asked" object={e.spec} />
                <Facts title="Environment" object={e.environment} />
            </div>
            <footer class="dim">
                {report.rows.length < report.total && `${formatPlural(report.rows.length, "trial")} of ${formatCount(report.total)}, the best ones. `}
                Made {formatDate(report.made)} by hone {report.version}.
            </footer>
        </main>
    );
}
