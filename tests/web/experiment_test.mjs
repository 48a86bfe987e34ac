#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * experiment_test.mjs — the page of an experiment in a real browser: a table of 100,000 trials, its
 * columns, groups and colours; curves with smoothing, bands, facets, zoom and NaN.
 */
import { check, checkLooks, enter, equal, expectTrouble, launch, run, runTests, serve, test, until, visit, write } from "./lib.mjs";

const big = "#/e/1";
const small = "#/e/2";
const count = 100_000;
let page;

/* Rows that follow from their number, so that what is shown can be checked. */
function table() {
    const lines = ["lr,batch,optimizer,loss"];
    for (let i = 1; i <= count; i++) lines.push(`${(i % 1000) / 1e4 + 1e-4},${[32, 64, 128][i % 3]},${i % 2 ? "sgd" : "adam"},${((i * 7919) % 100003) / 1e5}`);
    return `${lines.join("\n")}\n`;
}

const script = `#!/bin/sh
for arg; do case $arg in --x=*) x=\${arg#--x=};; esac; done
i=1
while [ $i -le 40 ]; do
    if [ $i = 20 ] && [ "$x" = 1 ]; then echo "loss: nan"; else echo "loss: $x.$((900 - i * 20))"; fi
    echo "acc: 0.$((100 + i * 10))"
    i=$((i + 1))
done
awk -v x="$x" 'BEGIN { for (i = 0; i < 6000; i++) print "noise: " (i % 2) / x }'
`;

async function prepare() {
    run("import", write("big.csv", table()), "--objective", "loss");
    write("train.sh", script);
    const spec = "name: small\ncommand: ./train.sh\nparams: {x: [1, 2, 3], kind: [a, b]}\nobjective: {metric: acc, goal: maximize}\nsearch: {algorithm: grid, trials: 6, stop: none}\ndiverge: []\n";
    run("run", write("small.yaml", spec));
    await serve();
    await launch();
    page = await enter();
}

/* What is in a column of the rows on the screen, from above. */
async function cells(name) {
    return page.evaluate((title) => {
        const heads = [...document.querySelectorAll('.grid [role="columnheader"]')];
        const at = heads.findIndex((h) => h.querySelector(".sort")?.textContent === title);
        const rows = [...document.querySelectorAll(".rows .tr")].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex);
        return rows.map((r) => r.children[at]?.textContent ?? "");
    }, name);
}
const numberOf = (words) => Number((words ?? "x").replace("−", "-"));
const firstIs = (name, value) => until(async () => (await cells(name))[0] === value, `${name} of the first row is ${value}`);
const lastLines = (n) => page.waitForSelector(`[data-lines="${n}"]`);

test("100,000 trials are there, and only those on the screen exist", async () => {
    await visit(page, big, ".rows .tr");
    await until(async () => (await cells("#")).filter((c) => c !== "").length > 10, "rows with numbers");
    equal(await page.getAttribute(".grid", "aria-rowcount"), String(count + 1), "rows told to a screen reader");
    check((await page.locator(".rows .tr").count()) < 80, "rows in the page");
    check((await page.textContent(".table-count")).includes("100,000"), "the count");
});

test("the last row is one movement away", async () => {
    await page.evaluate(() => (document.querySelector(".grid").scrollTop = 1e9));
    await until(async () => (await cells("#")).includes(String(count)) || (await cells("#")).includes("1"), "the last rows");
    await page.evaluate(() => (document.querySelector(".grid").scrollTop = 0));
});

test("a press on a head sorts, a second one turns the order, the address tells it", async () => {
    await page.locator('.grid [role="columnheader"]', { hasText: "value" }).locator(".sort").click();
    await until(() => page.url().includes("sort=value"), "the order in the address");
    await until(async () => numberOf((await cells("value"))[0]) < 1e-4, "the smallest value first");
    await page.locator('.grid [role="columnheader"]', { hasText: "value" }).locator(".sort").click();
    await until(async () => numberOf((await cells("value"))[0]) > 0.99, "the largest value first");
    equal(await page.locator('[role="columnheader"][aria-sort="descending"]').count(), 1, "heads that tell the order");
});

test("a filter leaves what fits, its error is a sentence", async () => {
    await visit(page, `${big}?where=${encodeURIComponent("optimizer = 'sgd' and number <= 500")}&sort=number`, ".rows .tr");
    await until(async () => (await page.textContent(".table-count")).startsWith("250 of"), "250 trials");
    await until(async () => (await cells("optimizer")).every((c) => c === "sgd"), "only sgd");
    expectTrouble(/400/);
    await page.locator("[data-filter]").fill("optimizer = 'sgd' and");
    await page.locator(".filter-error").waitFor();
});

test("columns are chosen, pinned and hidden; the view is its address", async () => {
    await visit(page, `${big}?cols=params.lr,value,number&pin=value&sort=number`, ".rows .tr");
    await firstIs("#", "1");
    await until(async () => (await page.locator(".grid .sort").allTextContents()).join(" ") === "value lr #", "heads");
    await page.getByRole("button", { name: "Column lr" }).click();
    await page.getByRole("menuitem", { name: "Hide" }).click();
    await until(async () => (await page.locator(".grid .sort").count()) === 2, "two columns");
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: /^batch/ }).check();
    await until(async () => (await page.locator(".grid .sort").allTextContents()).includes("batch"), "a column more");
    await page.keyboard.press("Escape");
    await until(() => page.url().includes("params.batch"), "the column in the address");
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await until(async () => (await page.locator(".grid .sort").allTextContents()).join(" ") === "value # batch", "the same columns");
});

test("groups tell count, mean and best", async () => {
    await visit(page, `${big}?group=params.batch`, ".groups tbody tr");
    await until(async () => (await page.locator(".groups tbody tr").count()) === 3, "groups");
    const words = await page.locator(".groups tbody tr").first().innerText();
    check(words.startsWith("32") && words.includes("33,333") && words.includes("±"), words);
    await page.locator(".groups .link").first().click();
    await until(async () => /33,333 of/.test((await page.textContent(".table-count")) ?? ""), "the trials of the group");
});

test("rows are selected by keys and go to curves and compare", async () => {
    await visit(page, `${small}?sort=number`, ".rows .tr");
    await firstIs("#", "1");
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await until(() => page.url().includes("sel=1,2"), "two selected in the address");
    await page.keyboard.press("c");
    await lastLines(2);
    check(page.url().includes("/curves?sel=1,2"), page.url());
});

test("the best trials are drawn, and NaN is marked", async () => {
    await visit(page, `${small}/curves?metric=loss`, "[data-lines]");
    await lastLines(6);
    await page.getByText("not finite").waitFor();
});

/* What the page asks of the server from its beginning until the lines are there. */
async function askedFor(hash, lines) {
    const asked = [];
    const note = (request) => /v1/.test(request.url()) && asked.push(`${request.method()} ${request.url().replace(/^.*\/v1/, "")} ${request.postData() ?? ""}`.trim());
    await page.goto("about:blank");
    page.on("request", note);
    await visit(page, hash, `[data-lines="${lines}"]`);
    page.off("request", note);
    return asked.filter((words) => /^POST \/series|\/trials|\/metrics/.test(words));
}

test("what is asked for before there is a page is what the page needs: nothing is asked for twice", async () => {
    for (const more of ["metric=loss", "metric=loss&pick=newest&n=5&smooth=0.5&x=relative&from=1&to=1e6", "sel=1,2,4"]) {
        const asked = await askedFor(`${small}/curves?${more}`, more.includes("n=5") ? 5 : more.includes("sel") ? 3 : 6);
        equal(asked.filter((words) => words.startsWith("POST")).length, 1, `questions for lines with ${more}: ${asked.join(", ")}`);
        equal(new Set(asked).size, asked.length, `different questions with ${more}: ${asked.join(", ")}`);
    }
    await visit(page, `${small}/curves?metric=loss`, "[data-lines='6']");
});

test("the crosshair tells values, dragging zooms, a double click goes back", async () => {
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.locator(".hover-box").waitFor();
    check(/2\.\d/.test(await page.textContent(".hover-box")), "a trial with its value");
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await until(() => /from=[\d.]+&to=[\d.]+/.test(page.url()), "the range in the address");
    await page.mouse.dblclick(box.x + 50, box.y + 50);
    await until(() => !page.url().includes("from="), "the whole range");
});

/* Shares of the chart's inner part that are opaque, and that shine through. */
function inked() {
    return page.evaluate(() => {
        const canvas = document.querySelector(".curve-panel canvas");
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(width * 0.2, height * 0.2, width * 0.6, height * 0.5);
        let [full, faint] = [0, 0];
        for (let i = 3; i < data.length; i += 4) {
            if (data[i] === 255) full++;
            else if (data[i] > 0) faint++;
        }
        return { full: (4 * full) / data.length, faint: (4 * faint) / data.length };
    });
}

test("dense lines fill what they cover, fade before a loud one, and tell their values", async () => {
    await visit(page, `${small}/curves?metric=noise`, "[data-lines='6']");
    await until(async () => (await inked()).full > 0.95, "the noise covers the chart");
    await page.locator(".legend a", { hasText: "2.6" }).hover(); /* x is 3, a third as high */
    await until(async () => (await inked()).faint > 0.05, "the others fade");
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.locator(".hover-box b").first().waitFor();
    check(/^[01](\.\d+)?$/.test(await page.locator(".hover-box b").first().innerText()), "a value of the noise");
    await until(async () => (await inked()).full > 0.95, "nothing is loud any more");
});

test("smoothing, logarithms, other x, bands and facets are in the address", async () => {
    await visit(page, `${small}/curves?metric=loss&smooth=0.6&ylog=1&x=relative`, "[data-lines='6']");
    await visit(page, `${small}/curves?metric=acc,loss&group=kind&facet=x&band=quartiles`, "[data-lines='2']");
    await until(async () => (await page.locator("[data-lines='2']").count()) === 6, "two metrics, three facets, two bands each");
    await page.getByLabel("Facets by").selectOption("");
    await until(async () => (await page.locator("[data-lines='2']").count()) === 2, "no facets");
    await page.locator("input[type=range]").fill("0.5");
    await until(() => page.url().includes("smooth=0.5"), "smoothing in the address");
});

test("both themes, wide and narrow: nothing sticks out, axe finds nothing", async () => {
    const views = { table: [`${big}?tint=value,params.lr`, ".rows .tr"], groups: [`${big}?group=params.optimizer`, ".groups tbody tr"], curves: [`${small}/curves?metric=loss`, "[data-lines='6']"], bands: [`${small}/curves?metric=loss&group=kind`, "[data-lines='2']"] };
    const one = await enter();
    for (const [name, [hash, selector]] of Object.entries(views)) await checkLooks(one, name, hash, selector);
    await one.context().close();
});

test("an experiment that is not there, and an empty filter, have words", async () => {
    expectTrouble(/404/);
    await visit(page, "#/e/99", ".failure");
    check((await page.textContent(".failure")).includes("99"), "the sentence names it");
    await visit(page, `${small}?where=${encodeURIComponent("number > 100")}`, ".empty:has-text('No trial fits')");
    await visit(page, "#/nowhere", ".empty");
});

await runTests(prepare);
