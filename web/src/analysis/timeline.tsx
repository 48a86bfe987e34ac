/* SPDX-License-Identifier: MIT */
/*
 * timeline.tsx — attempts over time and cores: what ran where and when, what failed, where nothing
 * ran. Drag or take two fingers to look closer, double click to see all; a click on a bar goes to its
 * trial.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { format, go, maybe, useQuery } from "../address.ts";
import { timeline } from "../api.ts";
import { formatDate, formatPlural, formatSeconds } from "../format.ts";
import { useLoad, useThrottled } from "../load.ts";
import { resets, useChanges } from "../stream.ts";
import { colourOf } from "../theme.ts";
import type { Experiment } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/parts.tsx";
import { FONT } from "./axes_draw.ts";
import { axisOf, ticks } from "./axis.ts";
import { pointerAt, useCanvas, type Size } from "./canvas.ts";
import { Card } from "./figure.tsx";
import { followTouch, type TouchView } from "../chart/touch.ts";
import { barAt, busy, coresOf, packTimeline, pausedSeconds, type Lanes } from "./packing.ts";

const FOOT = 26, LABEL_MOST = 24;

const labelOf = (label: string) => (label.length > LABEL_MOST ? `${label.slice(0, LABEL_MOST - 1)}…` : label);
/* Room for the longest label. */
const leftOf = (lanes: Lanes) => Math.max(40, 14 + 6.4 * lanes.labels.reduce((most, label) => Math.max(most, labelOf(label).length), 0));

const COLOURS: Record<string, string> = {
    completed: "--bar-done", ended: "--bar-done", stopped: "--bar-cut", failed: "--bar-bad", running: "--bar-now", starting: "--bar-now", paused: "--bar-now",
};

const laneHeight = (lanes: number) => Math.max(4, Math.min(26, Math.floor(560 / Math.max(1, lanes))));

interface View {
    from: number;
    to: number;
}

function draw(ctx: CanvasRenderingContext2D, size: Size, lanes: Lanes, view: View, drag: [number, number] | null): void {
    const h = laneHeight(lanes.labels.length), left = leftOf(lanes), width = size.width - left - 8;
    const x = (t: number) => left + ((t - view.from) / (view.to - view.from)) * width;
    ctx.clearRect(0, 0, size.width, size.height);
    ctx.font = FONT;
    drawClock(ctx, size, lanes, view, x);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillStyle = colourOf("--dim");
    const every = Math.max(1, Math.ceil(14 / h));
    lanes.labels.forEach((label, i) => i % every === 0 && ctx.fillText(labelOf(label), left - 8, i * h + h / 2 + 2));
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, 0, width, size.height - FOOT);
    ctx.clip();
    for (const bar of lanes.bars) {
        if (bar.to < view.from || bar.from > view.to) continue;
        const [a, b] = [x(bar.from), x(bar.to)], middle = (bar.lane + bar.span / 2) * h;
        ctx.fillStyle = colourOf(COLOURS[bar.piece.state] ?? "--bar-cut");
        if (bar.still) {
            drawStill(ctx, a, b, bar.lane * h + 2, bar.span * h - 3);
            continue;
        }
        ctx.fillRect(a, bar.lane * h + 2, Math.max(1, b - a - (b - a > 3 ? 1 : 0)), bar.span * h - 3);
        if (b - a > 26 && bar.span * h >= 14) {
            ctx.fillStyle = "#fff";
            ctx.textAlign = "left";
            ctx.fillText(String(bar.piece.trial), Math.max(a, left) + 4, middle + 1);
        }
    }
    if (drag) {
        ctx.fillStyle = colourOf("--accent");
        ctx.globalAlpha = 0.2;
        ctx.fillRect(Math.min(...drag), 0, Math.abs(drag[0] - drag[1]), size.height);
    }
    ctx.restore();
}

/* It is there, but nothing of it runs: a thin line in a faint box. */
function drawStill(ctx: CanvasRenderingContext2D, from: number, to: number, top: number, height: number): void {
    ctx.globalAlpha = 0.15;
    ctx.fillRect(from, top, to - from, height);
    ctx.globalAlpha = 0.6;
    ctx.fillRect(from, top + height / 2 - 0.5, to - from, 1);
    ctx.globalAlpha = 1;
}

function drawClock(ctx: CanvasRenderingContext2D, size: Size, lanes: Lanes, view: View, x: (t: number) => number): void {
    const axis = { ...axisOf("t", [view.from - lanes.from, view.to - lanes.from]), few: undefined };
    ctx.textAlign = "center";
    ctx.textBaseline = "alphabetic";
    ctx.strokeStyle = colourOf("--grid");
    ctx.fillStyle = colourOf("--dim");
    for (const tick of ticks(axis, size.width / 110)) {
        const at = Math.round(x(tick + lanes.from)) + 0.5;
        ctx.beginPath();
        ctx.moveTo(at, 0);
        ctx.lineTo(at, size.height - FOOT + 4);
        ctx.stroke();
        ctx.fillText(tick === 0 ? "0" : formatSeconds(tick), at, size.height - 8);
    }
}

function Chart({ lanes, attempts, experiment }: { lanes: Lanes; attempts: number; experiment: number }) {
    const [from, setFrom] = useQuery("from", maybe);
    const [to, setTo] = useQuery("to", maybe);
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const [at, setAt] = useState<{ bar: number; x: number; y: number } | null>(null);
    const down = useRef<number | null>(null);
    const view: View = from !== null && to !== null && from < to ? { from: from + lanes.from, to: to + lanes.from } : lanes;
    const height = lanes.labels.length * laneHeight(lanes.labels.length) + FOOT + 4;
    const left = leftOf(lanes);
    const { canvas, width } = useCanvas(height, (ctx, size) => draw(ctx, size, lanes, view, drag), [lanes, view.from, view.to, drag]);
    const timeAt = (x: number) => view.from + ((x - left) / Math.max(1, width - left - 8)) * (view.to - view.from);
    const zoom = (range: [number, number] | null) => {
        setFrom(range ? Number((range[0] - lanes.from).toFixed(3)) : null);
        setTo(range ? Number((range[1] - lanes.from).toFixed(3)) : null);
    };
    /* A range of the whole canvas, labels and all, as fingers move it. */
    const zoomWhole = ([from, to]: [number, number]) => {
        const at = (x: number) => Math.min(lanes.to, Math.max(lanes.from, from + (x / Math.max(1, width)) * (to - from)));
        if (at(left) < at(width - 8)) zoom([at(left), at(width - 8)]);
    };
    const fingers = useRef<TouchView>(null!);
    fingers.current = { range: () => [timeAt(0), timeAt(width)], preview: zoomWhole, done: (range) => (range ? zoomWhole(range) : zoom(null)) };
    useEffect(() => followTouch(canvas.current!, { range: () => fingers.current.range(), preview: (r) => fingers.current.preview(r), done: (r) => fingers.current.done(r) }), []);
    const barUnder = (x: number, y: number) => barAt(lanes, Math.floor((y - 1) / laneHeight(lanes.labels.length)), timeAt(x), Math.abs(timeAt(2) - timeAt(0)));
    const onMove = (event: PointerEvent) => {
        const { x, y } = pointerAt(event);
        if (down.current !== null && Math.abs(x - down.current) > 4 && event.pointerType !== "touch") return setDrag([down.current, x]);
        const bar = barUnder(x, y);
        setAt(bar < 0 ? null : { bar, x, y });
    };
    const onUp = (event: PointerEvent) => {
        const { x, y } = pointerAt(event);
        const bar = barUnder(x, y);
        if (drag) zoom([timeAt(Math.min(...drag)), timeAt(Math.max(...drag))]);
        else if (down.current !== null && Math.abs(x - down.current) <= 4 && bar >= 0) go(format(["t", `${experiment}.${lanes.bars[bar]!.piece.trial}`]));
        down.current = null;
        setDrag(null);
    };
    const bar = at ? lanes.bars[at.bar] : undefined;
    const style = at && (at.x > width / 2 ? { right: `${width - at.x + 12}px`, top: `${at.y + 8}px` } : { left: `${at.x + 12}px`, top: `${at.y + 8}px` });
    return (
        <>
            <div class="canvas-box">
                <canvas ref={canvas} role="img" class={at ? "pick" : ""} aria-label={`Timeline of ${formatPlural(attempts, "attempt")} over ${formatPlural(lanes.labels.length, "lane")}`}
                    onPointerDown={(e) => (down.current = pointerAt(e).x)} onPointerMove={onMove} onPointerUp={onUp} onPointerLeave={() => (setAt(null), setDrag(null), (down.current = null))} onDblClick={() => zoom(null)} />
                {bar && (
                    <div class="hover-box" style={style!} aria-hidden="true">
                        <div class="hover-x">trial {experiment}.{bar.piece.trial}{bar.piece.attempt > 1 && `, attempt ${bar.piece.attempt}`}</div>
                        <div class="hover-row"><span>{bar.piece.state}</span><b>{formatSeconds((bar.piece.ended ?? lanes.to) - bar.piece.started)}</b></div>
                        {bar.still && <div class="hover-row"><span>paused here for</span><b>{formatSeconds(bar.to - bar.from)}</b></div>}
                        <div class="hover-row"><span>from</span><b>{formatDate(new Date(bar.piece.started * 1000).toISOString())}</b></div>
                        <div class="hover-row"><span>cores</span><b>{coresOf(bar.piece)}</b></div>
                        {bar.piece.gpus && <div class="hover-row"><span>GPUs</span><b>{bar.piece.gpus}</b></div>}
                    </div>
                )}
            </div>
            {view !== lanes && <Button icon="zoom" onClick={() => zoom(null)}>See all</Button>}
        </>
    );
}

const ROWS_SHOWN = 200;

/* What the picture says, and what its lanes are. */
function noteOf(lanes: Lanes, attempts: number): string {
    const { cpus, share } = busy(lanes);
    const isHeld = lanes.kinds.includes("cpu"), isAny = lanes.kinds.includes("any");
    const used = `${formatPlural(attempts, "attempt")}, ${(100 * share).toFixed(0)} % of ${formatPlural(cpus, isHeld && !isAny ? "core" : "cpu")} busy from the first start to the last end.`;
    const any = isHeld ? "Lanes called any are cpus of trials that were held to no particular core." : "A lane is a cpu that was granted, on any core: no trial was held to particular ones.";
    const still = lanes.bars.some((bar) => bar.still) ? "A thin line is a pause, which counts for nothing. " : "";
    return `${used} ${still}${isAny ? `${any} ` : ""}Drag to look closer.`;
}

export function TimelineTab({ experiment }: { experiment: Experiment }) {
    const e = experiment.experiment;
    const load = useLoad(`timeline ${e}`, (signal) => timeline(e, signal));
    const soon = useThrottled(load.reload, 2000);
    useChanges((batch) => batch.some((c) => c.experiment === e && c.event.startsWith("trial_")) && soon());
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    const anyPaused = load.value?.some((a) => a.paused.length > 0);
    const lanes = useMemo(() => packTimeline(load.value ?? [], Date.now() / 1000), [load.value]);
    return (
        <Loaded of={load} what="the timeline">
            {(attempts) => attempts.length === 0 ? <Empty title="Nothing has run yet" /> : (
                <Card title="Timeline" wide note={noteOf(lanes, attempts.length)}
                    controls={<span class="row legend">{["completed", "stopped", "failed", "running"].map((s) => <span key={s} class={`chip state-${s}`}>{s}</span>)}</span>}
                    table={() => ({
                        head: ["trial", "attempt", "state", "began after", "took", "cores", ...(anyPaused ? ["paused"] : [])], total: attempts.length,
                        rows: attempts.slice(0, ROWS_SHOWN).map((a) => [<a key={a.trial} href={format(["t", `${e}.${a.trial}`])}>{e}.{a.trial}</a>, a.attempt, a.state, formatSeconds(a.started - lanes.from), a.ended === null ? "running" : formatSeconds(a.ended - a.started), coresOf(a), ...(anyPaused ? [a.paused.length > 0 ? formatSeconds(pausedSeconds(a, lanes.to)) : ""] : [])]),
                    })}>
                    <Chart lanes={lanes} attempts={attempts.length} experiment={e} />
                </Card>
            )}
        </Loaded>
    );
}
