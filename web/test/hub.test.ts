/* SPDX-License-Identifier: MIT */
/* hub.test.ts — one connection for all tabs; it comes back with its cursor; nobody hears what he did not ask for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Hub, type Env, type Message, type Source } from "../src/hub.ts";

class FakeSource implements Source {
    onopen: (() => void) | null = null;
    onerror: (() => void) | null = null;
    closed = false;
    private readonly listeners = new Map<string, (data: string, id: string) => void>();
    constructor(readonly address: string) {}
    on(name: string, listener: (data: string, id: string) => void): void {
        this.listeners.set(name, listener);
    }
    close(): void {
        this.closed = true;
    }
    send(name: string, data: unknown, id = ""): void {
        this.listeners.get(name)?.(typeof data === "string" ? data : JSON.stringify(data), id);
    }
}

function makeWorld(probe: "answers" | "signed-out" | "away" = "away") {
    const sources: FakeSource[] = [];
    const timers = new Map<number, { ms: number; act: () => void }>();
    let last = 0;
    const env: Env = {
        open: (address) => {
            const s = new FakeSource(address);
            sources.push(s);
            return s;
        },
        probe: () => Promise.resolve(probe),
        after: (ms, act) => (timers.set(++last, { ms, act }), last),
        cancel: (t) => void timers.delete(t),
        chance: () => 0.5,
    };
    const fire = () => {
        const [[id, t]] = timers as unknown as [[number, { ms: number; act: () => void }]];
        timers.delete(id);
        t.act();
        return t.ms;
    };
    return { env, sources, timers, fire };
}

function makeTab() {
    const heard: Message[] = [];
    return { heard, tab: (m: Message) => void heard.push(m), kinds: () => heard.map((m) => m.kind) };
}

test("two tabs share one connection that watches what either wants", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const [a, b] = [makeTab(), makeTab()];
    hub.watch(a.tab, [3]);
    assert.equal(w.sources[0]!.address, "/v1/events?experiments=3");
    hub.watch(b.tab, [4, 3]);
    assert.equal(w.sources.length, 1);
    w.fire();
    assert.equal(w.sources.length, 2);
    assert.ok(w.sources[0]!.closed);
    assert.equal(w.sources[1]!.address, "/v1/events?experiments=3,4");
    w.sources[1]!.send("points", { experiment: 4 });
    w.sources[1]!.send("change", { event: "x" });
    assert.deepEqual(a.kinds(), ["status", "change"]);
    assert.deepEqual(b.kinds(), ["status", "points", "change"]);
});

test("a wish that comes to the same changes nothing", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const a = makeTab();
    hub.watch(a.tab, [3]);
    hub.watch(a.tab, []);
    hub.watch(a.tab, [3]);
    w.fire();
    assert.equal(w.sources.length, 1);
});

test("a broken connection comes back with its cursor, ever more patiently", async () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const a = makeTab();
    hub.watch(a.tab, []);
    w.sources[0]!.onopen!();
    w.sources[0]!.send("change", { event: "x" }, "77-5");
    const waits = [];
    for (let i = 0; i < 7; i++) {
        w.sources.at(-1)!.onerror!();
        waits.push(w.fire());
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 15000, 15000]);
    assert.equal(w.sources.at(-1)!.address, "/v1/events?after=77-5");
    await Promise.resolve();
    w.sources.at(-1)!.onopen!();
    w.sources.at(-1)!.onerror!();
    assert.equal(w.fire(), 500);
});

test("the stream begins where the first answer was true", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const [a, b] = [makeTab(), makeTab()];
    hub.watch(a.tab, [], "77-5.9");
    assert.equal(w.sources[0]!.address, "/v1/events?after=77-5.9");
    hub.watch(b.tab, [], "77-5.9");
    hub.watch(b.tab, [], "77-1.2"); /* it was here already */
    assert.deepEqual([a.kinds(), b.kinds()], [["status"], ["status"]]);
});

test("a tab that comes with older answers than what was told last loads anew", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    hub.watch(makeTab().tab, [], "77-5.9");
    w.sources[0]!.send("change", { event: "x" }, "77-10");
    for (const [since, told] of [["77-9.3", true], ["77-10.3", false], ["77-11.3", false], ["78-11.3", true], ["", true]] as const) {
        const late = makeTab();
        hub.watch(late.tab, [], since);
        assert.equal(late.kinds().includes("reset"), told, since);
    }
});

test("who wants points hears from when on they are told", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const [a, b] = [makeTab(), makeTab()];
    const told = (t: typeof a) => t.kinds().filter((kind) => kind === "watching").length;
    hub.watch(a.tab, [3]);
    assert.equal(told(a), 0);
    w.sources[0]!.onopen!();
    hub.watch(b.tab, []);
    assert.deepEqual([told(a), told(b)], [1, 0]);
    hub.watch(b.tab, [3]); /* they are told already, but not to this one */
    hub.watch(b.tab, [3]);
    assert.deepEqual([told(a), told(b)], [1, 1]);
    hub.watch(b.tab, [3, 4]);
    w.fire();
    assert.deepEqual([told(a), told(b)], [1, 1]);
    w.sources[1]!.onopen!(); /* between the two connections nobody listened */
    assert.deepEqual([told(a), told(b)], [2, 2]);
});

test("whether the server is away or we are signed out is told", async () => {
    for (const [found, status] of [["away", "away"], ["signed-out", "signed-out"]] as const) {
        const w = makeWorld(found);
        const hub = new Hub(w.env);
        const a = makeTab();
        hub.watch(a.tab, []);
        w.sources[0]!.onerror!();
        await Promise.resolve();
        await Promise.resolve();
        assert.deepEqual(a.heard.at(-1), { kind: "status", status });
    }
});

test("somebody looks: it tries at once", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    hub.watch(makeTab().tab, []);
    w.sources[0]!.onerror!();
    hub.hurry();
    assert.equal(w.sources.length, 2);
    assert.equal(w.timers.size, 0);
});

test("when the last tab leaves nothing is left, and an old connection is not heard", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const a = makeTab();
    hub.watch(a.tab, [3]);
    hub.leave(a.tab);
    assert.ok(w.sources[0]!.closed);
    w.sources[0]!.onerror!();
    w.sources[0]!.send("change", {});
    assert.equal(w.timers.size, 0);
    assert.deepEqual(a.kinds(), ["status"]);
    hub.watch(a.tab, [3]);
    assert.equal(w.sources.length, 2);
});

test("a line that is no JSON is passed over, reset is passed on", () => {
    const w = makeWorld();
    const hub = new Hub(w.env);
    const a = makeTab();
    hub.watch(a.tab, []);
    w.sources[0]!.send("change", "{");
    w.sources[0]!.send("reset", {}, "2-0");
    assert.deepEqual(a.kinds(), ["status", "reset"]);
});
