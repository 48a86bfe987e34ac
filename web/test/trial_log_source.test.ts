/* SPDX-License-Identifier: MIT */
/* A log that is read in parts, from a server that answers as the real one does: holes, growth, failures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LogSource, seek, streamWithText } from "../src/trial/log_source.ts";

/* A file with a hole; what lies in the hole is not there. */
function serve(file: () => Uint8Array, hole: [number, number] = [0, 0]): { asked: () => number } {
    let asked = 0;
    globalThis.fetch = (async (address: string) => {
        asked++;
        const query = new URL(address, "http://localhost").searchParams, bytes = file();
        const wish = Number(query.get("from")), limit = Number(query.get("limit"));
        let from = wish < 0 ? Math.max(0, bytes.length + wish) : Math.min(wish, bytes.length);
        if (from >= hole[0] && from < hole[1]) from = hole[1];
        const end = from < hole[0] ? Math.min(from + limit, hole[0]) : from + limit;
        return new Response(bytes.slice(from, end), { headers: { "X-Hone-Size": String(bytes.length), "X-Hone-From": String(from) } });
    }) as unknown as typeof fetch;
    return { asked: () => asked };
}

const encode = (text: string) => new TextEncoder().encode(text);
const all = (source: LogSource) => Array.from({ length: source.book.count }, (_, i) => source.book.text(i));
const LINES = Array.from({ length: 20_000 }, (_, i) => `line ${String(i).padStart(6, "0")}`); /* 12 bytes each */
const FILE = encode(LINES.join("\n") + "\n");

async function open(): Promise<LogSource> {
    let changed = () => {};
    const first = new Promise<void>((resolve) => (changed = resolve));
    const source = new LogSource("1.1", "stdout", null, () => changed());
    await first;
    return source;
}

test("the end comes first, then the rest, and all of it is there once", async () => {
    serve(() => FILE);
    const source = await open();
    assert.equal(all(source).at(-1), LINES.at(-1));
    assert.ok(!source.atStart && source.atEnd);
    while (await source.older());
    assert.deepEqual(all(source), LINES);
});

test("what is written later follows", async () => {
    let file = encode("one\n");
    serve(() => file);
    const source = await open();
    file = encode("one\ntwo\nthr");
    assert.ok(await source.newer());
    file = encode("one\ntwo\nthree\n");
    assert.ok(await source.newer());
    assert.ok(!(await source.newer()));
    assert.deepEqual(all(source), ["one", "two", "three"]);
});

test("a file that begins anew is opened anew", async () => {
    let file = encode("old words\n");
    serve(() => file);
    const source = await open();
    file = encode("new\n");
    await source.newer();
    assert.deepEqual(all(source), ["new"]);
});

test("a hole is one line, from behind and from before, and found in few requests", async () => {
    const hole: [number, number] = [4096 * 3, 4096 * 40];
    const server = serve(() => FILE, hole);
    const behind = await open();
    while (await behind.older());
    const said = all(behind).filter((line) => line.includes("dropped here"));
    assert.equal(said.length, 1);
    assert.ok(said[0]!.includes("148 KB"), said[0]);
    assert.equal(all(behind)[0], LINES[0]);
    assert.equal(all(behind).at(-1), LINES.at(-1));
    assert.ok(server.asked() < 40, String(server.asked()));
    const before = await open();
    await before.toStart();
    while (await before.newer());
    assert.equal(all(before).filter((line) => line.includes("dropped here")).length, 1);
    assert.equal(all(before)[0], LINES[0]);
    assert.equal(all(before).at(-1), LINES.at(-1));
});

test("one goes to the beginning and back to the end", async () => {
    serve(() => FILE);
    const source = await open();
    await source.toStart();
    assert.equal(all(source)[0], LINES[0]);
    assert.ok(!source.atEnd);
    await source.toEnd();
    assert.equal(all(source).at(-1), LINES.at(-1));
});

test("a line longer than every part is shown in pieces, and ends", async () => {
    const file = encode("start\n" + "x".repeat(3 * 1024 * 1024) + "\nend\n");
    serve(() => file);
    const source = await open();
    for (let i = 0; i < 20 && (await source.older()); i++);
    assert.ok(source.atStart);
    assert.equal(all(source)[0], "start");
    assert.equal(all(source).at(-1), "end");
});

test("a server that fails is told, and asked again it works", async () => {
    globalThis.fetch = (async () => new Response('{"error":"no such trial","code":"not_found"}', { status: 404 })) as unknown as typeof fetch;
    const source = await open();
    assert.equal(source.error?.message, "no such trial");
    serve(() => FILE);
    await source.toEnd();
    assert.equal(source.error, null);
    assert.equal(all(source).at(-1), LINES.at(-1));
});

test("a line far above is found, and what is not there is not", async () => {
    serve(() => FILE);
    const source = await open();
    const found = await seek(source, source.book.count, -1, (line) => line === LINES[3]);
    assert.equal(source.book.text(found), LINES[3]);
    assert.equal(await seek(source, source.book.count, -1, (line) => line === "nowhere"), -1);
});

test("the stream that has text is the one to open, the wished one first", async () => {
    const chosen = (stdout: number, stderr: number, first: "stdout" | "stderr") => {
        globalThis.fetch = (async (address: string) => {
            const size = new URL(address, "http://localhost").searchParams.get("stream") === "stdout" ? stdout : stderr;
            return new Response("", { headers: { "X-Hone-Size": String(size), "X-Hone-From": "0" } });
        }) as unknown as typeof fetch;
        return streamWithText("1.1", first, null, new AbortController().signal);
    };
    assert.equal(await chosen(9, 0, "stderr"), "stdout");
    assert.equal(await chosen(9, 9, "stderr"), "stderr");
    assert.equal(await chosen(0, 0, "stderr"), "stderr");
    assert.equal(await chosen(0, 9, "stdout"), "stderr");
});
