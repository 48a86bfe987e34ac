/* SPDX-License-Identifier: MIT */
/*
 * address.ts — the whole state of a view is its address: "#/e/3/curves?metric=loss&smooth=0.6".
 * Copy it and somebody else sees the same.
 *
 * A value of the query has a codec (codec.ts); the default is never
 * written, so a plain view has a plain address. Steps between pages are pushed, adjustments of a
 * view replace. Replacing is gathered for a moment: browsers allow a hundred changes in 30 s, and
 * a slider makes more.
 */
import { useEffect, useState } from "preact/hooks";
import { format, parse, type Address, type Codec } from "./codec.ts";
import { fromMlflow } from "./mlflow.ts";

export * from "./codec.ts";

let current: Address = { path: [], query: new URLSearchParams() };
let unwritten = 0;
const listeners = new Set<() => void>();

function tell(): void {
    for (const listener of [...listeners]) listener();
}

function write(push: boolean): void {
    clearTimeout(unwritten);
    unwritten = 0;
    const hash = format(current.path, current.query);
    if (hash === location.hash) return;
    if (push) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
}

/* What the browser is asked to show; MLflow's addresses become ours. */
function readLocation(): void {
    current = parse(location.hash);
    const path = fromMlflow(current.path);
    if (!path) return;
    current = { path, query: new URLSearchParams() };
    write(false);
}

/* Follow the browser's own steps; call once. */
export function startAddress(): void {
    readLocation();
    const onMove = () => {
        clearTimeout(unwritten);
        unwritten = 0;
        readLocation();
        tell();
    };
    addEventListener("hashchange", onMove);
    addEventListener("popstate", onMove);
    addEventListener("pagehide", () => unwritten && write(false));
}

export function here(): Address {
    return current;
}

/* The address as text, with what is not yet written: for "copy link". */
export function hereText(): string {
    return format(current.path, current.query);
}

/* Go to another page, or with `replace` without a step back. */
export function go(hash: string, replace = false): void {
    if (unwritten) write(false);
    current = parse(hash);
    write(!replace);
    tell();
}

/* Change some values of the query; null removes. */
export function change(values: Record<string, string | null>, push = false): void {
    if (push && unwritten) write(false);
    const query = new URLSearchParams(current.query);
    for (const [name, value] of Object.entries(values)) {
        if (value === null) query.delete(name);
        else query.set(name, value);
    }
    if (query.toString() === current.query.toString()) return;
    current = { path: current.path, query };
    if (push) write(true);
    else if (!unwritten) unwritten = window.setTimeout(() => write(false), 250);
    tell();
}

export function useAddress(): Address {
    const [address, set] = useState(current);
    useEffect(() => {
        const listener = () => set(current);
        listeners.add(listener);
        listener();
        return () => void listeners.delete(listener);
    }, []);
    return address;
}

/* One value of the query, and how to set it. Renders anew only when that value changed. */
export function useQuery<T>(name: string, codec: Codec<T>): [T, (value: T, push?: boolean) => void] {
    const [raw, setRaw] = useState(() => current.query.get(name));
    useEffect(() => {
        const listener = () => setRaw(current.query.get(name));
        listeners.add(listener);
        listener();
        return () => void listeners.delete(listener);
    }, [name]);
    return [codec.read(raw), (value, push) => change({ [name]: codec.write(value) }, push)];
}
