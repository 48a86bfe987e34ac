/* SPDX-License-Identifier: MIT */
/*
 * figures.ts — the figures of docs/system.md as charts: what belongs together in one, with names and
 * units for people. Pure. A figure that no row of the table knows gets a chart of its own.
 */
import type { Figure } from "../types.ts";

export type Unit = "" | "%" | "bytes" | "bytes/s" | "/s" | "°C" | "W";

export interface FigureLine extends Figure {
    label: string;
}
export interface FigureChart {
    title: string;
    unit: Unit;
    machine: boolean;
    lines: FigureLine[];
}

/* What follows "system/", the chart, its unit, the line. $1 is what the pattern found. */
type Row = [pattern: RegExp, title: string, unit: Unit, label: string];

const ATTEMPT: Row[] = [
    [/^attempt\.cpu$/, "CPU, of one processor", "%", "used"],
    [/^attempt\.wait$/, "CPU, of one processor", "%", "waited for"],
    [/^cgroup\.cpu$/, "CPU, of one processor", "%", "used by its cgroup"],
    [/^cgroup\.throttled$/, "CPU, of one processor", "%", "held back by the quota"],
    [/^attempt\.memory_bytes$/, "Memory", "bytes", "resident"],
    [/^cgroup\.memory_bytes$/, "Memory", "bytes", "cgroup, with cache"],
    [/^cgroup\.cache_bytes$/, "Memory", "bytes", "cache"],
    [/^attempt\.read_bytes$/, "Disks", "bytes/s", "read"],
    [/^attempt\.written_bytes$/, "Disks", "bytes/s", "written"],
    [/^attempt\.(processes|threads)$/, "Processes and threads", "", "$1"],
    [/^attempt\.switches$/, "Switches", "/s", "switches"],
    [/^attempt\.major_faults$/, "Pages from disk", "/s", "major faults"],
    [/^cgroup\.pressure\.(\w+)\.(\w+)$/, "Time lost waiting", "%", "$1, $2"],
];
const MACHINE: Row[] = [
    [/^cpu$/, "CPU, of all processors", "%", "used"],
    [/^cpu_(user|system|iowait|steal)$/, "CPU, of all processors", "%", "$1"],
    [/^cpu\.(\w+)$/, "Each processor", "%", "$1"],
    [/^load$/, "Load", "", "tasks"],
    [/^memory_bytes$/, "Memory", "bytes", "used"],
    [/^memory_(available|total)_bytes$/, "Memory", "bytes", "$1"],
    [/^swap_bytes$/, "Memory", "bytes", "swap"],
    [/^pressure\.(\w+)\.(\w+)$/, "Time lost waiting", "%", "$1, $2"],
    [/^disk\.(.+)\.read_bytes$/, "Disks", "bytes/s", "$1 read"],
    [/^disk\.(.+)\.written_bytes$/, "Disks", "bytes/s", "$1 written"],
    [/^disk\.(.+)\.busy$/, "Disks busy", "%", "$1"],
    [/^network\.(.+)\.in_bytes$/, "Network", "bytes/s", "$1 in"],
    [/^network\.(.+)\.out_bytes$/, "Network", "bytes/s", "$1 out"],
    [/^gpu\.(\d+)\.busy$/, "GPU", "%", "gpu $1"],
    [/^gpu\.(\d+)\.memory_bytes$/, "GPU memory", "bytes", "gpu $1"],
    [/^gpu\.(\d+)\.power_watts$/, "Power", "W", "gpu $1"],
    [/^power_watts$/, "Power", "W", "processors and memory"],
    [/^gpu\.(\d+)\.temperature$/, "Temperature", "°C", "gpu $1"],
    [/^temperature\.(.+)$/, "Temperature", "°C", "$1"],
];

function describe(figure: Figure): { title: string; unit: Unit; label: string; place: number } {
    const rest = figure.name.replace(/^system\//, "");
    const table = figure.of === "machine" ? MACHINE : ATTEMPT;
    const at = table.findIndex(([pattern]) => pattern.test(rest));
    if (at < 0) return { title: rest, unit: rest.endsWith("_bytes") ? "bytes" : "", label: rest, place: table.length };
    const [pattern, title, unit, label] = table[at]!;
    return { title, unit, label: rest.replace(pattern, label), place: at };
}

/* Charts in the order of the tables, those of the attempt before those of the machine. */
export function figureCharts(figures: readonly Figure[]): FigureChart[] {
    const charts = new Map<string, FigureChart>();
    const rows = figures.map((figure) => ({ figure, ...describe(figure) }));
    rows.sort((a, b) => Number(a.figure.of === "machine") - Number(b.figure.of === "machine") || a.place - b.place || a.figure.name.localeCompare(b.figure.name, "en", { numeric: true }));
    for (const { figure, title, unit, label } of rows) {
        const machine = figure.of === "machine", key = `${machine} ${title}`;
        let chart = charts.get(key);
        if (!chart) charts.set(key, (chart = { title, unit, machine, lines: [] }));
        chart.lines.push({ ...figure, label });
    }
    return [...charts.values()];
}

/* A chart for each figure, for several runs in it. */
export function singleCharts(figures: readonly Figure[]): FigureChart[] {
    return figureCharts(figures).flatMap((chart) => chart.lines.map((line) => ({ ...chart, title: chart.lines.length > 1 ? `${chart.title}: ${line.label}` : chart.title, lines: [line] })));
}

const SIZES = ["B", "KB", "MB", "GB", "TB"];

/* By what to divide, and what it is called then, so that the largest has few digits. */
export function scaleOf(unit: Unit, largest: number): { by: number; word: string } {
    if (unit !== "bytes" && unit !== "bytes/s") return { by: 1, word: unit === "/s" ? "per second" : unit };
    let at = 0;
    while (largest >= 1024 ** (at + 1) && at < SIZES.length - 1) at++;
    return { by: 1024 ** at, word: SIZES[at]! + (unit === "bytes/s" ? "/s" : "") };
}
