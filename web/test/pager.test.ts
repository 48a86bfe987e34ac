/* SPDX-License-Identifier: MIT */
/* pager.test.ts — pages of the run table: only what is seen is asked for, and old rows stay until new ones come. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageRows, type TableView } from "../src/experiment/queries.ts";
import { Pager } from "../src/experiment/table_data.ts";

const view: TableView = { where: "", sort: "", desc: false, columns: [] };

/* A server with so many rows; `asked` are the offsets that came, `round` is in every row. */
function makeServer(count: number) {
    const server = { asked: [] as number[], round: 1, status: 200, gate: Promise.resolve() };
    globalThis.fetch = (async (address: string, init?: RequestInit) => {
        const offset = Number(new URL(address, "http://x").searchParams.get("offset") ?? 0);
        server.asked.push(offset);
        const { round, status } = server;
        await server.gate;
        if (init?.signal?.aborted) throw new DOMException("given up", "AbortError");
        if (status !== 200) return new Response(JSON.stringify({ error: "a value is missing", code: "bad_request" }), { status });
        const rows = Array.from({ length: Math.max(0, Math.min(pageRows, count - offset)) }, (_, i) => [offset + i + 1, round]);
        return new Response(JSON.stringify({ total: count, matched: count, columns: [{ name: "number", kind: "field", type: "number" }, { name: "round", kind: "field", type: "number" }], rows }));
    }) as typeof fetch;
    return server;
}

/* Wait until the pager has told of `n` changes. */
function makePager() {
    let told = 0;
    const pager = new Pager(1, view, () => told++);
    const changes = async (n: number) => {
        while (told < n) await new Promise((r) => setImmediate(r));
        told = 0;
    };
    return { pager, changes };
}

test("the page in the window is asked for, and one further down when it is seen", async () => {
    const server = makeServer(100_000);
    const { pager, changes } = makePager();
    pager.want(0, 40);
    await changes(1);
    assert.deepEqual(server.asked, [0]);
    assert.equal(pager.matched, 100_000);
    assert.deepEqual(pager.row(7), [8, 1]);
    assert.equal(pager.row(50_000), null);
    pager.want(49_990, 50_030);
    await changes(2);
    assert.deepEqual(server.asked, [0, 49_800, 50_000]);
    assert.deepEqual(pager.row(50_000), [50_001, 1]);
});

test("a refresh keeps the old rows until the new ones are there", async () => {
    const server = makeServer(300);
    const { pager, changes } = makePager();
    pager.want(0, 40);
    await changes(1);
    server.round = 2;
    let open = () => {};
    server.gate = new Promise((r) => (open = r));
    pager.refresh();
    assert.deepEqual(pager.row(0), [1, 1]);
    open();
    await changes(1);
    assert.deepEqual(pager.row(0), [1, 2]);
    assert.deepEqual(server.asked, [0, 0]);
});

test("an error is told, once, and goes when it is asked again", async () => {
    const server = makeServer(10);
    const { pager, changes } = makePager();
    server.status = 400;
    pager.want(0, 40);
    await changes(1);
    assert.equal(pager.error?.message, "a value is missing");
    assert.equal(pager.ready, false);
    assert.equal(server.asked.length, 1);
    server.status = 200;
    pager.want(0, 40);
    await changes(1);
    assert.equal(pager.error, null);
    assert.equal(pager.matched, 10);
});

test("a closed one tells nobody", async () => {
    const server = makeServer(10);
    let told = 0;
    const pager = new Pager(1, view, () => told++);
    let open = () => {};
    server.gate = new Promise((r) => (open = r));
    pager.want(0, 10);
    pager.close();
    open();
    for (let i = 0; i < 20; i++) await new Promise((r) => setImmediate(r));
    assert.equal(told, 0);
});
