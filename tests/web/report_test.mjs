#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * report_test.mjs — the file of `hone report` in a real browser, without a server: scales, words and
 * keys, the named best, the front of several objectives.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { axe, check, equal, fits, folder, launch, run, runTests, shot, strange, test, write } from "./lib.mjs";

let noisy = ""; /* what the command line says of it */

async function prepare() {
    write("noisy.sh", '#!/bin/sh\nawk -v lr=$1 -v n=$HONE_TRIAL_ID \'BEGIN { x = log(lr) / log(10) + 3; for (i = 1; i <= 3; i++) print "step " i " loss=" x * x + (n * 7919 % 97) / 970 }\'\n');
    noisy = run("run", write("noisy.yaml", "name: noisy\ndescription: How far down <b>lr</b> may go\ncommand: ./noisy.sh {lr}\nparams: {lr: {min: 1.0e-6, max: 1.0, scale: log}}\nobjective: loss\nsearch: {trials: 30, seed: 3}\n"));
    run("note", "1", "for the paper");
    write("two.sh", '#!/bin/sh\necho "loss=0.$1 size=0.$((9 - $1))"\n');
    run("run", write("two.yaml", "name: two\ncommand: ./two.sh {x}\nparams: {x: [1, 2, 3, 4]}\nobjective: [{metric: loss, goal: minimize}, {metric: size, goal: minimize}]\nsearch: {algorithm: grid}\n"));
    await launch();
}

async function open(e) {
    run("report", String(e), "-o", `report-${e}.html`);
    check(statSync(join(folder, `report-${e}.html`)).size <= 1024 * 1024, "at most 1 MB");
    const page = await strange({ offline: true });
    await page.goto(`file://${join(folder, `report-${e}.html`)}`);
    await page.waitForSelector(".report canvas");
    return page;
}

test("it tells what it was for, which is the best and why, and what colours mean", async () => {
    const page = await open(1);
    const text = await page.textContent("main");
    for (const part of ["How far down <b>lr</b> may go", "for the paper", "named best", "worse loss", "better"]) check(text.includes(part), part);
    const said = /best \S+ \(.*\): trial 1\.\d+/.exec(noisy)?.[0];
    check(said && (await page.textContent(".report-best")).startsWith(said), `${await page.textContent(".report-best")} as ${said}`);
    check((await page.locator(".report-key .line").count()) > 1, "a key for the curves");
    equal((await axe(page)).join("\n"), "", "accessibility");
    await page.setViewportSize({ width: 360, height: 740 });
    await fits(page, "a phone");
    await page.setViewportSize({ width: 1280, height: 1800 });
    await shot(page, "report-noisy");
});

test("a parameter on a logarithmic scale is drawn on one", async () => {
    const page = await open(1);
    /* What the chart writes at its axis: canvas text is heard where it is drawn. */
    await page.addInitScript(() => {
        window.drawn = [];
        const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (words, ...rest) {
            window.drawn.push(String(words));
            return fill.call(this, words, ...rest);
        };
    });
    await page.reload();
    await page.waitForSelector('.report canvas[aria-label*="over lr"], .report [aria-label*="over lr"] canvas');
    await page.waitForFunction(() => window.drawn.some((w) => /^(1e[-−]?\d|0\.00\d*1)$/.test(w)));
});

test("of several objectives it shows the front, and who is on it", async () => {
    const page = await open(2);
    await page.getByRole("heading", { name: "Pareto front" }).waitFor();
    const text = await page.textContent("main");
    for (const part of ["4 of 4 completed trials are beaten by no other in all objectives", "On the front", "on the front"]) check(text.includes(part), part);
    equal((await axe(page)).join("\n"), "", "accessibility");
    await page.setViewportSize({ width: 1280, height: 1800 });
    await shot(page, "report-front");
});

await runTests(prepare);
