#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * compare_test.mjs — runs side by side in a real browser: what differs, curves, what explains the
 * difference, groups of seeds and whether one is better, code and environment.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { atRest, axe, check, enter, equal, expectTrouble, fits, folder, launch, run, runTests, serve, shot, test, until, visit, write } from "./lib.mjs";
import { makeRuns, trialWith } from "./runs.mjs";

let page, a, b, c;

/* Experiment 3: its second trial runs other code than the first, which left a file there. It waits until that is recorded. */
function changing() {
    const hone = resolve(process.env.HONE_BIN ?? "build/hone");
    mkdirSync(join(folder, "changing"));
    write("changing/train.sh", `echo "$HONE_TRIAL" >> notes.txt\necho "loss=$1"\n[ "$HONE_TRIAL" = 3.1 ] || until '${hone}' show 3.2 --json | grep -q '"gpus":null,"code":"'; do sleep 0.1; done\n`);
    write("changing/spec.yaml", "name: changing\ncommand: 'sh train.sh {seed}'\nparams: {seed: [1, 2]}\nobjective: loss\nsearch: {algorithm: grid, parallel: 1}\ncode: .\n");
    run("run", "changing/spec.yaml");
}

async function prepare() {
    makeRuns();
    a = trialWith({ lr: 0.001, opt: "sgd", seed: 1 });
    b = trialWith({ lr: 0.01, opt: "adam", seed: 1 });
    c = trialWith({ lr: 0.01, opt: "sgd", seed: 2 });
    appendFileSync(join(folder, "train.sh"), "# one more line\n");
    run("run", write("other.yaml", "name: other\ncommand: [sh, -c, 'echo loss=1']\nparams: {y: [1]}\nobjective: loss\nsearch: {trials: 1}\ncode: .\n"));
    changing();
    run("rerun", b);
    await serve();
    await launch();
    page = await enter();
}

const words = (selector) => page.textContent(selector);
/* The view before may still be there for a moment. */
const shows = (selector, part) => until(async () => (await page.locator(selector).allTextContents()).some((text) => text.includes(part)), `${selector} says ${part}`);
const rows = () => page.$$eval("table.side tbody tr", (all) => all.map((row) => row.textContent));

test("parameters stand side by side, equal ones hidden until asked for", async () => {
    await visit(page, `#/compare?runs=${a},${b}`, "table.side td");
    await until(async () => (await rows()).some((row) => row.startsWith("lr0.0010.01")), "the learning rates");
    check(!(await rows()).some((row) => row.startsWith("seed")), "the seed is equal");
    check(!(await rows()).some((row) => /^(step|attempts)/.test(row)), "so are steps and attempts");
    await page.click("text=Only what differs");
    await until(async () => (await rows()).some((row) => row.startsWith("seed")), "the seed is shown");
    await until(() => page.url().includes("differ=0"), "and it is in the address");
    await shot(page, "compare");
});

test("runs are added and left out; a number alone is the best of an experiment", async () => {
    await visit(page, `#/compare?runs=${a}`, "table.side td");
    await page.fill("header form input", "1");
    await page.press("header form input", "Enter");
    await until(async () => (await page.locator("table.side thead a").count()) === 2, "two runs");
    await shows("table.side thead", b);
    await page.click(`[aria-label="Leave ${a} out"]`);
    await until(async () => (await page.locator("table.side thead a").count()) === 1, "one run");
});

test("a run that is not there hides no other", async () => {
    expectTrouble(/404/);
    await visit(page, `#/compare?runs=${a},1.999`, "table.side td");
    await shows("[role=alert]", "1.999");
});

test("curves are overlaid", async () => {
    await visit(page, `#/compare?runs=${a},${b},${c}&view=curves`, ".curve .uplot");
    await until(async () => { const said = await page.getAttribute(".curve figure", "aria-label"); return [a, b, c].every((name) => said.includes(name)); }, "three lines");
});

test("the legend names each run, and leads to it", async () => {
    const names = () => page.locator(".runs-legend a").allTextContents();
    await until(async () => (await names()).join() === `A ${a},B ${b},C ${c}`, "the runs");
    await page.hover(".runs-legend li:nth-child(2)");
    await page.click(".runs-legend li:nth-child(2) a");
    await shows("h1", b);
});

test("the learning rate explains more than the optimizer, as it does", async () => {
    await visit(page, `#/compare?runs=${a},${b}&view=explain`, "table.contributions");
    const names = await page.$$eval("table.contributions tbody th", (all) => all.map((el) => el.textContent));
    equal(names[0], "lr", "the first");
    check(names.includes("opt"), "the optimizer, too");
    await shows("main", "−0.15");
    await shows("main", "not what causes them");
    await shot(page, "compare-explain");
});

test("runs of different experiments are not explained by one model", async () => {
    await visit(page, `#/compare?runs=${a},2.1&view=explain`, ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "different experiments");
});

test("groups of seeds are found, and one is better", async () => {
    await visit(page, `#/compare?runs=${a},${b}&view=seeds`, "table.seeds");
    const runs = () => page.$$eval("table.seeds tbody td.num:nth-of-type(2)", (all) => all.map((el) => el.textContent).join());
    await until(async () => (await runs()) === "3,4", "runs in each group, a rerun among those of the second"); /* those of the view before are gone */
    const said = await atRest(() => words(".verdict"));
    check(/^B is better than A by 0\.15/.test(said) || /may be better/.test(said), said);
    await page.selectOption(".toolbar select", { label: "acc (last)" });
    await until(() => page.url().includes("target="), "another metric is in the address");
});

test("the same code is said to be the same; environments, too", async () => {
    await visit(page, `#/compare?runs=${a},${b}&view=code`, ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "The same code");
    await visit(page, `#/compare?runs=${a},${b}&view=environment`, ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "The same environment");
});

test("changed code stands side by side, file by file", async () => {
    await visit(page, `#/compare?runs=${a},2.1&view=code`, "table.diff");
    await shows(".code-files [aria-current]", "train.sh");
    await shows("table.diff tr.insert", "# one more line");
    equal(await page.locator("table.diff tr.insert").count(), 1, "new lines");
    await page.click(".code-files button:has-text('other.yaml')");
    await shows("table.diff", "name: other");
    await until(() => page.url().includes("file=other.yaml"), "the file is in the address");
});

test("code that changed while the experiment ran is what is compared, and shown", async () => {
    await visit(page, "#/compare?runs=3.1,3.2&view=code", ".code-files");
    await shows(".code-files [aria-current]", "notes.txt");
    await shows("table.diff tr.insert", "3.1");
    await visit(page, "#/t/3.2/code?file=notes.txt", ".lines .line");
    await shows(".lines", "3.1");
    await shows("form.toolbar", "changed since the experiment began");
    await visit(page, "#/t/3.1/code", ".lines .line");
    equal(await page.locator(".code-files li").count(), 2, "files of the first");
});

test("a file that a program leaves in its folder splits no group of seeds", async () => {
    await visit(page, "#/compare?runs=3.1,3.2&view=seeds", "table.seeds");
    await until(async () => (await page.locator("table.seeds tbody tr").count()) === 1 && (await words("table.seeds tbody")).includes("3.2"), "both seeds in one group");
    await shows("main", "repeats of one setting: 2 results");
});

test("a rerun is of the group of what it repeats; the same parameters with other code are not", async () => {
    const group = (n) => page.textContent(`table.seeds tbody tr:nth-child(${n})`);
    await visit(page, `#/compare?runs=${b},${c}&view=seeds`, "table.seeds");
    await until(async () => (await group(1)).includes("4.1"), "the rerun, though it was not chosen");
    equal(await page.textContent("table.seeds tbody tr:first-child td.num"), "4", "runs of the group");
    await visit(page, `#/compare?runs=4.1,${c}&view=seeds`, "table.seeds");
    await until(async () => (await group(1)).includes(b), "and the other way round");
});

test("system figures of the runs are overlaid", async () => {
    write("wait.sh", `echo loss=1\nwhile [ ! -e '${folder}/enough' ]; do sleep 0.1; done\n`);
    run("submit", write("wait.yaml", "name: wait\ncommand: [sh, wait.sh]\nparams: {x: [1, 2]}\nobjective: loss\nsearch: {algorithm: grid, trials: 2, parallel: 2}\npass: file\n"));
    await until(() => run("ls", "5", "--all").includes("5.2"), "both runs");
    await visit(page, "#/compare?runs=5.1,5.2&view=system", ".figure-chart .uplot");
    const said = () => page.getAttribute('.figure-chart[aria-label^="Memory"] figure', "aria-label");
    await until(async () => { const words = await said(); return ["5.1", "5.2"].every((name) => words.includes(name)); }, "a line of each");
    await page.fill('[aria-label="Find figures"]', "switches"); /* a rate: it comes with the second look */
    await until(async () => (await page.locator(".figure-chart").count()) === 1, "one is left");
    write("enough", "");
});

test("no runs: what to do is said", async () => {
    await visit(page, "#/compare", ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "3.7");
});

test("no violation of accessibility, nothing sticks out, light and dark, wide and narrow", async () => {
    for (const [theme, width] of [["dark", 1400], ["light", 360]]) {
        const other = await enter({ theme, width });
        for (const [view, ready] of [["table", "table.side td"], ["curves", ".curve .uplot"], ["system", ".figure-chart .uplot"], ["explain", "table.contributions"], ["seeds", "table.seeds"], ["code", ".empty:not(.loading)"], ["environment", ".empty:not(.loading)"]]) {
            await visit(other, `#/compare?runs=${view === "system" ? "5.1,5.2" : `${a},${b},${c}`}&view=${view}`, ready);
            equal((await axe(other)).join("\n"), "", `${theme} ${view}`);
            await fits(other, `${theme} ${view}`);
        }
        await shot(other, `compare-${theme}`);
        await other.context().close();
    }
});

await runTests(prepare);
