/* SPDX-License-Identifier: MIT */
/* experiment.test.ts — columns, groups, curves: what the table and the charts decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange, both, equals, expressionOf, formatCell, metricOf, reorder, shareOf, titleOf, visibleColumns } from "../src/experiment/columns.ts";
import { bestIn, bestWords, tellsMore } from "../src/experiment/best.ts";
import { rangeWords, specWords, yamlOf } from "../src/experiment/about_words.ts";
import { countsWith, trialsQuery } from "../src/experiment/curve_query.ts";
import { dashesOf, differing, Growing, pointsOf, split, trialsOf, within, zoomed } from "../src/experiment/curve_data.ts";
import { groupRows, summarize } from "../src/experiment/groups.ts";
import { tableQuery, viewOf } from "../src/experiment/queries.ts";
import { mergeRanges } from "../src/experiment/table_data.ts";
import type { Column, Experiment } from "../src/types.ts";

const column = (name: string, more: Partial<Column> = {}): Column => ({ name, kind: "field", type: "number", ...more });

test("a column's name says what it is and how to ask for it", () => {
    assert.deepEqual(metricOf("metrics.train/loss.v2.min"), ["train/loss.v2", "min"]);
    assert.equal(titleOf("metrics.loss.last"), "loss");
    assert.equal(titleOf("metrics.loss.max"), "max loss");
    assert.equal(expressionOf("params.lr"), "param.lr");
    assert.equal(expressionOf("params.a b"), "param.`a b`");
    assert.equal(expressionOf("metrics.train/loss.min"), "min(metric.`train/loss`)");
    assert.equal(expressionOf("seconds"), "trial.duration");
    assert.equal(equals("params.opt", "it's"), "param.opt = 'it''s'");
    assert.equal(equals("params.opt", null), "param.opt is null");
    assert.equal(both("a = 1 or b = 2", "c = 3"), "(a = 1 or b = 2) and c = 3");
    assert.equal(both("", "c = 3"), "c = 3");
});

test("columns are arranged, pinned and moved", () => {
    const all = ["a", "b", "c", "d"].map((n) => column(n));
    assert.deepEqual(arrange(all, ["c"]).map((c) => c.name), ["c", "a", "b", "d"]);
    assert.deepEqual(reorder(["a", "b", "c"], "c", "a"), ["c", "a", "b"]);
    assert.deepEqual(reorder(["a", "b", "c"], "a", null), ["b", "c", "a"]);
    assert.deepEqual(reorder(["a", "b"], "a", "z"), ["a", "b"]);
});

test("a cell reads well, and its colour follows its place", () => {
    assert.equal(formatCell(column("value"), null, 0), "");
    assert.equal(formatCell(column("value"), "NaN", 0), "NaN");
    assert.equal(formatCell(column("tags", { type: "text" }), ["a", "b"], 0), "a, b");
    assert.equal(shareOf(column("v", { min: 0, max: 4 }), 1), 0.25);
    assert.ok(Math.abs(shareOf(column("v", { min: 0.001, max: 10 }), 0.1)! - 0.5) < 1e-9);
    assert.equal(shareOf(column("v", { min: 2, max: 2 }), 2), null);
    assert.equal(shareOf(column("v"), 2), null);
});

test("rows are grouped by value, a number with many values by ranges", () => {
    const text = column("params.opt", { type: "text", choices: ["sgd", "adam"] });
    const groups = groupRows(text, Float64Array.of(1, 0, 1, NaN));
    assert.deepEqual(groups.map((g) => [g.label, g.rows]), [["sgd", [1]], ["adam", [0, 2]], ["none", [3]]]);
    const many = Float64Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);
    const bins = groupRows(column("params.lr"), many);
    assert.equal(bins.reduce((n, g) => n + g.rows.length, 0), 1000);
    assert.ok(bins.length <= 8);
    bins.forEach((b) => assert.ok(b.rows.length >= 100 && b.rows.length <= 150, b.label));
});

test("a sum has mean, deviation and range of what is finite", () => {
    const s = summarize(Float64Array.of(1, NaN, 3, Infinity, 5), [0, 1, 2, 3, 4]);
    assert.deepEqual([s.count, s.mean, s.sd, s.min, s.max], [3, 3, 2, 1, 5]);
    assert.ok(Number.isNaN(summarize(Float64Array.of(1), [0]).sd));
    assert.equal(summarize(Float64Array.of(NaN), [0]).count, 0);
    const far = summarize(Float64Array.of(1e9 + 1, 1e9 + 2, 1e9 + 3), [0, 1, 2]);
    assert.ok(Math.abs(far.sd - 1) < 1e-6);
});

const trial = (number: number, params: Record<string, unknown>) => ({ number, name: `3.${number}`, label: `3.${number}`, state: "completed", params });

test("trials are split by a parameter; facets keep the places of groups", () => {
    const trials = [trial(1, { opt: "sgd", lr: 1 }), trial(2, { opt: "adam", lr: 2 }), trial(3, { opt: "sgd", lr: 3 })];
    const groups = split(trials, "opt");
    assert.deepEqual(groups.map((g) => [g.label, g.trials.map((t) => t.number)]), [["opt adam", [2]], ["opt sgd", [1, 3]]]);
    assert.deepEqual(within(groups, [trials[2]!]).map((g) => g.trials.length), [0, 1]);
    const many = Array.from({ length: 40 }, (_, i) => trial(i, { lr: i / 10 }));
    const ranges = split([...many, trial(99, {})], "lr");
    assert.deepEqual(ranges.map((g) => g.trials.length), [10, 10, 10, 10, 1]);
});

test("trials of one colour differ by their dashes", () => {
    const [a, b, c] = dashesOf([trial(1, {}), trial(13, {}), trial(2, {})], 12);
    assert.notDeepEqual(a, b);
    assert.deepEqual(a, c);
});

test("rows of the table become trials", () => {
    const table = { total: 1, matched: 1, columns: [column("state", { type: "text" }), column("number"), column("params.lr", { kind: "param" })], rows: [["running", 7, 0.1]] };
    assert.deepEqual(trialsOf(3, table), [{ number: 7, name: "3.7", label: "3.7", state: "running", params: { lr: 0.1 } }]);
    const named = { ...table, columns: [...table.columns, column("run_name", { type: "text" })], rows: [["running", 7, 0.1, "fox"], ["running", 8, 0.1, null]] };
    assert.deepEqual(trialsOf(3, named).map((t) => t.label), ["3.7 fox", "3.8"]);
});

test("live values are appended behind the end, whatever their number", () => {
    const g = new Growing(Float64Array.of(0, 1), Float64Array.of(5, 4));
    assert.equal(g.push(1, 9), false);
    for (let i = 2; i < 500; i++) assert.equal(g.push(i, -i), true);
    assert.equal(g.push(NaN, 1), false);
    assert.equal(g.x.length, 500);
    assert.equal(g.y[499], -499);
    const batch = { experiment: 3, trial: 7, metric: "loss", step: [5, null], time: [100, 101], value: [1, "NaN" as const] };
    assert.deepEqual(pointsOf(batch, "step", NaN), [[5, 1], [NaN, NaN]]);
    assert.deepEqual(pointsOf(batch, "relative", 90), [[10, 1], [11, NaN]]);
});

test("the table's question follows from the address", () => {
    const view = viewOf(new URLSearchParams("where=lr>1&sort=params.lr&desc=1&cols=value,params.lr"));
    assert.deepEqual(tableQuery(view, 200, 200), { where: "lr>1", sort: "params.lr", desc: true, offset: 200, limit: 200, columns: "number,state,value,params.lr" });
    assert.equal(tableQuery(viewOf(new URLSearchParams()), 0, 200).columns, undefined);
});

test("the range of a column grows with what was seen", () => {
    const merged = mergeRanges([column("v", { min: 1, max: 5 })], [column("v", { min: 0, max: 3 }), column("w", { min: 2, max: 2 })]);
    assert.deepEqual([merged[0]!.min, merged[0]!.max, merged[1]!.min], [0, 5, 2]);
});

test("a range is zoomed around its middle and moved by its width", () => {
    assert.deepEqual(zoomed([0, 100], 0.5, 0), [25, 75]);
    assert.deepEqual(zoomed([25, 75], 2, 0), [0, 100]);
    assert.deepEqual(zoomed([0, 100], 1, 0.25), [25, 125]);
});

test("of five hundred columns those on the screen exist", () => {
    const lefts = Array.from({ length: 500 }, (_, i) => 34 + i * 100);
    const widths = lefts.map(() => 100);
    assert.deepEqual(visibleColumns(lefts, widths, 2, 0, 1000), [2, 12]);
    assert.deepEqual(visibleColumns(lefts, widths, 2, 20000, 1000), [197, 212]);
    assert.deepEqual(visibleColumns(lefts, widths, 2, 49500, 1000), [492, 500]);
    assert.deepEqual(visibleColumns(lefts.slice(0, 9), widths, 2, 400, 100), [2, 9]);
});

test("the best is told in the words of the command line", () => {
    const row = { trial: "1.2", value: 1, params: {}, runs: 2, mean: 0.042, deviation: 0.0056, values: [1] };
    assert.equal(bestWords(row), "model 0.042 ± 0.011, run 2 times");
    assert.equal(bestWords({ ...row, mean: null, deviation: null }), "run 2 times");
    assert.equal(bestWords({ ...row, mean: null, deviation: null, runs: 1 }), "");
    const front = [row, { ...row, trial: "1.3", values: [3, null] }, { ...row, trial: "1.4", values: [2, 5] }];
    assert.equal(bestIn(front, 0, "maximize")?.trial, "1.3");
    assert.equal(bestIn(front, 0, "minimize")?.trial, "1.2");
    assert.equal(bestIn(front, 1, "minimize")?.trial, "1.4");
    assert.equal(bestIn([], 0, "minimize"), null);
});

test("a spec is told in lines, ranges and as YAML", () => {
    const spec = { name: "a", command: ["sh", "-c", "echo it's $0"], dir: "/x", objective: [{ metric: "acc", goal: "maximize", target: 0.9 }], search: { trials: 4, stop: "none" }, limits: {} };
    assert.deepEqual(specWords(spec), [["command", "sh -c 'echo it'\\''s $0'"], ["folder", "/x"], ["objective", "maximize acc until 0.9"], ["search", "trials 4"]]);
    assert.equal(specWords({})[0]?.[1], "none: it was imported, or is told from elsewhere");
    assert.equal(rangeWords({ type: "float", scale: "log", min: 0.1, max: 1 }), "float from 0.1 to 1, log");
    assert.equal(rangeWords({ values: ["a", 2] }), "a, 2");
    assert.equal(yamlOf({ a: [1, "x y", "true", "1"], b: { c: {}, d: [{ e: null }] } }), 'a: [1, x y, "true", "1"]\nb:\n  c: {}\n  d:\n    - e: null');
});

test("runs differ in some parameters only", () => {
    const trial = (number: number, params: Record<string, unknown>) => ({ number, name: `1.${number}`, label: `1.${number}`, state: "completed", params });
    assert.deepEqual(differing([trial(1, { a: 1, b: 2 }), trial(2, { a: 1, b: 3 }), trial(3, { a: 1, b: 2, c: null })]), ["b"]);
    assert.deepEqual(differing([]), []);
});

test("curves are of the trials that fit", () => {
    assert.deepEqual(trialsQuery(null, "running", 5, [], "a = 1 or b = 2"), { sort: "value", desc: false, where: "state = 'running' and (a = 1 or b = 2)", limit: 5 });
    assert.equal(trialsQuery(null, "newest", 5, [], "").where, undefined);
    assert.equal(trialsQuery(null, "best", 5, [], "a = 1").where, "a = 1");
});

test("the server is asked for more about the best only where there is more", () => {
    const of = (algorithm: string, objectives: number, command = ["x"]) => ({ spec: { command, search: { algorithm }, objective: Array.from({ length: objectives }, () => ({ metric: "a", goal: "minimize" })) } }) as unknown as Experiment;
    assert.deepEqual([of("bayes", 1), of("grid", 1), of("grid", 2), of("bayes", 0), of("bayes", 1, [])].map(tellsMore), [true, false, true, false, false]);
});

test("the number of trials that an address asks for is among those to choose from", () => {
    assert.deepEqual(countsWith(10), ["5", "10", "20", "50", "100", "200"]);
    assert.deepEqual(countsWith(8), ["5", "8", "10", "20", "50", "100", "200"]);
});
