/* SPDX-License-Identifier: MIT */
/*
 * cards.tsx — charts of one, two and all trials: history with the lowest or highest so far, slices over each
 * parameter, a contour over two, the front of two metrics.
 */
import { useMemo } from "preact/hooks";
import { choice, flag, text, useQuery } from "../address.ts";
import { extremeOf } from "../experiment/best.ts";
import { formatCount, formatNumber, formatPlural } from "../format.ts";
import { Check, Select } from "../ui/field.tsx";
import { Empty } from "../ui/parts.tsx";
import { type Axis, axisOf } from "./axis.ts";
import { ColourKey, endsOf } from "./colour_key.tsx";
import { contourOf } from "./contour.ts";
import { axisFor, type Field, goalOf, type Results, useShares, varies } from "./data.ts";
import { Card, type TableData } from "./figure.tsx";
import { TrialLink } from "./links.tsx";
import { bestSoFar, paretoFront } from "./pareto.ts";
import { bestTable } from "./parallel_view.tsx";
import { Scatter } from "./scatter.tsx";

const allRows = (results: Results) => Int32Array.from({ length: results.rows }, (_, i) => i);
const link = (results: Results, row: number) => {
    const name = `${results.experiment}.${results.numbers[row]}`;
    return <TrialLink name={name} />;
};

/* ---- history ---- */

/* The path is of values that were seen; the trial that is told as the best may be another. */
export function HistoryCard({ results, best }: { results: Results; best?: { trial: string; value: number } | null }) {
    const extreme = extremeOf(results.goal > 0 ? "maximize" : "minimize"), title = `${extreme === "lowest" ? "Lowest" : "Highest"} value so far`;
    const [by, setBy] = useQuery("by", choice(["number", "time"] as const, "number"));
    const [log, setLog] = useQuery("historylog", flag());
    const started = results.fields.find((f) => f.name === "started");
    const seconds = results.fields.find((f) => f.name === "seconds");
    const shares = useShares(results.objective, results.goal);
    const chart = useMemo(() => {
        const ended = started && seconds ? started.values.map((v, i) => v + (seconds.values[i] || 0)) : results.numbers;
        const first = started ? started.values.reduce((least, v) => (v < least ? v : least), Infinity) : 0;
        const x = by === "time" ? ended.map((v) => (v - first) / 60) : results.numbers;
        if (by === "number") return { px: x, py: results.objective.values, order: x.map((_, i) => i), best: bestSoFar(results.objective.values, results.goal) };
        const order = new Float64Array(x.keys()).filter((i) => !Number.isNaN(x[i]!)).sort((a, b) => x[a]! - x[b]!);
        const px = order.map((i) => x[i]!), py = order.map((i) => results.objective.values[i]!);
        return { px, py, order, best: bestSoFar(py, results.goal) };
    }, [results, by]);
    const x = useMemo(() => axisOf(by === "time" ? "minutes since the start" : "trial", chart.px), [chart]);
    const y = useMemo(() => axisOf(results.objective.label, chart.py, { log }), [chart, log]);
    const improved = useMemo(() => [...chart.order.filter((_, i) => chart.best[i] !== chart.best[i - 1] && !Number.isNaN(chart.best[i]!))], [chart]);
    const last = improved.length ? `${results.experiment}.${results.numbers[improved[improved.length - 1]!]}` : null;
    const path = useMemo(() => ({ x: chart.px, y: chart.best, step: true }), [chart]);
    const byOrder = useMemo(() => chart.order.map((i) => shares[i]!), [chart, shares]);
    const trials = useMemo(() => chart.order.map((i) => results.numbers[i]!), [chart]);
    const table = (): TableData => ({
        head: ["trial", `${extreme} so far`], rows: improved.map((row) => [link(results, row), formatNumber(results.objective.values[row]!, 6)]),
    });
    return (
        <Card title={title} table={table} controls={<><Check label="Log" value={log} onChange={setLog} /><Select label="Over" value={by} options={[{ value: "number", label: "trials" }, { value: "time", label: "time" }]} onChange={setBy} /></>}
            note={last ? `${formatPlural(improved.length, "improvement")}; the last one by trial ${last}.${best && best.trial !== last ? ` The best trial is ${best.trial} (${formatNumber(best.value)}): the search's model does not trust a single value.` : ""}` : null}>
            <Scatter title={`${results.objective.label} of each trial, and the ${extreme} so far`} x={x} y={y} px={chart.px} py={chart.py} trials={trials} experiment={results.experiment}
                shares={byOrder} path={path} height={280} />
        </Card>
    );
}

/* ---- slices ---- */

function Slice({ results, field, y, shares }: { results: Results; field: Field; y: Axis; shares: Float64Array }) {
    const x = useMemo(() => axisFor(field), [field]);
    /* Names lie side by side: points of one name are spread a little, by trial. */
    const px = useMemo(() => (field.names ? field.values.map((v, i) => v + (((i * 7919) % 101) / 101 - 0.5) * 0.5) : field.values), [field]);
    return <Scatter title={`${results.objective.label} over ${field.label}`} x={x} y={y} px={px} py={results.objective.values} trials={results.numbers} experiment={results.experiment} shares={shares} height={220} />;
}

const SLICES = 6;

export function SliceCard({ results }: { results: Results }) {
    const [all, setAll] = useQuery("slices", flag());
    const [log, setLog] = useQuery("slicelog", flag());
    const fields = results.fields.filter((f) => f.kind === "param" && varies(f));
    const order = useMemo(() => Float64Array.from(results.numbers, (_, i) => (results.rows > 1 ? i / (results.rows - 1) : 1)), [results]);
    const y = useMemo(() => axisFor(results.objective, log), [results, log]);
    const shares = useShares(results.objective, results.goal);
    return (
        <Card title="Slices" wide note="Each trial over one parameter; later ones stand out." controls={<>
            <Check label="Log" value={log} onChange={setLog} />
            {fields.length > SLICES && <Check label={`All ${fields.length}`} value={all} onChange={setAll} />}
        </>} table={() => bestTable(results, [...fields, results.objective], allRows(results), shares)}>
            {fields.length === 0 ? <Empty title="No parameter varies" /> : (
                <>
                    <div class="slice-grid">{(all ? fields : fields.slice(0, SLICES)).map((f) => <Slice key={f.name} results={results} field={f} y={y} shares={order} />)}</div>
                    <ColourKey label="trial" values={results.rows > 1 ? [results.numbers[0]!, results.numbers[results.rows - 1]!] : [results.numbers[0]!]} />
                </>
            )}
        </Card>
    );
}

/* ---- contour ---- */

function ContourChart({ results, a, b }: { results: Results; a: Field; b: Field }) {
    const chart = useMemo(() => {
        const x = axisFor(a), y = axisFor(b);
        return { x, y, cells: contourOf(x, y, a.values, b.values, results.objective.values, results.goal) };
    }, [results, a, b]);
    if (!chart.cells) return <Empty title="No trial has both" />;
    return (
        <>
            <Scatter title={`${results.objective.label} over ${a.label} and ${b.label}`} {...chart} px={a.values} py={b.values} trials={results.numbers} experiment={results.experiment} shares={null} height={300} />
            <ColourKey label={results.objective.label} values={endsOf(chart.cells.worst, chart.cells.best)} />
        </>
    );
}

export function ContourCard({ results }: { results: Results }) {
    const fields = results.fields.filter((f) => f.kind === "param" && varies(f));
    const [first, setFirst] = useQuery("cx", text());
    const [second, setSecond] = useQuery("cy", text());
    const a = fields.find((f) => f.label === first) ?? fields[0], b = fields.find((f) => f.label === second && f !== a) ?? fields.find((f) => f !== a);
    const shares = useShares(results.objective, results.goal);
    const options = fields.map((f) => f.label);
    if (!a || !b) return <Card title="Contour"><Empty title="Two parameters must vary" /></Card>;
    return (
        <Card title="Contour" table={() => bestTable(results, [a, b, results.objective], allRows(results), shares)} note={`${results.objective.label} guessed between the trials from those nearby; the ${results.goal > 0 ? "largest" : "smallest"} stands out.`}
            controls={<><Select label="x" value={a.label} options={options} onChange={setFirst} /><Select label="y" value={b.label} options={options.filter((o) => o !== a.label)} onChange={setSecond} /></>}>
            <ContourChart results={results} a={a} b={b} />
        </Card>
    );
}

/* ---- two metrics ---- */

export function ParetoCard({ results }: { results: Results }) {
    const metrics = results.fields.filter((f) => f.kind === "metric" || f.name === "seconds" || (f.name === "joules" && varies(f)));
    const given = results.objectives.map((o) => o.field);
    const [first, setFirst] = useQuery("px", text(given[0] ?? metrics[0]?.name ?? ""));
    const [second, setSecond] = useQuery("py", text(given[1] ?? "seconds"));
    const x = metrics.find((f) => f.name === first) ?? metrics[0], y = metrics.find((f) => f.name === second && f !== x) ?? metrics.find((f) => f !== x);
    const [gx, setGx] = useQuery("gx", choice(["min", "max"] as const, goalOf(results, x) > 0 ? "max" : "min"));
    const [gy, setGy] = useQuery("gy", choice(["min", "max"] as const, goalOf(results, y) > 0 ? "max" : "min"));
    const front = useMemo(() => (x && y ? paretoFront(x.values, y.values, [gx === "max" ? 1 : -1, gy === "max" ? 1 : -1]) : null), [x, y, gx, gy]);
    const path = useMemo(() => (front && x && y ? { x: front.rows.map((r) => x.values[r]!), y: front.rows.map((r) => y.values[r]!) } : null), [front]);
    const axes = useMemo(() => (x && y ? [axisFor(x, false), axisFor(y, false)] as const : null), [x, y]);
    if (!x || !y || !front || !axes) return <Card title="Pareto front"><Empty title="Two metrics are needed" /></Card>;
    const options = metrics.map((f) => ({ value: f.name, label: f.label }));
    const goals = [{ value: "min", label: "min" }, { value: "max", label: "max" }] as const;
    const table = (): TableData => ({ head: ["trial", x.label, y.label], rows: front.rows.slice(0, 200).map((r) => [link(results, r), formatNumber(x.values[r]!, 6), formatNumber(y.values[r]!, 6)]), total: front.rows.length });
    return (
        <Card title="Pareto front" table={table}
            note={`Beaten by none in both: ${formatCount(front.rows.length)} of ${formatPlural(results.rows, "trial")}. Hypervolume ${(100 * front.hypervolume).toFixed(1)} % of the box between the worst and the best that were seen.`}
            controls={<>
                <Select label="x" value={x.name} options={options} onChange={setFirst} /><Select label="goal of x" hideLabel value={gx} options={goals} onChange={setGx} />
                <Select label="y" value={y.name} options={options.filter((o) => o.value !== x.name)} onChange={setSecond} /><Select label="goal of y" hideLabel value={gy} options={goals} onChange={setGy} />
            </>}>
            <Scatter title={`${y.label} against ${x.label} with the Pareto front`} x={axes[0]} y={axes[1]} px={x.values} py={y.values} trials={results.numbers} experiment={results.experiment}
                path={path} loud={front.rows} height={300} />
        </Card>
    );
}
