/* SPDX-License-Identifier: MIT */
/*
 * hub.ts — one event stream for many tabs: what each wants to see, one connection for all of it.
 *
 *   tabs ── watch(3), watch(3,4) ──► hub ── GET /v1/events?after=CURSOR&experiments=3,4
 *        ◄── change, live, points, reset, status ──┘
 *
 * Runs in a SharedWorker, or, without one, in the visible tab. When the connection breaks it comes
 * back with the last cursor, sooner first, then every 15 s; nothing is missed unless the server
 * says `reset`. Every answer of the server tells where the stream stood when it was true: a tab says
 * so when it comes, and the stream begins there, or the tab hears that it missed something.
 * Everything from outside (connection, timer, chance) is given by `env`.
 */
import type { HoneEvent, Live, Points } from "./types.ts";

export type Status = "connecting" | "live" | "away" | "signed-out";

export type Message =
    | { kind: "status"; status: Status }
    | { kind: "reset" }
    | { kind: "change"; event: HoneEvent }
    | { kind: "live"; live: Live }
    | { kind: "points"; points: Points }
    | { kind: "watching" }; /* points are told from now on; those before may have been missed */

/* What a tab says to the hub. */
export type Wish = { kind: "watch"; experiments: number[]; since?: string } | { kind: "hurry" } | { kind: "bye" };

/* The part of EventSource that is used. */
export interface Source {
    onopen: (() => void) | null;
    onerror: (() => void) | null;
    on(name: string, listener: (data: string, id: string) => void): void;
    close(): void;
}

export interface Env {
    open(address: string): Source;
    /* Why does it not connect? */
    probe(): Promise<"answers" | "signed-out" | "away">;
    after(ms: number, act: () => void): number;
    cancel(timer: number): void;
    chance(): number /* 0 … 1 */;
}

export type Tab = (message: Message) => void;

const firstWaitMs = 500;
const longestWaitMs = 15000;

/* Is cursor a ("BOOT-SEQ", maybe ".ROWS" behind it) before b, or of another server? */
export function isBefore(a: string, b: string): boolean {
    const [[bootA, seqA], [bootB, seqB]] = [a, b].map((cursor) => cursor.split("-", 2)) as [string[], string[]];
    return bootA !== bootB || !(parseInt(seqA ?? "", 10) >= parseInt(seqB ?? "", 10));
}

export class Hub {
    private readonly tabs = new Map<Tab, Set<number>>();
    private source: Source | null = null;
    private watched = "";
    private isOpen = false;
    private cursor = "";
    private status: Status = "connecting";
    private timer = 0;
    private settle = 0;
    private failures = 0;

    constructor(private readonly env: Env) {}

    /* A tab comes, or wants something else. `since`: the cursor of what it has loaded. */
    watch(tab: Tab, experiments: number[], since = ""): void {
        const before = this.tabs.get(tab);
        this.tabs.set(tab, new Set(experiments));
        if (!before) this.greet(tab, since);
        const more = experiments.filter((e) => !before?.has(e));
        if (more.length > 0 && this.isOpen && this.union() === this.watched) tab({ kind: "watching" });
        if (!this.source && !this.timer) this.connect();
        else this.reconsider();
    }

    private greet(tab: Tab, since: string): void {
        tab({ kind: "status", status: this.status });
        if (!this.cursor) this.cursor = since;
        else if ((since || this.source) && isBefore(since, this.cursor)) tab({ kind: "reset" });
    }

    leave(tab: Tab): void {
        this.tabs.delete(tab);
        if (this.tabs.size === 0) this.close();
        else this.reconsider();
    }

    /* Somebody looks: do not wait for the next try. */
    hurry(): void {
        if (!this.timer) return;
        this.env.cancel(this.timer);
        this.timer = 0;
        this.connect();
    }

    close(): void {
        this.env.cancel(this.timer);
        this.env.cancel(this.settle);
        this.timer = this.settle = 0;
        this.source?.close();
        this.source = null;
        this.isOpen = false;
    }

    private union(): string {
        const all = new Set<number>();
        for (const set of this.tabs.values()) for (const e of set) all.add(e);
        return [...all].sort((a, b) => a - b).join(",");
    }

    /* Pages change their wish twice when they are left and entered: look after a moment. */
    private reconsider(): void {
        if (this.settle || !this.source) return;
        this.settle = this.env.after(30, () => {
            this.settle = 0;
            if (this.source && this.union() !== this.watched) this.connect();
        });
    }

    private connect(): void {
        if (this.tabs.size === 0) return;
        this.source?.close();
        this.isOpen = false;
        this.watched = this.union();
        const query = new URLSearchParams();
        if (this.cursor) query.set("after", this.cursor);
        if (this.watched) query.set("experiments", this.watched);
        const source = this.env.open(`/v1/events?${query.toString().replace(/%2C/g, ",")}`);
        this.source = source;
        source.onopen = () => {
            if (this.source !== source) return;
            this.failures = 0;
            this.isOpen = true;
            this.say("live");
            for (const [tab, wanted] of [...this.tabs]) if (wanted.size > 0) tab({ kind: "watching" });
        };
        source.onerror = () => this.source === source && this.onBroken();
        this.listen(source);
    }

    private listen(source: Source): void {
        const hear = (name: string, make: (value: never) => Message, to: (value: never) => number | null) =>
            source.on(name, (data, id) => {
                if (this.source !== source) return;
                if (id) this.cursor = id;
                let value: never;
                try {
                    value = JSON.parse(data) as never;
                } catch {
                    return; /* a line that was cut: the next one counts */
                }
                this.tell(make(value), to(value));
            });
        hear("change", (event: HoneEvent) => ({ kind: "change", event }), () => null);
        hear("live", (live: Live) => ({ kind: "live", live }), (live: Live) => live.experiment);
        hear("points", (points: Points) => ({ kind: "points", points }), (points: Points) => points.experiment);
        hear("reset", () => ({ kind: "reset" }), () => null);
    }

    /* experiment null: to all */
    private tell(message: Message, experiment: number | null): void {
        for (const [tab, wanted] of [...this.tabs]) if (experiment === null || wanted.has(experiment)) tab(message);
    }

    private say(status: Status): void {
        if (status === this.status) return;
        this.status = status;
        this.tell({ kind: "status", status }, null);
    }

    private onBroken(): void {
        this.source?.close();
        this.source = null;
        this.isOpen = false;
        const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** this.failures++) * (0.8 + 0.4 * this.env.chance());
        this.timer = this.env.after(wait, () => {
            this.timer = 0;
            this.connect();
        });
        void this.env.probe().then((found) => {
            if (this.source) return;
            this.say(found === "signed-out" ? "signed-out" : found === "away" ? "away" : "connecting");
        });
    }
}

/* The browser's own EventSource, fetch and timers. */
export const browserEnv: Env = {
    open(address) {
        const es = new EventSource(address);
        const source: Source = {
            onopen: null,
            onerror: null,
            on: (name, listener) => es.addEventListener(name, (e) => listener((e as MessageEvent<string>).data, (e as MessageEvent).lastEventId)),
            close: () => es.close(),
        };
        es.onopen = () => source.onopen?.();
        es.onerror = () => source.onerror?.();
        return source;
    },
    async probe() {
        try {
            const response = await fetch("/v1/me", { credentials: "same-origin" });
            return response.status === 401 ? "signed-out" : "answers";
        } catch {
            return "away";
        }
    },
    after: (ms, act) => setTimeout(act, ms) as unknown as number,
    cancel: (timer) => clearTimeout(timer),
    chance: Math.random,
};
