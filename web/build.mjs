/* SPDX-License-Identifier: MIT */
/*
 * build.mjs — TypeScript and CSS become web/dist: index.html, assets/ahead.js, app.js, app.css,
 * worker.js; assets/report.* for `hone report` (report.mjs). The Makefile packs these files
 * into the binary.
 *
 *   node web/build.mjs [FOLDER]      into FOLDER instead of web/dist
 *
 * What is sent together must stay below 200 KB compressed: more is an error, not a warning.
 */
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildReport } from "./report.mjs";

const limitBytes = 200 * 1024;
const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(process.argv[2] ?? join(here, "dist"));

async function bundle() {
    await rm(dist, { recursive: true, force: true });
    await mkdir(join(dist, "assets"), { recursive: true });
    await build({
        absWorkingDir: here,
        entryPoints: { ahead: "src/ahead.ts", app: "src/main.tsx", worker: "src/worker.ts" },
        outdir: join(dist, "assets"),
        bundle: true,
        minify: true,
        format: "esm",
        target: ["chrome123", "firefox121", "safari17.5"],
        jsx: "automatic",
        jsxImportSource: "preact",
        legalComments: "none",
        charset: "utf8",
        logLevel: "warning",
    });
    await writeFile(join(dist, "index.html"), await named(await readFile(join(here, "index.html"), "utf8")));
}

/* "/assets/app.js?v=TAG" for "/assets/app.js": a part is asked for once, and again when it is another. The tag
 * is that of tools/pack-pages.mjs, and src/api/pages.c knows it. */
async function named(html) {
    for (const [path] of html.matchAll(/\/assets\/[\w.]+/g)) {
        const tag = createHash("sha256").update(await readFile(join(dist, path))).digest("hex").slice(0, 16);
        html = html.replace(path, `${path}?v=${tag}`);
    }
    return html;
}

async function report() {
    const names = ["index.html", ...(await readdir(join(dist, "assets"))).filter((n) => !n.startsWith("report.")).map((n) => `assets/${n}`)];
    let total = 0;
    for (const name of names) {
        const bytes = await readFile(join(dist, name));
        const packed = gzipSync(bytes, { level: 9 }).length;
        total += packed;
        console.log(`${name.padEnd(20)} ${String(bytes.length).padStart(8)} ${String(packed).padStart(8)}`);
    }
    console.log(`${"together".padEnd(29)} ${String(total).padStart(8)} of ${limitBytes} bytes compressed`);
    return total;
}

await bundle();
await buildReport(dist);
if ((await report()) > limitBytes) {
    console.error("the pages are too large");
    process.exitCode = 1;
}
