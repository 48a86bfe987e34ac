/* SPDX-License-Identifier: MIT */
/*
 * parallel_view.tsx — parallel coordinates: a line for each trial over its parameters and result.
 * Drag along an axis to keep what lies there; click the axis to let it go. The head of an axis is a
 * menu: logarithmic, upside down, moved, left out. All of it is in the address, and can be done from
 * the keyboard in the table below.
 */
import { useMemo, useRef, useState } from "preact/hooks";
import { list, text, useQuery } from "../address.ts";
import { formatCount, formatPlural, formatValue } from "../format.ts";
import { colourOf } from "../theme.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";
import { Menu } from "../ui/menu.tsx";
import { FONT, tickText } from "./axes_draw.ts";
import { axisOf, ticks, valueAt } from "./axis.ts";
import { pointerAt, useCanvas } from "./canvas.ts";
import { FieldKey } from "./colour_key.tsx";
import { type Field, type Results, useShares, varies } from "./data.ts";
import { Card, type TableData } from "./figure.tsx";
import { TrialLink } from "./links.tsx";
import { axisPositions, brushed, formatBrushes, parseBrushes, setBrush, thinned, without, type Brush, type ParallelAxis } from "./parallel.ts";
import { bestFirst, drawLines, placesOf, yAt, type ParallelFrame } from "./parallel_draw.ts";

const HEIGHT = 340, TOP = 12, FOOT = 34, REACH = 18, FIRST_AXES = 9;

interface Shape {
    shown: string[]; /* names of fields, in order */
    logs: Set<string>;
    flips: Set<string>;
}

/* Which axes, how: from the address, else the parameters that vary and the objective. */
function useShape(results: Results) {
    const [shown, setShown] = useQuery("axes", list);
    const [logs, setLogs] = useQuery("axislog", list); /* those that are not as by default */
    const [flips, setFlips] = useQuery("flip", list);
    const usual = useMemo(() => [...results.fields.filter((f) => f.kind === "param" && varies(f)).slice(0, FIRST_AXES).map((f) => f.name), results.objective.name], [results]);
    const names = shown.filter((name) => results.fields.some((f) => f.name === name));
    const toggled = (of: string[], name: string) => (of.includes(name) ? of.filter((n) => n !== name) : [...of, name]);
    const shape: Shape = { shown: names.length ? names : usual, logs: new Set(logs), flips: new Set(flips) };
    return {
        shape, setShown,
        toggleLog: (name: string) => setLogs(toggled(logs, name)),
        toggleFlip: (name: string) => setFlips(toggled(flips, name)),
    };
}

function axesOf(results: Results, shape: Shape): ParallelAxis[] {
    return shape.shown.flatMap((name) => {
        const field = results.fields.find((f) => f.name === name);
        if (!field) return [];
        const log = field.log !== shape.logs.has(name);
        return [{ ...axisOf(field.name, field.values, { log, names: field.names }), flip: shape.flips.has(name), values: field.values }];
    });
}

function drawAxes(ctx: CanvasRenderingContext2D, frame: ParallelFrame, axes: readonly ParallelAxis[], brushes: readonly Brush[], dragged: Brush | null): void {
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    axes.forEach((axis, i) => {
        const x = Math.round(frame.xs[i]!) + 0.5;
        ctx.strokeStyle = colourOf("--control");
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(x, frame.top);
        ctx.lineTo(x, frame.top + frame.height);
        ctx.stroke();
        drawTicks(ctx, frame, axis, x, i === axes.length - 1);
        for (const brush of dragged?.axis === axis.name ? [dragged] : brushes.filter((b) => b.axis === axis.name)) drawBrush(ctx, frame, axis, brush, x);
    });
}

function drawTicks(ctx: CanvasRenderingContext2D, frame: ParallelFrame, axis: ParallelAxis, x: number, last: boolean): void {
    ctx.textAlign = last ? "right" : "left";
    for (const tick of ticks(axis, 6)) {
        const at = axis.log ? (Math.log(tick) - Math.log(axis.min)) / (Math.log(axis.max) - Math.log(axis.min)) : (tick - axis.min) / (axis.max - axis.min);
        const y = yAt(frame, axis.flip ? 1 - at : at), words = tickText(axis, tick);
        ctx.lineWidth = 3;
        ctx.strokeStyle = colourOf("--bg"); /* a halo, lest lines hide the words */
        ctx.strokeText(words, x + (last ? -5 : 5), y);
        ctx.fillStyle = colourOf("--text");
        ctx.fillText(words, x + (last ? -5 : 5), y);
    }
}

function drawBrush(ctx: CanvasRenderingContext2D, frame: ParallelFrame, axis: ParallelAxis, brush: Brush, x: number): void {
    const [a, b] = axis.flip ? [1 - brush.low, 1 - brush.high] : [brush.low, brush.high];
    const [top, bottom] = [yAt(frame, Math.max(a, b)), yAt(frame, Math.min(a, b))];
    ctx.fillStyle = colourOf("--accent");
    ctx.globalAlpha = 0.28;
    ctx.fillRect(x - 9, top, 18, Math.max(1, bottom - top));
    ctx.globalAlpha = 1;
    ctx.fillRect(x - 9, top - 1, 18, 2);
    ctx.fillRect(x - 9, bottom - 1, 18, 2);
}

/* What a brush holds, in words. */
export function brushWords(axis: ParallelAxis, brush: Brush): string {
    if (axis.names) return axis.names.filter((_, i) => { const at = (i - axis.min) / (axis.max - axis.min); return at >= brush.low && at <= brush.high; }).join(", ") || "none";
    return `${tickText(axis, valueAt(axis, brush.low))} – ${tickText(axis, valueAt(axis, brush.high))}`;
}

export function ParallelCard({ results }: { results: Results }) {
    const { shape, setShown, toggleLog, toggleFlip } = useShape(results);
    const [written, setWritten] = useQuery("brush", text());
    const [colour, setColour] = useQuery("colour", text());
    const [dragged, setDragged] = useState<Brush | null>(null);
    const drag = useRef<{ axis: ParallelAxis; from: number; moved: boolean } | null>(null);
    const axes = useMemo(() => axesOf(results, shape), [results, shape.shown.join("\n"), [...shape.logs].join("\n"), [...shape.flips].join("\n")]);
    const brushes = useMemo(() => parseBrushes(written), [written]);
    const by = results.fields.find((f) => f.name === colour) ?? results.objective;
    const shares = useShares(by, by === results.objective ? results.goal : 1);
    const places = useMemo(() => placesOf(axes), [axes]);
    const active = dragged ? setBrush(brushes, dragged.axis, [dragged.low, dragged.high]) : brushes;
    const chosen = useMemo(() => brushed(axes, active, results.rows), [axes, formatBrushes(active), results]);
    const others = useMemo(() => (active.length ? without(chosen, results.rows) : new Int32Array()), [chosen]);
    const frameOf = (width: number): ParallelFrame => ({ xs: axisPositions(axes.length, width, 40), top: TOP, height: HEIGHT - TOP - FOOT });
    const few = dragged ? 800 : 100_000;
    const { canvas, width } = useCanvas(HEIGHT, (ctx, size) => {
        ctx.clearRect(0, 0, size.width, size.height);
        return drawLines(ctx, frameOf(size.width), places, thinned(others, few, others[0] ?? 0), thinned(chosen, few, results.best), shares);
    }, [places, chosen, shares]);
    const over = useCanvas(HEIGHT, (ctx, size) => {
        ctx.clearRect(0, 0, size.width, size.height);
        drawAxes(ctx, frameOf(size.width), axes, brushes, dragged);
    }, [axes, brushes, dragged]);
    const at = (event: PointerEvent) => {
        const { x, y } = pointerAt(event), frame = frameOf(width);
        const i = frame.xs.findIndex((ax) => Math.abs(ax - x) <= REACH);
        const up = Math.min(1, Math.max(0, 1 - (y - frame.top) / frame.height));
        return { axis: axes[i], place: (axis: ParallelAxis) => (axis.flip ? 1 - up : up) };
    };
    const onDown = (event: PointerEvent) => {
        const { axis, place } = at(event);
        if (!axis || event.button !== 0) return;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { axis, from: place(axis), moved: false };
    };
    const onMove = (event: PointerEvent) => {
        const d = drag.current;
        if (!d) return;
        const to = at(event).place(d.axis);
        d.moved ||= Math.abs(to - d.from) > 0.012;
        if (d.moved) setDragged({ axis: d.axis.name, low: Math.min(d.from, to), high: Math.max(d.from, to) });
    };
    const onUp = (event: PointerEvent) => {
        const d = drag.current;
        drag.current = null;
        setDragged(null);
        if (d) setWritten(formatBrushes(setBrush(brushes, d.axis.name, d.moved ? [d.from, at(event).place(d.axis)] : null)));
    };
    const move = (name: string, by: number) => {
        const next = shape.shown.filter((n) => n !== name);
        next.splice(Math.max(0, shape.shown.indexOf(name) + by), 0, name);
        setShown(next);
    };
    const fieldOf = (name: string) => results.fields.find((f) => f.name === name)!;
    const xs = frameOf(width).xs;
    const hidden = results.fields.filter((f) => !shape.shown.includes(f.name) && (f.kind !== "param" || varies(f)));
    return (
        <Card title="Parallel coordinates" wide table={() => bestTable(results, axes.map((a) => fieldOf(a.name)), chosen, shares)}
            note={<>{active.length ? `${formatCount(chosen.length)} of ${formatPlural(results.rows, "trial")}` : formatPlural(results.rows, "trial")}; drag along an axis to choose, click it to let go.</>}
            controls={<>
                {brushes.length > 0 && <Button onClick={() => setWritten("")}>Clear all</Button>}
                <Select label="Colour by" value={by.name} options={results.fields.filter((f) => !f.names).map((f) => ({ value: f.name, label: f.label }))} onChange={setColour} />
                {hidden.length > 0 && <Menu button={{ children: "Add axis", icon: "columns" }} items={() => hidden.slice(0, 60).map((f) => ({ label: f.label, act: () => setShown([...shape.shown, f.name]) }))} />}
            </>}>
            <div class="axis-heads" role="group" aria-label="Axes">
                {axes.map((axis, i) => (
                    <span key={axis.name} class={axis.name === results.objective.name ? "axis-head objective" : "axis-head"} style={{ left: `${xs[i] ?? 0}px`, maxWidth: `${Math.max(56, (width - 80) / Math.max(1, axes.length - 1))}px` }}>
                        <Menu button={{ children: fieldOf(axis.name).label, kind: "quiet", label: `axis ${fieldOf(axis.name).label}` }} items={() => [
                            ...(axis.names ? [] : [{ label: "Logarithmic", checked: axis.log, act: () => toggleLog(axis.name) }]),
                            { label: "Upside down", checked: axis.flip, act: () => toggleFlip(axis.name) },
                            { label: "Best third only", act: () => setWritten(formatBrushes(setBrush(brushes, axis.name, results.goal > 0 ? [0.667, 1] : [0, 0.333]))) },
                            { label: "Clear its range", disabled: !brushes.some((b) => b.axis === axis.name), act: () => setWritten(formatBrushes(setBrush(brushes, axis.name, null))) },
                            { label: "Move left", disabled: i === 0, act: () => move(axis.name, -1) },
                            { label: "Move right", disabled: i === axes.length - 1, act: () => move(axis.name, 1) },
                            { label: "Leave out", disabled: axes.length < 3, act: () => setShown(shape.shown.filter((n) => n !== axis.name)) },
                        ]} />
                    </span>
                ))}
            </div>
            <div class="canvas-box">
                <canvas ref={canvas} aria-hidden="true" />
                <canvas ref={over.canvas} class="above" role="img" aria-label={`Parallel coordinates of ${formatCount(chosen.length)} trials over ${axes.map((a) => fieldOf(a.name).label).join(", ")}`}
                    onPointerDown={onDown} onPointerMove={onMove} onPointerUp={onUp} />
            </div>
            <FieldKey field={by} goal={by === results.objective ? results.goal : 1} />
            {brushes.length > 0 && (
                <p class="row brush-words">{brushes.flatMap((b) => {
                    const axis = axes.find((a) => a.name === b.axis);
                    return axis ? [<span key={b.axis} class="tag">{fieldOf(b.axis).label} {brushWords(axis, b)}</span>] : [];
                })}</p>
            )}
        </Card>
    );
}

const ROWS_SHOWN = 50;

export function bestTable(results: Results, fields: Field[], rows: Int32Array, shares: Float64Array): TableData {
    const order = bestFirst(rows, shares, ROWS_SHOWN);
    const cell = (field: Field, row: number) => (Number.isNaN(field.values[row]!) ? "–" : field.names ? (field.names[field.values[row]!] ?? "–") : formatValue(field.values[row]!));
    return {
        head: ["trial", ...fields.map((f) => f.label)], total: rows.length,
        rows: order.map((row) => {
            const name = `${results.experiment}.${results.numbers[row]}`;
            return [<TrialLink key={name} name={name} />, ...fields.map((f) => cell(f, row))];
        }),
    };
}
