/* SPDX-License-Identifier: MIT */
/*
 * line_view.tsx — a LineChart as a part of a page: the chart, the box at the crosshair, and words for
 * those who cannot see it. What is given is drawn before the next frame.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatDate, formatNumber, formatSeconds } from "../format.ts";
import { LineChart, type ChartLine, type ChartOptions, type Hover } from "./line.ts";

export interface LineViewProps extends Omit<ChartOptions, "onHover"> {
    lines: ChartLine[];
    view?: [number, number] | null;
    loud?: string | null;
    title: string;
    /* A line was pressed. */
    onPick?: (line: ChartLine) => void;
}

function formatX(kind: ChartOptions["xKind"], x: number): string {
    if (kind === "seconds") return formatSeconds(x);
    if (kind === "clock") return formatDate(new Date(x * 1000).toISOString());
    return formatNumber(x, 7);
}

function describe(p: LineViewProps): string {
    const some = p.lines.slice(0, 8).map((l) => `${l.label} ends at ${formatNumber(lastOf(l.y))}`);
    const more = p.lines.length > some.length ? `, and ${p.lines.length - some.length} more` : "";
    return `Chart of ${p.title}: ${p.lines.length === 0 ? "no lines" : some.join(", ") + more}`;
}

function lastOf(y: Float64Array): number | null {
    for (let i = y.length - 1; i >= 0; i--) if (Number.isFinite(y[i]!)) return y[i]!;
    return null;
}

const shownMax = 12;

function HoverBox({ hover, kind, width }: { hover: Hover; kind: ChartOptions["xKind"]; width: number }) {
    const sorted = hover.own ? [...hover.values].sort((a, b) => a.distance - b.distance) : hover.values;
    const shown = sorted.slice(0, shownMax).sort((a, b) => b.y - a.y);
    if (shown.length === 0) return null;
    const near = hover.own ? sorted[0] : undefined;
    const right = hover.left > width / 2;
    const style = right ? { right: `${width - hover.left + 12}px`, top: "6px" } : { left: `${hover.left + 12}px`, top: "6px" };
    return (
        <div class="hover-box" style={style} aria-hidden="true">
            <div class="hover-x">{formatX(kind, near?.x ?? hover.x)}</div>
            {shown.map((v) => (
                <div key={v.line.id} class={v === near ? "hover-row near" : "hover-row"}>
                    <i style={{ background: v.line.colour }} />
                    <span>{v.line.label}</span>
                    <b>{formatNumber(v.y)}</b>
                </div>
            ))}
            {hover.values.length > shownMax && <div class="hover-x">{hover.values.length - shownMax} more</div>}
        </div>
    );
}

export function LineView(p: LineViewProps) {
    const el = useRef<HTMLDivElement>(null);
    const chart = useRef<LineChart | null>(null);
    const [hover, setHover] = useState<Hover | null>(null);
    const latest = useRef(p);
    latest.current = p;
    const options = (): ChartOptions => ({
        xKind: p.xKind, xLog: p.xLog, yLog: p.yLog, xLabel: p.xLabel, yLabel: p.yLabel, sync: p.sync, share: p.share, height: p.height,
        onZoom: (range) => latest.current.onZoom?.(range),
        onHover: setHover,
    });
    useLayoutEffect(() => {
        const made = new LineChart(el.current!, options());
        chart.current = made;
        return () => made.destroy();
    }, []);
    useLayoutEffect(() => chart.current?.setOptions(options()), [p.xKind, p.xLog, p.yLog, p.xLabel, p.yLabel, p.sync, p.share, p.height]);
    useLayoutEffect(() => chart.current?.setLines(p.lines, p.view ?? null), [p.lines, p.view?.[0], p.view?.[1]]);
    useLayoutEffect(() => chart.current?.setLoud(p.loud ?? null), [p.loud]);
    const near = hover?.own ? hover.values.reduce<(typeof hover.values)[number] | null>((a, v) => (a && a.distance <= v.distance ? a : v), null) : null;
    return (
        <figure class="chart" aria-label={describe(p)} role="img">
            <div ref={el} class={near && near.distance < 24 && p.onPick ? "chart-area pick" : "chart-area"}
                onClick={() => near && near.distance < 24 && p.onPick?.(near.line)} />
            {hover && <HoverBox hover={hover} kind={p.xKind} width={el.current?.clientWidth ?? 0} />}
        </figure>
    );
}
