#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * tuning_test.mjs — a real program whose machine is tuned while one looks: the configuration in force,
 * the decisions with their numbers, and the timeline over the cores that it was really held to.
 *
 * Steps are sleeps whose length depends on how many cores the program is held to, so that a busy
 * machine does not matter.
 */
import { cpus } from "node:os";
import { axe, check, enter, equal, fits, folder, launch, run, runTests, serve, shot, test, until, visit, write } from "./lib.mjs";

const program = `import os, sys, time
step = 0
while not os.path.exists(os.path.join(sys.argv[1], "enough")):
    time.sleep(0.3 / len(os.sched_getaffinity(0)) ** 4)
    step += 1
    print("loss=%g step=%d" % (1 / step, step), flush=True)
    while step == 5 and not os.path.exists(os.path.join(sys.argv[1], "go")): # too few to change anything
        time.sleep(0.02)
`;
const spec = `name: tuned
command: [python3, train.py, ${JSON.stringify(folder)}]
code: none
params: {x: [1]}
pass: file
objective: loss
search: {trials: 1, stop: none}
system: {cpus: [1, 2]}
`;
let page;

async function prepare() {
    write("train.py", program);
    write("tuned.yaml", spec);
    await serve();
    await launch();
    page = await enter();
}

const cells = (region) => page.$$eval(`section[aria-label="${region}"] tbody tr`, (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));

test("the configuration in force is seen while the program runs, and how it changes", async () => {
    run("submit", "tuned.yaml");
    await visit(page, "#/e/1/tuning");
    await until(async () => (await cells("In force now"))[0]?.[1]?.includes("cpus=1"), "the first configuration");
    equal((await cells("In force now"))[0][0], "1.1", "its trial");
    write("go", "");
    await until(async () => (await cells("In force now"))[0]?.[1]?.includes("cpus=2"), "a faster one");
    await shot(page, "tuning-live");
});

test("every decision is there with its numbers", async () => {
    const adopted = await until(async () => (await cells("Decisions of the tuner")).find((row) => /1 → 2/.test(row[3]) && row[5] !== ""), "a decision that was measured");
    check(/^−\d/.test(adopted[5]), `a step takes less time: ${adopted.join(" | ")}`);
    equal(adopted[1], "1.1", "the trial");
    check(Number(adopted[2].replace(",", "")) > 0, "the step");
    write("enough", "");
    await until(() => JSON.parse(run("ls", "--json"))[0].state === "finished", "its end");
    await until(async () => (await cells("Configurations")).some((row) => row.join() === "cpus=2,1"), "what it was left with");
    equal((await axe(page)).join("\n"), "", "accessibility");
});

test("the timeline shows the cores that it was held to, and when", async () => {
    await visit(page, "#/e/1/timeline", "section.figure canvas");
    await page.click("section.figure summary");
    await page.waitForSelector(".as-table tbody tr");
    const [row] = await page.$$eval(".as-table tbody tr", (all) => all.map((r) => [...r.children].map((cell) => cell.textContent)));
    check(/^\d+ → /.test(row[5]), `one core, then more: ${row.join(" | ")}`);
    const note = await page.textContent(".figure-note");
    check(/busy/.test(note) && / 2 cores/.test(note) && !note.includes("any"), note);
    check((await page.getAttribute("section.figure canvas", "aria-label")).includes("1 attempt over 2 lanes"), "in words");
    await shot(page, "tuning-timeline");
});

test("no violation of accessibility, nothing sticks out, light and dark, wide and narrow", async () => {
    for (const [theme, width] of [["light", 1280], ["dark", 360]]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 740 });
        for (const [tab, ready] of [["tuning", "section[aria-label='Decisions of the tuner']"], ["timeline", "section.figure canvas"]]) {
            await visit(page, `#/e/1/${tab}`, ready);
            equal((await axe(page)).join("\n"), "", `${theme} ${tab}`);
            await fits(page, `${theme} ${tab}`);
            await shot(page, `tuned-${tab}-${theme}`);
        }
    }
});

if (cpus().length < 2) console.log("1..0 # skip one core leaves nothing to choose");
else await runTests(prepare);
