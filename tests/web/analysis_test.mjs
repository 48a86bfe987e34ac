#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * analysis_test.mjs — the tabs of the analysis in a real browser: parallel coordinates and their
 * brushes, history, importance, slices, contour, fronts; timeline, tuner, machines; 100,000 trials;
 * and the file of `hone report`, opened without a server.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { atRest, axe, check, enter, equal, expectTrouble, fits, folder, launch, run, runTests, serve, shot, strange, test, touch, until, visit, write } from "./lib.mjs";
import { makeRuns } from "./runs.mjs";

const many = 100_000;
let page;

function table() {
    const lines = ["lr,batch,optimizer,loss"];
    for (let i = 1; i <= many; i++) lines.push(`${(i % 1000) / 1e4 + 1e-4},${[32, 64, 128][i % 3]},${i % 2 ? "sgd" : "adam"},${((i * 7919) % 100003) / 1e5}`);
    return `${lines.join("\n")}\n`;
}

async function prepare() {
    makeRuns();
    run("import", write("many.csv", table()), "--objective", "loss");
    await serve();
    await launch();
    page = await enter();
}

const words = (selector) => page.textContent(selector);
/* The view before may still be there for a moment. */
const shows = (selector, part) => until(async () => (await page.locator(selector).allTextContents()).some((text) => text.includes(part)), `${selector} says ${part}`);
const card = (title) => `section.figure:has(h2:text-is("${title}"))`;
const note = async (title) => (await page.textContent(`${card(title)} .figure-note`)) ?? "";
const noted = (title, part) => until(async () => (await page.locator(`${card(title)} .figure-note`).allTextContents()).some((text) => text.includes(part)), `${title} says ${part}`);
async function asTable(title) {
    await page.click(`${card(title)} summary`);
    await page.waitForSelector(`${card(title)} .as-table tbody tr`);
    return page.$$eval(`${card(title)} .as-table tbody tr`, (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
}

test("parallel coordinates show every trial, and the same as a table, the best first", async () => {
    await visit(page, "#/e/1/analysis", `${card("Parallel coordinates")} canvas`);
    await noted("Parallel coordinates", "17 trials");
    const rows = await asTable("Parallel coordinates");
    equal(rows.length, 17, "rows");
    equal(rows[0].slice(1).join(), "0.01,adam,1,0.101", "the best");
    await shot(page, "analysis");
});

test("a brush along an axis keeps what lies there, and is in the address", async () => {
    await visit(page, "#/e/1/analysis", `${card("Parallel coordinates")} canvas`);
    const boxOf = async () => JSON.stringify(await page.locator(`${card("Parallel coordinates")} canvas.above`).boundingBox());
    const box = JSON.parse(await atRest(boxOf));
    const x = box.x + box.width - 40; /* the last axis: the objective */
    await page.mouse.move(x, box.y + 296);
    await page.mouse.down();
    await page.mouse.move(x, box.y + 240, { steps: 6 });
    await page.mouse.up();
    await until(async () => / of 17 trials/.test(await note("Parallel coordinates")), "fewer trials");
    await until(() => page.url().includes("brush=value"), "the brush is in the address");
    const kept = await atRest(() => note("Parallel coordinates")), address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await until(async () => (await page.locator(`${card("Parallel coordinates")} .figure-note`).count()) > 0 && (await note("Parallel coordinates")) === kept, "the same from the address");
    await page.click("text=Clear all");
    await until(async () => (await note("Parallel coordinates")).startsWith("17 trials"), "all of them");
});

test("an axis is turned, left out and put back from its menu by the keyboard", async () => {
    await visit(page, "#/e/1/analysis", ".axis-head button");
    await page.focus('[aria-label="axis seed"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=menu]");
    await page.keyboard.press("l"); /* Logarithmic is the first L */
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await until(async () => (await page.locator('[aria-label="axis seed"]').count()) === 0, "the axis is gone");
    await page.click("text=Add axis");
    await page.click("[role=menuitem]:has-text('seed')");
    await page.waitForSelector('[aria-label="axis seed"]');
});

test("history, importance, slices, contour and the front have their numbers", async () => {
    await visit(page, "#/e/1/analysis?px=metrics.loss.last&py=metrics.acc.last", `${card("Lowest value so far")} canvas`);
    const best = await asTable("Lowest value so far");
    equal(best.at(-1)[1], "0.101", "the last improvement");
    for (const title of ["Importance", "Slices", "Contour", "Pareto front"]) {
        const seen = async () => {
            await page.mouse.wheel(0, 400);
            return (await page.locator(`${card(title)} canvas, ${card(title)} table.importance`).count()) > 0;
        };
        await until(seen, title);
    }
    check((await words("table.importance")).startsWith("lr"), "the learning rate mattered most");
    await noted("Pareto front", "1 of 17 trials");
    await shot(page, "analysis-below");
});

test("a filter narrows all charts, and a wrong one says what is wrong", async () => {
    expectTrouble(/400/);
    await visit(page, "#/e/1/analysis?where=opt%20%3D%20'adam'", `${card("Parallel coordinates")} canvas`);
    await noted("Parallel coordinates", "9 trials");
    await page.fill("[data-filter]", "nonsense >");
    await page.press("[data-filter]", "Enter");
    await page.waitForSelector(".filter-error");
    check((await words(".filter-error")).length > 10, "a sentence");
});

test("the timeline has a bar for each attempt, and leads to its trial", async () => {
    await visit(page, "#/e/1/timeline", `${card("Timeline")} canvas`);
    equal((await asTable("Timeline")).length, 18, "attempts");
    check((await page.getAttribute(`${card("Timeline")} canvas`, "aria-label")).includes("18 attempts"), "in words");
    const canvas = page.locator(`${card("Timeline")} canvas`);
    let x = 40; // how wide the first bar is, and where it begins, is as it was
    do await canvas.hover({ position: { x: (x += 3), y: 12 } });
    while (!(await canvas.evaluate((one) => one.classList.contains("pick"))) && x < 600);
    await canvas.click({ position: { x, y: 12 } });
    await page.waitForSelector(".trial-head");
});

/* How solid the columns of the first lane are, from left to right: "full", "faint" or "none", each once. */
const solid = () => page.$eval(`${card("Timeline")} canvas`, (el) => {
    const ratio = el.width / el.clientWidth, { data } = el.getContext("2d").getImageData(60 * ratio, 5 * ratio, el.width - 76 * ratio, 1);
    const all = [];
    for (let i = 3; i < data.length; i += 4) all.push(data[i] > 200 ? "full" : data[i] > 20 ? "faint" : "none");
    return all.filter((word, i) => word !== "none" && word === all[i + 3] && word !== all.slice(0, i).findLast((w, k) => w !== "none" && w === all[k + 3])).join();
});

test("a pause is a fainter piece of its bar, and no use of a cpu", async () => {
    write("hold.sh", `echo loss=1\nwhile [ ! -e ${folder}/go ]; do sleep 0.05; done\n`);
    const e = JSON.parse(run("submit", write("hold.yaml", "name: hold\ncommand: [sh, hold.sh]\nparams: {x: [1]}\npass: file\nobjective: loss\nsearch: {algorithm: grid}\n"), "--json")).experiment;
    const attempt = () => page.evaluate(async (id) => (await (await fetch(`/v1/experiments/${id}/timeline`)).json()).attempts[0], e);
    await until(async () => (await attempt())?.state === "running", "it runs");
    await until(async () => Date.now() / 1000 - (await attempt()).started > 0.5, "for a while");
    run("pause", "--freeze", String(e));
    const { started, paused } = await until(async () => ((one) => one.state === "paused" && one)(await attempt()), "it stands still");
    await until(() => Date.now() / 1000 - paused[0].from > paused[0].from - started, "for as long");
    run("resume", String(e));
    const { to } = await until(async () => ((one) => one.paused[0].to && one.paused[0])(await attempt()), "it goes on");
    await until(() => Date.now() / 1000 - to > (to - started) / 4, "and on");
    write("go", "");
    await until(async () => (await attempt()).ended, "it has ended");
    await visit(page, `#/e/${e}/timeline`, `${card("Timeline")} canvas`);
    await noted("Timeline", "A thin line is a pause");
    const share = Number(/(\d+) % of 1 cpu busy/.exec(await note("Timeline"))[1]);
    check(share > 20 && share < 75, `the share is without the pause: ${share}`);
    await until(async () => (await solid()) === "full,faint,full", "the bar, fainter in the middle");
    const [row] = await asTable("Timeline");
    check(/s$/.test(row[6]), `the time it stood still: ${row.join(" | ")}`);
    await shot(page, "timeline-paused");
    equal((await axe(page)).join("\n"), "", "axe");
});

test("which core a trial had is not made up: lanes of cpus on any core say so; fingers zoom", async () => {
    const phone = await enter({ width: 390, hasTouch: true });
    await visit(phone, "#/e/1/timeline", `${card("Timeline")} canvas`);
    await until(async () => (await phone.textContent(`${card("Timeline")} .figure-note`)).includes("on any core"), "a word about its lanes");
    const canvas = `${card("Timeline")} canvas`;
    await until(async () => {
        await touch(phone, canvas, [[[0.5, 0.3], [0.6, 0.3]], [[0.45, 0.3], [0.65, 0.3]], [[0.35, 0.3], [0.75, 0.3]]]);
        return Number(/[?&]from=([\d.]+)/.exec(await atRest(() => phone.url()))?.[1]) > 0;
    }, "a nearer view, in the address");
    await phone.click("text=See all");
    await until(() => !phone.url().includes("from="), "all of it");
    await phone.context().close();
});

test("no decision of the tuner: it is said what would make some; the machine has its load and energy its word", async () => {
    await visit(page, "#/e/1/tuning", ".empty:not(.loading)");
    await shows(".empty:not(.loading)", "hone tune");
    await visit(page, "#/e/1/machine", ".cpu-grid");
    await shows("main", "cpus");
    check(/measured|estimated|No energy is known/.test(await words(`section.figure:has(h2:text-matches("^(Energy|Time)$"))`)), "the word");
    await shot(page, "machine");
});

test("100,000 trials are drawn and brushed", async () => {
    await visit(page, "#/e/2/analysis", `${card("Parallel coordinates")} canvas`);
    await noted("Parallel coordinates", "100,000 trials");
    await page.click('[aria-label="axis loss"]');
    await page.click("text=Best third only");
    await until(async () => /^3\d,\d{3} of 100,000/.test(await note("Parallel coordinates")), "a third is left");
    equal((await asTable("Parallel coordinates")).length, 50, "the best of them as a table");
    await shot(page, "analysis-many");
});

test("runs without an objective are looked at by the first metric they have", async () => {
    const token = /hone_\S+/.exec(run("token", "add", "mia", "--role", "user"))[0];
    const post = async (what, data) => {
        const answer = await page.request.post(`${new URL(page.url()).origin}/api/2.0/mlflow/${what}`, { headers: { Authorization: `Bearer ${token}` }, data });
        check(answer.ok(), `${what}: ${await answer.text()}`);
        return answer.json();
    };
    for (const lr of [0.1, 0.2]) {
        const { run: { info: { run_id } } } = await post("runs/create", { experiment_id: "0" });
        await post("runs/log-batch", { run_id, params: [{ key: "lr", value: String(lr) }], metrics: ["acc", "err"].map((key) => ({ key, value: lr, timestamp: 1, step: 1 })) });
        await post("runs/update", { run_id, status: "FINISHED" });
    }
    const newest = Math.max(...JSON.parse(run("ls", "--json")).map((row) => row.experiment));
    await until(async () => (await (await page.request.get(`${new URL(page.url()).origin}/v1/experiments/${newest}/trials`)).text()).includes("metrics.err.last"), "its metrics in the table");
    await visit(page, `#/e/${newest}/analysis`, `${card("Highest value so far")} canvas`);
    await noted("Highest value so far", `2 improvements; the last one by trial ${newest}.2`);
    await page.waitForSelector('[aria-label="axis acc"]');
    equal((await page.$$eval(".toolbar select option", (all) => all.map((el) => el.textContent))).slice(0, 2).join(), "acc,err", "what can be looked at");
    await until(async () => (await page.mouse.wheel(0, 400), (await page.locator(`${card("Importance")} .empty:not(.loading)`).count()) > 0), "importance");
    await shows(card("Importance"), "this experiment has none");
    equal(await page.locator("[role=alert]").count(), 0, "failures");
    await shot(page, "analysis-no-objective");
});

test("no violation of accessibility, nothing sticks out, light and dark, wide and narrow", async () => {
    for (const [theme, width] of [["light", 1400], ["dark", 360]]) {
        const other = await enter({ theme, width });
        for (const [tab, ready] of [["analysis", "section.figure canvas"], ["timeline", "section.figure canvas"], ["tuning", ".empty:not(.loading)"], ["machine", ".cpu-grid"]]) {
            await visit(other, `#/e/1/${tab}`, ready);
            equal((await axe(other)).join("\n"), "", `${theme} ${tab}`);
            await fits(other, `${theme} ${tab}`);
        }
        await shot(other, `analysis-${theme}`);
        await other.context().close();
    }
});

test("hone report writes one file that opens without a server", async () => {
    run("report", "1", "-o", "report.html");
    check(statSync(join(folder, "report.html")).size < 1024 * 1024, "less than 1 MB");
    const alone = await strange({ offline: true });
    await alone.goto(`file://${join(folder, "report.html")}`);
    await alone.waitForSelector(".report canvas");
    const text = await alone.textContent("main");
    for (const part of ["grid", "0.101", "Best trials", "Importance", "Environment"]) check(text.includes(part), part);
    equal((await axe(alone)).join("\n"), "", "accessibility");
    await shot(alone, "report");
});

await runTests(prepare);
