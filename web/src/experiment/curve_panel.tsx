/* SPDX-License-Identifier: MIT */
/*
 * curve_panel.tsx — one chart of one metric for some trials: lines, or the middle and the band of
 * groups. The server thins and smooths; a zoom asks it for finer values. Live values are appended
 * to plain lines; smoothed ones and bands are fetched anew, once in a second or two.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { format, go } from "../address.ts";
import * as api from "../api.ts";
import type { Series } from "../binary.ts";
import type { ChartLine } from "../chart/line.ts";
import { LineView } from "../chart/line_view.tsx";
import { SavePicture } from "../chart/save_picture.tsx";
import type { SharedAxis } from "../chart/shared.ts";
import { formatPlural } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useStore } from "../store.ts";
import { gaps, usePoints } from "../stream.ts";
import { lineColour, lineColours, theme } from "../theme.ts";
import type { Points } from "../types.ts";
import { Failure } from "../ui/parts.tsx";
import { dashesOf, Growing, pointsOf, type Bundle, type CurveTrial, type XKind } from "./curve_data.ts";
import { columnsOver, over } from "./curve_over.ts";
import { overQueries, seriesQuery, widthOf, type Shown } from "./curve_query.ts";

export interface PanelProps extends Shown {
    experiment: number;
    title: string;
    isOnly: boolean; /* as wide as the window, nearly */
    xLog: boolean;
    yLog: boolean;
    over: string; /* a metric as x; "": `x` is */
    share?: SharedAxis;
    height: number;
    loud: string | null;
    off: ReadonlySet<string>; /* numbers of trials, or places of groups, that are not drawn */
    onZoom: (range: [number, number] | null) => void;
    onExtent: (range: [number, number]) => void; /* what is drawn now, for zooming by keys */
}

export const xLabels = { step: "step", relative: "time since the first value", time: "clock time" } as const;
const xKinds = { step: "number", time: "clock", relative: "seconds" } as const;

interface Drawn {
    key: string; /* as `off` has it */
    trial: CurveTrial | null;
    line: ChartLine;
    grow: Growing | null;
    first: number; /* where the line begins in time, for relative ones */
    appended: number;
}

/* An answer with what it was asked for: while another is on its way, the old one is shown. */
interface Answer {
    data: Series;
    thinned: number; /* lines that have too many values for another metric as x */
    trials: CurveTrial[];
    groups: Bundle[] | null;
}

function draw({ data, trials, groups }: Answer): Drawn[] {
    if (groups) {
        const shown = groups.map((g, place) => ({ ...g, place })).filter((g) => g.trials.length > 0);
        return data.groups.map((g, i) => {
            const { place, label } = shown[i] ?? { place: i, label: "" };
            return { key: String(place), trial: null, grow: null, first: NaN, appended: 0, line: { id: label, label, colour: lineColour(place), x: g.x, y: g.middle, low: g.low, high: g.high } };
        });
    }
    const dashes = dashesOf(trials, lineColours);
    return data.lines.map((l, i) => {
        const trial = trials[i]!;
        return { key: String(trial.number), trial, grow: new Growing(l.x, l.y), first: NaN, appended: 0, line: { id: trial.name, label: trial.label, colour: lineColour(trial.number), dash: dashes[i], x: l.x, y: l.y, marks: l.marks } };
    });
}

function addMark(line: ChartLine, at: number): void {
    line.marks = Float64Array.from([...(line.marks ?? []), at]);
}

/* Append what came; true if something is to be drawn. */
function append(drawn: Map<number, Drawn>, batch: Points, x: XKind): boolean {
    const one = drawn.get(batch.trial);
    if (!one?.grow) return false;
    if (Number.isNaN(one.first) && x === "relative") {
        const last = one.line.x.at(-1) ?? 0;
        one.first = (batch.time[0] ?? 0) - last; /* until it is loaded anew */
    }
    let any = false;
    for (const [at, y] of pointsOf(batch, x, one.first)) {
        if (!one.grow.push(at, y)) continue;
        if (!Number.isFinite(y)) addMark(one.line, at);
        one.appended++;
        any = true;
    }
    if (any) one.line = { ...one.line, x: one.grow.x, y: one.grow.y };
    return any;
}

async function ask(p: PanelProps, width: number, signal: AbortSignal): Promise<Answer> {
    const { trials, groups } = p;
    if (!p.over) return { data: await api.series(seriesQuery(p, width), signal), thinned: 0, trials, groups };
    const [ys, xs] = await Promise.all(overQueries(p, p.over, columnsOver(trials.length)).map((query) => api.series(query, signal)));
    return { ...over(ys!, xs!), trials, groups };
}

const lateMost = 20_000;

export function CurvePanel(p: PanelProps) {
    const box = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(p.isOnly ? widthOf(innerWidth) : 0); /* one need not wait for the layout */
    const dark = useStore(theme);
    useEffect(() => {
        const el = box.current!;
        const observer = new ResizeObserver(() => setWidth(widthOf(p.isOnly ? innerWidth : el.clientWidth)));
        observer.observe(el);
        return () => observer.disconnect();
    }, [p.isOnly]);
    const key = width === 0 || p.trials.length === 0 ? null : p.over ? JSON.stringify([p.over, overQueries(p, p.over, 0)[0]]) : JSON.stringify(seriesQuery(p, width));
    const late = useRef<Points[]>([]); /* what came since the lines were asked for last */
    const load = useLoad<Answer>(key, async (signal) => {
        late.current = [];
        return ask(p, width, signal);
    });
    const runs = p.trials.some((t) => t.state === "running");
    useEffect(() => (runs ? gaps.subscribe(load.reload) : undefined), [runs, load.reload]);
    const drawn = useRef<Drawn[]>([]);
    const [tick, setTick] = useState(0);
    useMemo(() => {
        drawn.current = load.value ? draw(load.value) : [];
        const byTrial = new Map(drawn.current.map((d) => [d.trial?.number ?? -1, d]));
        if (!p.over) for (const batch of late.current) append(byTrial, batch, p.x);
    }, [load.value, dark]);
    useEffect(() => {
        const { x0, x1 } = load.value?.data ?? { x0: NaN, x1: NaN };
        if (x1 > x0) p.onExtent(p.view ?? [x0, x1]);
    }, [load.value]);
    const redraw = useThrottled(() => setTick((n) => n + 1), 100);
    const again = useThrottled(load.reload, 1500);
    usePoints((batches) => {
        const byTrial = new Map(drawn.current.map((d) => [d.trial?.number ?? -1, d]));
        let any = false;
        for (const batch of batches) {
            if (batch.experiment !== p.experiment || batch.metric !== p.metric) continue;
            if (late.current.length < lateMost) late.current.push(batch);
            if (p.smooth > 0 || p.groups || p.over) {
                if (p.trials.some((t) => t.number === batch.trial)) again();
            } else any = append(byTrial, batch, p.x) || any;
        }
        if (any) redraw();
        if (drawn.current.some((d) => d.appended > 2 * width)) again();
    });
    const lines = useMemo(() => drawn.current.filter((d) => !p.off.has(d.key)).map((d) => d.line), [load.value, dark, tick, p.off]);
    const thinned = load.value?.thinned ?? 0;
    const hidden = drawn.current.length - lines.length;
    const nans = load.value?.data.lines.reduce((n, l) => n + l.nans, 0) ?? 0;
    return (
        <section class="curve-panel card" ref={box} aria-label={p.title} data-lines={lines.length} data-tick={tick}>
            <header>
                <h3>{p.title}</h3>
                <small>
                    {p.groups ? formatPlural(load.value?.data.groups.length ?? 0, "group") : formatPlural(p.trials.length, "trial")}
                    {hidden > 0 && ` · ${hidden} hidden`}
                    {nans > 0 && <span class="nan-count"> · {formatPlural(nans, "value")} not finite</span>}
                    {thinned > 0 && ` · ${formatPlural(thinned, "trial")} left out: too many values for this axis`}
                    {load.loading && " · loading"}
                </small>
                <SavePicture title={p.title} lines={lines} />
            </header>
            {load.error && !load.value ? (
                <Failure error={load.error} retry={load.reload} />
            ) : (
                <LineView title={p.title} lines={lines} view={p.view} loud={p.loud} xKind={xKinds[p.x]} xLog={p.xLog && p.x !== "time"} yLog={p.yLog} xLabel={p.over || xLabels[p.x]} yLabel={p.metric} sync={`e${p.experiment}`} share={p.share} height={p.height}
                    onZoom={p.onZoom} onPick={p.groups ? undefined : (line) => go(format(["t", line.id]))} />
            )}
        </section>
    );
}
