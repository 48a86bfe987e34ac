/* SPDX-License-Identifier: MIT */
/*
 * lines.tsx — a long text in a scrolling box: only the lines in sight are in the document.
 *
 * All rows have one height, so a place is a multiplication; a line is a row, or several when long ones
 * are wrapped (wrap.ts). The owner may put lines in front (`shifted` counts them): what one reads then
 * stays where it is, and also when the box gets another width.
 */
import type { ComponentChildren, Ref } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Wrap } from "./wrap.ts";

export const LINE_HEIGHT = 18;
const SPARE = 12; /* lines drawn beyond both edges */
const PAD = 12; /* pixels beside a line */

export interface LinesHandle {
    /* Bring a line into the middle of the box. */
    show: (line: number) => void;
    toEnd: () => void;
    /* The line at the upper edge. */
    first: () => number;
}

export interface LinesProps {
    count: number;
    line: (i: number) => ComponentChildren;
    lineClass?: (i: number) => string;
    label: string;
    shifted?: number;
    height?: string; /* of the box, in CSS; default: what the text needs, but at most … */
    tallest?: string;
    wrap?: (i: number) => string; /* the text of a line: long ones go on below */
    text?: number; /* of another number: it is another text */
    onScroll?: (atStart: boolean, atEnd: boolean) => void;
    handle?: Ref<LinesHandle>;
    live?: boolean;
}

/* How many letters go into a row of the box. */
function columnsIn(box: HTMLElement): number {
    const ctx = document.createElement("canvas").getContext("2d")!;
    ctx.font = getComputedStyle(box).font;
    const letter = ctx.measureText("0".repeat(100)).width / 100;
    return Math.max(1, Math.floor((box.clientWidth - 2 * PAD) / letter));
}

/* Where lines are, and how to keep the one at the upper edge there while they move. */
class Places {
    private wrap: Wrap | null = null;
    private columns = 0; /* 0: not wrapped */
    private count = 0;
    private shifted = 0;
    private number = 0;
    text: (i: number) => string = () => "";

    get rows(): number { return this.wrap?.rows ?? this.count; }
    top(line: number): number { return this.wrap?.top(line) ?? Math.min(line, this.count); }
    at(row: number): number { return this.wrap?.at(row) ?? Math.max(0, Math.min(Math.floor(row), this.count - 1)); }
    correct(line: number, rows: number): boolean { return this.wrap?.correct(line, rows) ?? false; }

    /* Returns by how many rows what was at `row` has moved. */
    update(row: number, count: number, shifted: number, columns: number, number: number): number {
        const line = this.at(row), before = this.top(line), moved = shifted - this.shifted;
        const isWider = columns !== this.columns, isOther = number !== this.number;
        if (isWider || isOther) this.wrap = columns ? new Wrap(columns, (i) => this.text(i)) : null;
        this.wrap?.update(count, shifted);
        [this.columns, this.count, this.shifted, this.number] = [columns, count, shifted, number];
        return !isOther && (moved || isWider) ? this.top(line + moved) - before : 0;
    }
}

export function Lines(p: LinesProps) {
    const box = useRef<HTMLDivElement>(null);
    const seen = useRef<HTMLDivElement>(null);
    const places = useRef(new Places()).current;
    const [range, setRange] = useState<[number, number]>([0, 60]);
    const [, setVersion] = useState(0);
    const redraw = () => setVersion((n) => n + 1);
    places.text = p.wrap ?? places.text;
    const measure = () => {
        const el = box.current;
        if (!el) return;
        const from = Math.max(0, places.at(el.scrollTop / LINE_HEIGHT) - SPARE);
        const to = places.at((el.scrollTop + el.clientHeight) / LINE_HEIGHT) + 1 + SPARE;
        setRange((old) => (old[0] === from && old[1] === to ? old : [from, to]));
    };
    const place = () => {
        const el = box.current;
        if (!el) return;
        const before = places.rows;
        const moved = places.update(el.scrollTop / LINE_HEIGHT, p.count, p.shifted ?? 0, p.wrap ? columnsIn(el) : 0, p.text ?? 0);
        if (all.current) all.current.style.height = `${places.rows * LINE_HEIGHT}px`; /* before one scrolls in it */
        if (moved) el.scrollTop += moved * LINE_HEIGHT;
        if (places.rows !== before) redraw();
        measure();
    };
    const all = useRef<HTMLDivElement>(null);
    const latest = useRef(place);
    latest.current = place;
    useLayoutEffect(place, [p.shifted, p.count, !p.wrap, p.text]);
    useEffect(() => {
        const observer = new ResizeObserver(() => latest.current());
        observer.observe(box.current!);
        return () => observer.disconnect();
    }, []);
    useLayoutEffect(() => {
        if (!p.wrap || !seen.current) return;
        const wrong = [...seen.current.children].map((el, k) => places.correct(from + k, Math.max(1, Math.round((el as HTMLElement).offsetHeight / LINE_HEIGHT))));
        if (wrong.includes(true)) redraw();
    });
    useImperativeHandle(p.handle ?? null, () => ({
        show: (line) => {
            const el = box.current;
            if (!el) return;
            el.scrollTop = (places.top(line) + 0.5) * LINE_HEIGHT - el.clientHeight / 2;
            measure();
        },
        toEnd: () => {
            if (box.current) box.current.scrollTop = box.current.scrollHeight;
            measure();
        },
        first: () => places.at((box.current?.scrollTop ?? 0) / LINE_HEIGHT),
    }), []);
    const onScroll = () => {
        const el = box.current;
        if (!el) return; /* a last scroll of what is gone */
        measure();
        p.onScroll?.(el.scrollTop < 40 * LINE_HEIGHT, el.scrollTop + el.clientHeight >= el.scrollHeight - LINE_HEIGHT);
    };
    const [from, to] = [Math.min(range[0], p.count), Math.min(range[1], p.count)];
    const rows = Math.max(1, places.rows || p.count);
    const height = p.height ?? (p.tallest ? `min(${p.tallest}, ${rows * LINE_HEIGHT + 28}px)` : `${rows * LINE_HEIGHT + 18}px`);
    return (
        <div ref={box} class={p.wrap ? "lines wrapped" : "lines"} tabIndex={0} role={p.live ? "log" : "region"} aria-label={p.label} aria-live="off" style={{ height }} onScroll={onScroll}>
            <div ref={all} class="lines-all" style={{ height: `${rows * LINE_HEIGHT}px` }}>
                <div ref={seen} class="lines-seen" style={{ transform: `translateY(${places.top(from) * LINE_HEIGHT}px)` }}>
                    {Array.from({ length: to - from }, (_, k) => (
                        <div key={from + k - (p.shifted ?? 0)} class={`line ${p.lineClass?.(from + k) ?? ""}`}>
                            {p.line(from + k)}
                        </div>
                    ))}
                </div>
            </div>
        </div>
    );
}
