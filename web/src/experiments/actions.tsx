/* SPDX-License-Identifier: MIT */
/*
 * actions.tsx — what one can do with an experiment: star, tag, note, pause, stop, resume, delete, take
 * it along as a file. The list and the page of an experiment offer the same; who may not change it is
 * told so before the server would.
 *
 * Deleting asks first, then waits 8 s with an undo, and is only then sent: until then the row is
 * hidden (`leaving`) and nothing has happened.
 */
import * as api from "../api.ts";
import { Store, useStore } from "../store.ts";
import type { ExperimentRow, Me } from "../types.ts";
import { askText, confirm } from "../ui/dialog.tsx";
import type { MenuItem } from "../ui/menu.tsx";
import { nameFile, saveFile } from "../ui/save.ts";
import { attempt, later, toastError } from "../ui/toast.tsx";

export const leaving = new Store<ReadonlySet<number>>(new Set());

const hide = (e: number) => leaving.update((set) => new Set([...set, e]));
const unhide = (e: number) => leaving.update((set) => new Set([...set].filter((x) => x !== e)));

/* `changed` is called when the server has done it: load anew. */
export type Changed = () => void;

/* Why `me` may not change it; null: it may. As the server decides (src/api/web_act.c). */
function refusal(row: ExperimentRow, me: Me | null): string | null {
    if (!me || me.role === "admin") return null;
    if (me.role === "viewer") return "Your role, viewer, changes nothing";
    return row.owner === me.user ? null : `It belongs to ${row.owner || "somebody else"}: only its owner or an admin may change it`;
}

export function useRefusal(row: ExperimentRow): string | null {
    return refusal(row, useStore(api.myself));
}

/* Say so, if it may not be changed. */
function refuse(row: ExperimentRow): boolean {
    const words = refusal(row, api.myself.get());
    if (words) toastError(words);
    return words !== null;
}

/* What a command prints becomes a file of the browser's. */
async function save(words: string, file: string, type: string, name: string, args: string[]): Promise<void> {
    await attempt(async () => saveFile(new Blob([await api.commandText(name, args)], { type }), file), words);
}

const fileName = (row: ExperimentRow, ending: string) => nameFile(`${row.experiment}-${row.name}`, ending);

export async function star(row: ExperimentRow, changed: Changed): Promise<void> {
    if (refuse(row)) return;
    if (await attempt(() => api.star(row.experiment, 0, !row.starred))) changed();
}

export async function editNote(row: ExperimentRow, changed: Changed): Promise<void> {
    if (refuse(row)) return;
    const words = await askText(`Note on ${row.name}`, "Note", row.note ?? "", "Save", true);
    if (words !== null && (await attempt(() => api.note(row.experiment, 0, words.trim() || null)))) changed();
}

/* Tags as one line, commas between: what is new is added, what is gone is taken away. */
export async function editTags(row: ExperimentRow, changed: Changed): Promise<void> {
    if (refuse(row)) return;
    const words = await askText(`Tags of ${row.name}`, "Tags, with commas between", row.tags.join(", "));
    if (words === null) return;
    const wanted = new Set(words.split(",").map((w) => w.trim()).filter((w) => w !== ""));
    const gone = row.tags.filter((t) => !wanted.has(t));
    const fresh = [...wanted].filter((t) => !row.tags.includes(t));
    const all = async () => {
        for (const t of gone) await api.tag(row.experiment, 0, t, false);
        for (const t of fresh) await api.tag(row.experiment, 0, t, true);
    };
    await attempt(all);
    changed();
}

export async function stop(row: ExperimentRow, mode: "now" | "drain", changed: Changed): Promise<void> {
    const words = mode === "now" ? "Its running trials are asked to stop now. You can resume it later." : "Running trials finish; no new one starts.";
    if (!(await confirm(`Stop ${row.name}?`, <p>{words}</p>, mode === "now" ? "Stop now" : "Stop after these"))) return;
    if (await attempt(() => api.stop(row.experiment, mode), `${row.name} is stopping`)) changed();
}

export async function resume(row: ExperimentRow, changed: Changed): Promise<void> {
    const words = await askText(`Resume ${row.name}`, "How many more trials (0: only what was left)", "0", "Resume");
    if (words === null) return;
    const more = Number(words);
    if (!Number.isInteger(more) || more < 0) return toastError(`'${words}' is no number of trials`);
    if (await attempt(() => api.resume(row.experiment, more), `${row.name} goes on`)) changed();
}

export async function pause(row: ExperimentRow, changed: Changed, mode: "starts" | "freeze" = "starts"): Promise<void> {
    if (refuse(row)) return;
    const act = () => (row.paused ? api.resume(row.experiment) : api.pause(row.experiment, mode));
    const said = mode === "starts" ? "is paused: no new trial starts" : "is frozen: its trials stand still";
    if (await attempt(act, row.paused ? `${row.name} goes on` : `${row.name} ${said}`)) changed();
}

export async function setPriority(row: ExperimentRow, changed: Changed): Promise<void> {
    const words = await askText(`Priority of ${row.name}`, "A higher one is served first (0 is usual)", String(row.priority ?? 0));
    if (words === null) return;
    const priority = Number(words);
    if (!Number.isInteger(priority)) return toastError(`'${words}' is no whole number`);
    if (await attempt(() => api.setPriority(row.experiment, priority))) changed();
}

export async function remove(row: ExperimentRow, changed: Changed): Promise<void> {
    if (refuse(row)) return;
    const words = (
        <p>
            {row.name} (experiment {row.experiment}) goes with all its trials, curves, logs and files. You have 8 seconds to take it back.
        </p>
    );
    if (!(await confirm(`Delete ${row.name}?`, words, "Delete", true))) return;
    hide(row.experiment);
    later(
        `${row.name} is deleted`,
        async () => {
            await api.remove(row.experiment, 0);
            changed();
        },
        () => unhide(row.experiment),
    );
}

/* Does this server run it? What runs of a tracking client (MLflow's) has no attempt, and cannot be stopped here. */
export const isSteered = (row: ExperimentRow): boolean => row.state === "running" && (row.attempts > 0 || row.trials.running === 0);

export function actionsOf(row: ExperimentRow, changed: Changed): MenuItem[] {
    const runs = isSteered(row);
    const refused = refusal(row, api.myself.get());
    const e = String(row.experiment);
    const changes: MenuItem[] = [
        { label: row.starred ? "Take the star away" : "Star", icon: "star", act: () => void star(row, changed) },
        { label: "Tags …", icon: "tag", act: () => void editTags(row, changed) },
        { label: "Note …", icon: "note", act: () => void editNote(row, changed) },
        ...(runs
            ? ([
                  { label: row.paused ? "Go on" : "Pause", icon: row.paused ? "play" : "pause", act: () => void pause(row, changed) },
                  ...(row.paused ? [] : [{ label: "Pause, running trials too", icon: "pause", act: () => void pause(row, changed, "freeze") }]),
                  { label: "Priority …", icon: "up", act: () => void setPriority(row, changed) },
                  { label: "Stop now …", icon: "stop", act: () => void stop(row, "now", changed) },
                  { label: "Stop after the running trials …", icon: "stop", act: () => void stop(row, "drain", changed) },
              ] as MenuItem[])
            : row.state === "running" ? [] : ([{ label: "Resume …", icon: "play", act: () => void resume(row, changed) }] as MenuItem[])),
        { label: "Delete …", icon: "trash", danger: true, disabled: runs, act: () => void remove(row, changed) },
    ];
    return [
        ...(refused ? [{ label: refused, disabled: true, act: () => {} }] : []),
        ...changes.slice(0, -1).map((item) => (refused ? { ...item, disabled: true } : item)),
        { label: "Save its trials (CSV)", icon: "down", act: () => void save("The trials are saved", fileName(row, "csv"), "text/csv", "export", [e]) },
        { label: "Save a report (HTML)", icon: "down", act: () => void save("The report is saved", fileName(row, "html"), "text/html", "report", [e]) },
        ...changes.slice(-1).map((item) => (refused ? { ...item, disabled: true } : item)),
    ];
}
