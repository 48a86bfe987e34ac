#!/usr/bin/env node
/* SPDX-License-Identifier: MIT */
/*
 * units_test.mjs — the unit tests of the pages' pure parts (web/test), as one file of TAP.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "web");
const done = spawnSync(process.execPath, [join(web, "test", "run.mjs")], { cwd: web, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
process.stdout.write(done.stdout);
process.stderr.write(done.stderr);
process.exit(done.status ?? 1);
