/* SPDX-License-Identifier: MIT */
/*
 * machine_series.tsx — the machine's own figures while the experiment ran (docs/system.md): cpu, load,
 * memory, pressure, power, devices. All are asked for at once; what the machine does not have is not shown.
 */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { series } from "../api.ts";
import type { ChartLine } from "../chart/line.ts";
import { LineView } from "../chart/line_view.tsx";
import { useLoad } from "../load.ts";
import { useStore } from "../store.ts";
import { lineColour, theme } from "../theme.ts";
import { within } from "../trial/system.tsx";
import type { Experiment } from "../types.ts";
import { Failure, Loading } from "../ui/parts.tsx";
import { Card } from "./figure.tsx";

const EVERY_MS = 5000, COLUMNS = 700;

interface Chart {
    title: string;
    unit: string;
    share?: number; /* divided by this to be in the unit */
    lines: [name: string, metric: string][];
}

function chartsOf(gpus: number): Chart[] {
    const each = (figure: string) => Array.from({ length: gpus }, (_, i): [string, string] => [`GPU ${i}`, `system/gpu.${i}.${figure}`]);
    return [
        { title: "Cpu", unit: "%", lines: [["all", "system/cpu"], ["programs", "system/cpu_user"], ["kernel", "system/cpu_system"], ["taken by other guests", "system/cpu_steal"]] },
        { title: "Load", unit: "tasks", lines: [["tasks that run or wait", "system/load"]] },
        { title: "Memory", unit: "GB", share: 2 ** 30, lines: [["used", "system/memory_bytes"], ["all there is", "system/memory_total_bytes"], ["swap", "system/swap_bytes"]] },
        { title: "Pressure", unit: "% of the time", lines: [["some task waited for a cpu", "system/pressure.cpu.some"], ["for memory", "system/pressure.memory.some"], ["for a disk", "system/pressure.io.some"]] },
        { title: "Power", unit: "W", lines: [["cpus and memory", "system/power_watts"], ...each("power_watts")] },
        { title: "GPUs", unit: "% busy", lines: each("busy") },
        { title: "Memory of GPUs", unit: "GB", share: 2 ** 30, lines: each("memory_bytes") },
    ];
}

export function MachineSeries({ experiment: x, gpus }: { experiment: Experiment; gpus: number }) {
    const shade = useStore(theme);
    const charts = useMemo(() => chartsOf(gpus), [gpus]);
    const [from, to] = [x.started, x.ended].map((t) => (t ? Date.parse(t) / 1000 : null));
    const load = useLoad(`machine ${x.experiment} ${from} ${to} ${gpus}`, (signal) =>
        series({ x: "time", from, to, width: COLUMNS, lines: charts.flatMap((c) => c.lines.map(([, metric]) => ({ trial: "machine", metric }))) }, signal));
    const reload = useRef(load.reload);
    reload.current = load.reload;
    const runs = x.state === "running";
    useEffect(() => {
        if (!runs) return;
        const timer = setInterval(() => document.hidden || reload.current(), EVERY_MS);
        return () => clearInterval(timer);
    }, [runs]);
    const drawn = useMemo(() => {
        const told = load.value?.lines ?? [];
        let at = 0;
        return charts.map((c) => ({
            chart: c,
            lines: c.lines.flatMap(([label, metric], i): ChartLine[] => {
                const all = told[at++], line = all && within(all, from ?? -Infinity, to ?? Infinity);
                if (!line || line.x.length === 0) return [];
                return [{ id: metric, label, colour: lineColour(i), x: line.x, y: c.share ? line.y.map((v) => v / c.share!) : line.y }];
            }),
        })).filter((c) => c.lines.length > 0);
    }, [load.value, charts, shade, from, to]);
    return (
        <Card title="The machine over time" wide note="Of the whole machine while this experiment ran, with all else that it did.">
            {load.error && !load.value ? <Failure error={load.error} retry={load.reload} /> : !load.value ? <Loading what="the machine's figures" />
                : drawn.length === 0 ? <p class="dim">No figures of the machine were kept from that time: <code>metrics: {"{"}system: …{"}"}</code> in the spec says how often it is looked at.</p> : (
                <div class="slice-grid machine-series">
                    {drawn.map(({ chart, lines }) => (
                        <div role="group" key={chart.title} aria-label={`${chart.title} over time`} data-lines={lines.length}>
                            <h3>{chart.title}</h3>
                            <LineView title={`${chart.title} in ${chart.unit}`} lines={lines} xKind="clock" xLabel="clock time" yLabel={chart.unit} sync={`machine${x.experiment}`} height={190} />
                            {lines.length > 1 && <ul class="legend">{lines.map((l) => <li key={l.id}><i style={{ background: l.colour }} /> {l.label}</li>)}</ul>}
                        </div>
                    ))}
                </div>
            )}
        </Card>
    );
}
