#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a real InfluxDB 1.6 answers to arithmetic and transformations in SELECT.

    tests/peers/influxql_verdicts.py [--check]  ask a real server again and compare with the table (TAP)
    tests/peers/influxql_verdicts.py --write    write the table anew

The table is src/api/influxql_verdicts.txt; influxql_verdicts_test.c holds our queries to it in every
`make test`. Not in it: a transformation by time without a lower bound, for which InfluxDB 1.6 has no
answer at all. A row: w and a line that is written first (times in seconds); or q, a query and the
answer's results as JSON, times in seconds; with tabs between.
"""

import json
import os
import shutil
import sys

from influx_verdicts import TOP, with_server

TABLE = os.path.join(TOP, "src/api/influxql_verdicts.txt")

X = {0: 1, 10: 4, 20: 2, 30: 7, 50: 7, 60: 3, 70: 12, 90: 5}  # a gap at 40 and at 80
Y = {0: 10, 10: 20, 20: 0, 30: 40, 50: 50, 70: 70}
LINES = [f"m,host=a x={x}" + (f",y={Y[t]}" if t in Y else "") + f" {t}" for t, x in X.items()]
LINES += [f"m,host=b x={100 + t * t / 10} {t}" for t in range(5, 60, 10)]
LINES += [f"two,host={h} v={v} {t}" for t, h, v in ((1, "a", 1), (1, "b", 5), (2, "a", 7), (2, "b", 2), (4, "b", 3))]
LINES += [f"n,host=a v={v} {t}" for t, v in ((3, 8), (17, 0.5), (18, -3), (41, 6))]

A = "FROM m WHERE host='a'"
T = "FROM m WHERE host='a' AND time >= 0 AND time < 100s"
QUERIES = [
    # arithmetic of fields
    f'SELECT x * 100 {A}', f'SELECT x + y {A}', f'SELECT x - y, y - x {A}', f'SELECT y / x {A}', f'SELECT x / y {A}',
    f'SELECT (x + y) * 2 - 1 {A}', f'SELECT x + y * 2 {A}', f'SELECT -x {A}', f'SELECT -(x + 1) {A}', f'SELECT 2 * x AS twice {A}',
    f'SELECT x, x * 2 {A}', f'SELECT x % 3 {A}', f'SELECT x + nothing {A}', f'SELECT 1 + 2 {A}', f'SELECT x / 0 {A}',
    f'SELECT "x" + "y" FROM m GROUP BY host', f'SELECT x - 1.5 {A} LIMIT 2', f'SELECT host, x + 1 {A} LIMIT 1',
    # arithmetic of functions
    f'SELECT mean(x) * 100 {A}', f'SELECT mean("x") * 100 {T} GROUP BY time(20s)', f'SELECT mean(x) + mean(y) {T} GROUP BY time(20s)',
    f'SELECT max(x) - min(x) {T} GROUP BY time(20s)', f'SELECT sum(x) / count(x) AS avg {T} GROUP BY time(50s)',
    f'SELECT mean(x) / mean(y) {T} GROUP BY time(10s)', f'SELECT mean(x) * 2 {T} GROUP BY time(10s) fill(0)',
    f'SELECT mean(x) * 2 {T} GROUP BY time(10s) fill(none)', f'SELECT mean(x) * 2 {T} GROUP BY time(10s) fill(previous)',
    f'SELECT mean(x) * 2 {T} GROUP BY time(10s) fill(linear)', f'SELECT mean(x) + mean(y) {T} GROUP BY time(10s) fill(0)',
    f'SELECT count(y) * 2 {T} GROUP BY time(20s)', f'SELECT count(x) + mean(y) {T} GROUP BY time(20s)', f'SELECT 100 - mean(x) {T} GROUP BY time(50s)', f'SELECT last(x) * 2 {A}',
    f'SELECT max(x) * 2 {T} GROUP BY time(50s)', f'SELECT mean(x), mean(x) * 2 {T} GROUP BY time(50s)', f'SELECT (mean(x) + 1) * (max(y) - 2) {T} GROUP BY time(50s)',
    f'SELECT mean(x) * 2 FROM m WHERE time >= 0 AND time < 60s GROUP BY time(20s), host',
    # of points
    f'SELECT derivative(x) {A}', f'SELECT derivative(x, 10s) {A}', f'SELECT non_negative_derivative(x, 1s) {A}', f'SELECT difference(x) {A}',
    f'SELECT non_negative_difference(x) {A}', f'SELECT cumulative_sum(x) {A}', f'SELECT moving_average(x, 3) {A}', f'SELECT elapsed(x, 1s) {A}',
    f'SELECT derivative(y, 1m) {A}', f'SELECT cumulative_sum(y) {A} ORDER BY time DESC', f'SELECT difference(x) {A} ORDER BY time DESC LIMIT 2', f'SELECT derivative(x, 10s), difference(y) {A}',
    f'SELECT derivative(x, 10s) FROM m', f'SELECT difference(x) FROM m GROUP BY host', f'SELECT moving_average(x, 20) {A}', f'SELECT difference(v) FROM n', f'SELECT derivative(x, 10s) AS d {A} LIMIT 2 OFFSET 1',
    f'SELECT difference(x) * 2 {A}', f'SELECT cumulative_sum(x) / 10 {A}', f'SELECT difference(*) {A}',
    # of functions by time
    f'SELECT derivative(mean(x), 1s) {T} GROUP BY time(20s)', f'SELECT derivative(mean(x)) {T} GROUP BY time(20s)', f'SELECT non_negative_derivative(mean(x), 1s) {T} GROUP BY time(10s)',
    f'SELECT non_negative_derivative(mean("x"), 10s) {T} GROUP BY time(10s) fill(null)', f'SELECT non_negative_derivative(mean(x), 10s) {T} GROUP BY time(10s) fill(none)',
    f'SELECT derivative(mean(x), 10s) {T} GROUP BY time(10s) fill(0)', f'SELECT derivative(mean(x), 10s) {T} GROUP BY time(10s) fill(previous)',
    f'SELECT derivative(mean(x), 10s) {T} GROUP BY time(10s) fill(linear)',
    f'SELECT difference(mean(x)) {T} GROUP BY time(10s)', f'SELECT difference(mean(x)) {T} GROUP BY time(10s) fill(0)', f'SELECT difference(max(x)) {T} GROUP BY time(20s)', f'SELECT non_negative_difference(last(x)) {T} GROUP BY time(20s)',
    f'SELECT moving_average(mean(x), 2) {T} GROUP BY time(20s)', f'SELECT moving_average(mean(x), 2) {T} GROUP BY time(10s)', f'SELECT cumulative_sum(mean(x)) {T} GROUP BY time(20s)', f'SELECT cumulative_sum(count(x)) {T} GROUP BY time(20s)',
    f'SELECT cumulative_sum(sum(y)) {T} GROUP BY time(10s)', f'SELECT cumulative_sum(sum(y)) {T} GROUP BY time(10s) fill(0)', f'SELECT elapsed(mean(x), 1s) {T} GROUP BY time(20s)',
    f'SELECT derivative(mean(x), 10s) FROM m WHERE time >= 20s AND time < 80s AND host=\'a\' GROUP BY time(20s)',
    f'SELECT derivative(percentile(x, 50), 10s) {T} GROUP BY time(20s)', f'SELECT derivative(mean(x), 10s), mean(y) {T} GROUP BY time(20s)', f'SELECT mean(y), derivative(mean(x), 10s) {T} GROUP BY time(20s)',
    f'SELECT derivative(mean(x), 10s) * 2 {T} GROUP BY time(20s)', f'SELECT derivative(mean(x), 10s) + derivative(mean(y), 10s) {T} GROUP BY time(20s)',
    f'SELECT derivative(mean(x), 10s) AS d {T} GROUP BY time(20s) LIMIT 2', f'SELECT derivative(mean(x), 10s) {T} GROUP BY time(20s) ORDER BY time DESC',
    f'SELECT difference(mean(x)) FROM m WHERE time >= 0 AND time < 60s GROUP BY time(20s), host', f'SELECT cumulative_sum(mean(x)) {T} GROUP BY time(20s) ORDER BY time DESC',
    f'SELECT moving_average(mean(x), 2) {T} GROUP BY time(20s) ORDER BY time DESC', f'SELECT moving_average(derivative(mean(x), 10s), 2) {T} GROUP BY time(20s)', f'SELECT non_negative_derivative(difference(x)) {A}',
    f'SELECT derivative(mean(x) * 2, 10s) {T} GROUP BY time(20s)',
    # the range reaches back as far as is needed
    *(f"SELECT {what} FROM m WHERE host='a' AND time >= 30s AND time < 80s GROUP BY time(10s) {fill}"
      for what in ("difference(mean(x))", "moving_average(mean(x), 3)", "cumulative_sum(mean(x))", "difference(mean(x)), mean(y)", "moving_average(mean(x), 2), max(y)",
                   "difference(mean(x)) + mean(y)", "difference(count(y))", "difference(count(y)), count(y)", "moving_average(difference(mean(x)), 2)", "elapsed(mean(x), 1s)", "derivative(last(x), 10s)")
      for fill in ("", "fill(none)", "fill(0)", "fill(previous)", "fill(linear)", "ORDER BY time DESC", "fill(0) ORDER BY time DESC")),
    f"SELECT difference(mean(x)) FROM m WHERE host='a' AND time >= 25s AND time < 75s GROUP BY time(10s) LIMIT 2",
    f"SELECT difference(mean(x)) FROM m WHERE host='a' AND time >= 30s AND time < 80s GROUP BY time(10s, 5s) LIMIT 2",
    f"SELECT difference(x) FROM m WHERE host='a' AND time >= 30s", f"SELECT mean(v) * 2 FROM two WHERE time >= 500s AND time < 600s GROUP BY time(10s)",
    # points with the same time
    *(f"SELECT {what}(v{more}) FROM two" for what, more in (("difference", ""), ("derivative", ""), ("cumulative_sum", ""), ("moving_average", ", 2"), ("elapsed", ", 1s"), ("non_negative_difference", ""))),
    "SELECT v * 2 FROM two", "SELECT difference(v), cumulative_sum(v) FROM two", "SELECT difference(v) FROM two ORDER BY time DESC", "SELECT elapsed(v, 1s) FROM n ORDER BY time DESC", "SELECT elapsed(v) FROM n",
    # of one field and a constant, with names
    f'SELECT mean(x) * 2, mean(x) * 3 {T} GROUP BY time(50s)', f'SELECT mean(x) + max(x) AS both, min(x) {T} GROUP BY time(50s)', f'SELECT difference(x), difference(y), x {A}',
    # what a name is, conditions on fields, times on the left
    'SELECT x::field FROM m WHERE (host::tag = \'a\')', 'SELECT mean("x"::float) FROM "m" WHERE ("host"::tag =~ /(?i)^[AB]$/) AND time >= 0 AND time < 60s GROUP BY time(20s), "host"::tag fill(null)',
    'SELECT v::integer FROM n', 'SELECT sum(v::integer) FROM n', 'SELECT host::tag, host::field, v FROM n', 'SELECT *::field FROM n', 'SELECT *::tag, v FROM n', 'SELECT v::tag FROM n', 'SELECT v::string FROM n', "SELECT v FROM n tz('UTC')",
    f'SELECT x {A} AND x > 3', f'SELECT x {A} AND y > 30', f'SELECT x {A} AND (x < 3 OR y >= 50)', f'SELECT x {A} AND x + y > 40', f'SELECT x {A} AND x != 7 AND 2 < x', f'SELECT mean(x), count(y) {A} AND x >= 4', f'SELECT max(x) {T} AND x < 7 GROUP BY time(20s)',
    "SELECT x FROM m WHERE x > 100 OR host = 'a'", f'SELECT x {A} AND nothing > 1', f'SELECT v::integer FROM n WHERE v::integer = 0', "SELECT x FROM m WHERE 50s <= time AND host='a'", "SELECT difference(x) FROM m WHERE host='a' AND x > 2", 'SELECT v /* a comment */ FROM n',
    # of several series, of none, newest first
    'SELECT last(v) FROM two WHERE time >= 0 AND time < 4s GROUP BY time(2s)', 'SELECT first(v) FROM two WHERE time >= 0 AND time < 4s GROUP BY time(2s)', 'SELECT percentile(x, 0) FROM m', 'SELECT percentile(v, 0) FROM n WHERE time >= 0 AND time < 50s GROUP BY time(10s)',
    'SELECT x FROM m GROUP BY host ORDER BY time DESC', 'SELECT mean(x) FROM m GROUP BY host ORDER BY time DESC', 'SELECT last(x) FROM m GROUP BY host ORDER BY time DESC SLIMIT 1', 'SELECT time, v FROM n', 'SELECT time AS t, v FROM n', 'SELECT time FROM n',
    # mistakes
    f'SELECT derivative(mean(x), 1s) {A}', f'SELECT derivative(x, 1s) {T} GROUP BY time(10s)', f'SELECT moving_average(x) {A}', f'SELECT moving_average(x, 0) {A}', f'SELECT moving_average(x, 1) {A}', f'SELECT moving_average(x, 1.5) {A}', f'SELECT derivative(x, 5) {A}',
    f'SELECT derivative(x, 0s) {A}', f'SELECT derivative(x, -1s) {A}', f'SELECT derivative() {A}', f'SELECT derivative(x, 1s, 2) {A}', f'SELECT difference(x, 1) {A}', f'SELECT cumulative_sum(x, 1) {A}', f'SELECT mean(x) + y {A}', f'SELECT mean(x) * 2, y {A}', f'SELECT x + {A}', f'SELECT (x {A}', f'SELECT mean(x + 1) {A}',
    f'SELECT x * 2 {T} GROUP BY time(10s)', f'SELECT difference(5) {A}', f'SELECT mean(difference(x)) {A}', f'SELECT sum(mean(x)) {T} GROUP BY time(10s)',
]


def answer(server, text):
    _, reply = server.ask("/query", b"", db="v", q=text, epoch="s")
    return json.dumps(json.loads(reply), separators=(",", ":"))


def table_rows(server):
    server.ask("/query", b"", q="CREATE DATABASE v")
    status, reply = server.ask("/write", "\n".join(LINES).encode(), db="v", precision="s")
    assert status == 204, reply
    yield from (f"w\t{line}" for line in LINES)
    yield from (f"q\t{text}\t{answer(server, text)}" for text in QUERIES)


def compare(server):
    with open(TABLE) as f:
        kept = [line.rstrip("\n") for line in f if not line.startswith("#")]
    found = list(table_rows(server))
    differ = [(a, b) for a, b in zip(kept, found) if a != b]
    for a, b in differ[:10]:
        print(f"# table  {a[:300]}\n# server {b[:300]}")
    good = not differ and len(kept) == len(found)
    print("1..1\n" + ("ok" if good else "not ok") + f" 1 - a real InfluxDB answers what the table says, {len(QUERIES)} queries")
    return good


def write(server):
    with open(TABLE, "w") as f:
        f.write("# What InfluxDB 1.6 answers. Written by tests/peers/influxql_verdicts.py --write\n")
        for text in table_rows(server):
            f.write(text + "\n")
    return True


def main():
    if not shutil.which("influxd"):
        print("1..0 # SKIP there is no influxd here: tools/setup peers")
        return 0
    done = with_server(write if "--write" in sys.argv[1:] else compare)
    if done is None:
        print("1..0 # SKIP influxd does not start here")
        return 0
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
