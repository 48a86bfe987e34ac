/* SPDX-License-Identifier: MIT */
/* The document of a report becomes columns for its charts, whatever is missing in it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { historyOf, linesOf, readReport, resultsOf, topRows } from "../src/report/model.ts";
import type { Report } from "../src/report/shape.ts";

const report = (): Report => ({
    made: "2026-11-16T12:00:00Z", version: "0.1.0", experiment: { experiment: 3, name: "a" }, objective: { metric: "acc", goal: "maximize" }, total: 4,
    columns: [
        { name: "number", kind: "field", type: "number" }, { name: "state", kind: "field", type: "text" }, { name: "value", kind: "field", type: "number" },
        { name: "params.lr", kind: "param", type: "number", log: true }, { name: "params.opt", kind: "param", type: "text", choices: ["sgd", "adam"] },
    ],
    rows: [[1, "completed", 0.5, 0.1, "adam"], [2, "failed", null, 0.2, "sgd"], [3, "completed", 0.9, 0.01, null], [4, "completed", null, 0.3, "other"]],
    history: [[1, 0.5, 0.5], [3, 0.9, 0.9], [4, null, 0.9]],
    curves: [{ metric: "acc", lines: [{ trial: 3, x: [1, 2], y: [0.5, null] }] }], importance: null, importance_why: "too few results",
});

test("trials that completed become columns, texts become names", () => {
    const results = resultsOf(report())!;
    assert.deepEqual([...results.numbers], [1, 3, 4]);
    assert.deepEqual(results.fields.map((f) => f.label), ["acc", "lr", "opt"]);
    assert.deepEqual(results.fields[2]!.names, ["sgd", "adam", "other"]);
    assert.deepEqual([...results.fields[2]!.values], [1, Number.NaN, 2]);
    assert.ok(results.fields[1]!.log);
    assert.equal(results.best, 1);
    assert.deepEqual(topRows(results, 10), [1, 0]);
});

test("history and curves keep their gaps", () => {
    const history = historyOf(report());
    assert.deepEqual([...history.py], [0.5, 0.9, Number.NaN]);
    const [line] = linesOf(report().curves[0]!.lines, () => "#000");
    assert.deepEqual([...line!.y], [0.5, Number.NaN]);
});

test("a report without trials has no results", () => {
    assert.equal(resultsOf({ ...report(), rows: [] }), null);
    assert.equal(resultsOf({ ...report(), columns: [], rows: [[]] }), null);
});

test("what is no report is told in a sentence", () => {
    assert.throws(() => readReport("{}"), /the report has no columns/);
    assert.throws(() => readReport(""), /JSON/);
    assert.equal(readReport(JSON.stringify(report())).total, 4);
});
