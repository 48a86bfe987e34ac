#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * trial_test.mjs — the page of a trial in a real browser: reasons, curves, log with its colours and
 * errors, code, environment, files, events; and a trial that runs while one looks.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { atRest, axe, check, enter, equal, fits, folder, launch, run, runTests, serve, shot, test, touch, until, visit, write } from "./lib.mjs";
import { makeRuns, trialWith } from "./runs.mjs";

let page, good, failed;

async function prepare() {
    makeRuns();
    good = trialWith({ lr: 0.01, opt: "adam", seed: 1 });
    failed = trialWith({ lr: 0.1, opt: "sgd", seed: 3 });
    write("long.yaml", `name: long\ncommand: [awk, 'BEGIN { for (i = 1; i <= 60000; i++) print "row " i; print "loss=1" }']\nparams: {x: [1]}\nobjective: loss\nsearch: {trials: 1}\npass: file\n`);
    run("run", "long.yaml");
    write("wide.yaml", `name: wide\ncommand: [awk, 'BEGIN { for (i = 1; i <= 100000; i++) print "row " i " " (i % 10 ? "" : sprintf("%0400d", i)) "."; print "loss=1" }']\nparams: {x: [1]}\nobjective: loss\nsearch: {trials: 1}\npass: file\n`);
    run("run", "wide.yaml");
    await serve();
    await launch();
    page = await enter();
}

const words = (selector) => page.textContent(selector);
/* The view before may still be there for a moment. */
const shows = (selector, part) => until(async () => (await page.locator(selector).allTextContents()).some((text) => text.includes(part)), `${selector} says ${part}`);
const lines = () => page.$$eval(".line", (all) => all.map((line) => line.textContent));

test("a trial shows its parameters, why it was made, and a curve of each metric", async () => {
    await visit(page, `#/t/${good}`, ".curve .uplot");
    await shows(".trial-facts", "0.01");
    await shows(".reasons", "One of all settings, each in turn");
    await until(async () => (await page.locator(".curve").count()) === 2, "two charts");
    await until(async () => (await page.getAttribute(".curve figure", "aria-label")).includes("ends at"), "a line in the chart");
    await shows(".trial-figures", "0.101");
    await shot(page, "trial");
});

test("a failed trial says why", async () => {
    await visit(page, `#/t/${failed}`, ".reasons");
    await shows(".reasons", "The program ended with an error");
    await shows(".trial-facts", "exit 1");
});

test("the log has colours, a bar that overwrote itself, and text that is only text", async () => {
    await visit(page, `#/t/${good}/logs`, ".line");
    await until(async () => (await lines()).includes("finished"), "the end of the log");
    await page.$eval(".lines", (el) => (el.scrollTop = 0));
    await until(async () => (await lines()).includes("started with red words"), "its beginning");
    const all = await lines();
    check(all.includes("100%") && !all.some((line) => line.includes("55%")), "the bar");
    check(all.includes("<b>bold?</b> & <script>alert(1)</script>"), "script as text");
    equal(await words(".line .a1"), "red", "the red word");
    check(await page.$eval(".line .ab", (el) => Number(getComputedStyle(el).fontWeight) >= 600), "the bold word");
});

test("a search marks what it finds, and is in the address", async () => {
    await page.fill(".log-search input", "step=7");
    await page.press(".log-search input", "Enter");
    await page.waitForSelector(".line.found mark");
    await shows(".line.found", "step=7");
    await until(() => page.url().includes("find=step"), "the address has it");
    await page.fill(".log-search input", "not in there");
    await page.press(".log-search input", "Enter");
    await until(async () => (await words(".log [role=status]")).includes("no earlier"), "a word that it is not there");
});

test("one jumps to the error of a failed trial", async () => {
    await visit(page, `#/t/${failed}/logs`, ".line.error");
    await page.click("text=Jump to error");
    await page.waitForSelector(".line.found");
    await shows(".line.found", "CUDA out of memory");
    await page.keyboard.press("e");
    await until(async () => (await words(".line.found")).includes("Traceback"), "the one before");
});

test("of a long log only what is seen exists; its beginning and what is far above are found", async () => {
    await visit(page, "#/t/2.1/logs");
    await until(async () => (await lines()).includes("loss=1"), "its end");
    check((await lines()).length < 150, "lines in the page");
    await page.fill(".log-search input", "row 31234");
    await page.press(".log-search input", "Enter");
    await shows(".line.found", "row 31234");
    await page.click("text=Beginning");
    await until(async () => (await lines())[0] === "row 1", "its first line");
    await page.click(".log .button:text-is('End')");
    await until(async () => (await lines()).includes("loss=1"), "its end again");
});

test("long lines of 100,000 are wrapped: few exist, all are found, and the place is kept", async () => {
    const place = () => page.$eval(".lines", (el) => [...el.querySelectorAll(".line")].find((line) => line.getBoundingClientRect().bottom > el.getBoundingClientRect().top + 4).textContent);
    await visit(page, "#/t/3.1/logs?wrap=1");
    await until(async () => (await lines()).includes("loss=1"), "its end");
    check((await lines()).length < 150, "lines in the page");
    equal(await page.$eval(".lines", (el) => el.scrollWidth - el.clientWidth), 0, "what sticks out");
    await page.fill(".log-search input", "row 54320 ");
    await page.press(".log-search input", "Enter");
    await shows(".line.found", "row 54320");
    await until(async () => {
        const [box, found] = [await page.locator(".lines").boundingBox(), await page.locator(".line.found").boundingBox()];
        return found.y >= box.y && found.y + found.height <= box.y + box.height && found.height >= 3 * 18;
    }, "it is in sight, and takes several rows");
    const before = await atRest(place);
    await page.keyboard.press("Escape");
    await page.keyboard.press("w");
    await until(() => !page.url().includes("wrap"), "the address says so");
    await until(async () => (await place()) === before, "the same line is at the top");
    await page.keyboard.press("w");
    await until(async () => (await page.locator(".lines.wrapped").count()) === 1 && (await place()) === before, "and again");
    await page.click("text=Beginning");
    await until(async () => (await lines())[0]?.startsWith("row 1 "), "its first line");
    await page.setViewportSize({ width: 360, height: 740 });
    await until(() => page.$eval(".line:nth-child(10)", (el) => el.offsetHeight >= 9 * 18), "more rows in a narrow box");
    await page.setViewportSize({ width: 1280, height: 800 });
});

test("the code is there, and what differs from another trial", async () => {
    await visit(page, `#/t/${good}/code`, ".code-files button");
    await page.click(".code-files button:has-text('train.sh')");
    await until(async () => (await page.textContent(".lines")).includes("awk -v lr"), "the script");
    await page.fill("form.toolbar input", failed);
    await page.press("form.toolbar input", "Enter");
    await page.waitForSelector("text=The same code");
});

test("environment, files and events", async () => {
    await visit(page, `#/t/${good}/environment`, "table.facts");
    await page.fill(".toolbar input", "kernel");
    await until(async () => (await page.locator("table.facts tr").count()) === 1, "one row is left");
    await visit(page, `#/t/${good}/files`, "table.plain a");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("table.plain a:has-text('stdout')")]);
    check(existsSync(await download.path()), "the file came");
    await visit(page, `#/t/${good}/events`, "table.events");
    await shows("table.events", "completed");
});

test("smoothing, axis and zoom are in the address, and come back with it", async () => {
    await visit(page, `#/t/${good}?x=relative&smooth=0.5&logy=1`, ".curve .uplot");
    equal(await page.inputValue(".curves select"), "relative", "the axis");
    equal(await page.inputValue(".curves input[type=range]"), "0.5", "the smoothing");
    check(await page.isChecked(".curves input[type=checkbox]"), "the log axis");
    await page.selectOption(".curves select", "step");
    await until(() => !page.url().includes("x=relative"), "the default is not written");
});

test("two fingers zoom a chart, one moves it, a double tap shows all of it", async () => {
    const phone = await enter({ width: 390, height: 800, hasTouch: true });
    await visit(phone, `#/t/${good}`, ".curve .u-over");
    await until(async () => (await phone.getAttribute(".curve figure", "aria-label")).includes("ends at"), "a line in the chart");
    await phone.locator(".curve .u-over").first().scrollIntoViewIfNeeded();
    const range = () => ["from", "to"].map((name) => Number(new URLSearchParams(phone.url().split("?")[1]).get(name)));
    const near = (a, b) => Math.abs(a - b) < 1.5;
    const drag = async (...frames) => (await touch(phone, ".curve .u-over", frames), atRest(() => phone.url()));
    const scale = () => phone.evaluate(() => visualViewport.scale); /* 1: the page itself is not zoomed */
    await until(async () => {
        await drag([[0.4, 0.5], [0.6, 0.5]], [[0.35, 0.5], [0.65, 0.5]], [[0.25, 0.5], [0.75, 0.5]]);
        const [from, to] = range(); /* of 0 … 39 */
        return near((from + to) / 2, 19.5) && to - from < 17 && (await scale()) === 1;
    }, "a nearer view of the middle, in the address");
    await phone.waitForSelector("text=Zoom out");
    await until(async () => {
        const [from, to] = range();
        await drag([[0.5, 0.5]], [[0.6, 0.5]], [[0.75, 0.5]]);
        const [left, right] = range();
        return left < from - 0.2 * (to - from) && Math.abs((right - left) / (to - from) - 1) < 0.1;
    }, "moved to the left, as wide as before");
    await until(async () => (await touch(phone, ".curve .u-over", [[[0.5, 0.1]], [], [[0.5, 0.1]]], true), !phone.url().includes("to=")), "all of it");
    await phone.context().close();
});

test("keys go to the next trial and back", async () => {
    await visit(page, "#/t/1.2");
    await shows("h1", "1.2");
    await page.keyboard.press("]");
    await until(async () => (await words("h1")).includes("1.3"), "the next one");
    await page.keyboard.press("[");
    await until(async () => (await words("h1")).includes("1.2"), "the one before");
});

test("a trial that runs is followed: its log and its curve grow", async () => {
    write("slow.sh", `#!/bin/sh\ni=0\nwhile [ ! -e "$1/enough" ]; do i=$((i + 1)); echo "loss=0.$((1000 - i % 900)) step=$i"; sleep 0.1; done\necho bye\n`);
    write("slow.yaml", `name: slow\ncommand: [sh, slow.sh, ${JSON.stringify(folder)}]\nparams: {x: 1}\nobjective: loss\nsearch: {trials: 1}\nflags: value\npass: file\n`);
    run("submit", "slow.yaml");
    await visit(page, "#/t/4.1/logs", ".line");
    const last = async () => Math.max(0, ...(await lines()).map((line) => Number(/step=(\d+)/.exec(line)?.[1] ?? 0)));
    const first = await until(last, "a line with a step");
    await until(async () => (await last()) > first, "later lines");
    await visit(page, "#/t/4.1", ".curve .uplot");
    const told = () => page.getAttribute(".curve figure", "aria-label");
    const before = await told();
    await until(async () => (await told()) !== before, "the curve goes on");
    write("enough", "");
    await until(async () => (await words(".trial-head .chip")).includes("completed"), "its end");
    await visit(page, "#/t/4.1/logs", ".line");
    await until(async () => (await lines()).includes("bye"), "its last word");
});

test("a trial that is not there is told in a sentence", async () => {
    await visit(page, "#/t/nonsense", ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "is not the name of a trial");
});

test("no violation of accessibility, nothing sticks out, light and dark, wide and narrow", async () => {
    for (const [theme, width] of [["light", 1400], ["dark", 360]]) {
        const other = await enter({ theme, width });
        for (const [part, ready] of [["", ".curve .uplot"], ["/logs", ".line"], ["/code", ".lines .line"], ["/environment", "table.facts"], ["/files", "table.plain"], ["/events", "table.events"]]) {
            await visit(other, `#/t/${good}${part}`, ready);
            equal((await axe(other)).join("\n"), "", `${theme} ${part || "overview"}`);
            await fits(other, `${theme} ${part || "overview"}`);
        }
        await shot(other, `trial-${theme}`);
        await other.context().close();
    }
});

await runTests(prepare);
