/* SPDX-License-Identifier: MIT */
/*
 * stream.ts — what happens, as it happens, for the parts of this page.
 *
 * Parts say which experiment they show (useWatch) and what they want to hear (onChange, onLive,
 * onPoints). Messages are gathered and given out once per animation frame: two hundred live series
 * cost one drawing, not two hundred. The connection itself is in the SharedWorker (worker.ts);
 * without SharedWorker this tab holds one while it is visible.
 */
import { useEffect, useRef } from "preact/hooks";
import { heardSince, reachable, signedOut } from "./api.ts";
import { forgetEarly } from "./early.ts";
import { browserEnv, Hub, type Message, type Status, type Wish } from "./hub.ts";
import { Store } from "./store.ts";
import type { HoneEvent, Live, Points } from "./types.ts";

export const status = new Store<Status>("connecting");
/* Counts up when something was missed: load anew. */
export const resets = new Store(0);
/* Counts up when points are told from now on, and some before may have been missed: load the curves of
 * what runs anew. */
export const gaps = new Store(0);

type Listener<T> = (batch: T[]) => void;
const onChanges = new Set<Listener<HoneEvent>>();
const onLives = new Set<Listener<Live>>();
const onPointsSet = new Set<Listener<Points>>();

let changes: HoneEvent[] = [];
let lives = new Map<number, Live>();
let points: Points[] = [];
let frame = 0;
const heldMost = 20_000; /* messages held while no frame is drawn (a hidden tab); beyond that all is loaded anew */
let isTooMuch = false;

function give<T>(listeners: Set<Listener<T>>, batch: T[]): void {
    if (batch.length > 0) for (const listener of [...listeners]) listener(batch);
}

function reset(): void {
    forgetEarly();
    resets.update((n) => n + 1);
}

function flush(): void {
    frame = 0;
    const [c, l, p] = [changes, [...lives.values()], points];
    changes = [];
    lives = new Map();
    points = [];
    if (isTooMuch) {
        isTooMuch = false;
        reset();
        return;
    }
    if (c.length > 0) forgetEarly();
    give(onChanges, c);
    give(onLives, l);
    give(onPointsSet, p);
}

function onMessage(message: Message): void {
    switch (message.kind) {
        case "status":
            status.set(message.status);
            signedOut.set(message.status === "signed-out" || signedOut.get());
            if (message.status === "live") reachable.set(true);
            if (message.status === "away") reachable.set(false);
            return;
        case "reset":
            reset();
            return;
        case "watching":
            gaps.update((n) => n + 1);
            return;
        case "change":
            if (changes.length < heldMost) changes.push(message.event);
            else isTooMuch = true;
            break;
        case "live":
            lives.set(message.live.experiment, message.live);
            break;
        case "points":
            if (points.length < heldMost) points.push(message.points);
            else isTooMuch = true;
            break;
    }
    if (!frame) frame = requestAnimationFrame(flush);
}

let say: (wish: Wish) => void = () => {};
const wanted = new Map<number, number>(); /* experiment → how many parts of this page show it */

function sayWatch(since?: string): void {
    say({ kind: "watch", experiments: [...wanted.keys()], since });
}

/* Out of the browser's cache of pages: what happened meanwhile was not heard. */
function onBack(): void {
    sayWatch();
    reset();
}

function startShared(): void {
    const worker = new SharedWorker("/assets/worker.js", { type: "module", name: "hone" });
    worker.port.onmessage = (event: MessageEvent<Message>) => onMessage(event.data);
    worker.port.start();
    say = (wish) => worker.port.postMessage(wish);
    setInterval(() => sayWatch(), 45_000);
    addEventListener("pagehide", () => say({ kind: "bye" }));
    addEventListener("pageshow", (event) => event.persisted && onBack());
    document.addEventListener("visibilitychange", () => document.hidden || say({ kind: "hurry" }));
    addEventListener("online", () => say({ kind: "hurry" }));
}

function startAlone(): void {
    const hub = new Hub(browserEnv);
    let since = ""; /* said once; a tab that begins hidden connects later */
    say = (wish) => {
        if (wish.kind === "watch") since = wish.since ?? since;
        if (wish.kind === "hurry") hub.hurry();
        else if (wish.kind === "bye" || document.hidden) hub.leave(onMessage);
        else {
            hub.watch(onMessage, wish.experiments, since);
            since = "";
        }
    };
    document.addEventListener("visibilitychange", () => sayWatch());
    addEventListener("pagehide", () => say({ kind: "bye" }));
    addEventListener("pageshow", (event) => event.persisted && onBack());
}

/* Tags and notes are no events: who comes back to a tab after a while sees everything anew. */
function startWaking(): void {
    let since = 0;
    document.addEventListener("visibilitychange", () => {
        if (document.hidden) since = Date.now();
        else if (Date.now() - since > 10_000) resets.update((n) => n + 1);
    });
}

let isStarted = false;
const settleMs = 300; /* the first picture comes first: a worker is a process to start */

/* Connect, when signed in; again after signing in anew. */
export function startStream(): void {
    if (isStarted) return hurry();
    isStarted = true;
    startWaking();
    setTimeout(connect, settleMs);
}

/* Nothing is missed by coming later: the stream begins where the answers stood. */
function connect(): void {
    if (typeof SharedWorker === "function") startShared();
    else startAlone();
    sayWatch(heardSince(reset));
}

/* Try now instead of when the back-off says. */
export function hurry(): void {
    say({ kind: "hurry" });
}

function useListener<T>(listeners: Set<Listener<T>>, act: (batch: T[]) => void): void {
    const latest = useRef(act);
    latest.current = act;
    useEffect(() => {
        const listener: Listener<T> = (batch) => latest.current(batch);
        listeners.add(listener);
        return () => void listeners.delete(listener);
    }, [listeners]);
}

/* Live documents and points of this experiment are wanted while the part is on the page. */
export function useWatch(experiment: number | null): void {
    useEffect(() => {
        if (experiment === null) return;
        wanted.set(experiment, (wanted.get(experiment) ?? 0) + 1);
        sayWatch();
        return () => {
            const left = (wanted.get(experiment) ?? 1) - 1;
            if (left > 0) wanted.set(experiment, left);
            else wanted.delete(experiment);
            sayWatch();
        };
    }, [experiment]);
}

/* Each gets what came since the last frame, oldest first. */
export const useChanges = (act: (batch: HoneEvent[]) => void) => useListener(onChanges, act);
export const useLives = (act: (batch: Live[]) => void) => useListener(onLives, act);
export const usePoints = (act: (batch: Points[]) => void) => useListener(onPointsSet, act);
