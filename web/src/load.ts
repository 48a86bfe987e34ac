/* SPDX-License-Identifier: MIT */
/*
 * load.ts — loading as a hook. The old value stays on the page until the new one is there; an
 * outdated request is given up; when the server was away and answers again, or events were missed,
 * it loads anew. A request goes out at once, not after the next frame: requests that follow from one
 * another would wait for a frame each.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, reachable } from "./api.ts";
import { resets } from "./stream.ts";

export interface Loaded<T> {
    value: T | null;
    error: ApiError | null;
    loading: boolean;
    reload: () => void;
}

function asError(error: unknown): ApiError {
    return error instanceof ApiError ? error : new ApiError(error instanceof Error ? error.message : String(error), 0, "internal");
}

/* `key` says what is loaded: another key, another request; null loads nothing. */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
    const [state, set] = useState<{ value: T | null; error: ApiError | null; loading: boolean }>({
        value: null,
        error: null,
        loading: key !== null,
    });
    const [turn, setTurn] = useState(0);
    const how = useRef(load);
    how.current = load;
    const reload = useCallback(() => setTurn((n) => n + 1), []);
    useLayoutEffect(() => {
        if (key === null) return;
        const abort = new AbortController();
        set((s) => (s.loading ? s : { ...s, loading: true }));
        how.current(abort.signal).then(
            (value) => abort.signal.aborted || set({ value, error: null, loading: false }),
            (error) => abort.signal.aborted || set((s) => ({ value: s.value, error: asError(error), loading: false })),
        );
        return () => abort.abort();
    }, [key, turn]);
    useEffect(() => reachable.subscribe((yes) => yes && reload()), [reload]);
    useEffect(() => resets.subscribe(reload), [reload]);
    return { ...state, reload };
}

/* Do `act` at most once in `everyMs`, the last call never lost. For live reloads. */
export function useThrottled(act: () => void, everyMs: number): () => void {
    const latest = useRef(act);
    latest.current = act;
    const timer = useRef(0);
    const last = useRef(0);
    useEffect(() => () => clearTimeout(timer.current), []);
    return useCallback(() => {
        if (timer.current) return;
        const wait = Math.max(0, last.current + everyMs - performance.now());
        timer.current = window.setTimeout(() => {
            timer.current = 0;
            last.current = performance.now();
            latest.current();
        }, wait);
    }, [everyMs]);
}
