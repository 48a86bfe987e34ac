#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * experiments_test.mjs — signing in, the list of experiments and what one can do there, in a real
 * browser against a real server.
 */
import { axe, base, check, checkLooks, enter, equal, expectTrouble, holdTimers, launch, run, runTests, serve, strange, test, until, visit, write } from "./lib.mjs";

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
    await page.keyboard.press("/");
    await page.keyboard.type("'paper' in tags");
    await until(async () => (await rows(page).count()) === 1, "one row");
    await until(() => page.url().includes("where="), "the filter in the address");
    expectTrouble(/400/);
    await page.locator("[data-filter]").fill("best < nonsense_name");
    await page.locator(".filter-error").waitFor();
    check((await page.textContent(".filter-error")).includes("nonsense_name"), "the sentence names what is wrong");
    await page.locator("[data-filter]").fill("");
    await until(async () => (await rows(page).count()) === 3, "all rows");
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
    await row(page, 4).getByText("finished").waitFor();
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
