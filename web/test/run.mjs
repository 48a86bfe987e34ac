/* SPDX-License-Identifier: MIT */
/*
 * run.mjs — the unit tests: every test/*.test.ts is bundled into a folder of its own outside of the
 * sources, then node runs them.   node test/run.mjs [PART-OF-A-NAME …]
 */
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const parts = process.argv.slice(2);
const names = readdirSync(here)
    .filter((n) => n.endsWith(".test.ts") || n.endsWith(".test.tsx"))
    .filter((n) => parts.length === 0 || parts.some((p) => n.includes(p)));
const out = mkdtempSync(join(tmpdir(), "hone-web-"));

try {
    await build({
        absWorkingDir: here,
        entryPoints: names,
        outdir: out,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node20",
        jsx: "automatic",
        jsxImportSource: "preact",
        loader: { ".css": "empty" },
        logLevel: "warning",
    });
    const files = names.map((n) => join(out, n.replace(/\.tsx?$/, ".mjs")));
    const format = process.stdout.isTTY ? "spec" : "tap";
    process.exitCode = spawnSync(process.execPath, ["--test", `--test-reporter=${format}`, ...files], { stdio: "inherit" }).status ?? 1;
} finally {
    rmSync(out, { recursive: true, force: true });
}
