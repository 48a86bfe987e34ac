#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * trial_test.mjs — the page of a trial in a real browser: reasons, curves, log with its colours and
 * errors, code, environment, files, events; and a trial that runs while one looks.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { atRest, axe, check, enter, equal, expectTrouble, fits, folder, launch, run, runTests, serve, shot, strange, test, touch, until, visit, write } from "./lib.mjs";
import { makeRuns, trialWith } from "./runs.mjs";

let page, good, failed, red;

async function prepare() {
    makeRuns();
    good = trialWith({ lr: 0.01, opt: "adam", seed: 1 });
    failed = trialWith({ lr: 0.1, opt: "sgd", seed: 3 });
    write("long.yaml", `name: long\ncommand: [awk, 'BEGIN { for (i = 1; i <= 60000; i++) print "row " i; print "loss=1" }']\nparams: {x: [1]}\nobjective: loss\nsearch: {trials: 1}\npass: file\n`);
    run("run", "long.yaml");
    write("wide.yaml", `name: wide\ncommand: [awk, 'BEGIN { for (i = 1; i <= 100000; i++) print "row " i " " (i % 10 ? "" : sprintf("%0400d", i)) "."; print "loss=1" }']\nparams: {x: [1]}\nobjective: loss\nsearch: {trials: 1}\npass: file\n`);
    run("run", "wide.yaml");
    run("run", write("off.yaml", "name: off\ncommand: [echo, loss=1]\nparams: {x: [1]}\nobjective: loss\nsearch: {trials: 1}\npass: file\nmetrics: {system: off}\n"));
    write("red.sh", `[ "$1" = --x=2 ] && echo loss=1 && exit 0\nprintf '\\033[33mAchtung\\033[0m\\n' >&2\nexit 3\n`);
    run("run", write("red.yaml", "name: red\ncommand: [sh, red.sh]\nparams: {x: [1, 2]}\nobjective: loss\nsearch: {algorithm: grid, trials: 2}\nlimits: {retries: 0}\n"));
    red = JSON.parse(run("ls", "5", "--all", "--json")).find((t) => t.state === "failed").trial;
    write("loud.sh", "printf 'Traceback (most recent call last):\\nValueError: on stdout\\n'\n[ $1 = 1 ] || echo 'a word of warning' >&2\nexit 1\n");
    expectFailure("run", write("loud.yaml", "name: loud\ncommand: [sh, loud.sh, '{x}']\nparams: {x: [1, 2]}\nobjective: loss\nsearch: {algorithm: grid, parallel: 1}\nlimits: {retries: 0}\n"));
    run("run", write("nan.yaml", `name: nan\ncommand: [awk, 'BEGIN { for (i = 0; i < 40; i++) print "loss=" (i < 10 ? 1 / (i + 1) : "nan") " step=" i; print "score=1" }']\nparams: {x: [1]}\nobjective: score\nsearch: {trials: 1}\npass: file\n`));
    await serve();
    await launch();
    page = await enter();
}

function expectFailure(...args) {
    try {
        run(...args);
    } catch {
        return;
    }
    throw new Error(`hone ${args.join(" ")} did not fail`);
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

test("where a run diverged and stayed so, marks go on to its last step", async () => {
    await visit(page, "#/t/7.1", '.curve[aria-label="loss"] .uplot');
    /* Is there colour at the lower edge, near the right end and at a quarter? Axes and grid are grey. */
    const coloured = (from, to) => page.$eval('.curve[aria-label="loss"] canvas', (el, [from, to]) => {
        const over = el.closest(".uplot").querySelector(".u-over"), ratio = el.width / el.clientWidth;
        const [left, bottom] = [over.offsetLeft * ratio, (over.offsetTop + over.offsetHeight) * ratio], width = over.offsetWidth * ratio;
        const { data } = el.getContext("2d").getImageData(left + from * width, bottom - 12 * ratio, (to - from) * width, 10 * ratio);
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 128 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) return true;
        return false;
    }, [from, to]);
    equal((await page.$$eval(".curve", (all) => all.map((el) => el.getAttribute("aria-label")))).join(), "score,loss", "the objective is the first");
    await until(async () => (await coloured(0.96, 1)) && (await coloured(0.5, 0.6)), "marks in the middle and at the end");
    check(!(await coloured(0.02, 0.1)), "and none where it was well");
    await shot(page, "trial-nan");
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

test("the log of a failed trial opens on the stream that has text", async () => {
    await visit(page, "#/t/6.1/logs", ".line.error");
    equal(await page.inputValue(".log select"), "stdout", "the stream");
    check(!page.url().includes("stream="), "the usual one is not in the address");
});

test("an error that is on the other stream is found there", async () => {
    await visit(page, "#/t/6.2/logs", ".line");
    await until(async () => (await lines()).join() === "a word of warning", "stderr");
    await page.click("text=Jump to error");
    await shows(".line.found", "ValueError: on stdout");
    equal(await page.inputValue(".log select"), "stdout", "the stream");
    await page.keyboard.press("e");
    await until(async () => (await words(".line.found")).includes("Traceback"), "the one before");
    await page.keyboard.press("e");
    await until(async () => (await words(".log [role=status]")).includes("no earlier error line"), "there is no other, and it stays here");
    await visit(page, `#/t/${red}/logs`, ".line");
    await until(async () => (await lines()).join() === "Achtung", "another log");
    await page.click("text=Jump to error");
    await until(async () => (await words(".log [role=status]")).includes("no error line on stdout or stderr"), "a word that there is none");
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
    const range = () => ["from", "to"].map((name) => Number(new URLSearchParams(phone.url().split("?")[1]).get(name)));
    const near = (a, b) => Math.abs(a - b) < 1.5;
    /* Every try begins with the same view: a gesture's end comes late, and two of them would add up. */
    const drag = async (query, ...frames) => {
        await visit(phone, `#/t/${good}${query}`, ".curve .u-over");
        await phone.reload();
        await until(async () => (await phone.getAttribute(".curve figure", "aria-label"))?.includes("ends at"), "a line in the chart");
        const before = phone.url();
        await touch(phone, ".curve .u-over", frames);
        for (let i = 0; i < 80 && phone.url() === before; i++) await phone.waitForTimeout(25);
        return range();
    };
    const scale = () => phone.evaluate(() => visualViewport.scale); /* 1: the page itself is not zoomed */
    await until(async () => {
        const [from, to] = await drag("", [[0.4, 0.5], [0.6, 0.5]], [[0.35, 0.5], [0.65, 0.5]], [[0.25, 0.5], [0.75, 0.5]]); /* of 0 … 39 */
        return near((from + to) / 2, 19.5) && to - from > 15 && to - from < 17 && (await scale()) === 1;
    }, "a nearer view of the middle, in the address");
    await phone.waitForSelector("text=Zoom out");
    await until(async () => {
        const [from, to] = await drag("?from=12&to=28", [[0.5, 0.5]], [[0.6, 0.5]], [[0.75, 0.5]]);
        return from < 9 && near(to - from, 16);
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
    await visit(page, "#/t/8.1/logs", ".line");
    const last = async () => Math.max(0, ...(await lines()).map((line) => Number(/step=(\d+)/.exec(line)?.[1] ?? 0)));
    const first = await until(last, "a line with a step");
    await until(async () => (await last()) > first, "later lines");
    await visit(page, "#/t/8.1", ".curve .uplot");
    const told = () => page.getAttribute(".curve figure", "aria-label");
    const before = await told();
    await until(async () => (await told()) !== before, "the curve goes on");
    await visit(page, "#/t/8.1/system", ".figure-chart");
    const figure = (title) => page.getAttribute(`.figure-chart[aria-label^="${title}"] figure`, "aria-label");
    const seen = await until(async () => (await figure("CPU, of one processor (%)"))?.includes("used ends at") && (await figure("CPU, of one processor (%)")), "what it used of a processor");
    await until(async () => (await figure("CPU, of one processor (%)")) !== seen, "the figure goes on");
    write("enough", "");
    await visit(page, "#/t/8.1", ".curve .uplot");
    await until(async () => (await words(".trial-head .chip")).includes("completed"), "its end");
    equal(await page.locator(".trial-head .button:text-is('Stop')").count(), 0, "what has ended is not stopped");
    await visit(page, "#/t/8.1/logs", ".line");
    await until(async () => (await lines()).includes("bye"), "its last word");
});

test("system figures of the trial and of the machine stand in charts with units, and zoom together", async () => {
    await visit(page, "#/t/8.1/system", ".figure-chart .uplot");
    const titles = (group) => page.$$eval(`.figure-group[aria-label="${group}"] .figure-chart`, (all) => all.map((el) => el.getAttribute("aria-label")));
    const told = (group, title) => page.getAttribute(`.figure-group[aria-label="${group}"] .figure-chart[aria-label^="${title}"] figure`, "aria-label");
    for (const title of ["CPU, of one processor (%)", "Processes and threads"]) await until(async () => (await titles("This trial")).includes(title), `${title} of the trial`);
    await until(async () => (await titles("This trial")).some((title) => /^Memory \([KMG]B\)$/.test(title)), "memory in a unit of its size");
    await until(async () => (await titles("The machine")).some((title) => /^Memory \([MGT]B\)$/.test(title)), "the machine's memory");
    await until(async () => (await told("The machine", "Memory")).includes("total ends at"), "its line");
    await shows(".figure-legend", "resident");
    await page.selectOption(".curves select", "time");
    await until(() => page.url().includes("x=time"), "the clock is in the address");
    await page.selectOption(".curves select", "relative");
    await visit(page, "#/t/8.1/system?from=0&to=1", ".figure-chart .uplot");
    await page.click("text=Zoom out");
    await until(() => !page.url().includes("from="), "all of it");
});

test("a trial that was not measured says so", async () => {
    await visit(page, "#/t/4.1/system", ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "No figures of the machine");
});

test("tags and a note are set and taken away, and the star comes and goes by its key", async () => {
    const answer = async (text) => {
        await page.fill("dialog[open] :is(input, textarea)", text);
        await page.click("dialog[open] .button.primary");
    };
    const star = (pressed) => page.waitForSelector(`.trial-head button[aria-pressed=${pressed}]`);
    await visit(page, `#/t/${good}`, '[aria-label="Add a tag"]');
    await page.click('[aria-label="Add a tag"]');
    await answer("keep");
    await shows(".trial-figures .tag", "keep");
    equal(JSON.parse(run("show", good, "--json")).tags.join(), "keep", "the tags in the store");
    await page.click('[aria-label="Take the tag keep away"]');
    await until(async () => (await page.locator(".trial-figures .tag").count()) === 0, "no tag");
    await page.click('[aria-label="Add a note"]');
    await answer("the one to beat");
    await shows(".trial-figures", "the one to beat");
    await page.click('[aria-label="Change the note"]');
    await answer("");
    await page.waitForSelector('[aria-label="Add a note"]');
    await page.keyboard.press("s");
    await star("true");
    await page.keyboard.press("s");
    await star("false");
});

test("a trial runs again, and tells of what it is a rerun", async () => {
    await visit(page, `#/t/${good}`, "text=Run again");
    await page.click("text=Run again");
    await until(async () => !(await words("h1")).includes(`trial ${good}`), "another trial");
    await shows(".trial-figures", `Rerun of${good}`);
    const again = /trial (\S+)/.exec(await words("h1"))[1];
    await until(async () => (await words(".trial-head .chip")).includes("completed"), "its end");
    check(new RegExp(`rerun of +${good}\n`).test(run("show", again)), "hone show tells it, too");
    await visit(page, `#/t/${good}`, ".trial-figures");
    await shows(".trial-figures", `Rerun as${again}`);
    await visit(page, `#/compare?runs=${good},${trialWith({ lr: 0.01, opt: "sgd", seed: 1 })}&view=seeds`, "table.seeds");
    await until(async () => (await words("table.seeds tbody tr:first-child")).includes(again), "the rerun is of its group");
});

test("a run of MLflow's client has its name in the title; parameters and tags that it logs are seen at once", async () => {
    const token = /hone_\S+/.exec(run("token", "add", "mia", "--role", "user"))[0];
    const ask = async (path, data) => {
        const answer = await page.request.post(`${new URL(page.url()).origin}/api/2.0/mlflow/runs/${path}`, { headers: { Authorization: `Bearer ${token}` }, data });
        check(answer.ok(), `${path}: ${await answer.text()}`);
        return answer.json();
    };
    const { run: { info: { run_id } } } = await ask("create", { experiment_id: "0", run_name: "r1" });
    const newest = Math.max(...JSON.parse(run("ls", "--json")).map((row) => row.experiment));
    await visit(page, `#/t/${newest}.1`, "h1");
    await shows("h1", `trial ${newest}.1 · r1`);
    await page.waitForSelector(".live-dot.live");
    await ask("log-parameter", { run_id, key: "depth", value: "17" });
    await shows('[aria-label="Parameters"]', "depth17");
    await ask("set-tag", { run_id, key: "team", value: "vision" });
    await shows(".trial-figures", "team=vision");
    await ask("log-batch", { run_id, params: [{ key: "width", value: "23" }], tags: [{ key: "mlflow.runName", value: "r2" }] });
    await shows('[aria-label="Parameters"]', "width23");
    await shows("h1", `trial ${newest}.1 · r2`);
    /* Nobody can run it again, and no trial there is the best: the buttons say so. */
    await page.waitForSelector('.trial-head button[disabled][aria-label="Run again: Hone did not run it, so there is nothing to run"]');
    await page.waitForSelector('.trial-head button[disabled][aria-label="Compare with the best: the experiment has no objective, so no trial is the best"]');
    equal((await axe(page)).join("\n"), "", "what is disabled is told well");
});

test("the only trial has no next one", async () => {
    await visit(page, "#/t/2.1", '[aria-label="Next trial"]:disabled');
});

test("who only looks has no buttons that change something", async () => {
    const token = /hone_\S+/.exec(run("token", "add", "vic", "--role", "viewer"))[0];
    const other = await strange();
    expectTrouble(/401/); /* until the token is given */
    await other.goto(`${new URL(page.url()).origin}/#/t/${good}`);
    await other.getByLabel(/token/).fill(token);
    await other.keyboard.press("Enter");
    await other.waitForSelector('.trial-head button[disabled][aria-label="Not starred: a viewer changes nothing"]');
    equal(await other.locator('.trial-head :is([aria-label="Add a tag"], button:has-text("Run again"))').count(), 0, "buttons");
    await other.context().close();
});

test("one trial is stopped by its button, and the other goes on", async () => {
    write("held.sh", `#!/bin/sh\necho loss=0.5\nwhile [ ! -e "$1/let" ]; do sleep 0.05; done\n`);
    write("held.yaml", `name: held\ncommand: [sh, held.sh, ${JSON.stringify(folder)}, '{x}']\nparams: {x: [1, 2]}\nobjective: loss\nresources: {cpus: 0.1}\nsearch: {algorithm: grid, parallel: 2}\n`);
    const id = JSON.parse(run("submit", "held.yaml", "--json")).experiment;
    const state = async (n) => (await visit(page, `#/t/${id}.${n}`), shows("h1", `${id}.${n}`), words(".trial-head .chip"));
    await until(async () => (await state(2)).includes("running") && (await state(1)).includes("running"), "both run");
    await page.click(".trial-head .button:text-is('Stop')");
    await page.click("dialog[open] .button.primary");
    await until(async () => (await words(".trial-head .chip")).includes("stopped"), "it has ended");
    check((await state(2)).includes("running"), "the other one runs");
    write("let", "");
    await until(async () => (await words(".trial-head .chip")).includes("completed"), "to its own end");
});

test("the words of a failed trial have no codes of a terminal in them", async () => {
    await visit(page, `#/t/${red}`, ".attempt-error");
    equal((await words(".attempt-error")).trim(), "exit status 3\nAchtung", "its last words");
    await visit(page, `#/t/${red}/events`, "table.events");
    await shows("table.events", "Achtung");
    check(!(await words("table.events")).includes("[33m"), "codes in the events");
});

test("a trial that is not there is told in a sentence", async () => {
    await visit(page, "#/t/nonsense", ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "is not the name of a trial");
});

test("no violation of accessibility, nothing sticks out, light and dark, wide and narrow", async () => {
    for (const [theme, width] of [["light", 1400], ["dark", 360]]) {
        const other = await enter({ theme, width });
        for (const [part, ready] of [["", ".curve .uplot"], ["/system", ".figure-chart .uplot"], ["/logs", ".line"], ["/code", ".lines .line"], ["/environment", "table.facts"], ["/files", "table.plain"], ["/events", "table.events"]]) {
            await visit(other, `#/t/${part === "/system" ? "8.1" : good}${part}`, ready);
            equal((await axe(other)).join("\n"), "", `${theme} ${part || "overview"}`);
            await fits(other, `${theme} ${part || "overview"}`);
            if (part === "/system") await shot(other, `trial-system-${theme}`);
        }
        await shot(other, `trial-${theme}`);
        await other.context().close();
    }
});

await runTests(prepare);
