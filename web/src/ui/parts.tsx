/* SPDX-License-Identifier: MIT */
/*
 * parts.tsx — the small ones: a state, a time, a number, a progress bar, tabs (the one that is shown is in sight), and what to show when
 * there is nothing, when it failed, while it loads.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ApiError } from "../api.ts";
import { formatAgo, formatDate, formatNumber } from "../format.ts";
import { Store, useStore } from "../store.ts";
import type { Counts } from "../types.ts";
import { Button } from "./button.tsx";

/* The state as a word with its colour; the reason beside it. */
export function StateChip({ state, reason, paused }: { state: string; reason?: string | null; paused?: boolean }) {
    const shown = paused && (state === "running" || state === "queued") ? "paused" : state;
    return (
        <span class={`chip state-${shown}`} title={reason ? `${shown}: ${reason}` : shown}>
            {shown}
            {reason && reason !== shown && <small> {reason}</small>}
        </span>
    );
}

export function Num({ value }: { value: number | null | undefined }) {
    return <span title={value === null || value === undefined ? undefined : String(value)}>{formatNumber(value)}</span>;
}

/* Ticks every 10 s, for all that say "5 m ago". */
const now = new Store(Date.now());
let ticking = 0;
export function useNow(): number {
    useEffect(() => {
        if (!ticking) ticking = window.setInterval(() => now.set(Date.now()), 10_000);
    }, []);
    return useStore(now);
}

export function Ago({ time }: { time: string | null | undefined }) {
    const at = useNow();
    return (
        <time dateTime={time ?? undefined} title={formatDate(time)}>
            {formatAgo(time, at)}
        </time>
    );
}

/* Finished, failed, running, of how many. */
export function Progress({ counts, total }: { counts: Counts; total: number | null | undefined }) {
    const ended = counts.completed + counts.stopped + counts.failed;
    const all = Math.max(1, total ?? 0, ended + counts.running + counts.queued + counts.paused);
    const words = `${ended} of ${total ?? "?"} trials done, ${counts.running} running, ${counts.failed} failed`;
    const part = (name: string, n: number) => n > 0 && <i class={name} style={{ width: `${(100 * n) / all}%` }} />;
    return (
        <span class="progress" role="img" aria-label={words} title={words}>
            {part("done", counts.completed)}
            {part("cut", counts.stopped)}
            {part("bad", counts.failed)}
            {part("now", counts.running + counts.paused)}
        </span>
    );
}

export function Tabs({ label, tabs, current }: { label: string; tabs: { id: string; title: string; href: string }[]; current: string }) {
    const nav = useRef<HTMLElement>(null);
    useLayoutEffect(() => {
        const el = nav.current!;
        const show = () => {
            const one = el.querySelector<HTMLElement>("[aria-current]");
            if (one && el.scrollWidth > el.clientWidth) el.scrollLeft = one.offsetLeft - el.offsetLeft - (el.clientWidth - one.offsetWidth) / 2;
        };
        const observer = new ResizeObserver(show); /* it also tells of the first size */
        observer.observe(el);
        return () => observer.disconnect();
    }, [current]);
    return (
        <nav class="tabs" aria-label={label} ref={nav}>
            {tabs.map((t) => (
                <a key={t.id} href={t.href} aria-current={t.id === current ? "page" : undefined}>
                    {t.title}
                </a>
            ))}
        </nav>
    );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <h2>{title}</h2>
            {children}
        </div>
    );
}

/* Where nothing answers any more. */
export function RunEnded() {
    return (
        <>
            If <code>hone run</code> served it, the run has ended: <code>hone serve</code> shows what it found, and <code>hone open</code> then gives a new link.
        </>
    );
}

export function Failure({ error, retry }: { error: ApiError | Error; retry?: () => void }) {
    const isAway = "code" in error && error.code === "unavailable" && error.status === 0;
    return (
        <div class="empty failure" role="alert">
            <h2>{isAway ? "The server does not answer" : "That did not work"}</h2>
            <p>{isAway ? <RunEnded /> : error.message}</p>
            {retry && <Button onClick={retry}>Try again</Button>}
        </div>
    );
}

export function Loading({ what }: { what: string }) {
    return (
        <div class="empty loading" role="status">
            <p>Loading {what} …</p>
        </div>
    );
}

/* Old value, new value, failure, nothing yet: the usual order of showing a load. */
export function Loaded<T>({ of, what, children }: { of: { value: T | null; error: ApiError | null; reload: () => void }; what: string; children: (value: T) => ComponentChildren }) {
    if (of.value !== null) return <>{children(of.value)}</>;
    if (of.error) return <Failure error={of.error} retry={of.reload} />;
    return <Loading what={what} />;
}

/* A small curve of a few values; gaps where there are none. */
export function Spark({ values, label, width = 96, height = 22 }: { values: (number | null)[]; label: string; width?: number; height?: number }) {
    const finite = values.filter((v): v is number => typeof v === "number" && Number.isFinite(v));
    if (finite.length < 2) return <span class="spark-none" aria-hidden="true" />;
    const low = Math.min(...finite);
    const span = Math.max(...finite) - low || 1;
    const x = (i: number) => (1 + (i * (width - 2)) / Math.max(1, values.length - 1)).toFixed(1);
    const y = (v: number) => (height - 2 - ((v - low) / span) * (height - 4)).toFixed(1);
    let d = "";
    let pen = "M";
    values.forEach((v, i) => {
        if (typeof v !== "number" || !Number.isFinite(v)) return void (pen = "M");
        d += `${pen}${x(i)} ${y(v)}`;
        pen = "L";
    });
    return (
        <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
            <path d={d} />
        </svg>
    );
}
