/* SPDX-License-Identifier: MIT */
/*
 * system.tsx — what the machine measured of a trial, and the machine's own figures over the same
 * time, as charts that zoom and point together; live while it runs. And the same of several runs.
 */
import { useMemo } from "preact/hooks";
import { choice, maybe, text, useQuery } from "../address.ts";
import { figures as loadFigures } from "../api.ts";
import type { ChartLine } from "../chart/line.ts";
import { useSwitches } from "../chart/line_switch.tsx";
import { LineView } from "../chart/line_view.tsx";
import { SavePicture } from "../chart/save_picture.tsx";
import { formatNumber } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useStore } from "../store.ts";
import { usePoints } from "../stream.ts";
import { lineColour, theme } from "../theme.ts";
import type { Figure, Trial } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";
import { Empty, Failure, Loaded } from "../ui/parts.tsx";
import type { CurveTrial } from "./curves.tsx";
import { trialNumber } from "./event_words.ts";
import { figureCharts, scaleOf, singleCharts, type FigureChart } from "./figures.ts";
import { useSeries, type SeriesData } from "./series_data.ts";
import { lineKey } from "./tails.ts";

type Range = [number, number];
const LEGEND_MAX = 8; /* lines; 64 processors need no names */

function useZoom(): [Range | null, (range: Range | null) => void] {
    const [from, setFrom] = useQuery("from", maybe);
    const [to, setTo] = useQuery("to", maybe);
    const set = (range: Range | null) => {
        setFrom(range ? Number(range[0].toPrecision(12)) : null);
        setTo(range ? Number(range[1].toPrecision(12)) : null);
    };
    return [from !== null && to !== null && from < to ? [from, to] : null, set];
}

const largest = (lines: readonly ChartLine[]) => lines.reduce((most, line) => line.y.reduce((a, y) => (Math.abs(y) > a ? Math.abs(y) : a), most), 0);
const last = (y: Float64Array) => y.findLast((v) => Number.isFinite(v)) ?? null;

interface ChartProps {
    chart: FigureChart;
    lines: ChartLine[]; /* as they were measured */
    legend: boolean;
    kind: "seconds" | "clock";
    view: Range | null;
    sync: string;
    onZoom: (range: Range | null) => void;
}

function Chart({ chart, lines, legend, kind, view, sync, onZoom }: ChartProps) {
    const { by, word } = scaleOf(chart.unit, largest(lines));
    const scaled = useMemo(() => (by === 1 ? lines : lines.map((line) => ({ ...line, y: line.y.map((y) => y / by) }))), [lines, by]);
    const Heading = legend ? "h3" : "h2"; /* below that of its group, if it is of one */
    const title = word ? `${chart.title} (${word})` : chart.title;
    return (
        <div class="card curve figure-chart" role="group" aria-label={title}>
            <header><Heading title={chart.lines.map((line) => line.name).join("\n")}>{chart.title}{word && <small> {word}</small>}</Heading><SavePicture title={title} lines={scaled} /></header>
            <LineView title={title} lines={scaled} height={170} xKind={kind} view={view} sync={sync} onZoom={onZoom} />
            {legend && scaled.length <= LEGEND_MAX && (
                <ul class="figure-legend">
                    {scaled.map((line) => <li key={line.id}><i style={{ background: line.colour }} />{line.label} <b>{formatNumber(last(line.y), 3)}</b></li>)}
                </ul>
            )}
        </div>
    );
}

function Bar({ children, zoom, setZoom }: { children?: preact.ComponentChildren; zoom: Range | null; setZoom: (range: Range | null) => void }) {
    return <div class="toolbar">{children}{zoom && <Button icon="zoom" onClick={() => setZoom(null)}>Zoom out</Button>}</div>;
}

/* A curve goes on to its next value on either side of what was asked for: what lies outside is not of the trial. */
export function within(line: { x: Float64Array; y: Float64Array }, from: number, to: number): { x: Float64Array; y: Float64Array } {
    const fits = (_: number, i: number) => line.x[i]! >= from && line.x[i]! <= to;
    return { x: line.x.filter(fits), y: line.y.filter(fits) };
}

const lineOf = (data: SeriesData, of: string, name: string) => data.lines.get(lineKey(of, name));

/* A figure is measured over time alone; what is shown begins with the trial, unless by the clock. */
function Charts({ trial, all }: { trial: Trial; all: Figure[] }) {
    const [x, setX] = useQuery("x", choice(["relative", "time"] as const, "relative"));
    const [zoom, setZoom] = useZoom();
    const shade = useStore(theme);
    const charts = useMemo(() => figureCharts(all), [all]);
    const start = Date.parse(trial.started ?? "") / 1000, end = trial.ended ? Date.parse(trial.ended) / 1000 : null;
    const zero = x === "time" ? 0 : start;
    const view: [number, number | null] = zoom ? [zoom[0] + zero, zoom[1] + zero] : [start - 1, end === null ? null : end + 1];
    const data = useSeries({ lines: all.map((f) => ({ trial: f.of, metric: f.name })), x: "time", smooth: 0, view, width: 600 });
    const drawn = useMemo(() => charts.map((chart) => chart.lines.flatMap((figure, i): ChartLine[] => {
        const line = lineOf(data, figure.of, figure.name);
        const part = line && (chart.machine && !zoom ? within(line, start, end ?? Infinity) : line);
        return part?.x.length ? [{ id: figure.name, label: figure.label, colour: lineColour(i), x: part.x.map((at) => at - zero), y: part.y, marks: new Float64Array() }] : [];
    })), [data.lines, charts, zero, end, zoom === null, shade]);
    const change = (next: typeof x) => {
        setZoom(null); /* the range was of the other axis */
        setX(next);
    };
    if (data.error && data.lines.size === 0) return <Failure error={data.error} retry={data.reload} />;
    const any = (i: number) => zoom !== null || drawn[i]!.length > 0 || data.lines.size === 0; /* the machine may have been looked at before and after, but not then */
    if (!charts.some((_, i) => any(i))) return <NoFigures />;
    const group = (machine: boolean) => charts.map((chart, i) => chart.machine === machine && any(i) && (
        <Chart key={`${machine} ${chart.title}`} chart={chart} lines={drawn[i]!} legend kind={x === "time" ? "clock" : "seconds"} view={zoom} sync={`system ${trial.trial}`} onZoom={setZoom} />
    ));
    return (
        <div class="curves">
            <Bar zoom={zoom} setZoom={setZoom}>
                <Select label="x axis" value={x} options={[{ value: "relative", label: "time since start" }, { value: "time", label: "clock" }]} onChange={change} />
            </Bar>
            {[false, true].map((machine) => charts.some((chart, i) => chart.machine === machine && any(i)) && (
                <section key={String(machine)} class="figure-group" aria-label={machine ? "The machine" : "This trial"}>
                    <h2>{machine ? "The machine" : "This trial"} <small class="dim">{machine ? "with all that ran on it" : "its processes"}</small></h2>
                    <div class="curve-grid">{group(machine)}</div>
                </section>
            ))}
        </div>
    );
}

function NoFigures() {
    return <Empty title="No figures of the machine"><p>They are taken once a second while a trial runs, unless the spec says <code>metrics: {"{"}system: off{"}"}</code>.</p></Empty>;
}

export function SystemTab({ trial }: { trial: Trial }) {
    const load = useLoad(`figures ${trial.trial} ${trial.state}`, (signal) => loadFigures(trial.trial, signal));
    const soon = useThrottled(load.reload, 3000);
    usePoints((batch) => batch.some((p) => p.experiment === trial.experiment && p.trial === trialNumber(trial.trial) && p.metric.startsWith("system/")) && soon());
    return (
        <Loaded of={load} what="the figures">
            {(all) => all.length > 0 && trial.started ? <Charts trial={trial} all={all} /> : <NoFigures />}
        </Loaded>
    );
}

/* A figure of several runs in one chart, each from its own start. */
export function SystemOverlay({ trials, legend }: { trials: CurveTrial[]; legend: preact.ComponentChildren }) {
    const [zoom, setZoom] = useZoom();
    const [part, setPart] = useQuery("figures", text());
    const shade = useStore(theme);
    const names = trials.map((t) => t.trial).join();
    const load = useLoad(`figures ${names}`, async (signal) => (await Promise.all(trials.map((t) => loadFigures(t.trial, signal)))).flat().filter((f) => f.of !== "machine"));
    const soon = useThrottled(load.reload, 3000);
    usePoints((batch) => batch.some((p) => p.metric.startsWith("system/") && trials.some((t) => t.trial === `${p.experiment}.${p.trial}`)) && soon());
    const charts = useMemo(() => {
        const once = new Map((load.value ?? []).map((f) => [f.name, f]));
        return singleCharts([...once.values()]);
    }, [load.value]);
    const shown = charts.filter((chart) => `${chart.title} ${chart.lines[0]!.name}`.toLowerCase().includes(part.toLowerCase()));
    const data = useSeries({ lines: shown.flatMap((c) => trials.map((t) => ({ trial: t.trial, metric: c.lines[0]!.name }))), x: "relative", smooth: 0, view: zoom, width: 600 });
    const { off } = useSwitches();
    const drawn = useMemo(() => shown.map((chart) => trials.filter((t) => !off.has(t.trial)).flatMap((t): ChartLine[] => {
        const line = lineOf(data, t.trial, chart.lines[0]!.name);
        return line?.x.length ? [{ id: t.trial, label: t.label, colour: lineColour(t.colour), x: line.x, y: line.y, marks: new Float64Array() }] : [];
    })), [data.lines, shown.map((c) => c.title).join("\n"), names, shade, off]);
    return (
        <Loaded of={load} what="the figures">
            {() => charts.length === 0 ? <Empty title="No figures of the machine are kept of these runs" /> : (
                <div class="curves">
                    <Bar zoom={zoom} setZoom={setZoom}>
                        <input type="search" aria-label="Find figures" placeholder="find figures …" value={part} onInput={(e) => setPart((e.target as HTMLInputElement).value)} />
                    </Bar>
                    {legend}
                    {shown.length === 0 && <Empty title="No figure fits" />}
                    <div class="curve-grid">
                        {shown.map((chart, i) => <Chart key={chart.title} chart={chart} lines={drawn[i]!} legend={false} kind="seconds" view={zoom} sync="compare system" onZoom={setZoom} />)}
                    </div>
                </div>
            )}
        </Loaded>
    );
}
