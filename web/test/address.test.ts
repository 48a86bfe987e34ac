/* SPDX-License-Identifier: MIT */
/* address.test.ts — an address says all of a view, and comes back as it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromMlflow } from "../src/mlflow.ts";
import { choice, flag, format, list, maybe, number, parse, text } from "../src/address.ts";

test("an address is a path and a query, decoded once", () => {
    const a = parse("#/e/3/curves?metric=train%2Floss&smooth=0.6");
    assert.deepEqual(a.path, ["e", "3", "curves"]);
    assert.equal(a.query.get("metric"), "train/loss");
    assert.deepEqual(parse("").path, []);
    assert.deepEqual(parse("#/").path, []);
    assert.deepEqual(parse("#/e/%252e").path, ["e", "%2e"]);
});

test("a broken escape is taken as it is", () => {
    assert.deepEqual(parse("#/e/%zz").path, ["e", "%zz"]);
});

test("what is formatted is parsed to the same", () => {
    const where = "lr > 1e-4 and opt = 'a&b=c#?' + 100%";
    const a = parse(format(["e", 3, "a/b"], { where, sel: "1,2" }));
    assert.deepEqual(a.path, ["e", "3", "a/b"]);
    assert.equal(a.query.get("where"), where);
    assert.equal(a.query.get("sel"), "1,2");
});

test("a default is not written, and a value that makes no sense is the default", () => {
    assert.equal(number(0.5).write(0.5), null);
    assert.equal(number(0.5).read("x"), 0.5);
    assert.equal(number(0.5).read("Infinity"), 0.5);
    assert.equal(text("a").write("a"), null);
    assert.equal(flag().read("1"), true);
    assert.equal(flag(true).write(false), "0");
    assert.equal(flag(true).read(flag(true).write(false)), false);
    assert.equal(choice(["a", "b"], "a").read("z"), "a");
    assert.equal(maybe.read(""), null);
    assert.equal(maybe.read("-2.5"), -2.5);
});

test("a list keeps names with commas and percent signs", () => {
    const names = ["loss", "a,b", "100%", "train/acc"];
    assert.deepEqual(list.read(list.write(names)), names);
    assert.equal(list.write([]), null);
    assert.deepEqual(list.read(null), []);
});

test("addresses that MLflow's client prints lead to the run and the experiment", () => {
    assert.deepEqual(fromMlflow(["experiments", "3", "runs", "0123456789abcdef00000003000000ff"]), ["t", "3.255"]);
    assert.deepEqual(fromMlflow(["experiments", "3"]), ["e", "3"]);
    assert.deepEqual(fromMlflow(["experiments", "0"]), ["e", "Default"]);
    assert.deepEqual(fromMlflow(["experiments", "3", "runs", "nonsense"]), ["e", "3"]);
    for (const other of [[], ["experiments"], ["e", "3"], ["t", "3.7"]]) assert.equal(fromMlflow(other), null);
});
