/* SPDX-License-Identifier: MIT */
/*
 * report.mjs — the bundle inside of `hone report`: FOLDER/assets/report.js and report.css, which the
 * command writes into one file with the document. Plain, not compressed, they must stay below 150 KB
 * and 60 KB, so that a report of 1 MB has room for what it is about.
 */
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const limits = { "report.js": 150 * 1024, "report.css": 60 * 1024 };

export async function buildReport(dist) {
    await build({
        absWorkingDir: here,
        entryPoints: { report: "src/report/main.tsx" },
        outdir: join(dist, "assets"),
        bundle: true,
        minify: true,
        format: "iife",
        target: ["chrome123", "firefox121", "safari17.5"],
        jsx: "automatic",
        jsxImportSource: "preact",
        legalComments: "none",
        charset: "ascii",
        logLevel: "warning",
    });
    for (const [name, limit] of Object.entries(limits)) {
        const text = await readFile(join(dist, "assets", name), "utf8");
        if (text.length > limit) throw new Error(`${name} has ${text.length} bytes, more than ${limit}`);
        if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} cannot stand inside of a page`);
    }
}
