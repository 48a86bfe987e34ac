/* SPDX-License-Identifier: MIT */
/* format.test.ts — numbers, times and sizes as people read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAgo, formatBytes, formatCount, formatNumber, formatPlural, formatSeconds, formatValue } from "../src/format.ts";

test("a number has four digits that count", () => {
    assert.equal(formatNumber(0.123456), "0.1235");
    assert.equal(formatNumber(1234.5678), "1235");
    assert.equal(formatNumber(0.00001234), "1.234e-5".replace("-", "−"));
    assert.equal(formatNumber(12345678.9), "1.235e7");
    assert.equal(formatNumber(-3), "−3");
    assert.equal(formatNumber(100000), "100000");
    assert.equal(formatNumber(NaN), "NaN");
    assert.equal(formatNumber(-Infinity), "−∞");
    assert.equal(formatNumber("inf"), "∞");
    assert.equal(formatNumber("-inf"), "−∞");
    assert.equal(formatNumber("nan"), "NaN");
    assert.equal(formatNumber(null), "–");
});

test("seconds grow into minutes, hours, days", () => {
    assert.equal(formatSeconds(0.0000042), "4 µs");
    assert.equal(formatSeconds(0), "0 s");
    assert.equal(formatSeconds(0.25), "250 ms");
    assert.equal(formatSeconds(4.25), "4.3 s");
    assert.equal(formatSeconds(59.4), "59 s");
    assert.equal(formatSeconds(185), "3 m 05 s");
    assert.equal(formatSeconds(7620), "2 h 07 m");
    assert.equal(formatSeconds(4 * 86400 + 3 * 3600), "4 d 03 h");
    assert.equal(formatSeconds(null), "–");
});

test("how long ago", () => {
    const now = Date.parse("2026-11-16T15:00:00Z");
    assert.equal(formatAgo("2026-11-16T14:59:55Z", now), "just now");
    assert.equal(formatAgo("2026-11-16T14:55:00.123456Z", now), "4 m ago");
    assert.equal(formatAgo("2026-11-14T14:55:00Z", now), "2 d ago");
    assert.equal(formatAgo(null, now), "–");
    assert.equal(formatAgo("nonsense", now), "–");
});

test("bytes, counts and words", () => {
    assert.equal(formatBytes(512), "512 B");
    assert.equal(formatBytes(1536), "1.5 KB");
    assert.equal(formatBytes(3 * 1024 ** 3), "3 GB");
    assert.equal(formatCount(1234567), "1,234,567");
    assert.equal(formatPlural(1, "trial"), "1 trial");
    assert.equal(formatPlural(0, "trial"), "0 trials");
    assert.equal(formatValue({ a: 1 }), '{"a":1}');
    assert.equal(formatValue(false), "false");
});
