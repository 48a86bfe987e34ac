/* SPDX-License-Identifier: MIT */
/*
 * api.ts — the typed client of the server's /v1 routes.
 *
 * Every failure is an ApiError whose message is a sentence to show. An answer with an ETag is kept:
 * asked again and unchanged, the same object is given, so nothing is parsed or drawn anew.
 * Who is signed out, and whether the server answers at all, is told by the two stores below.
 */
import { decodeColumns, decodeSeries, type Columns, type Series } from "./binary.ts";
import { forgetEarly, takeEarly, url, type Query } from "./early.ts";
import { isBefore } from "./hub.ts";
import { Store } from "./store.ts";
import type * as T from "./types.ts";

export { url, type Query } from "./early.ts";

export class ApiError extends Error {
    constructor(
        message: string,
        readonly status: number /* 0: no answer */,
        readonly code: string,
    ) {
        super(message);
    }
}

export const signedOut = new Store(false);
export const reachable = new Store(true);
export const myself = new Store<T.Me | null>(null);

const kept = new Map<string, { etag: string; value: unknown }>();
const keptMax = 200;

function keep(address: string, etag: string, value: unknown): void {
    kept.delete(address);
    kept.set(address, { etag, value });
    if (kept.size > keptMax) kept.delete(kept.keys().next().value as string);
}

async function failure(response: Response): Promise<ApiError> {
    let sentence = `the server answered ${response.status} ${response.statusText}`.trim();
    let code = "internal";
    try {
        const body = (await response.json()) as { error?: string; code?: string };
        if (typeof body.error === "string" && body.error) sentence = body.error;
        if (typeof body.code === "string") code = body.code;
    } catch {
        /* not JSON: the status has to do */
    }
    return new ApiError(sentence, response.status, code);
}

let trying = 0;

/* It did not answer: look every two seconds until it does, whatever the page does meanwhile. */
function tryAgain(): void {
    if (trying) return;
    trying = setTimeout(() => {
        trying = 0;
        if (!reachable.get()) me().catch(() => {});
    }, 2000) as unknown as number;
}

let since = ""; /* the oldest cursor among the answers */
let onMissed: (() => void) | null = null; /* set: the stream begins at `since` */

/* From where on the stream has to tell for nothing to be missed. An answer that was true earlier, and
 * comes later, is told to `act`. */
export function heardSince(act: () => void): string {
    onMissed = act;
    return since;
}

function noteCursor(cursor: string | null): void {
    if (!cursor || (since && !isBefore(cursor, since))) return;
    if (!onMissed) since = cursor;
    else if (cursor.startsWith(since.slice(0, since.indexOf("-") + 1))) onMissed(); /* of another server: the stream says so itself */
}

async function ask(address: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
        response = await (takeEarly(address, init) ?? fetch(address, { credentials: "same-origin", ...init }));
    } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") throw error;
        reachable.set(false);
        tryAgain();
        throw new ApiError("the server does not answer", 0, "unavailable");
    }
    reachable.set(true);
    noteCursor(response.headers.get("X-Hone-Cursor"));
    if (response.status === 401 && !address.startsWith("/v1/login")) {
        forgetEarly(); /* they were refused, too */
        signedOut.set(true);
    }
    if (!response.ok && response.status !== 304) throw await failure(response);
    return response;
}

export async function get<R>(path: string, query?: Query, signal?: AbortSignal): Promise<R> {
    const address = url(path, query);
    const old = kept.get(address);
    const headers: Record<string, string> = { Accept: "application/json" };
    if (old) headers["If-None-Match"] = old.etag;
    const response = await ask(address, { headers, signal });
    if (response.status === 304 && old) return old.value as R;
    const value = (await response.json()) as R;
    const etag = response.headers.get("ETag");
    if (etag) keep(address, etag, value);
    return value;
}

function byteReader(response: Response): ReadableStreamBYOBReader | null {
    try {
        return response.body?.getReader({ mode: "byob" }) ?? null;
    } catch {
        return null; /* not every browser can */
    }
}

/* The body straight into its place: arrayBuffer() gathers it and copies it, for twice the time. */
async function bytesOf(response: Response): Promise<ArrayBuffer> {
    const size = Number(response.headers.get("Content-Length"));
    const reader = size > 0 && !response.headers.has("Content-Encoding") ? byteReader(response) : null;
    if (!reader) return response.arrayBuffer();
    let buffer = new ArrayBuffer(size);
    for (let at = 0; at < size; ) {
        const { done, value } = await reader.read(new Uint8Array(buffer, at));
        if (done) throw new ApiError("the server's answer is cut short", 0, "unavailable");
        buffer = value.buffer; /* the memory goes there and back */
        at += value.byteLength;
    }
    return buffer;
}

export async function getText(path: string, query?: Query, signal?: AbortSignal): Promise<{ text: string; headers: Headers }> {
    const response = await ask(url(path, query), { signal });
    return { text: await response.text(), headers: response.headers };
}

export async function getBytes(path: string, query?: Query, signal?: AbortSignal): Promise<{ bytes: ArrayBuffer; headers: Headers }> {
    const response = await ask(url(path, query), { signal });
    return { bytes: await bytesOf(response), headers: response.headers };
}

/* What is changed is changed, even if the page is left at this moment: keepalive. */
function send(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    return ask(path, { method: "POST", headers, body: JSON.stringify(body), signal, keepalive: path === "/v1/changes" });
}

export async function post<R = { ok: true }>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<R> {
    const response = await send(path, body, signal);
    return (await response.json()) as R;
}

/* ---- the routes by name ---- */

export async function me(signal?: AbortSignal): Promise<T.Me> {
    const answer = await get<T.Me>("/v1/me", {}, signal);
    myself.set(answer);
    return answer;
}
export const login = (token: string) => post<{ user: string; role: string }>("/v1/login", { token });
export const logout = () => post("/v1/logout");

export interface ListQuery extends Query {
    where?: string;
    sort?: string;
    desc?: boolean;
    limit?: number;
    cursor?: string | null;
}
export const experiments = (query: ListQuery, signal?: AbortSignal) => get<T.ExperimentPage>("/v1/experiments", query, signal);
export const experiment = (e: number | string, signal?: AbortSignal) =>
    get<T.Experiment>(`/v1/experiments/${encodeURIComponent(e)}`, {}, signal);

export interface TableQuery extends Query {
    where?: string;
    sort?: string;
    desc?: boolean;
    offset?: number;
    limit?: number;
    columns?: string;
}
export const trials = (e: number, query: TableQuery, signal?: AbortSignal) =>
    get<T.TrialTable>(`/v1/experiments/${e}/trials`, query, signal);
export async function columns(e: number, names: string[], where = "", signal?: AbortSignal): Promise<Columns> {
    const { bytes } = await getBytes(`/v1/experiments/${e}/columns`, { names: names.join(","), where }, signal);
    return decodeColumns(bytes);
}
export const metrics = async (e: number, signal?: AbortSignal) =>
    (await get<{ metrics: T.MetricName[] }>(`/v1/experiments/${e}/metrics`, {}, signal)).metrics;
export const events = (e: number, query: { after?: number; before?: number; limit?: number; trial?: number }, signal?: AbortSignal) =>
    get<{ events: T.HoneEvent[]; next: number | null }>(`/v1/experiments/${e}/events`, query, signal);
export const timeline = async (e: number, signal?: AbortSignal) =>
    (await get<{ attempts: T.Attempt[] }>(`/v1/experiments/${e}/timeline`, {}, signal)).attempts;
export const trial = (name: string, signal?: AbortSignal) => get<T.Trial>(`/v1/trials/${encodeURIComponent(name)}`, {}, signal);
export const figures = async (name: string, signal?: AbortSignal) =>
    (await get<{ figures: T.Figure[] }>(`/v1/trials/${encodeURIComponent(name)}/figures`, {}, signal)).figures;
export const queue = (signal?: AbortSignal) => get<{ paused: boolean; experiments: T.QueueEntry[] }>("/v1/queue", {}, signal);
export const machines = async (signal?: AbortSignal) => (await get<{ machines: T.Machine[] }>("/v1/machines", {}, signal)).machines;

export interface SeriesQuery {
    x: "step" | "time" | "relative";
    from?: number | null;
    to?: number | null;
    width: number;
    smooth?: number;
    lines: { trial: string; metric: string }[];
    groups?: number[][] | null;
    middle?: "mean" | "median";
    band?: "minmax" | "quartiles" | "interval";
}
export async function series(query: SeriesQuery, signal?: AbortSignal): Promise<Series> {
    const response = await send("/v1/series", query, signal);
    return decodeSeries(await bytesOf(response));
}

/* ---- acts ---- */

export const stop = (e: number, mode: "now" | "drain") => post(`/v1/experiments/${e}/stop`, { mode });
export const resume = (e: number, add = 0) => post(`/v1/experiments/${e}/resume`, add > 0 ? { trials: { add } } : {});
/* starts: no new trial; freeze: running ones stand still, too. resume() ends both. */
export const pause = (e: number, mode: "starts" | "freeze") => post(`/v1/experiments/${e}/pause`, { mode });
export const setPriority = (e: number, priority: number) => post(`/v1/experiments/${e}/priority`, { priority });
export const pauseQueue = (paused: boolean) => post("/v1/queue", { paused });
/* Changes of what is recorded; trial 0 means the experiment itself. */
export const tag = (experiment: number, trial: number, name: string, add: boolean) =>
    post("/v1/changes", { do: "tag", experiment, trial, tag: name, add });
export const note = (experiment: number, trial: number, words: string | null) =>
    post("/v1/changes", { do: "note", experiment, trial, text: words });
export const star = (experiment: number, trial: number, starred: boolean) =>
    post("/v1/changes", { do: "star", experiment, trial, star: starred });
export const stopTrial = (name: string) => post(`/v1/trials/${encodeURIComponent(name)}/stop`, {});
/* A trial once more, exactly: the number of the new experiment, of one trial. */
export const rerun = async (name: string, key: string) => (await post<{ experiment: number }>(`/v1/trials/${encodeURIComponent(name)}/rerun`, { key })).experiment;
export const remove = (experiment: number, trial: number) => post("/v1/changes", { do: "rm", experiment, trial });
/* What `hone NAME ARGS` of this home prints. */
export async function commandText(name: string, args: string[]): Promise<string> {
    const { exit, text, error } = await post<T.CommandResult>(`/v1/commands/${name}`, { args, plain: true });
    if (exit !== 0) throw new ApiError(error?.trim() || `hone ${name} ended with ${exit}`, 500, "internal");
    return text;
}
/* `hone NAME ARGS --json` of this home. */
export const command = (name: string, args: string[], signal?: AbortSignal) =>
    post<T.CommandResult>(`/v1/commands/${encodeURIComponent(name)}`, { args }, signal);
