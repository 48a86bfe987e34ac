/* SPDX-License-Identifier: MIT */
/*
 * lib.mjs — what the tests in a browser share: a home with experiments, `hone serve` on it, Chromium,
 * TAP. Everything is waited for by a condition; every console error and every refusal of the
 * Content-Security-Policy fails the test in which it happened.
 *
 * HONE_BIN names the program under test (build/hone), CHROMIUM the browser.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const require = createRequire(join(root, "web", "package.json"));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const hone = resolve(process.env.HONE_BIN ?? join(root, "build", "hone"));
const shots = join(process.env.HONE_BUILD ?? join(root, "build"), "screenshots");
const patienceMs = Number(process.env.HONE_PATIENCE_MS ?? 60_000); /* under sanitizers, beside other tests, all is slow */

export const folder = mkdtempSync(join(tmpdir(), "hone-web-test-"));
const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, HONE_HOME: join(folder, "home"), HONE_SERVER: "", HONE_TOKEN: "", NO_COLOR: "1" };
delete env.HONE_SERVER;
delete env.HONE_TOKEN;

/* Run a command of the program to its end; its standard output. */
export function run(...args) {
    const done = spawnSync(hone, args, { env, cwd: folder, encoding: "utf8", timeout: 300_000 });
    if (done.status !== 0) throw new Error(`hone ${args.join(" ")}: exit ${done.status}: ${done.stderr}`);
    return done.stdout;
}

export function write(name, text) {
    writeFileSync(join(folder, name), text, { mode: 0o755 });
    return join(folder, name);
}

/* ---- the server ---- */

let server = null;
export let base = "";

/* Start `hone serve`; the same port again after a stop. */
export async function serve(...args) {
    const port = base ? new URL(base).port : "0"; /* 0: one that is free */
    const child = spawn(hone, ["serve", "--port", port, ...args], { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    server = { child, out: "" };
    const ended = new Promise((_, reject) => child.once("exit", (code) => reject(new Error(`hone serve ended with ${code}: ${server?.out}`))));
    ended.catch(() => {});
    const heard = new Promise((found) => {
        const onData = (bytes) => {
            server.out += bytes;
            const m = /http:\/\/[\d.]+:\d+\/open\/\S+/.exec(server.out);
            if (m) found(m[0]);
        };
        child.stdout.on("data", onData);
        child.stderr.on("data", onData);
    });
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`hone serve printed no link: ${server?.out}`)), patienceMs).unref());
    late.catch(() => {});
    const link = await Promise.race([heard, ended, late]);
    base = new URL(link).origin;
    return link;
}

export async function stopServer(signal = "SIGTERM") {
    if (!server) return;
    const { child } = server;
    const gone = new Promise((r) => (child.exitCode !== null ? r() : child.once("exit", r)));
    child.kill(signal);
    await gone;
    server = null;
}

/* Trials outlive a server that ends: let none of a failed test go on. */
function stopTrials() {
    for (const row of JSON.parse(run("ls", "--json"))) if (row.state === "running") spawnSync(hone, ["stop", String(row.experiment)], { env, timeout: 60_000 });
}

/* ---- the browser ---- */

let browser = null;
export async function launch() {
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    });
    return browser;
}

let troubles = [];
const expected = [];

/* Console errors that fit are part of the test (a server that is away makes some). */
export function expectTrouble(pattern) {
    expected.push(pattern);
}

function watch(page) {
    page.setDefaultTimeout(patienceMs);
    /* The page behind a one-time link names no icon, so the browser looks for one. */
    const note = (words) => /\/favicon\.ico$/.test(words) || expected.some((p) => p.test(words)) || troubles.push(words);
    page.on("console", (m) => m.type() === "error" && note(`console: ${m.text()} ${m.location().url}`));
    page.on("pageerror", (e) => note(`exception: ${e.stack ?? e.message}`));
    return page;
}

/* A browser of its own (cookies, cache), signed in by a one-time link. */
export async function enter({ theme = "light", width = 1280, height = 800, link = null, hasTouch = false } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", hasTouch });
    const page = watch(await context.newPage());
    await page.goto(link ?? run("open").trim());
    await page.waitForSelector(".top-bar");
    return page;
}

/* Fingers on a part of a page: each frame is where they are, as shares of its width and height; in an
 * empty one, and at the end, all are lifted. Each is waited for, unless it is to be quick (taps). A
 * browser that finds its page slow may drop a gesture, or take it for its own and zoom the page: say
 * it again until it has done something. */
export async function touch(page, selector, frames, quick = false) {
    const boxOf = () => page.locator(selector).first().evaluate((el) => (el.scrollIntoView({ block: "center" }), JSON.stringify(el.getBoundingClientRect())));
    const box = JSON.parse(await atRest(boxOf));
    const client = await page.context().newCDPSession(page);
    await client.send("Emulation.setPageScaleFactor", { pageScaleFactor: 1 });
    const points = (frame) => frame.map(([x, y], id) => ({ x: box.x + x * box.width, y: box.y + y * box.height, id }));
    const typeOf = (frame, last) => (frame.length === 0 ? "touchEnd" : last.length === 0 ? "touchStart" : "touchMove");
    const all = [...frames, []];
    const sent = [];
    for (const [i, frame] of all.entries()) {
        sent.push(client.send("Input.dispatchTouchEvent", { type: typeOf(frame, all[i - 1] ?? []), touchPoints: points(frame) }));
        if (!quick) await sent.at(-1);
    }
    await Promise.all(sent);
    await client.detach();
}

/* What `look` gives once it has given it twice in a row. */
export async function atRest(look) {
    let last;
    return until(async () => {
        const now = await look(), rests = now === last;
        last = now;
        return rests && now;
    }, "something that stands still");
}

/* From now on what the page does after `ms` or more it does when it is let go, however slow the test is.
 * Gives the function that does so, and ends this. */
export async function holdTimers(page, ms) {
    await page.evaluate((least) => {
        const [set, clear, held] = [window.setTimeout, window.clearTimeout, new Map()];
        let last = 1e9;
        window.setTimeout = (act, wait, ...more) => (wait >= least ? (held.set(++last, act), last) : set(act, wait, ...more));
        window.clearTimeout = (id) => void (held.delete(id) || clear(id));
        window.letTimersGo = () => {
            [window.setTimeout, window.clearTimeout] = [set, clear];
            for (const act of held.values()) act();
        };
    }, ms);
    return () => page.evaluate(() => window.letTimersGo());
}

export async function newTab(page) {
    return watch(await page.context().newPage());
}

export async function strange(options = {}) {
    const context = await browser.newContext({ viewport: { width: 900, height: 700 }, ...options });
    return watch(await context.newPage());
}

/* Another address in the same page, until the page has heard of it and drawn what it says. */
function move(hash) {
    if (new URL(hash, location.href).hash === location.hash) return null;
    return new Promise((heard) => {
        addEventListener("hashchange", heard, { once: true }); /* the page's own listener came first */
        location.hash = hash;
    }).then(() => {});
}

/* Go to a view by its address and wait until a part of it is there. A part of the view before is not
 * taken for it: that one is gone when this looks. What it loads may still be on its way. */
export async function visit(page, hash, selector) {
    if (page.url().split("#")[0] === `${base}/`) await page.evaluate(move, hash);
    else await page.goto(`${base}/${hash}`);
    if (selector) await page.waitForSelector(selector);
}

export async function shot(page, name) {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `${name}.png`) });
}

/* Of every page that is open: where did it stand when a test failed? */
async function shotAll(name) {
    const pages = browser?.contexts().flatMap((c) => c.pages()) ?? [];
    for (const [i, page] of pages.entries()) await shot(page, `${name}-${i}`).catch(() => {});
}

/* What axe-core finds wrong, as lines. */
export async function axe(page) {
    await page.evaluate(axeSource);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join("; ")}`);
}

/* By how many pixels does something stick out at the right? */
export function overhang(page) {
    return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/* Nothing does; a chart takes its new width a frame after its box has it. */
export function fits(page, words) {
    return until(async () => (await overhang(page)) <= 0, `${words}: nothing sticks out`);
}

/* A view in both themes, on a wide screen and on a phone: a picture of each, nothing sticks out at the
 * right, axe-core finds nothing. */
export async function checkLooks(page, name, hash, selector) {
    for (const theme of ["light", "dark"])
        for (const [width, height] of [[1280, 800], [360, 740]]) {
            await page.emulateMedia({ colorScheme: theme });
            await page.setViewportSize({ width, height });
            await visit(page, hash, selector);
            const full = `${name}-${theme}-${width}`;
            await shot(page, full);
            await fits(page, full);
            equal((await axe(page)).join("\n"), "", full);
        }
}

/* ---- TAP ---- */

const tests = [];
export function test(name, body) {
    tests.push({ name, body });
}

export function check(condition, words) {
    if (!condition) throw new Error(words);
}
export function equal(a, b, words = "") {
    if (!Object.is(a, b)) throw new Error(`${words} is ${JSON.stringify(a)}, not ${JSON.stringify(b)}`);
}
/* Wait until `look` gives a true value. */
export async function until(look, words) {
    const end = Date.now() + patienceMs;
    for (;;) {
        const value = await look();
        if (value) return value;
        if (Date.now() > end) throw new Error(`never: ${words}`);
        await new Promise((r) => setTimeout(r, 25));
    }
}

async function one({ name, body }, number) {
    troubles = [];
    expected.length = 0;
    try {
        await body();
        if (troubles.length > 0) throw new Error(troubles.join("\n"));
        console.log(`ok ${number} - ${name}`);
        return true;
    } catch (error) {
        console.log(`not ok ${number} - ${name}`);
        for (const words of troubles) console.log(`# ${words.slice(0, 300)}`);
        await shotAll(`failed-${number}`);
        for (const line of String(error.stack ?? error).split("\n").slice(0, 12)) console.log(`# ${line}`);
        return false;
    }
}

/* Run all tests in their order; leave nothing behind. */
export async function runTests(prepare) {
    let failed = 0;
    try {
        for (const needed of [hone, join(root, "web", "node_modules")]) if (!existsSync(needed)) throw new Error(`${needed} is missing`);
        await prepare();
        console.log(`1..${tests.length}`);
        for (const [i, t] of tests.entries()) if (!(await one(t, i + 1))) failed++;
    } catch (error) {
        console.log(`1..1\nnot ok 1 - ${error.message.split("\n")[0]}\n# ${error.stack.split("\n").join("\n# ")}`);
        failed++;
    } finally {
        await browser?.close();
        if (server) stopTrials();
        await stopServer();
        rmSync(folder, { recursive: true, force: true });
    }
    process.exit(failed > 0 ? 1 : 0);
}
