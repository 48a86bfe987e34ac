#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * live_test.mjs — what happens is seen as it happens: values of running trials, a stop from the page,
 * a server that goes away and comes back, many tabs with one connection.
 */
import { join } from "node:path";
import { check, enter, equal, expectTrouble, folder, launch, newTab, run, runTests, serve, shot, stopServer, test, until, visit, write } from "./lib.mjs";

/* Trials that go on until they are told to stop. */
const script = `#!/bin/sh
i=0
while [ $i -lt 20000 ]; do
    i=$((i + 1))
    printf 'loss: 0.%05d\\n' $((99999 - i))
    sleep 0.05
done
`;
const spec = (name, trials) => `name: ${name}\ncommand: ./train.sh\nparams: {x: {min: 0.0, max: 1.0}}\nobjective: loss\nsearch: {trials: ${trials}, parallel: ${trials}, stop: none}\nresources: {cpus: 0.1}\ntune: off\nlimits: {grace: 1s}\n`;
let page;
const tick = async () => Number(await page.getAttribute("[data-tick]", "data-tick"));

async function prepare() {
    write("train.sh", script);
    await serve();
    await launch();
    page = await enter();
}

test("an empty home says how to begin; a submitted experiment appears by itself", async () => {
    await page.getByText("No experiment yet").waitFor();
    run("submit", write("live.yaml", spec("live", 2)));
    await page.locator("[data-experiment] .state-running").waitFor();
});

test("the header shows what runs, and the best so far falls", async () => {
    await visit(page, "#/e/1", ".experiment-head");
    await page.locator(".active").first().waitFor();
    const step = async () => Number(/step ([\d,]+)/.exec((await page.locator(".active").first().innerText()) ?? "")?.[1]?.replace(",", "") ?? 0);
    const before = await until(step, "a step");
    await until(async () => (await step()) > before, "a later step");
});

test("curves grow while the trials run", async () => {
    await visit(page, "#/e/1/curves?pick=running", "[data-lines]");
    const before = await tick();
    await until(async () => (await tick()) > before + 3, "values are appended");
    await shot(page, "live-curves");
});

test("eight tabs share one stream, and each is live", async () => {
    const tabs = [];
    for (let i = 0; i < 8; i++) {
        const tab = await newTab(page);
        await visit(tab, "#/e/1", ".live-dot.live");
        await tab.locator(".active").first().waitFor();
        tabs.push(tab);
    }
    equal(tabs.length, 8, "tabs");
    for (const tab of tabs) await tab.close();
});

test("without SharedWorker the tab that is seen holds the stream itself", async () => {
    const alone = await enter();
    await alone.addInitScript(() => delete window.SharedWorker);
    await alone.reload();
    await visit(alone, "#/e/1/curves?pick=running", ".live-dot.live");
    equal(await alone.evaluate(() => typeof SharedWorker), "undefined", "SharedWorker");
    await until(async () => Number(await alone.getAttribute("[data-tick]", "data-tick")) > 3, "values are appended");
    await alone.context().close();
});

/* A page whose stream is held up until it is let go; without SharedWorker, so that it is the page's own. */
async function enterHeld(hash, selector) {
    const alone = await enter();
    const held = [];
    let isFree = false;
    await alone.addInitScript(() => delete window.SharedWorker);
    await alone.route("**/v1/events?*", (route) => (isFree ? route.continue() : held.push(route)));
    await alone.goto("about:blank");
    await visit(alone, hash, selector);
    await until(() => held.length > 0, "the stream is asked for");
    const letGo = () => {
        isFree = true;
        return Promise.all(held.map((route) => route.continue().catch(() => {}))); /* it may have been asked for anew */
    };
    return { alone, letGo };
}

test("what happens after the first answers and before the stream is there is not missed", async () => {
    const { alone, letGo } = await enterHeld("#/", "[data-experiment]");
    run("submit", write("early.yaml", spec("early", 1)));
    await until(() => JSON.parse(run("ls", "2", "--json"))[0]?.state === "running", "its trial runs: nothing more is told of it");
    equal(await alone.locator("[data-experiment]").count(), 1, "experiments that the page has heard of");
    await letGo();
    await alone.getByText("early").first().waitFor();
    await alone.context().close();
    run("stop", "2");
});

test("a value between the first curve and the stream is not missed", async () => {
    const wait = (name) => `while [ ! -e '${join(folder, name)}' ]; do sleep 0.05; done`;
    write("slow.sh", `#!/bin/sh\necho loss=1 step=1\necho loss=0.5 step=2\n${wait("third")}\necho loss=0.25 step=3\n${wait("fourth")}\necho loss=0.125 step=4\n${wait("enough")}\n`);
    run("submit", write("slow.yaml", spec("slow", 1).replace("train.sh", "slow.sh")));
    const stepIs = (n) => until(() => JSON.parse(run("ls", "3", "--json"))[0]?.step === n, `step ${n}`);
    await stepIs(2);
    for (const [hash, chart, step, name] of [["#/t/3.1", ".curve figure", 3, "third"], ["#/e/3/curves", ".curve-panel figure", 4, "fourth"]]) {
        const { alone, letGo } = await enterHeld(hash, chart);
        const endsAt = (value) => until(async () => (await alone.getAttribute(chart, "aria-label")).includes(`ends at ${value}`), `${hash} ends at ${value}`);
        await endsAt(0.5 ** (step - 2));
        write(name, "");
        await stepIs(step);
        await letGo();
        await endsAt(0.5 ** (step - 1));
        await alone.context().close();
    }
    write("enough", "");
});

test("in the table of trials the metrics of one that runs follow, as its value does; so does its time", async () => {
    write("at", "1");
    write("steps.sh", `#!/bin/sh\nwhile :; do\n    read now < '${join(folder, "at")}' && [ "$now" != "$i" ] && i=$now && echo "step=$i loss=$i.5 acc=$i.25"\n    sleep 0.05\ndone\n`);
    const name = /\d+/.exec(run("submit", write("steps.yaml", spec("steps", 1).replace("train.sh", "steps.sh"))))[0];
    await visit(page, `#/e/${name}`, ".grid");
    for (const i of [1, 2, 3]) {
        write("at", `${i}\n`);
        const count = async (text) => (await page.locator(".grid .rows").innerText()).split(/\s+/).filter((word) => word === text).length;
        await until(async () => (await count(`${i}.5`)) === 2 && (await count(`${i}.25`)) === 1, `value, loss and acc of step ${i}`);
    }
    await visit(page, `#/t/${name}.1`, ".trial-figures");
    await until(async () => /^[1-9]/.test(await page.locator(".trial-figures div", { hasText: "Ran" }).locator("dd").innerText()), "the time that it has run");
    const used = async () => (await page.getByRole("region", { name: "Attempts" }).locator("tbody td").allInnerTexts()).slice(2, 5);
    await until(async () => (await used()).every((cell) => /^\d/.test(cell)), "time, cpu and memory of the attempt");
    check(JSON.parse(run("ls", name, "--json"))[0].seconds > 0, "the command tells it, too");
    run("stop", name);
});

test("the server dies and comes back: a banner, then everything goes on by itself", async () => {
    await visit(page, "#/e/1/curves?pick=running", ".live-dot.live");
    expectTrouble(/ERR_|Failed to load|5\d\d|net::|40\d/);
    await stopServer("SIGKILL");
    await page.locator(".banner").waitFor();
    await serve();
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.locator(".live-dot.live").waitFor();
    await page.waitForSelector("[data-tick]");
    const before = await tick();
    await until(async () => (await tick()) > before, "values of the same trials");
});

test("stopped from the page, seen on the page", async () => {
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Stop now …" }).click();
    await page.getByRole("button", { name: "Stop now" }).click();
    await page.locator(".experiment-head .state-stopped").waitFor();
    const row = JSON.parse(run("ls", "--json")).find((r) => r.experiment === 1);
    check(row.state === "stopped", `the state is ${row.state}`);
});

await runTests(prepare);
