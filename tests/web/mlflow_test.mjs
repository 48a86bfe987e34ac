#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * mlflow_test.mjs — runs that MLflow's client told: their names stand wherever runs do, and without an
 * objective they are compared by what they measured.
 */
import { checkLooks, check, enter, equal, launch, run, runTests, serve, test, until, visit, write } from "./lib.mjs";

let page, runs;
const e = 1;

const ask = (path, body) => page.evaluate(async ([p, b]) => {
    const answer = await fetch(`/api/2.0/mlflow/${p}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(b) });
    if (!answer.ok) throw new Error(`${p}: ${await answer.text()}`);
    return answer.json();
}, [path, body]);

/* Two learning rates, three seeds each. */
async function tell() {
    const { experiment_id } = await ask("experiments/create", { name: "elsewhere" });
    const ids = [];
    for (const [i, lr] of ["0.1", "0.1", "0.1", "0.2", "0.2", "0.2"].entries()) {
        const { run: { info } } = await ask("runs/create", { experiment_id, start_time: 1, run_name: `fox-${i + 1}` });
        const metrics = Array.from({ length: 10 }, (_, step) => ({ key: "acc", value: Number(lr) * (5 + step / 10) + i / 1000, timestamp: step + 1, step }));
        await ask("runs/log-batch", { run_id: info.run_id, params: [{ key: "lr", value: lr }, { key: "seed", value: String(i) }], metrics });
        await ask("runs/update", { run_id: info.run_id, status: "FINISHED", end_time: 100 });
        ids.push(info.run_id);
    }
    return ids;
}

async function prepare() {
    await serve();
    await launch();
    page = await enter();
    runs = await tell();
    run("run", write("own.yaml", "name: own\ncommand: [echo, loss=1]\nparams: {x: [1, 2]}\npass: file\nobjective: loss\nsearch: {algorithm: grid}\n"));
}

const heads = () => page.locator(".grid .sort").allTextContents();
const column = async (title) => {
    const at = (await heads()).indexOf(title) + 1;
    return page.$$eval(".rows .tr", (rows, k) => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((r) => r.children[k]?.textContent ?? ""), at);
};

test("the run table has the names of runs, and follows when one is changed", async () => {
    await visit(page, `#/e/${e}?sort=number`, ".rows .tr");
    await until(async () => (await column("name")).join() === "fox-1,fox-2,fox-3,fox-4,fox-5,fox-6", "the names");
    check(!(await heads()).includes("tags"), "no column that says the same");
    await page.waitForSelector(".live-dot.live");
    await ask("runs/set-tag", { run_id: runs[1], key: "mlflow.runName", value: "hare" });
    await until(async () => (await column("name"))[1] === "hare", "its new name");
});

test("names are sorted and filtered by", async () => {
    await visit(page, `#/e/${e}?sort=run_name&desc=1&where=${encodeURIComponent("run_name ~ '^fox' and run_name != 'fox-4'")}`, ".rows .tr");
    await until(async () => (await column("name")).join() === "fox-6,fox-5,fox-3,fox-1", "those that fit, the last first");
    equal(JSON.parse(run("ls", String(e), "--all", "--json", "--where", "run_name = 'hare'")).map((t) => t.trial).join(), "1.2", "on the command line, too");
});

test("an experiment without such runs has no such column", async () => {
    await visit(page, "#/e/2?sort=number", ".rows .tr");
    await until(async () => (await heads()).includes("x"), "its own columns");
    check(!(await heads()).includes("name"), (await heads()).join());
});

test("curves and comparisons name the runs", async () => {
    await visit(page, `#/e/${e}/curves`, "[data-lines='6']");
    await page.locator(".legend a", { hasText: "1.2 hare" }).waitFor();
    check((await page.getAttribute(".curve-panel figure", "aria-label")).includes("1.2 hare ends at"), "the words of the chart");
    await visit(page, "#/compare?runs=1.1,1.2&view=curves", ".curve .uplot");
    await until(async () => (await page.locator(".runs-legend a").allTextContents()).join() === "A 1.1 fox-1,B 1.2 hare", "the runs");
    await visit(page, "#/compare?runs=1.1,1.2", "table.side");
    check((await page.textContent("table.side thead")).includes("hare"), "the heads");
});

test("without an objective runs are compared by their first metric, and none is called better", async () => {
    await visit(page, "#/compare?runs=1.1,1.4&view=seeds", ".verdict");
    equal(await page.getByLabel("Compare by").evaluate((el) => el.options[el.selectedIndex].text), "acc (last)", "by what");
    check(!(await page.getByLabel("Compare by").textContent()).includes("objective"), "there is no objective to choose");
    const said = await page.textContent(".verdict");
    check(/^B (is|may be) higher than A by 0\.59/.test(said), said);
    await visit(page, "#/compare?runs=2.1,2.2&view=seeds", ".seeds");
    await until(async () => (await page.getByLabel("Compare by").inputValue()) === "value", "with one, by that");
});

test("both themes, wide and narrow: nothing sticks out, axe finds nothing", async () => {
    const one = await enter();
    await checkLooks(one, "mlflow-table", `#/e/${e}`, ".rows .tr");
    await checkLooks(one, "mlflow-compare", "#/compare?runs=1.1,1.2", "table.side td");
    await one.context().close();
});

await runTests(prepare);
