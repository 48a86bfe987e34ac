/* SPDX-License-Identifier: MIT */
/*
 * curves.tsx — the tab "Curves": metrics of the selected, best or newest trials over steps or time,
 * one chart for each metric and each facet. All of its state is in the address.
 */
import { useMemo, useRef, useState } from "preact/hooks";
import { flag, format, useQuery } from "../address.ts";
import * as api from "../api.ts";
import { useSwitches } from "../chart/line_switch.tsx";
import { SharedAxis } from "../chart/shared.ts";
import { formatPlural } from "../format.ts";
import { useKeys } from "../keys.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useChanges, usePoints } from "../stream.ts";
import type { Experiment, MetricName } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Check, Filter, Picker, Select, Slider } from "../ui/field.tsx";
import { Empty, Loaded } from "../ui/parts.tsx";
import { Popover } from "../ui/popover.tsx";
import { split, trialsOf, within, zoomed, type CurveTrial, type XKind } from "./curve_data.ts";
import { GroupLegend, Legend } from "./curve_legend.tsx";
import { CurvePanel, xLabels } from "./curve_panel.tsx";
import { codecs, countsWith, picks, trialsQuery, usualMetrics, viewOf } from "./curve_query.ts";
import "./curves.css";
import { objectiveOf } from "./header.tsx";

const panelsMost = 24;

function paramsOf(x: Experiment, trials: CurveTrial[]): string[] {
    return [...new Set([...Object.keys(x.spec?.params ?? {}), ...trials.flatMap((t) => Object.keys(t.params))])];
}

const xs = (["step", "relative", "time"] as const).map((value) => ({ value, label: xLabels[value] }));

const overMost = 200;

/* Any metric of the trials may be x, too. */
function overOptions(names: MetricName[], chosen: string): { value: string; label: string }[] {
    const all = names.filter((m) => !m.system).slice(0, overMost).map((m) => m.name);
    return (chosen && !all.includes(chosen) ? [...all, chosen] : all).map((name) => ({ value: `metric ${name}`, label: name }));
}

/* A metric of the address that nobody has told. */
function Unknown({ e, metric, names }: { e: number; metric: string; names: MetricName[] }) {
    const some = names.filter((m) => !m.system).slice(0, 12).map((m) => m.name);
    return (
        <section class="curve-panel card" aria-label={metric}>
            <Empty title={`No trial has told “${metric}”`}>
                {metric.startsWith("system/") && <p>Figures of the whole machine, such as system/cpu, are in the tab <a href={format(["e", e, "machine"])}>Machine</a>; a trial's own begin with system/attempt.</p>}
                <p>{some.length > 0 ? `There is ${some.join(", ")}.` : "There is no metric yet."}</p>
            </Empty>
        </section>
    );
}

export function CurvesTab({ experiment: x }: { experiment: Experiment }) {
    const e = x.experiment;
    const [selected, setSelected] = useQuery("sel", codecs.sel);
    const [pick, setPick] = useQuery("pick", codecs.pick(selected));
    const [count, setCount] = useQuery("n", codecs.n);
    const [chosen, setChosen] = useQuery("metric", codecs.metric);
    const [xKind, setX] = useQuery("x", codecs.x);
    const [over, setOver] = useQuery("over", codecs.over);
    const [xLog, setXLog] = useQuery("xlog", flag());
    const [yLog, setYLog] = useQuery("ylog", flag());
    const [smooth, setSmooth] = useQuery("smooth", codecs.smooth);
    const [group, setGroup] = useQuery("group", codecs.group);
    const [facet, setFacet] = useQuery("facet", codecs.facet);
    const [middle, setMiddle] = useQuery("middle", codecs.middle);
    const [band, setBand] = useQuery("band", codecs.band);
    const [from, setFrom] = useQuery("from", codecs.from);
    const [to, setTo] = useQuery("to", codecs.to);
    const [where, setWhere] = useQuery("where", codecs.where);
    const [free, setFree] = useQuery("yfree", flag());
    const switches = useSwitches();
    const extent = useRef<[number, number]>([0, 1]);
    const [loud, setLoud] = useState<string | null>(null);
    const names = useLoad(`metrics ${e}`, (signal) => api.metrics(e, signal));
    const key = JSON.stringify([e, pick, pick === "selected" ? selected : [count, where]]);
    const load = useLoad(key, async (signal) => trialsOf(e, await api.trials(e, trialsQuery(objectiveOf(x), pick, count, selected, where), signal)));
    const soon = useThrottled(() => (load.reload(), names.reload()), 4000);
    useChanges((batch) => pick !== "selected" && batch.some((c) => c.experiment === e && c.event !== "changed") && soon());
    const zoom = (range: [number, number] | null) => (setFrom(range?.[0] ?? null), setTo(range?.[1] ?? null));
    const chooseX = (value: string) => {
        const metric = /^metric (.*)$/s.exec(value)?.[1] ?? "";
        setOver(metric);
        if (!metric) setX(value as XKind);
        zoom(null); /* the range was of the other axis */
    };
    useKeys("Curves", [
        { keys: "y", help: "logarithmic y", act: () => setYLog(!yLog) },
        { keys: "l", help: "logarithmic x", act: () => setXLog(!xLog) },
        { keys: "+", help: "zoom in", act: () => zoom(zoomed(extent.current, 0.5, 0)) },
        { keys: "-", help: "zoom out", act: () => zoom(zoomed(extent.current, 2, 0)) },
        { keys: ",", help: "to the left", act: () => zoom(zoomed(extent.current, 1, -0.25)) },
        { keys: ".", help: "to the right", act: () => zoom(zoomed(extent.current, 1, 0.25)) },
        { keys: "0", help: "whole range", act: () => zoom(null) },
        { keys: "]", help: "smoother", act: () => setSmooth(Math.min(0.99, Math.round((smooth + 0.1) * 100) / 100)) },
        { keys: "[", help: "less smooth", act: () => setSmooth(Math.max(0, Math.round((smooth - 0.1) * 100) / 100)) },
    ]);
    const listKey = JSON.stringify(load.value?.map((t) => [t.number, t.label, t.params]));
    const trials = useMemo(() => load.value ?? [], [listKey]);
    const facets = useMemo(() => (facet ? split(trials, facet) : [{ label: "", trials }]), [trials, facet]);
    const groups = useMemo(() => (group ? split(trials, group) : null), [trials, group]);
    const bundles = useMemo(() => facets.map((f) => groups && within(groups, f.trials)), [facets, groups]);
    const metrics = chosen.length > 0 ? chosen : usualMetrics(objectiveOf(x), names.value ?? []);
    const unknown = names.value ? chosen.filter((m) => !names.value!.some((n) => n.name === m)) : [];
    usePoints((batches) => batches.some((b) => b.experiment === e && unknown.includes(b.metric)) && soon());
    const axes = useMemo(() => new Map<string, SharedAxis>(), [facet, free, yLog]);
    const axisOf = (metric: string) => {
        if (!facet || free) return undefined;
        if (!axes.has(metric)) axes.set(metric, new SharedAxis());
        return axes.get(metric);
    };
    const params = paramsOf(x, trials);
    const xMetric = group ? "" : over; /* bands are over what the server knows */
    const view = viewOf(from, to);
    const panels = metrics.filter((m) => !unknown.includes(m)).flatMap((metric) => facets.map((f, i) => ({ metric, facet: f, groups: bundles[i] ?? null })));
    const one = panels.length + unknown.length === 1;
    const none = { value: "", label: "nothing" };
    return (
        <section class="curves-tab">
            <h2 class="sr">Curves</h2>
            <div class="toolbar">
                {pick !== "selected" && <Filter label="Only these trials" placeholder="only trials such as lr > 1e-4 and state = 'completed'" value={where} onChange={setWhere}
                    error={load.error?.status === 400 ? load.error.message : null} busy={load.loading} />}
                <Popover button={{ icon: "curve", children: metrics.length === 1 ? metrics[0] : `${metrics.length} metrics` }} label="Metrics">
                    {() => <Picker label="metrics" options={(names.value ?? []).map((m) => ({ value: m.name, hint: m.system ? "system" : formatPlural(m.trials, "trial") }))} chosen={metrics} onChange={setChosen} />}
                </Popover>
                <Select label="Trials" value={pick} onChange={setPick}
                    options={picks.filter((v) => v !== "selected" || selected.length > 0).map((v) => ({ value: v, label: v === "selected" ? `${selected.length} selected` : v }))} />
                {pick !== "selected" && <Select label="how many" value={String(count)} options={countsWith(count)} onChange={(v) => setCount(Number(v))} />}
                {pick === "selected" && <Button kind="quiet" onClick={() => (setSelected([]), setPick("best"))}>Clear</Button>}
                <Select<string> label="over" value={xMetric ? `metric ${xMetric}` : xKind} options={group ? xs : [...xs, ...overOptions(names.value ?? [], over)]} onChange={chooseX} />
                <Slider label="Smooth" value={smooth} min={0} max={0.99} step={0.01} format={(v) => v.toFixed(2)} onChange={setSmooth} />
                <Check label="log y" value={yLog} onChange={setYLog} />
                {(xKind !== "time" || xMetric) && <Check label="log x" value={xLog} onChange={setXLog} />}
                <Select label="Bands by" value={group} options={[none, ...params]} onChange={(v) => (setGroup(v), switches.set([]))} />
                {group && <Select label="middle" value={middle} options={["mean", "median"]} onChange={setMiddle} />}
                {group && <Select label="band" value={band} options={[{ value: "minmax", label: "min to max" }, { value: "quartiles", label: "quartiles" }, { value: "interval", label: "95 % interval" }]} onChange={setBand} />}
                <Select label="Facets by" value={facet} options={[none, ...params]} onChange={setFacet} />
                {facet && <Check label="free y" value={free} onChange={setFree} />}
                {view && <Button icon="zoom" onClick={() => zoom(null)}>Whole range</Button>}
            </div>
            <Loaded of={load} what="the trials">
                {() => trials.length === 0 || metrics.length === 0 ? <Empty title={trials.length === 0 ? (where ? "No trial fits the filter" : "No trial to show") : "No metric yet"} /> : (
                    <>
                        {groups ? <GroupLegend groups={groups} of={switches} /> : <Legend trials={trials} of={switches} onLoud={setLoud} />}
                        <div class={one ? "panels one" : "panels"}>
                            {panels.slice(0, panelsMost).map((panel) => (
                                <CurvePanel key={`${panel.metric}/${panel.facet.label}`} experiment={e} metric={panel.metric} title={panel.facet.label ? `${panel.metric} · ${panel.facet.label}` : panel.metric}
                                    trials={panel.facet.trials} groups={panel.groups} x={xMetric ? "step" : xKind} over={xMetric} xLog={xLog} yLog={yLog} share={axisOf(panel.metric)} smooth={smooth} middle={middle} band={band} view={view}
                                    off={switches.off} isOnly={one} height={one ? 460 : 260} loud={loud} onZoom={zoom} onExtent={(range) => (extent.current = range)} />
                            ))}
                            {unknown.map((metric) => <Unknown key={metric} e={e} metric={metric} names={names.value ?? []} />)}
                        </div>
                        {panels.length > panelsMost && <p class="dim">{panels.length - panelsMost} more charts are not shown: choose fewer metrics, or another parameter.</p>}
                    </>
                )}
            </Loaded>
            <p class="dim hint">Drag to zoom, double click for the whole range, press a line to open its trial, and its stroke above to hide it.</p>
        </section>
    );
}
