/* SPDX-License-Identifier: MIT */
/* Figures of the machine in charts: what belongs together, in which unit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "../src/trial/ansi.ts";
import { figureCharts, scaleOf, singleCharts } from "../src/trial/figures.ts";

const own = (name: string) => ({ name: `system/${name}`, of: "3.7" });
const machine = (name: string) => ({ name: `system/${name}`, of: "machine" });

test("what belongs together is one chart, the trial's before the machine's", () => {
    const charts = figureCharts([machine("cpu.10"), machine("cpu.9"), machine("memory_bytes"), own("attempt.threads"), own("attempt.cpu"), own("attempt.wait"), machine("disk.sda.read_bytes"), machine("odd")]);
    assert.deepEqual(charts.map((c) => [c.machine, c.title, c.unit, c.lines.map((l) => l.label).join()]), [
        [false, "CPU, of one processor", "%", "used,waited for"], [false, "Processes and threads", "", "threads"],
        [true, "Each processor", "%", "9,10"], [true, "Memory", "bytes", "used"], [true, "Disks", "bytes/s", "sda read"], [true, "odd", "", "odd"],
    ]);
});

test("for several runs each figure has its own chart", () => {
    assert.deepEqual(singleCharts([own("attempt.cpu"), own("attempt.wait"), own("attempt.switches")]).map((c) => c.title), ["CPU, of one processor: used", "CPU, of one processor: waited for", "Switches"]);
});

test("bytes get the unit of the largest", () => {
    assert.deepEqual(scaleOf("bytes", 3 * 1024 ** 3), { by: 1024 ** 3, word: "GB" });
    assert.deepEqual(scaleOf("bytes/s", 2000), { by: 1024, word: "KB/s" });
    assert.deepEqual(scaleOf("bytes", 0), { by: 1, word: "B" });
    assert.deepEqual(scaleOf("%", 250), { by: 1, word: "%" });
});

test("words lose the codes of a terminal, and records of earlier versions what is left of them", () => {
    assert.equal(plainText("\x1b[1;33mwarm\x1b[0m ?[33mold?[0m really? [1]"), "warm old really? [1]");
});
