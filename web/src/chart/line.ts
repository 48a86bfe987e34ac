/* SPDX-License-Identifier: MIT */
/*
 * line.ts — a chart of lines over steps or time: uPlot for axes, crosshair, selection and their
 * sharing between charts; the lines themselves are drawn by draw.ts.
 *
 * Dragging selects a range of x: onZoom gets it and fetches finer data; a double click goes back. Fingers:
 * touch.ts.
 * Charts with the same `sync` share the crosshair by its x value.
 *
 * Lines that only grew at their ends (live values) are drawn from there on, over the picture that is
 * there. While that happens some room is kept at the right, so that most of the time nothing moves.
 */
import uPlot from "uplot";
import { colourOf, theme } from "../theme.ts";
import { formatNumber, formatSeconds } from "../format.ts";
import { drawAll, drawTails, mapX, mapY, type ChartLine, type Frame } from "./draw.ts";
import { extentIn, extentOfLines, isExtension, linearTicks, logTicks, nearest, pad, staysIn } from "./scale.ts";
import { union, type SharedAxis } from "./shared.ts";
import { followTouch } from "./touch.ts";

export type { ChartLine } from "./draw.ts";

export interface ChartOptions {
    xKind: "number" | "seconds" | "clock";
    xLog?: boolean;
    yLog?: boolean;
    xLabel?: string;
    yLabel?: string;
    sync?: string;
    share?: SharedAxis; /* the y axis, with other charts */
    height: number;
    /* null: back to everything */
    onZoom?: (range: [number, number] | null) => void;
    /* The crosshair is at x; what each line has nearest to it, in the order of lines. Null: it left. */
    onHover?: (hover: Hover | null) => void;
}

export interface HoverValue {
    line: ChartLine;
    x: number;
    y: number;
    distance: number; /* in pixels, from the pointer; Infinity when it comes from another chart */
}
export interface Hover {
    x: number;
    left: number; /* CSS pixels inside the chart */
    top: number;
    values: HoverValue[];
    own: boolean; /* the pointer is over this chart */
}

const gap = 32; /* CSS pixels between ticks, about */

export class LineChart {
    private plot: uPlot | null = null;
    private lines: ChartLine[] = [];
    private view: [number, number] | null = null; /* null: all */
    private loud: string | null = null;
    private queued = 0;
    private grows = false;
    private readonly unsubscribe: () => void;
    private readonly observer: ResizeObserver;

    constructor(
        private readonly el: HTMLElement,
        private options: ChartOptions,
    ) {
        this.build();
        this.observer = new ResizeObserver(() => {
            const width = this.el.clientWidth;
            if (width > 0 && width !== this.plot?.width) this.plot?.setSize({ width, height: this.options.height });
        });
        this.observer.observe(el);
        this.unsubscribe = theme.subscribe(() => this.build());
    }

    /* Other axes, another height: only what changed is rebuilt. */
    setOptions(options: ChartOptions): void {
        const same = (["xKind", "xLog", "yLog", "xLabel", "yLabel", "sync", "share", "height"] as const).every((k) => options[k] === this.options[k]);
        if (options.share !== this.options.share) this.options.share?.leave(this);
        this.options = options;
        if (!same) this.build();
    }

    /* What to draw, and the range of x that is in view (null: as far as the lines go). */
    setLines(lines: ChartLine[], view: [number, number] | null = null): void {
        const old = this.lines;
        const isSameView = view?.[0] === this.view?.[0] && view?.[1] === this.view?.[1];
        this.grows = isSameView && isExtension(old, lines);
        this.lines = lines;
        this.view = view;
        if (!this.grows || !this.drawGrown(old.map((l) => l.x.length))) this.rescale();
    }

    /* Draw the new ends only; false if the axes have to change for them. */
    private drawGrown(from: number[]): boolean {
        const u = this.plot;
        if (!u || this.queued || this.loud !== null || this.lines.some((l) => l.low)) return false;
        const f = this.frame(u);
        if (!staysIn(this.lines, from, f.x, f.y, this.view !== null)) return false;
        drawTails(u.ctx, f, this.lines, from);
        return true;
    }

    /* Draw one line before the others, which fade. */
    setLoud(id: string | null): void {
        if (id === this.loud) return;
        this.loud = id;
        this.redraw();
    }

    /* A range set from outside, or by another chart. */
    setView(view: [number, number] | null): void {
        this.view = view;
        this.rescale();
    }

    destroy(): void {
        this.options.share?.leave(this);
        this.unsubscribe();
        this.observer.disconnect();
        cancelAnimationFrame(this.queued);
        this.plot?.destroy();
        this.plot = null;
    }

    private redraw(): void {
        if (this.queued) return;
        this.queued = requestAnimationFrame(() => {
            this.queued = 0;
            this.plot?.redraw(false);
        });
    }

    private xRange(): [number, number] {
        const log = this.options.xLog === true;
        const all = this.view ?? extentOfLines(this.lines, log) ?? (log ? [1, 10] : [0, 1]);
        const low = log && all[0] <= 0 ? (extentOfLines(this.lines, true)?.[0] ?? all[1] / 1000) : all[0];
        const room = this.grows && !this.view && !log ? (all[1] - low) * 0.05 : 0;
        return low < all[1] ? [low, all[1] + room] : pad([low, low], log);
    }

    private yRange([from, to]: [number, number]): [number, number] {
        const log = this.options.yLog === true;
        let both: [number, number] | null = null;
        const take = (range: [number, number] | null) => {
            if (range) both = both ? [Math.min(both[0], range[0]), Math.max(both[1], range[1])] : range;
        };
        for (const line of this.lines) {
            take(extentIn(line.x, line.y, from, to, log));
            if (line.low && line.high) {
                take(extentIn(line.x, line.low, from, to, log));
                take(extentIn(line.x, line.high, from, to, log));
            }
        }
        this.options.share?.tell(this, both);
        return pad(union(both, this.options.share?.whole() ?? null) ?? (log ? [0.1, 1] : [0, 1]), log);
    }

    private rescale(): void {
        if (!this.plot) return;
        const x = this.xRange();
        const y = this.yRange(x);
        cancelAnimationFrame(this.queued);
        this.queued = 0;
        this.plot.batch(() => {
            this.plot?.setScale("x", { min: x[0], max: x[1] });
            this.plot?.setScale("y", { min: y[0], max: y[1] });
        }); /* and it has drawn */
    }

    private frame(u: uPlot): Frame {
        const x = u.scales.x!;
        const y = u.scales.y!;
        return {
            left: u.bbox.left, top: u.bbox.top, width: u.bbox.width, height: u.bbox.height,
            x: [x.min!, x.max!], y: [y.min!, y.max!],
            xLog: this.options.xLog === true, yLog: this.options.yLog === true,
            ratio: devicePixelRatio,
        };
    }

    private build(): void {
        this.plot?.destroy();
        const o = this.options;
        o.share?.join(this, () => this.rescale());
        const axis = {
            stroke: colourOf("--dim"),
            grid: { stroke: colourOf("--grid"), width: 1 },
            ticks: { stroke: colourOf("--grid"), width: 1, size: 4 },
            font: "11px system-ui, sans-serif",
            labelFont: "11px system-ui, sans-serif",
            labelGap: 0,
            labelSize: 16,
        };
        const splits = (log: boolean, size: (u: uPlot) => number, room: number) => (u: uPlot, _i: number, low: number, high: number) =>
            (log ? logTicks : linearTicks)(low, high, Math.max(2, Math.floor(size(u) / devicePixelRatio / room)));
        const x = this.xRange();
        const y = this.yRange(x);
        this.plot = new uPlot(
            {
                width: Math.max(120, this.el.clientWidth),
                height: o.height,
                pxAlign: 1,
                padding: [8, 14, 0, 0],
                legend: { show: false },
                scales: {
                    x: { time: o.xKind === "clock", distr: o.xLog ? 3 : 1, auto: false, range: (_u, min, max) => [min ?? x[0], max ?? x[1]] },
                    y: { distr: o.yLog ? 3 : 1, auto: false, range: (_u, min, max) => [min ?? y[0], max ?? y[1]] },
                },
                series: [{}, { show: true, scale: "y", paths: () => null, points: { show: false } }],
                axes: [
                    {
                        ...axis, label: o.xLabel, size: o.xKind === "clock" ? 40 : 30, /* the day stands below the hour */
                        ...(o.xKind === "clock" ? {} : {
                            splits: splits(o.xLog === true, (u) => u.bbox.width, 72),
                            values: (_u: uPlot, ticks: number[]) => ticks.map((t) => (o.xKind === "seconds" ? formatSeconds(t) : short(t))),
                        }),
                    },
                    {
                        ...axis, label: o.yLabel, size: 54,
                        splits: splits(o.yLog === true, (u) => u.bbox.height, gap),
                        values: (_u: uPlot, ticks: number[]) => ticks.map(short),
                    },
                ],
                cursor: {
                    y: false,
                    points: { show: false },
                    drag: { x: true, y: false, setScale: false },
                    sync: o.sync ? { key: o.sync, scales: ["x", null] } : undefined,
                    bind: { dblclick: () => () => (o.onZoom?.(null), null) },
                },
                hooks: {
                    draw: [(u) => drawAll(u.ctx, this.frame(u), this.lines, this.loud)],
                    setSelect: [(u) => this.onSelect(u)],
                    setCursor: [(u) => this.onCursor(u)],
                },
            },
            [[x[0], x[1]], [null, null]],
            this.el,
        );
        followTouch(this.plot.over, {
            range: () => this.xRange(), log: () => this.options.xLog === true, preview: (range) => this.setView(range),
            done: (range) => (this.setView(range), this.options.onZoom?.(range)),
        });
        this.plot.root.querySelectorAll("canvas").forEach((c) => c.setAttribute("aria-hidden", "true"));
        this.rescale();
    }

    private onSelect(u: uPlot): void {
        if (u.select.width < 4) return;
        const range: [number, number] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.options.onZoom?.(range);
    }

    private onCursor(u: uPlot): void {
        const { left, top } = u.cursor;
        if (!this.options.onHover) return;
        if (left === undefined || left === null || left < 0) return this.options.onHover(null);
        const own = u.over.matches(":hover");
        this.options.onHover(this.hoverAt(u, left, own ? (top ?? 0) : NaN, own));
    }

    private hoverAt(u: uPlot, left: number, top: number, own: boolean): Hover {
        const f = this.frame(u);
        const at = u.posToVal(left, "x");
        const [px, py] = [mapX(f), mapY(f)];
        const values: HoverValue[] = [];
        for (const line of this.lines) {
            const i = nearest(line.x, at);
            if (i < 0) continue;
            const [x, y] = [line.x[i]!, line.y[i]!];
            if (x < f.x[0] || x > f.x[1]) continue;
            const dx = (px(x) - f.left) / f.ratio - left;
            const dy = (py(y) - f.top) / f.ratio - top;
            if (Math.abs(dx) > 60) continue;
            values.push({ line, x, y, distance: own ? Math.hypot(dx, dy) : Infinity });
        }
        return { x: at, left: left + u.over.offsetLeft, top: (own ? top : 0) + u.over.offsetTop, values, own };
    }
}

function short(value: number): string {
    const size = Math.abs(value);
    if (size >= 1e9 || (size < 1e-3 && size > 0)) return formatNumber(value, 3);
    if (size >= 1e6) return `${formatNumber(value / 1e6, 4)}M`;
    if (size >= 1e4) return `${formatNumber(value / 1e3, 4)}k`;
    return formatNumber(value, 6);
}
