#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * selection_test.mjs — what is done to selected trials at once, and to one on its page: star, tags,
 * deletion with its question, and who may not.
 */
import { axe, base, check, enter, equal, expectTrouble, fits, folder, launch, run, runTests, serve, shot, strange, test, until, visit, write } from "./lib.mjs";

let page;
const table = "#/e/1?sort=number";

async function prepare() {
    run("run", write("grid.yaml", "name: grid\ncommand: [echo, loss=1]\nparams: {x: [1, 2, 3, 4, 5, 6, 7, 8]}\npass: file\nobjective: loss\nsearch: {algorithm: grid}\n"));
    await serve();
    await launch();
    page = await enter();
}

const told = (e = 1) => JSON.parse(run("ls", String(e), "--all", "--json")).sort((a, b) => a.trial.localeCompare(b.trial));
const withTag = (tag) => told().filter((t) => t.tags.includes(tag)).map((t) => t.trial).join();
const starred = () => told().filter((t) => t.starred).map((t) => t.trial).join();
const button = (name) => page.locator(".selection").getByRole("button", { name, exact: true });
const toasted = (part) => page.locator(".toast", { hasText: part }).first().waitFor();

/* The table with these rows selected. */
async function select(numbers, e = 1) {
    await visit(page, "#/");
    await visit(page, `#/e/${e}?sort=number&sel=${numbers}`, ".selection");
    await page.locator(".rows .tr").first().waitFor();
}

test("selected trials get a star, and lose it", async () => {
    await select("2,3,5");
    equal(await page.locator(".rows .tr.selected").count(), 3, "selected rows");
    await button("Star").click();
    await until(() => starred() === "1.2,1.3,1.5", "three with a star");
    await until(async () => (await page.locator(".rows .tr", { hasText: "★" }).count()) === 3, "stars in the table");
    await button("Take stars away").click();
    await until(() => starred() === "", "none with a star");
});

test("a tag is added to all and taken from those that have it, by keys alone", async () => {
    run("tag", "1.2", "old");
    await select("2,3");
    await button("Tags").focus();
    await page.keyboard.press("Enter");
    await page.locator(".selection-tags li", { hasText: "old" }).getByText("1 of 2 trials").waitFor();
    await page.keyboard.type("paper");
    await page.keyboard.press("Enter");
    await until(() => withTag("paper") === "1.2,1.3", "both have it");
    await page.locator(".selection-tags li", { hasText: "paper" }).getByText("2 of 2 trials").waitFor();
    await shot(page, "selection-tags");
    equal((await axe(page)).join("\n"), "", "axe");
    await page.getByRole("button", { name: "Take the tag old away" }).focus();
    await page.keyboard.press("Enter");
    await until(() => withTag("old") === "", "nobody has it");
    equal(withTag("paper"), "1.2,1.3", "the other tag stays");
    await page.keyboard.press("Escape");
    await page.locator(".selection-tags").waitFor({ state: "detached" });
    await until(async () => (await page.locator(".rows .tr", { hasText: "paper" }).count()) === 2, "tags in the table");
});

test("deletion asks, names how many, and can be given up", async () => {
    await select("6,7");
    await button("Delete …").click();
    await page.getByRole("heading", { name: "Delete 2 trials?" }).waitFor();
    equal((await axe(page)).join("\n"), "", "axe");
    await page.getByRole("button", { name: "Cancel" }).click();
    equal(told().length, 8, "trials after giving up");
    await page.keyboard.press("D");
    await page.locator("dialog").getByRole("button", { name: "Delete 2 trials" }).click();
    await toasted("2 trials are deleted");
    equal(told().map((t) => t.trial).join(), "1.1,1.2,1.3,1.4,1.5,1.8", "what is left");
    await page.locator(".selection").waitFor({ state: "detached" });
    await page.locator(".table-count", { hasText: "6 trials" }).waitFor();
});

test("what has not ended is refused in a sentence, and so is what an experiment that runs has", async () => {
    write("held.sh", `#!/bin/sh\necho loss=0.5\n[ "$2" = 1 ] || while [ ! -e "$1/let" ]; do sleep 0.05; done\n`);
    write("held.yaml", `name: held\ncommand: [sh, held.sh, ${JSON.stringify(folder)}, '{x}']\nparams: {x: [1, 2]}\nobjective: loss\nresources: {cpus: 0.1}\nsearch: {algorithm: grid, parallel: 2}\n`);
    run("submit", "held.yaml");
    await until(() => told(2).map((t) => t.state).join() === "completed,running", "one has ended, one runs");
    await select("1,2", 2);
    await button("Delete …").click();
    await toasted("Trial 2.2 is running: stop it first");
    await select("1", 2);
    await button("Delete …").click();
    await toasted("held is running: stop it first");
    equal(await page.locator("dialog[open]").count(), 0, "questions");
    await visit(page, "#/t/2.2", '.trial-head button[disabled][aria-label="Delete: it is running: stop it first"]');
    write("let", "");
    await page.locator('.trial-head button[aria-label="Delete this trial"]:enabled').waitFor();
});

test("one trial is deleted on its page, after a question", async () => {
    expectTrouble(/404/); /* it may be asked for once more */
    await visit(page, "#/t/2.2", '.trial-head button[aria-label="Delete this trial"]:enabled');
    await page.keyboard.press("D");
    await page.getByRole("heading", { name: "Delete trial 2.2?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    equal(told(2).length, 2, "trials after giving up");
    await page.getByRole("button", { name: "Delete this trial" }).click();
    await page.getByRole("heading", { name: "Delete trial 2.2?" }).waitFor();
    await shot(page, "trial-delete");
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await toasted("trial 2.2 is deleted");
    await page.waitForSelector(".experiment-head");
    equal(told(2).map((t) => t.trial).join(), "2.1", "what is left");
});

test("who only looks is told so, and changes nothing", async () => {
    const token = /hone_\S+/.exec(run("token", "add", "vic", "--role", "viewer"))[0];
    const viewer = await strange();
    expectTrouble(/401/); /* until the token is given */
    await viewer.goto(`${base}/${table}&sel=1,2`);
    await viewer.getByLabel(/token/).fill(token);
    await viewer.keyboard.press("Enter");
    for (const name of ["Star", "Take stars away", "Tags", "Delete …"]) await viewer.locator(`.selection button[disabled][aria-label="${name}: Your role, viewer, changes nothing"]`).waitFor();
    await viewer.keyboard.press("D");
    await visit(viewer, "#/t/1.1", '.trial-head button[disabled][aria-label="Delete: a viewer changes nothing"]');
    equal(await viewer.locator("dialog[open]").count(), 0, "questions");
    await viewer.context().close();
});

test("both themes, wide and narrow: nothing sticks out, axe finds nothing", async () => {
    for (const [theme, width] of [["light", 1280], ["dark", 360]]) {
        const other = await enter({ theme, width });
        await visit(other, `${table}&sel=1,2`, ".selection");
        await fits(other, theme);
        check(await other.locator(".selection").isVisible(), "the bar");
        equal((await axe(other)).join("\n"), "", theme);
        await shot(other, `selection-${theme}`);
        await other.context().close();
    }
});

await runTests(prepare);
