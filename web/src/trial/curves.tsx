/* SPDX-License-Identifier: MIT */
/*
 * curves.tsx — a chart for each metric, small and side by side, with one x axis: zoom one and all
 * follow, point at one and all tell. Used for one trial and for several overlaid.
 */
import { useMemo, useState } from "preact/hooks";
import { choice, flag, format, maybe, number, text, useQuery } from "../address.ts";
import { AllLines, LineSwitch, useSwitches } from "../chart/line_switch.tsx";
import { LineView } from "../chart/line_view.tsx";
import type { ChartLine } from "../chart/line.ts";
import { SavePicture } from "../chart/save_picture.tsx";
import { formatCount } from "../format.ts";
import { useStore } from "../store.ts";
import { lineColour, theme } from "../theme.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select, Slider } from "../ui/field.tsx";
import { Empty, Failure } from "../ui/parts.tsx";
import { useSeries } from "./series_data.ts";
import { lineKey } from "./tails.ts";

export interface CurveMetric {
    name: string;
}

/* Objectives first, the others as they are: when not all are drawn, what the search is about is. */
export function objectivesFirst(names: readonly string[], objectives: readonly string[]): CurveMetric[] {
    const first = objectives.filter((name) => names.includes(name));
    return [...first, ...names.filter((name) => !first.includes(name))].map((name) => ({ name }));
}

export interface CurveTrial {
    trial: string; /* "3.7" */
    label: string;
    colour: number;
}

const FIRST = 24; /* charts that are drawn before one asks for all */

const AXES = [{ value: "step", label: "step" }, { value: "relative", label: "time since the first value" }, { value: "time", label: "clock time" }] as const;

function useControls() {
    const [x, setX] = useQuery("x", choice(["step", "relative", "time"] as const, "step"));
    const [smooth, setSmooth] = useQuery("smooth", number(0));
    const [log, setLog] = useQuery("logy", flag());
    const [from, setFrom] = useQuery("from", maybe);
    const [to, setTo] = useQuery("to", maybe);
    const view: [number, number] | null = from !== null && to !== null && from < to ? [from, to] : null;
    const setView = (range: [number, number] | null) => {
        setFrom(range ? Number(range[0].toPrecision(12)) : null);
        setTo(range ? Number(range[1].toPrecision(12)) : null);
    };
    const changeX = (next: typeof x) => {
        setView(null); /* the range was of the other axis */
        setX(next);
    };
    return { x, setX: changeX, smooth: Math.min(Math.max(smooth, 0), 0.99), setSmooth, log, setLog, view, setView };
}

function Bar({ of, shown, total, part, setPart }: { of: ReturnType<typeof useControls>; shown: number; total: number; part: string; setPart: (v: string) => void }) {
    return (
        <div class="toolbar">
            {total > 6 && (
                <input type="search" aria-label="Find metrics" placeholder="find metrics …" value={part} onInput={(e) => setPart((e.target as HTMLInputElement).value)} />
            )}
            <Select label="x axis" value={of.x} options={AXES} onChange={of.setX} />
            <Slider label="Smoothing" value={of.smooth} min={0} max={0.99} step={0.01} format={(v) => v.toFixed(2)} onChange={of.setSmooth} />
            <Check label="Log y" value={of.log} onChange={of.setLog} />
            {of.view && <Button icon="zoom" onClick={() => of.setView(null)}>Zoom out</Button>}
            {shown < total && <span class="dim">{formatCount(shown)} of {formatCount(total)} metrics</span>}
        </div>
    );
}

/* Which colour is which run; to point at one shows it before the others, to press its stroke hides it. */
export function Legend({ trials, setLoud = () => {} }: { trials: CurveTrial[]; setLoud?: (trial: string | null) => void }) {
    const switches = useSwitches(), all = trials.map((t) => t.trial);
    const loud = (t: CurveTrial) => setLoud(switches.off.has(t.trial) ? null : t.trial);
    return (
        <ul class="runs-legend" aria-label="Runs">
            {trials.map((t) => (
                <li key={t.trial} onPointerEnter={() => loud(t)} onPointerLeave={() => setLoud(null)}>
                    <LineSwitch of={switches} id={t.trial} name={`run ${t.label}`} all={all} colour={lineColour(t.colour)} /><a href={format(["t", t.trial])} onFocus={() => loud(t)} onBlur={() => setLoud(null)}>{t.label}</a>
                </li>
            ))}
            <AllLines of={switches} all={all} />
        </ul>
    );
}

export function Curves({ trials, metrics, sync }: { trials: CurveTrial[]; metrics: CurveMetric[]; sync: string }) {
    const controls = useControls();
    const [part, setPart] = useQuery("metrics", text());
    const [all, setAll] = useQuery("all", flag());
    const [loud, setLoud] = useState<string | null>(null);
    const { off } = useSwitches();
    const shade = useStore(theme);
    const fits = useMemo(() => {
        const lower = part.toLowerCase();
        return metrics.filter((m) => m.name.toLowerCase().includes(lower));
    }, [metrics, part]);
    const shown = all ? fits : fits.slice(0, FIRST);
    const wish = {
        lines: shown.flatMap((m) => trials.map((t) => ({ trial: t.trial, metric: m.name }))),
        x: controls.x, smooth: controls.smooth, view: controls.view, width: 600,
    };
    const data = useSeries(wish);
    const charts = useMemo(() => shown.map((metric) => ({
        metric,
        lines: trials.filter((t) => !off.has(t.trial)).flatMap((t): ChartLine[] => {
            const line = data.lines.get(lineKey(t.trial, metric.name));
            return line && (line.x.length > 0 || line.marks.length > 0)
                ? [{ id: t.trial, label: t.label, colour: lineColour(t.colour), x: line.x, y: line.y, marks: line.marks }] : [];
        }),
    })), [data.lines, shown.map((m) => m.name).join("\n"), trials.map((t) => `${t.trial} ${t.label}`).join(), shade, off]);
    if (metrics.length === 0) return <Empty title="No metrics yet"><p>A program's <code>name=value</code> lines, or <code>hone.log()</code>, become curves here.</p></Empty>;
    if (data.error && data.lines.size === 0) return <Failure error={data.error} retry={data.reload} />;
    return (
        <div class="curves">
            <Bar of={controls} shown={shown.length} total={metrics.length} part={part} setPart={setPart} />
            {trials.length > 1 && <Legend trials={trials} setLoud={setLoud} />}
            <div class={data.loading && data.lines.size === 0 ? "curve-grid waiting" : "curve-grid"}>
                {charts.map(({ metric, lines }) => (
                    <section key={metric.name} class="card curve" aria-label={metric.name}>
                        <header><h2 title={metric.name}>{metric.name}</h2><SavePicture title={metric.name} lines={lines} /></header>
                        <LineView title={metric.name} lines={lines} loud={loud} height={190} sync={sync} yLog={controls.log} view={controls.view} onZoom={controls.setView}
                            xKind={controls.x === "step" ? "number" : controls.x === "time" ? "clock" : "seconds"} />
                    </section>
                ))}
            </div>
            {shown.length < fits.length && <p><Button onClick={() => setAll(true)}>Show all {formatCount(fits.length)} charts</Button></p>}
        </div>
    );
}
