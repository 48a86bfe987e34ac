/* SPDX-License-Identifier: MIT */
/*
 * figure.tsx — the frame of a chart: its title, its controls, and the same as a table for those who
 * cannot see it. The table is made when it is opened.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { formatCount } from "../format.ts";

export interface TableData {
    head: string[];
    rows: ComponentChildren[][];
    total?: number; /* when the rows are only some */
}

function AsTable({ title, table }: { title: string; table: () => TableData }) {
    const [open, setOpen] = useState(false);
    const data = open ? table() : null;
    return (
        <details class="as-table" onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
            <summary>As a table</summary>
            {data && (
                <div class="scroll" tabIndex={0} role="region" aria-label={`${title} as a table`}>
                    <table class="plain">
                        <thead><tr>{data.head.map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
                        <tbody>{data.rows.map((row, i) => <tr key={i}>{row.map((cell, k) => (k === 0 ? <th key={k} scope="row">{cell}</th> : <td key={k}>{cell}</td>))}</tr>)}</tbody>
                    </table>
                    {data.total !== undefined && data.total > data.rows.length && <p class="dim">{formatCount(data.rows.length)} of {formatCount(data.total)}</p>}
                </div>
            )}
        </details>
    );
}

export function Card({ title, note, controls, children, table, wide }: {
    title: string;
    note?: ComponentChildren;
    controls?: ComponentChildren;
    children: ComponentChildren;
    table?: () => TableData;
    wide?: boolean;
}) {
    const id = useId();
    return (
        <section class={wide ? "card figure wide" : "card figure"} aria-labelledby={id}>
            <header class="row"><h2 id={id}>{title}</h2><span class="grow" />{controls}</header>
            {children}
            {note && <p class="dim figure-note">{note}</p>}
            {table && <AsTable title={title} table={table} />}
        </section>
    );
}

/* Its children once it comes near the screen: charts that nobody scrolls to cost nothing. */
export function WhenSeen({ height, children }: { height: number; children: () => ComponentChildren }) {
    const [seen, setSeen] = useState(false);
    const el = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (seen || !el.current) return;
        const observer = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && setSeen(true), { rootMargin: "300px" });
        observer.observe(el.current);
        return () => observer.disconnect();
    }, [seen]);
    return seen ? <>{children()}</> : <div ref={el} style={{ minHeight: `${height}px` }} />;
}
