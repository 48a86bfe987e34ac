/* SPDX-License-Identifier: MIT */
/*
 * details.ts — what `hone show TRIAL` tells beyond the row: code, environment, machine, energy, the
 * decisions of the tuner.
 */
import { ApiError, command, get, getText } from "../api.ts";
import type { HoneEvent, Trial } from "../types.ts";

export interface Details extends Trial {
    run_name?: string | null; /* of a run of MLflow's */
    rerun_of: string | null;
    reruns: string[]; /* of it, and of these again */
    code: string | null;
    environment: Record<string, unknown> | null;
    system: Record<string, unknown> | null;
    generation: number;
    changes: number;
    change_cost_s: number;
    energy_j: number | null;
    energy: string | null;
    tuning: HoneEvent[];
    error?: string | null;
}

/* What its last attempt ran: its own snapshot where the code changed since the experiment began, as
 * `hone diff` and `hone rerun` see it. null: none was taken. */
export const ranCode = (of: Details): string | null => of.runs.findLast((run) => run.code)?.code ?? of.code;

/* A command's answer in JSON, or its sentence as an error. */
export async function ask<R>(name: string, args: string[], signal?: AbortSignal): Promise<R> {
    const result = await command(name, args, signal);
    if (result.exit !== 0 || result.output === null) throw new ApiError((result.error ?? "").replace(/^hone: /, "").trim() || `hone ${name} failed`, 200, "conflict");
    return result.output as R;
}

export const details = (trial: string, signal?: AbortSignal) => ask<Details>("show", [trial], signal);

export interface CodeFile {
    path: string;
    size: number;
}
export const codeFiles = async (sha: string, signal?: AbortSignal) =>
    (await get<{ files: CodeFile[] }>(`/v1/code/${encodeURIComponent(sha)}`, {}, signal)).files;
export const codeText = async (sha: string, path: string, signal?: AbortSignal) =>
    (await getText(`/v1/code/${encodeURIComponent(sha)}/${path.split("/").map(encodeURIComponent).join("/")}`, {}, signal)).text;

export interface TrialFile {
    path: string;
    size: number;
    modified: string;
}
export const trialFiles = async (trial: string, signal?: AbortSignal) =>
    (await get<{ files: TrialFile[] }>(`/v1/trials/${encodeURIComponent(trial)}/files`, {}, signal)).files;
export const fileAddress = (trial: string, path: string) =>
    `/v1/trials/${encodeURIComponent(trial)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;

/* An object as rows of dotted names and plain values, sorted as they are. */
export function flatten(object: unknown, prefix = ""): [string, string][] {
    if (object === null || object === undefined) return [];
    if (typeof object !== "object") return [[prefix, String(object)]];
    if (Array.isArray(object) && object.every((item) => typeof item !== "object" || item === null)) return [[prefix, object.join(" ")]];
    return Object.entries(object).flatMap(([name, value]) => flatten(value, prefix ? `${prefix}.${name}` : name));
}
