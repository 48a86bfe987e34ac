/* SPDX-License-Identifier: MIT */
/*
 * toast.tsx — short words at the lower edge: what was done, what failed, and an undo.
 *
 * later() is for what cannot be taken back: it waits 8 s before it acts, and acts at once when the
 * page is left. Until then Undo costs nothing, because nothing has happened.
 */
import { ApiError } from "../api.ts";
import { Store, useStore } from "../store.ts";
import { Button } from "./button.tsx";

interface Toast {
    id: number;
    words: string;
    bad: boolean;
    undo: (() => void) | null;
}
const toasts = new Store<Toast[]>([]);
let last = 0;

function add(words: string, bad: boolean, undo: (() => void) | null, ms: number): number {
    const id = ++last;
    toasts.update((all) => [...all.slice(-3), { id, words, bad, undo }]);
    setTimeout(() => drop(id), ms);
    return id;
}

function drop(id: number): void {
    toasts.update((all) => all.filter((t) => t.id !== id));
}

export function toast(words: string): void {
    add(words, false, null, 4000);
}

export function toastError(error: unknown): void {
    add(error instanceof ApiError || error instanceof Error ? error.message : String(error), true, null, 8000);
}

/* Do it, and say so if it fails. */
export async function attempt(act: () => Promise<unknown>, words?: string): Promise<boolean> {
    try {
        await act();
        if (words) toast(words);
        return true;
    } catch (error) {
        toastError(error);
        return false;
    }
}

export const undoMs = 8000;

/* Act in 8 s unless it is undone. `undone` puts the page back as it was. */
export function later(words: string, act: () => Promise<unknown>, undone: () => void): void {
    let over = false;
    const run = () => {
        if (over) return;
        over = true;
        removeEventListener("pagehide", run);
        drop(id);
        void attempt(act).then((ok) => ok || undone());
    };
    const timer = setTimeout(run, undoMs);
    addEventListener("pagehide", run);
    const id = add(
        words,
        false,
        () => {
            over = true;
            clearTimeout(timer);
            removeEventListener("pagehide", run);
            undone();
        },
        undoMs + 500,
    );
}

/* Where they appear; once, in the shell. */
export function Toasts() {
    const all = useStore(toasts);
    return (
        <div class="toasts" role="status" aria-live="polite">
            {all.map((t) => (
                <div key={t.id} class={t.bad ? "toast bad" : "toast"}>
                    <span>{t.words}</span>
                    {t.undo && (
                        <Button
                            kind="quiet"
                            onClick={() => {
                                t.undo?.();
                                drop(t.id);
                            }}
                        >
                            Undo
                        </Button>
                    )}
                    <Button kind="quiet" icon="close" label="Dismiss" onClick={() => drop(t.id)} />
                </div>
            ))}
        </div>
    );
}
