/* SPDX-License-Identifier: MIT */
/*
 * grid.tsx — the run table on the screen: only the rows (and of many columns only those) in the window
 * exist, whatever their number.
 * A grid for screen readers (row and column counts are told), pinned columns stay at the left, the
 * header stays above.
 */
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { format } from "../address.ts";
import { scaleColour } from "../theme.ts";
import type { Column } from "../types.ts";
import { Icon } from "../ui/icons.tsx";
import { StateChip, useNow } from "../ui/parts.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { formatCell, isNumeric, shareOf, titleOf, visibleColumns, widthOf } from "./columns.ts";
import { memo } from "./memo.tsx";
import type { Pager } from "./table_data.ts";

export const rowHeight = 26;
const headHeight = 30;
const checkWidth = 34;

export interface GridProps {
    experiment: number;
    pager: Pager;
    version: number; /* of the pager's content */
    isStale: boolean; /* another view is on its way */
    columns: Column[]; /* pinned ones first */
    pinned: number; /* how many of them */
    tinted: string[];
    sort: string;
    desc: boolean;
    selected: ReadonlySet<number>;
    current: number;
    fresh: ReadonlyMap<number, { value: number | null; step: number | null }>; /* of running trials */
    onSort: (column: Column) => void;
    onSelect: (number: number, index: number, range: boolean) => void;
    onCurrent: (index: number) => void;
    onOpen: (number: number) => void;
    onMove: (name: string, before: string) => void;
    menuOf: (column: Column) => MenuItem[];
}

/* Left edges of the columns, after the check box. */
export function offsets(columns: Column[]): number[] {
    let x = checkWidth;
    return columns.map((c) => {
        const at = x;
        x += widthOf(c);
        return at;
    });
}

function Cell({ column, value, left, isPinned, tint, experiment, reason, now, index }: {
    column: Column; value: unknown; left: number; isPinned: boolean; tint: boolean; experiment: number; reason: unknown; now: number; index: number;
}) {
    const share = tint ? shareOf(column, value) : null;
    const style = {
        left: isPinned ? `${left}px` : undefined,
        width: `${widthOf(column)}px`,
        background: share === null ? undefined : `linear-gradient(${scaleColour(share, 0.26)}, ${scaleColour(share, 0.26)}), var(--row-bg)`,
    };
    const shown = formatCell(column, value, now);
    return (
        <div role="gridcell" aria-colindex={index + 2} class={`cell${isNumeric(column) ? " num" : ""}${isPinned ? " pinned" : ""}`} style={style}
            title={column.type === "number" || shown.length > 14 ? String(value ?? "") : undefined}>
            {column.name === "number" ? <a tabIndex={-1} href={format(["t", `${experiment}.${String(value)}`])}>{shown}</a>
                : column.name === "state" ? <StateChip state={String(value ?? "")} reason={typeof reason === "string" ? reason : undefined} /> : shown}
        </div>
    );
}

/* The columns to draw: pinned ones, then those in the window behind a gap. */
interface Span {
    from: number;
    to: number;
    gap: number; /* pixels */
}

function inSpan<T>(columns: T[], pinned: number, span: Span): [T, number][] {
    return columns.map((c, i): [T, number] => [c, i]).filter(([, i]) => i < pinned || (i >= span.from && i < span.to));
}

interface RowProps {
    p: GridProps;
    span: Span;
    index: number;
    row: unknown[] | null;
    lefts: number[];
    width: number;
    order: number[]; /* where in the row each column is */
    number: number | null;
    reasonAt: number;
    isSelected: boolean;
    isCurrent: boolean;
    live: { value: number | null; step: number | null } | undefined;
    now: number;
}

const Row = memo(
    function Row({ p, span, index, row, lefts, width, order, number, reasonAt, isSelected, isCurrent, live, now }: RowProps) {
        const valueOf = (c: Column, at: number) => (live && c.name === "value" ? live.value : live && c.name === "step" ? live.step : row?.[at]);
        return (
            <div role="row" id={`row-${index}`} aria-rowindex={index + 2} aria-selected={isSelected} class={`tr${isSelected ? " selected" : ""}${isCurrent ? " current" : ""}`}
                style={{ transform: `translateY(${index * rowHeight}px)`, width: `${width}px` }}
                onClick={(e) => {
                    p.onCurrent(index);
                    if (number !== null && (e.target as HTMLElement).tagName !== "A" && (e.shiftKey || e.ctrlKey || e.metaKey)) p.onSelect(number, index, e.shiftKey);
                }}
                onDblClick={() => number !== null && p.onOpen(number)}>
                <div role="gridcell" aria-colindex={1} class="cell check pinned">
                    {number !== null && (
                        <input type="checkbox" tabIndex={-1} checked={isSelected} aria-label={`select trial ${number}`}
                            onClick={(e) => {
                                e.stopPropagation();
                                p.onSelect(number, index, e.shiftKey);
                            }} />
                    )}
                </div>
                {inSpan(p.columns, p.pinned, span).map(([c, i]) => (
                    <Fragment key={c.name}>
                        {i === span.from && span.gap > 0 && <div class="gap" role="presentation" style={{ width: `${span.gap}px` }} />}
                        <Cell column={c} value={valueOf(c, order[i]!)} left={lefts[i]!} isPinned={i < p.pinned} tint={p.tinted.includes(c.name)}
                            experiment={p.experiment} reason={row?.[reasonAt]} now={now} index={i} />
                    </Fragment>
                ))}
            </div>
        );
    },
    (a, b) => a.row === b.row && a.index === b.index && a.isSelected === b.isSelected && a.isCurrent === b.isCurrent && a.live === b.live && a.now === b.now &&
        a.p.columns === b.p.columns && a.p.tinted === b.p.tinted && a.p.pinned === b.p.pinned && a.span.from === b.span.from && a.span.to === b.span.to && a.p.onSelect === b.p.onSelect,
);

function Head({ p, lefts, span }: { p: GridProps; lefts: number[]; span: Span }) {
    const [over, setOver] = useState("");
    return (
        <div role="row" aria-rowindex={1} class="tr head">
            <div role="columnheader" aria-colindex={1} class="cell check pinned">
                <span class="sr">Selected</span>
            </div>
            {inSpan(p.columns, p.pinned, span).map(([c, i]) => {
                const isSort = c.name === p.sort;
                const isPinned = i < p.pinned;
                return (
                    <Fragment key={c.name}>
                        {i === span.from && span.gap > 0 && <div class="gap" role="presentation" style={{ width: `${span.gap}px` }} />}
                        <div role="columnheader" aria-colindex={i + 2} aria-sort={isSort ? (p.desc ? "descending" : "ascending") : undefined}
                            class={`cell${isNumeric(c) ? " num" : ""}${isPinned ? " pinned" : ""}${over === c.name ? " over" : ""} kind-${c.kind}`}
                            style={{ width: `${widthOf(c)}px`, left: isPinned ? `${lefts[i]}px` : undefined }} draggable
                            onDragStart={(e) => e.dataTransfer?.setData("text/plain", c.name)}
                            onDragOver={(e) => (e.preventDefault(), setOver(c.name))}
                            onDragLeave={() => setOver("")}
                            onDrop={(e) => {
                                e.preventDefault();
                                setOver("");
                                p.onMove(e.dataTransfer?.getData("text/plain") ?? "", c.name);
                            }}>
                            <button type="button" class="sort" title={c.name} onClick={() => p.onSort(c)}>
                                <span>{titleOf(c.name)}</span>
                                {isSort && <Icon name={p.desc ? "down" : "up"} />}
                            </button>
                            <Menu button={{ kind: "quiet", icon: "down", label: `Column ${titleOf(c.name)}` }} items={() => p.menuOf(c)} />
                        </div>
                    </Fragment>
                );
            })}
        </div>
    );
}

export function Grid(p: GridProps) {
    const box = useRef<HTMLDivElement>(null);
    const [scroll, setScroll] = useState({ top: 0, height: 600, left: 0, width: 1000 });
    const now = useNow();
    const measure = () => {
        const el = box.current;
        if (!el) return;
        const room = innerHeight - (el.getBoundingClientRect().top + scrollY) - 20;
        el.style.height = `${Math.min(Math.max(340, room), headHeight + p.pager.matched * rowHeight + 18)}px`;
        const now = { top: el.scrollTop, height: el.clientHeight, left: el.scrollLeft, width: el.clientWidth };
        setScroll((s) => (s.top === now.top && s.height === now.height && s.left === now.left && s.width === now.width ? s : now));
    };
    useLayoutEffect(measure);
    useEffect(() => {
        addEventListener("resize", measure);
        return () => removeEventListener("resize", measure);
    });
    const count = p.pager.matched;
    const first = Math.max(0, Math.min(count, Math.floor(scroll.top / rowHeight) - 6));
    const last = Math.min(count - 1, Math.ceil((scroll.top + scroll.height - headHeight) / rowHeight) + 6);
    useEffect(() => p.pager.want(first, last), [p.pager, first, last]);
    useEffect(() => {
        const el = box.current;
        if (!el || p.current < 0) return;
        const top = p.current * rowHeight;
        if (top < el.scrollTop) el.scrollTop = top;
        else if (top + rowHeight > el.scrollTop + el.clientHeight - headHeight) el.scrollTop = top + rowHeight - el.clientHeight + headHeight;
    }, [p.current]);
    const lefts = offsets(p.columns);
    const width = (lefts.at(-1) ?? checkWidth) + (p.columns.length > 0 ? widthOf(p.columns.at(-1)!) : 0);
    const [from, to] = visibleColumns(lefts, p.columns.map(widthOf), p.pinned, scroll.left, scroll.width);
    const pinnedEnd = p.pinned > 0 ? lefts[p.pinned - 1]! + widthOf(p.columns[p.pinned - 1]!) : checkWidth;
    const span: Span = { from, to, gap: from < lefts.length ? lefts[from]! - pinnedEnd : 0 };
    const names = p.pager.columns.map((c) => c.name);
    const order = p.columns.map((c) => names.indexOf(c.name));
    const [numberAt, reasonAt] = [names.indexOf("number"), names.indexOf("reason")];
    const rows = [];
    for (let i = first; i <= last; i++) {
        const row = p.pager.row(i);
        const number = typeof row?.[numberAt] === "number" ? (row[numberAt] as number) : null;
        rows.push(
            <Row key={i} p={p} span={span} index={i} row={row} lefts={lefts} width={width} order={order} number={number} reasonAt={reasonAt} now={now}
                isSelected={number !== null && p.selected.has(number)} isCurrent={i === p.current} live={number === null ? undefined : p.fresh.get(number)} />,
        );
    }
    return (
        <div class={p.isStale ? "grid stale" : "grid"} aria-busy={p.isStale} ref={box} role="grid" aria-label="Trials" aria-rowcount={count + 1} aria-colcount={p.columns.length + 1} aria-multiselectable="true"
            tabIndex={0} aria-activedescendant={p.current >= first && p.current <= last ? `row-${p.current}` : undefined} onScroll={measure}>
            <div class="grid-inner" role="rowgroup" style={{ width: `${width}px` }}>
                <Head p={p} lefts={lefts} span={span} />
                <div class="rows" role="presentation" style={{ height: `${count * rowHeight}px` }}>
                    {rows}
                </div>
            </div>
        </div>
    );
}
