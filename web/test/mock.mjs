/* SPDX-License-Identifier: MIT */
/*
 * mock.mjs — a small server with made data, to work on the pages without an engine. Not shipped, and
 * no proof of anything about the server: tests/web uses the real one.
 *
 *   node test/mock.mjs [PORT]        serves web/dist too; experiment 2 goes on forever
 */
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as made from "./mock_data.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; worker-src 'self'";
const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css" };
let all = made.makeExperiments();
const streams = new Set();
const byNumber = new Map();

class Refused extends Error {
    constructor(status, words, code) {
        super(words);
        this.status = status;
        this.code = code;
    }
}

const find = (e) => {
    const x = all.find((y) => String(y.experiment) === e || y.name === e);
    if (!x) throw new Refused(404, `there is no experiment '${e}'`, "not_found");
    return x;
};

const rowsOf = (x) => {
    let rows = byNumber.get(x);
    if (!rows || rows.length !== x.count || x.running) byNumber.set(x, (rows = Array.from({ length: x.count }, (_, i) => made.trialRow(x, i + 1))));
    return rows;
};

/* One comparison, or several with "and": as much as the pages need. */
function where(text, lookup) {
    if (!text) return () => true;
    const parts = text.split(/\s+and\s+/).map((part) => {
        const some = /^\s*([\w.()`]+)\s+in\s+\(([\d, ]+)\)\s*$/.exec(part);
        if (some) return (row) => some[2].split(",").map(Number).includes(lookup(row, some[1]));
        const m = /^\s*([\w.()`]+)\s*(<=|>=|!=|=|<|>|~)\s*(.+?)\s*$/.exec(part);
        if (!m) throw new Refused(400, `at column 1: a value is missing in '${part.trim()}'`, "bad_request");
        const want = /^['"]/.test(m[3]) ? m[3].slice(1, -1) : m[3] === "true" ? true : m[3] === "false" ? false : Number(m[3]);
        const [, name, op] = m;
        return (row) => {
            const v = lookup(row, name);
            if (v === null || v === undefined) return false;
            return { "<": v < want, "<=": v <= want, ">": v > want, ">=": v >= want, "=": v === want, "!=": v !== want, "~": String(v).includes(want) }[op];
        };
    });
    return (row) => parts.every((p) => p(row));
}

const plain = (expr) => expr.replace(/^(?:last|min|max)\((.*)\)$/, "$1").replace(/^(param|metric|trial)\./, "").replace(/`/g, "").replace(/^duration$/, "seconds");
const cell = (row, written, name = plain(written)) => (written in row ? row[written] : name in row ? row[name] : (row[`params.${name}`] ?? row[`metrics.${name}.last`] ?? row[`metrics.${name}`]));
const order = (rows, sort, desc, get) => {
    if (!sort) return rows;
    const sorted = [...rows].sort((a, b) => {
        const [u, v] = [get(a, sort), get(b, sort)];
        if (u === v) return 0;
        if (u === null || u === undefined) return 1;
        if (v === null || v === undefined) return -1;
        return (u < v ? -1 : 1) * (desc ? -1 : 1);
    });
    return sorted;
};
const kindOf = (name) => (name.startsWith("params.") ? "param" : name.startsWith("metrics.") ? "metric" : "field");
const typeOf = (name) =>
    ["state", "reason", "note", "tags", "params.optimizer"].includes(name) ? "text" : ["starred", "params.bias"].includes(name) ? "bool" : ["started", "ended"].includes(name) ? "time" : "number";

function column(rows, name) {
    const numbers = rows.map((r) => cell(r, name)).filter((v) => typeof v === "number");
    const c = { name, kind: kindOf(name), type: typeOf(name) };
    if (c.type === "number") Object.assign(c, { min: numbers.reduce((a, b) => Math.min(a, b), Infinity), max: numbers.reduce((a, b) => Math.max(a, b), -Infinity) });
    if (name === "params.optimizer") c.choices = ["sgd", "adam", "adamw"];
    return c;
}

function trials(x, q) {
    const rows = rowsOf(x);
    const matched = order(rows.filter(where(q.get("where"), cell)), q.get("sort"), q.get("desc") === "1", cell);
    const names = q.get("columns")?.split(",").filter(Boolean) ?? ["number", "state", "value", "params.lr", "params.batch", "params.optimizer", "params.layers", "params.bias", "metrics.loss.last", "metrics.acc.last", "seconds", "started"];
    const offset = Number(q.get("offset") ?? 0);
    const part = matched.slice(offset, offset + Number(q.get("limit") ?? 200));
    return { total: x.count, matched: matched.length, columns: names.map((n) => column(part, n)), rows: part.map((r) => names.map((n) => cell(r, n) ?? null)) };
}

const index = (name, v) => (typeof v === "number" ? v : typeof v === "boolean" ? Number(v) : name === "params.optimizer" ? ["sgd", "adam", "adamw"].indexOf(v) : NaN);

function columns(x, q) {
    const rows = rowsOf(x).filter(where(q.get("where"), cell));
    const names = ["number", ...q.get("names").split(",")];
    return Buffer.concat([Buffer.from(Uint32Array.from([rows.length, names.length - 1]).buffer), ...names.map((n) => Buffer.from(Float64Array.from(rows, (r) => index(n, cell(r, n))).buffer))]);
}

function series(body) {
    const x = (e, t, s) => (body.x === "step" ? s : body.x === "relative" ? s * 0.5 : 1.8e9 + t * 60 + s * 0.5);
    const lines = body.lines.map(({ trial, metric }) => {
        const [e, t] = trial.split(".").map(Number);
        const row = made.trialRow(find(String(e)), t);
        const [xs, ys] = [[], []];
        for (let s = 0; s <= row.step; s++) {
            const at = x(e, t, s);
            if ((body.from !== null && body.from !== undefined && at < body.from) || (body.to !== null && body.to !== undefined && at > body.to)) continue;
            xs.push(at);
            ys.push(metric === "acc" ? 1 - made.loss(e, t, s) / 3 : made.loss(e, t, s));
        }
        if (body.smooth) for (let i = 1; i < ys.length; i++) ys[i] = body.smooth * ys[i - 1] + (1 - body.smooth) * ys[i];
        return { xs, ys, marks: t % 5 === 0 && xs.length > 20 ? [xs[20]] : [] };
    });
    const f64 = (values) => Buffer.from(Float64Array.from(values).buffer);
    const u32 = (...values) => Buffer.from(Uint32Array.from(values).buffer);
    const xs = lines.flatMap((l) => l.xs);
    const head = (kind, n) => [Buffer.from("HSR2"), u32(kind, n, 0), f64([body.from ?? xs.reduce((a, b) => Math.min(a, b), Infinity), body.to ?? xs.reduce((a, b) => Math.max(a, b), -Infinity)])];
    if (!body.groups)
        return Buffer.concat([...head(0, lines.length), ...lines.flatMap((l) => [u32(l.xs.length, l.marks.length), Buffer.from(BigUint64Array.from([BigInt(l.xs.length), 0n, 0n, 0n, 8n]).buffer), f64(l.xs), f64(l.ys), f64(l.marks)])]);
    const groups = body.groups.map((members) => {
        const some = members.map((i) => lines[i]).filter((l) => l.xs.length);
        const longest = some.reduce((a, b) => (a.xs.length > b.xs.length ? a : b), some[0] ?? { xs: [] });
        const at = longest.xs.map((_, k) => some.map((l) => l.ys[k]).filter((v) => v !== undefined));
        return [u32(longest.xs.length, members.length), f64(longest.xs), f64(at.map((v) => v.reduce((a, b) => a + b, 0) / v.length)), f64(at.map((v) => Math.min(...v))), f64(at.map((v) => Math.max(...v)))];
    });
    return Buffer.concat([...head(1, groups.length), ...groups.flat()]);
}

function list(q) {
    const rows = order(all.map(made.experimentRow).filter(where(q.get("where"), (r, n) => r[n])), q.get("sort"), q.get("desc") === "1", (r, n) => r[n]);
    const from = Number(q.get("cursor") ?? 0);
    const limit = Number(q.get("limit") ?? 50);
    return { experiments: rows.slice(from, from + limit), next: from + limit < rows.length ? String(from + limit) : null, total: rows.length };
}

function detail(x) {
    return {
        ...made.experimentRow(x), code: "65f4", energy_j: 1234.5, energy: "estimated", environment: { host: "vm", kernel: "Linux", cpus: 2 }, live: x.running ? made.liveOf(x) : null,
        spec: { name: x.name, objective: { metric: "loss", goal: "minimize" }, params: { lr: { type: "float", scale: "log", min: 1e-4, max: 0.1 }, batch: { choices: [32, 64, 128, 256] }, optimizer: { choices: ["sgd", "adam", "adamw"] }, layers: { type: "int", min: 1, max: 4 }, bias: { choices: [true, false] } } },
    };
}

function change(b) {
    const x = find(String(b.experiment));
    if (b.do === "rm") b.trial ? 0 : (all = all.filter((y) => y !== x));
    else if (b.do === "star") b.trial ? x.stars[b.star ? "add" : "delete"](b.trial) : (x.starred = b.star);
    else if (b.do === "note") x.note = b.text;
    else if (b.do === "tag") x.labels = b.add ? [...x.labels, b.tag] : x.labels.filter((t) => t !== b.tag);
    byNumber.delete(x);
    tell("change", { experiment: x.experiment, trial: b.trial || null, time: made.iso(Date.now()), event: "changed" });
    return { ok: true };
}

const act = {
    stop: (x) => (x.state = "stopped", x.running = 0), resume: (x) => (x.state = "running", x.paused = false), pause: (x) => (x.paused = true), priority: (x, b) => (x.priority = b.priority),
};

function answer(method, path, q, body) {
    const p = path.split("/").slice(2).map(decodeURIComponent);
    if (p[0] === "me") return { user: "ann", role: "user", server: { version: "0.1.0", home_id: "mock", started: made.iso(Date.now()) } };
    if (p[0] === "experiments" && p.length === 1) return list(q);
    if (p[0] === "experiments" && p.length === 2) return detail(find(p[1]));
    if (p[0] === "experiments" && p[2] === "trials") return trials(find(p[1]), q);
    if (p[0] === "experiments" && p[2] === "columns") return columns(find(p[1]), q);
    if (p[0] === "experiments" && p[2] === "metrics") return { metrics: [{ name: "loss", trials: 30, system: false }, { name: "acc", trials: 30, system: false }, { name: "system/cpu", trials: 30, system: true }] };
    if (p[0] === "experiments" && method === "POST" && act[p[2]]) {
        const x = find(p[1]);
        act[p[2]](x, body);
        tell("change", { experiment: x.experiment, trial: null, time: made.iso(Date.now()), event: p[2] });
        return { ok: true };
    }
    if (p[0] === "changes") return change(body);
    if (p[0] === "login") {
        if (body.token !== "good") throw new Refused(401, "that token is not known", "unauthorized");
        return { user: "ann", role: "user" };
    }
    if (p[0] === "series") return series(body);
    throw new Refused(404, "there is no such route", "not_found");
}

let sequence = 0;
function tell(event, data) {
    const lines = `id: 1-${++sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const s of streams) s.write(lines);
}

setInterval(() => {
    const x = all.find((y) => y.experiment === 2);
    if (!x || x.state !== "running") return;
    x.step = x.step >= made.steps ? 1 : x.step + 1;
    tell("live", made.liveOf(x));
    for (let t = x.count - x.running + 1; t <= x.count; t++)
        tell("points", { experiment: 2, trial: t, metric: "loss", step: [x.step], time: [Date.now() / 1000], value: [made.loss(2, t, x.step)] });
}, 500).unref();

async function serve(request, response) {
    const at = new URL(request.url, "http://localhost");
    const head = (status, type, more = {}) => response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": policy, "Cache-Control": "no-cache", ...more });
    try {
        if (at.pathname === "/v1/events") {
            head(200, "text/event-stream");
            response.write(": hello\n\n");
            streams.add(response);
            request.on("close", () => streams.delete(response));
        } else if (at.pathname.startsWith("/v1/")) {
            const chunks = [];
            for await (const chunk of request) chunks.push(chunk);
            const value = answer(request.method, at.pathname, at.searchParams, chunks.length ? JSON.parse(Buffer.concat(chunks)) : {});
            if (Buffer.isBuffer(value)) head(200, "application/octet-stream").end(value);
            else head(200, "application/json").end(JSON.stringify(value));
        } else {
            const name = at.pathname === "/" ? "index.html" : at.pathname.slice(1);
            const bytes = await readFile(join(dist, name));
            head(200, types[name.split(".").pop()] ?? "application/octet-stream").end(bytes);
        }
    } catch (error) {
        head(error.status ?? (error.code === "ENOENT" ? 404 : 500), "application/json").end(JSON.stringify({ error: error.message, code: error.code ?? "internal" }));
    }
}

createServer(serve).listen(Number(process.argv[2] ?? 7471), "127.0.0.1", () => console.log(`http://127.0.0.1:${process.argv[2] ?? 7471}/`));
