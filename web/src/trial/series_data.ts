/* SPDX-License-Identifier: MIT */
/*
 * series_data.ts — the curves of some trials and metrics, loaded for a view and kept up to date.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { series } from "../api.ts";
import type { Line } from "../binary.ts";
import { useLoad, useThrottled } from "../load.ts";
import { gaps, resets, usePoints } from "../stream.ts";
import { addPoints, lineKey, type Tail, withTail } from "./tails.ts";

export interface SeriesWish {
    lines: { trial: string; metric: string }[];
    x: "step" | "time" | "relative";
    smooth: number;
    view: [number, number | null] | null; /* null at the end: as far as it goes */
    width: number;
}

export interface SeriesData {
    lines: Map<string, { x: Float64Array; y: Float64Array; marks: Float64Array; count: number; nans: number }>;
    loading: boolean;
    error: Error | null;
    reload: () => void;
}

const RELOAD_MS = 8000, AT_ONCE = 1000; /* lines of a request */

async function loadAll(wish: SeriesWish, signal: AbortSignal): Promise<Map<string, Line>> {
    const found = new Map<string, Line>();
    for (let i = 0; i < wish.lines.length; i += AT_ONCE) {
        const part = wish.lines.slice(i, i + AT_ONCE);
        const answer = await series({ x: wish.x, from: wish.view?.[0] ?? null, to: wish.view?.[1] ?? null, width: wish.width, smooth: wish.smooth, lines: part }, signal);
        part.forEach((line, k) => answer.lines[k] && found.set(lineKey(line.trial, line.metric), answer.lines[k]));
    }
    return found;
}

export function useSeries(wish: SeriesWish): SeriesData {
    const tails = useRef(new Map<string, Tail>());
    const [live, setLive] = useState(0);
    const wanted = useMemo(() => new Set(wish.lines.map((line) => lineKey(line.trial, line.metric))), [JSON.stringify(wish.lines)]);
    const key = wish.lines.length ? JSON.stringify(wish) : null;
    const next = useRef(tails.current); /* what came since the curves were asked for last */
    const load = useLoad(key, async (signal) => {
        const mine = (next.current = new Map<string, Tail>());
        const lines = await loadAll(wish, signal);
        tails.current = mine;
        return lines;
    });
    const reloadSoon = useThrottled(load.reload, RELOAD_MS);
    const plain = wish.x !== "relative" && wish.smooth === 0 && (wish.view?.[1] ?? null) === null;
    usePoints((batches) => {
        const x = wish.x === "time" ? "time" : "step";
        const any = batches.map((batch) => addPoints(tails.current, wanted, batch, x)).includes(true);
        if (next.current !== tails.current) batches.forEach((batch) => addPoints(next.current, wanted, batch, x));
        if (!any) return;
        if (plain) setLive((n) => n + 1);
        reloadSoon();
    });
    useEffect(() => resets.subscribe(load.reload), [load.reload]);
    useEffect(() => gaps.subscribe(load.reload), [load.reload]);
    const lines = useMemo(() => {
        const merged: SeriesData["lines"] = new Map();
        for (const [name, line] of load.value ?? [])
            merged.set(name, { ...(plain ? withTail(line, tails.current.get(name)) : line), count: line.count, nans: line.nans });
        return merged;
    }, [load.value, live, plain]);
    return { lines, loading: load.loading, error: load.error, reload: load.reload };
}
