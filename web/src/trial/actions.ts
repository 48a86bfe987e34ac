/* SPDX-License-Identifier: MIT */
/*
 * actions.ts — what one can do with a trial: star, tag, note, stop it, run it again, delete it. Who may is told by the
 * server's rules (docs/serve.md): a viewer reads, a user changes what is its own, an admin all.
 */
import * as api from "../api.ts";
import { format, go } from "../address.ts";
import { isSteered } from "../experiments/actions.tsx";
import { useStore } from "../store.ts";
import type { Experiment, Me, Trial } from "../types.ts";
import { askText, confirm } from "../ui/dialog.tsx";
import { attempt, toast } from "../ui/toast.tsx";
import { trialNumber } from "./event_words.ts";

export interface May {
    change: string | null; /* why not; null: one may */
    run: string | null;
}

const UNKNOWN = "who you are is not known yet";

export function mayDo(me: Me | null, trial: Trial): May {
    if (!me) return { change: UNKNOWN, run: UNKNOWN };
    if (me.role === "viewer") return { change: "a viewer changes nothing", run: "a viewer runs nothing" };
    const mine = me.role === "admin" || trial.owner === me.user;
    return { change: mine ? null : `it belongs to ${trial.owner ?? "somebody else"}: only its owner or an admin may`, run: null };
}

/* Does Hone run it, or is it about to? Others only tell what they do. */
export function canStop(trial: Trial): boolean {
    return trial.state === "queued" || (["running", "paused"].includes(trial.state) && trial.attempts > 0);
}

/* Why it is not deleted now; null: it can be. What is running is refused by the server, too. */
export function noDelete(trial: Trial, experiment: Experiment | null): string | null {
    if (!["completed", "stopped", "failed"].includes(trial.state)) return `it is ${trial.state}: stop it first`;
    return experiment && isSteered(experiment) ? `${experiment.name} is running: stop it first` : null;
}

export function useMay(trial: Trial): May {
    return mayDo(useStore(api.myself), trial);
}

export function actionsOf(trial: Trial, changed: () => void) {
    const number = trialNumber(trial.trial)!;
    const act = async (what: () => Promise<unknown>) => void ((await attempt(what)) && changed());
    return {
        star: () => act(() => api.star(trial.experiment, number, !trial.starred)),
        untag: (name: string) => act(() => api.tag(trial.experiment, number, name, false)),
        tag: async () => {
            const words = (await askText(`Tag trial ${trial.trial}`, "Tag", ""))?.trim();
            if (words) await act(() => api.tag(trial.experiment, number, words, true));
        },
        note: async () => {
            const words = await askText(`Note on trial ${trial.trial}`, "Note", trial.note ?? "", "Save", true);
            if (words !== null) await act(() => api.note(trial.experiment, number, words.trim() || null));
        },
        stop: async () => {
            if (await confirm(`Stop trial ${trial.trial}?`, "It is asked to end now and does not run again. The other trials go on, and the search learns from what it has told.", "Stop it")) await act(() => api.stopTrial(trial.trial));
        },
        remove: async () => {
            if (!(await confirm(`Delete trial ${trial.trial}?`, "It goes with its curves, logs and files. This cannot be undone.", "Delete", true))) return;
            if (await attempt(() => api.remove(trial.experiment, number), `trial ${trial.trial} is deleted`)) go(format(["e", trial.experiment]));
        },
        /* A key of its own: pressed twice in a hurry it is two reruns, sent twice by a browser it is one. */
        rerun: async () => {
            await attempt(async () => {
                const made = await api.rerun(trial.trial, crypto.getRandomValues(new Uint32Array(2)).join("-"));
                toast(`It runs again as ${made}.1`);
                go(format(["t", `${made}.1`]));
            });
        },
    };
}
