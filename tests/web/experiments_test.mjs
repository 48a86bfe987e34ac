#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * experiments_test.mjs — signing in, the list of experiments and what one can do there, in a real
 * browser against a real server.
 */
import { readFileSync } from "node:fs";
import { axe, base, check, checkLooks, enter, equal, expectTrouble, holdTimers, launch, newTab, run, runTests, serve, shot, stopServer, strange, test, until, visit, write } from "./lib.mjs";

const rows = (page) => page.locator("[data-experiment]");
const row = (page, e) => page.locator(`[data-experiment="${e}"]`);
const script = "<img src=x onerror=document.title='hit'>";
let page;

/* Open the menu of a row and choose. */
async function choose(e, name) {
    await row(page, e).locator(".cell-more button").click();
    await page.getByRole("menuitem", { name }).click();
}

async function prepare() {
    write("train.sh", '#!/bin/sh\nfor i in 1 2 3; do echo "loss: 0.$i"; done\n');
    for (const name of ["first", "second", "third"])
        run("run", write(`${name}.yaml`, `name: ${name}\ncommand: ./train.sh\nparams: {x: {min: 0.0, max: 1.0}}\nobjective: loss\nsearch: {trials: 3, seed: 1}\n`));
    run("tag", "2", "paper");
    run("note", "2", script);
    await serve();
    await launch();
}

test("without a cookie the page says how to come in, and a wrong token gets a sentence", async () => {
    const stranger = await strange();
    expectTrouble(/401/);
    await stranger.goto(`${base}/`);
    await stranger.getByText("hone open").waitFor();
    await stranger.getByLabel(/token/).fill("hone_wrong");
    await stranger.getByRole("button", { name: "Sign in" }).click();
    await until(async () => ((await stranger.textContent("#login-error")) ?? "").length > 10, "a sentence about the token");
    equal((await axe(stranger)).join("\n"), "", "axe");
    const token = /hone_\S+/.exec(run("token", "add", "ann", "--role", "user"))[0];
    await stranger.getByLabel(/token/).fill(token);
    await stranger.getByRole("button", { name: "Sign in" }).click();
    await stranger.waitForSelector(".top-bar");
    await stranger.context().close();
});

test("the link of hone open signs in, and leaves no secret in the address", async () => {
    page = await enter();
    await page.waitForSelector("[data-experiment]");
    check(!/hone_|open/.test(page.url()), page.url());
    equal(await rows(page).count(), 3, "experiments");
});

test("a row tells state, progress, best and owner; script in a note is shown as text", async () => {
    const words = await row(page, 2).innerText();
    for (const part of ["second", "finished", "3", "0.3", "paper", script]) check(words.includes(part), `${part} is missing in: ${words}`);
    check(!(await page.title()).includes("hit"), "the script of the note ran");
    await row(page, 2).locator(".spark").waitFor();
});

test("the filter takes the language of expressions and shows its error sentence", async () => {
    expectTrouble(/400/); /* of what is not yet written to its end, where typing is slow */
    await page.keyboard.press("/");
    await page.keyboard.type("'paper' in tags");
    await until(async () => (await rows(page).count()) === 1, "one row");
    await until(() => page.url().includes("where="), "the filter in the address");
    await page.locator("[data-filter]").fill("best < nonsense_name");
    await page.locator(".filter-error").waitFor();
    check((await page.textContent(".filter-error")).includes("nonsense_name"), "the sentence names what is wrong");
    await page.locator("[data-filter]").fill("");
    await until(async () => (await rows(page).count()) === 3, "all rows");
});

test("words find what says them, and the box tells how to search", async () => {
    await page.locator("[data-filter]").fill("Paper sec");
    await until(async () => (await rows(page).count()) === 1, "one row");
    equal(await rows(page).first().getAttribute("data-experiment"), "2", "the row");
    await page.locator("[data-filter]").fill("");
    await until(async () => (await rows(page).count()) === 3, "all rows");
    await page.getByRole("button", { name: "How to search" }).click();
    await page.locator(".search-help").waitFor();
    equal((await axe(page)).join("\n"), "", "axe");
    await shot(page, "search-help");
    await page.keyboard.press("Escape");
    await page.locator(".search-help").waitFor({ state: "detached" });
});

test("the queue is paused and goes on", async () => {
    const paused = () => JSON.parse(run("queue", "--json")).paused;
    await page.getByRole("button", { name: "Pause the queue" }).click();
    await page.getByRole("button", { name: "The queue is paused: go on" }).waitFor();
    equal(paused(), true, "paused");
    await shot(page, "queue-paused");
    await page.getByRole("button", { name: "The queue is paused: go on" }).click();
    await page.getByRole("button", { name: "Pause the queue" }).waitFor();
    equal(paused(), false, "paused");
});

test("trials and the report are saved as files", async () => {
    for (const [item, name, part] of [["Save its trials (CSV)", "2-second.csv", "trial,state"], ["Save a report (HTML)", "2-second.html", "<!doctype html>"]]) {
        const [file] = await Promise.all([page.waitForEvent("download"), choose(2, item)]);
        equal(file.suggestedFilename(), name, "its name");
        check(readFileSync(await file.path(), "utf8").startsWith(part), part);
    }
});

test("of several objectives the list tells how many are on the front", async () => {
    write("two.sh", '#!/bin/sh\necho "loss=0.$1 size=0.$((9 - $1))"\n');
    run("submit", write("two.yaml", "name: two\ncommand: ./two.sh {x}\nparams: {x: [1, 2, 3]}\nobjective: [{metric: loss, goal: minimize}, {metric: size, goal: minimize}]\nsearch: {algorithm: grid}\n"));
    await row(page, 4).getByText("finished").waitFor();
    await row(page, 4).getByRole("link", { name: "3 on the front" }).waitFor();
    await shot(page, "list");
    run("rm", "--yes", "4");
    await row(page, 4).waitFor({ state: "detached" });
});

test("who may not change an experiment is told so before the server would", async () => {
    const token = /hone_\S+/.exec(run("token", "add", "vic", "--role", "viewer"))[0];
    const viewer = await strange();
    expectTrouble(/401/);
    await viewer.goto(`${base}/`);
    await viewer.getByLabel(/token/).fill(token);
    await viewer.getByRole("button", { name: "Sign in" }).click();
    await row(viewer, 1).waitFor();
    check(await row(viewer, 1).locator(".cell-star button").isDisabled(), "no star for a viewer");
    await row(viewer, 1).locator(".cell-more button").click();
    await viewer.getByRole("menuitem", { name: "Your role, viewer, changes nothing" }).waitFor();
    for (const name of ["Star", "Delete …"]) check(await viewer.getByRole("menuitem", { name }).isDisabled(), name);
    check(await viewer.getByRole("menuitem", { name: "Save its trials (CSV)" }).isEnabled(), "reading is allowed");
    await shot(viewer, "viewer");
    equal(await viewer.getByRole("button", { name: "Pause the queue" }).count(), 0, "the queue is an admin's");
    await viewer.context().close();
});

test("an address with a filter and an order shows the same view", async () => {
    await visit(page, "#/?where=number+>+1&sort=name&desc=1", "[data-experiment]");
    await until(async () => (await rows(page).count()) === 2, "two rows");
    equal((await rows(page).first().getAttribute("data-experiment")) ?? "", "3", "the first row");
    await visit(page, "#/", "[data-experiment]");
    await until(async () => (await rows(page).count()) === 3, "all rows");
});

test("star, tag and note are kept by the server", async () => {
    await row(page, 1).locator(".cell-star button").click();
    await row(page, 1).locator(".cell-star [aria-pressed=true]").waitFor();
    await choose(1, "Tags …");
    await page.getByLabel("Tags, with commas between").fill("a, b");
    await page.getByRole("button", { name: "Save" }).click();
    await until(async () => (await row(page, 1).locator(".tag").count()) === 2, "two tags");
    await choose(1, "Note …");
    await page.getByLabel("Note", { exact: true }).fill("seen");
    await page.getByRole("button", { name: "Save" }).click();
    await row(page, 1).getByText("seen").waitFor();
    const [kept] = JSON.parse(run("ls", "--where", "number = 1", "--json"));
    equal(JSON.stringify([kept.starred, kept.tags, kept.note]), JSON.stringify([true, ["a", "b"], "seen"]), "what is kept");
});

test("what a command starts shows up by itself", async () => {
    run("submit", "third.yaml", "--set", "name=fourth");
    await row(page, 5).getByText("finished").waitFor();
    await page.getByText("4 experiments").waitFor();
});

test("the keyboard moves, opens and explains", async () => {
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    equal(await page.locator("tr.current").count(), 1, "current rows");
    await page.keyboard.press("?");
    await page.locator(".key-list").waitFor();
    check((await page.textContent(".key-list")).includes("next row"), "keys are listed");
    await page.keyboard.press("Escape");
    await page.locator(".key-list").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.waitForSelector(".experiment-head");
    await page.keyboard.press("?");
    await page.locator(".key-list").waitFor();
    await page.goBack();
    await page.waitForSelector("[data-experiment]");
    await page.locator(".key-list").waitFor({ state: "detached" }); /* it was about the other page */
    await page.goForward();
    await page.waitForSelector(".experiment-head");
    const letGo = await holdTimers(page, 1500); /* in which the second key has to come */
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await letGo();
    await page.waitForSelector("[data-experiment]");
});

test("deleting asks, waits and can be undone; then it is gone", async () => {
    const letGo = await holdTimers(page, 8000);
    await choose(3, "Delete …");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await row(page, 3).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, 3).waitFor();
    equal(JSON.parse(run("ls", "--json")).length, 4, "experiments after the undo");
    await choose(3, "Delete …");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await row(page, 3).waitFor({ state: "detached" });
    equal(JSON.parse(run("ls", "--json")).length, 4, "experiments before it is too late");
    await letGo();
    await until(() => JSON.parse(run("ls", "--json")).length === 3, "the server has deleted it");
});

test("who leaves the page after a deletion has meant it", async () => {
    const one = await enter();
    await holdTimers(one, 8000);
    await row(one, 2).locator(".cell-more button").click();
    await one.getByRole("menuitem", { name: "Delete …" }).click();
    await one.getByRole("button", { name: "Delete", exact: true }).click();
    await row(one, 2).waitFor({ state: "detached" });
    equal(JSON.parse(run("ls", "--json")).length, 3, "experiments before");
    await one.goto("about:blank");
    await until(() => JSON.parse(run("ls", "--json")).length === 2, "it is deleted at once");
    await one.context().close();
});

test("addresses that MLflow's client prints lead to the run and its experiment", async () => {
    const one = await enter();
    const ask = (path, body) => one.evaluate(async ([p, b]) => (await fetch(`/api/2.0/mlflow/${p}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(b) })).json(), [path, body]);
    const { experiment_id } = await ask("experiments/create", { name: "elsewhere" });
    const { run: { info } } = await ask("runs/create", { experiment_id, start_time: 1, run_name: "first" });
    await visit(one, `#/experiments/${experiment_id}/runs/${info.run_id}`, ".trial-head");
    check(one.url().endsWith(`#/t/${experiment_id}.1`), one.url());
    await visit(one, `#/experiments/${experiment_id}`, ".experiment-head");
    await one.getByRole("heading", { name: /elsewhere/ }).waitFor();
    await one.locator(".experiment-head .state-running").waitFor();
    await one.getByRole("button", { name: "Actions" }).click(); /* another program's: there is nothing to stop here */
    await one.getByRole("menuitem", { name: "Delete …" }).waitFor();
    equal(await one.getByRole("menuitem", { name: /Stop|Pause|Resume/ }).count(), 0, "items that only an experiment of this server has");
    await one.keyboard.press("Escape");
    await ask("runs/update", { run_id: info.run_id, status: "FINISHED" });
    await one.locator(".experiment-head .state-finished").waitFor();
    check(one.url().endsWith(`#/e/${experiment_id}`), one.url());
    const { run: { info: other } } = await ask("runs/create", { experiment_id: "0", start_time: 1 });
    await visit(one, `#/experiments/0/runs/${other.run_id}`, ".trial-head");
    await visit(one, "#/experiments/0", ".experiment-head");
    await one.getByRole("heading", { name: /Default/ }).waitFor();
    await one.context().close();
});

test("both themes, wide and narrow: nothing sticks out, axe finds nothing", async () => {
    const one = await enter();
    await checkLooks(one, "experiments", "#/", "[data-experiment]");
    await one.context().close();
});

test("the switch of the theme is kept", async () => {
    const one = await enter();
    const ground = () => one.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const before = await ground();
    await one.getByRole("button", { name: "Theme" }).click();
    await one.getByRole("menuitemradio", { name: "Dark" }).click();
    await until(async () => (await ground()) !== before, "another ground");
    await one.reload();
    await one.waitForSelector(".top-bar");
    check((await ground()) !== before, "the theme is forgotten");
    await one.context().close();
});

test("when the server is gone, the page says that a run may have ended", async () => {
    const one = await enter();
    expectTrouble(/ERR_/);
    const late = await newTab(one); /* it ends before the page has asked anything, or is even there */
    await late.route("**/v1/**", (asked) => asked.abort());
    await late.goto(`${base}/`);
    await late.locator(".failure").getByText("the run has ended").waitFor();
    await late.route("**/assets/app.js?*", (asked) => asked.abort());
    await late.reload();
    await late.getByText("what served this page has ended").waitFor();
    await late.close();
    await stopServer();
    await one.locator(".banner").getByText("the run has ended").waitFor();
    await shot(one, "run-ended");
    await one.context().close();
    await serve();
});

test("signed out is signed out", async () => {
    await page.goto("about:blank");
    const one = await enter();
    expectTrouble(/401/);
    await one.getByRole("button", { name: /admin|user/ }).click();
    await one.getByRole("menuitem", { name: "Sign out" }).click();
    await one.getByText("This browser is not signed in").waitFor();
    await one.reload();
    await one.getByText("This browser is not signed in").waitFor();
});

await runTests(prepare);
