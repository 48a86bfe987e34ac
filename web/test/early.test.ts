/* SPDX-License-Identifier: MIT */
/* early.test.ts — answers that were asked for before the pages began. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { askEarly, forgetEarly, takeEarly, url } from "../src/early.ts";

const asked: string[] = [];
let late: (() => void)[] = []; /* what timers would do */
const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout };

beforeEach(() => {
    asked.length = 0;
    late = [];
    globalThis.setTimeout = ((act: () => void) => late.push(act)) as unknown as typeof setTimeout;
    globalThis.fetch = (async (address: string, init: RequestInit) => {
        asked.push(`${init.method ?? "GET"} ${address}`);
        if (address.includes("away")) throw new TypeError("no connection");
        return new Response(`answer ${asked.length}`);
    }) as typeof fetch;
});
afterEach(() => {
    Object.assign(globalThis, real);
    forgetEarly();
});

test("an answer is taken once, by who asks the same", async () => {
    void askEarly("/v1/me", {});
    assert.equal(takeEarly("/v1/me?x=1", {}), undefined);
    assert.equal(await (await takeEarly("/v1/me", {}))?.text(), "answer 1");
    assert.equal(takeEarly("/v1/me", {}), undefined);
});

test("another body is another question", async () => {
    void askEarly("/v1/series", { method: "POST", body: '{"width":100}' });
    assert.equal(takeEarly("/v1/series", {}), undefined);
    assert.equal(takeEarly("/v1/series", { method: "POST", body: '{"width":200}' }), undefined);
    assert.equal(await (await takeEarly("/v1/series", { method: "POST", body: '{"width":100}' }))?.text(), "answer 1");
});

test("who asks early may look first, and what failed fails for who takes it", async () => {
    let seen = "";
    void askEarly("/v1/me", {}, async (response) => new Response((seen = await response.text()), response));
    assert.equal(await (await takeEarly("/v1/me", {}))?.text(), seen);
    void askEarly("/v1/away", {});
    await assert.rejects(takeEarly("/v1/away", {})!, TypeError);
});

test("what is forgotten, or old, is asked for again", () => {
    void askEarly("/v1/me", {});
    forgetEarly();
    assert.equal(takeEarly("/v1/me", {}), undefined);
    void askEarly("/v1/me", {});
    for (const act of late) act();
    assert.equal(takeEarly("/v1/me", {}), undefined);
});

test("an address has what is given, and nothing else", () => {
    assert.equal(url("/v1/a", { where: "", desc: false, sort: null, limit: 0, n: true }), "/v1/a?limit=0&n=1");
    assert.equal(url("/v1/a"), "/v1/a");
});
