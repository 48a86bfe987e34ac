#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * curves_test.mjs — what one does with the lines of a chart: switch them off and on, draw them over
 * another metric, save the chart as a picture.
 */
import { readFileSync } from "node:fs";
import { axe, checkLooks, enter, equal, check, launch, run, runTests, serve, shot, test, until, visit, write } from "./lib.mjs";

const curves = "#/e/1/curves?metric=train/loss";
let page;

const script = `for arg; do case $arg in --x=*) x=\${arg#--x=};; esac; done
i=1; while [ $i -le 30 ]; do echo "train/loss=$x.$((900 - i * 20)) acc=0.$((100 + i * 10)) tokens=$((i * 5000)) step=$i"; i=$((i + 1)); done
`;

async function prepare() {
    write("train.sh", script);
    run("run", write("small.yaml", "name: small\ncommand: sh train.sh\nparams: {x: [1, 2, 3], kind: [a, b]}\nobjective: {metric: acc, goal: maximize}\nsearch: {algorithm: grid, trials: 6, stop: none}\n"));
    await serve();
    await launch();
    page = await enter();
}

const lines = (n) => page.waitForSelector(`[data-lines="${n}"]`);
const axis = () => page.locator('label:has(> span:text-is("over")) select');
const line = (name) => page.getByRole("button", { name: `Line of ${name}`, exact: true });

test("a line is switched off and on in the legend, and the address tells it", async () => {
    await visit(page, curves, "[data-lines='6']");
    equal(await line("trial 1.3").getAttribute("aria-pressed"), "true", "it is on");
    await line("trial 1.3").click();
    await lines(5);
    await until(() => page.url().includes("off=3"), "the address has it");
    equal(await line("trial 1.3").getAttribute("aria-pressed"), "false", "it is off");
    check(!(await page.getAttribute(".curve-panel figure", "aria-label")).includes("1.3 "), "the words of the chart");
    await line("trial 1.5").focus();
    await page.keyboard.press("Enter");
    await lines(4);
    await until(() => page.url().includes("off=3,5"), "both are in the address");
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await lines(4);
    await shot(page, "lines-off");
    equal((await axe(page)).join("\n"), "", "axe");
    await line("trial 1.3").click();
    await lines(5);
    await page.getByRole("button", { name: "All lines" }).click();
    await lines(6);
    await until(() => !page.url().includes("off="), "the address is as before");
});

test("with Shift one line stands alone, and once more all are there", async () => {
    await line("trial 1.2").click({ modifiers: ["Shift"] });
    await lines(1);
    check((await page.getAttribute(".curve-panel figure", "aria-label")).includes("1.2 ends at"), "the one that was pressed");
    await line("trial 1.2").click({ modifiers: ["Shift"] });
    await lines(6);
});

test("a press asks nothing of the server", async () => {
    const asked = [];
    const note = (request) => /v1\/(series|experiments)/.test(request.url()) && asked.push(request.url());
    page.on("request", note);
    await line("trial 1.4").click();
    await lines(5);
    page.off("request", note);
    equal(asked.join(), "", "questions");
    await line("trial 1.4").click();
    await lines(6);
});

test("groups are switched, too, and another grouping begins with all", async () => {
    await visit(page, `${curves}&group=x`, "[data-lines='3']");
    await line("x 2").click();
    await lines(2);
    await page.getByLabel("Bands by").selectOption("kind");
    await lines(2);
    check(!page.url().includes("off="), page.url());
});

test("in Compare a run is switched off in all charts", async () => {
    await visit(page, "#/compare?runs=1.1,1.2,1.3&view=curves", ".curve .uplot");
    const said = () => page.$$eval(".curve figure", (all) => all.map((el) => el.getAttribute("aria-label")).join("\n"));
    await until(async () => /B 1\.2 ends/.test(await said()), "all runs");
    await line("run B 1.2").click();
    await until(async () => /A 1\.1 ends/.test(await said()) && !/B 1\.2 ends/.test(await said()), "one run less");
    await until(() => page.url().includes("off=1.2"), "the address has it");
});

test("any metric is the x axis: loss over tokens, zoom and all", async () => {
    await visit(page, curves, "[data-lines='6']");
    await axis().selectOption("tokens");
    await until(() => page.url().includes("over=tokens"), "the address has it");
    const at = async (share) => {
        const box = await page.locator(".u-over").boundingBox();
        await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
        return page.locator(".hover-x").first().innerText();
    };
    await until(async () => (await at(0.99)) === "150000", "the last value at the right edge");
    equal(await at(0.01), "5000", "the first at the left");
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await until(() => /from=\d{5}/.test(page.url()), "a range of tokens in the address");
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await lines(6);
    equal(await axis().evaluate((el) => el.options[el.selectedIndex].text), "tokens", "the axis");
    equal((await axe(page)).join("\n"), "", "axe");
    await axis().selectOption("step");
    await until(() => !/over=|from=/.test(page.url()), "steps again, all of them");
    await until(async () => (await at(0.99)) === "30", "the last step");
});

/* Width, height, and how many colours stand above, in and below the chart. */
async function look(path) {
    return page.evaluate(async (text) => {
        const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], { type: "image/png" }));
        const { width, height } = image;
        const ctx = new OffscreenCanvas(width, height).getContext("2d");
        ctx.drawImage(image, 0, 0);
        const colours = (top, h) => new Set(new Uint32Array(ctx.getImageData(0, top, width, h).data.buffer)).size;
        return { width, height, corner: [...ctx.getImageData(0, 0, 1, 1).data].join(), title: colours(0, 26), chart: colours(28, height - 80), names: colours(height - 16, 16) };
    }, readFileSync(path).toString("base64"));
}

async function save(name) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    return { name: file.suggestedFilename(), ...(await look(await file.path())) };
}

test("a chart is saved as a picture with title, axes and the names of its lines, in both themes", async () => {
    for (const [theme, ground] of [["light", /^2\d\d,/], ["dark", /^\d{1,2},/]]) {
        await page.emulateMedia({ colorScheme: theme });
        await visit(page, "#/");
        await visit(page, curves, "[data-lines='6']");
        const canvas = await page.$eval(".curve-panel canvas", (el) => ({ width: el.width, height: el.height }));
        const picture = await save("Save train/loss as a picture");
        equal(picture.name, "train-loss.png", "its name");
        equal(picture.width, canvas.width, "its width");
        check(picture.height > canvas.height + 40, `room for words: ${picture.height}`);
        check(ground.test(picture.corner), `the ground of ${theme}: ${picture.corner}`);
        check(picture.title > 4 && picture.chart > 20 && picture.names > 6, JSON.stringify(picture));
    }
    await page.emulateMedia({ colorScheme: "light" });
});

test("so is a chart of a trial", async () => {
    await visit(page, "#/t/1.1", ".curve .uplot");
    const picture = await save("Save acc as a picture");
    equal(picture.name, "acc.png", "its name");
    check(picture.chart > 10, JSON.stringify(picture));
});

test("both themes, wide and narrow: nothing sticks out, axe finds nothing", async () => {
    const one = await enter();
    await checkLooks(one, "curves-off", `${curves}&off=2,4`, "[data-lines='4']");
    await checkLooks(one, "compare-off", "#/compare?runs=1.1,1.2,1.3&view=curves&off=1.2", ".curve .uplot");
    await one.context().close();
});

await runTests(prepare);
