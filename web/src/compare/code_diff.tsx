/* SPDX-License-Identifier: MIT */
/*
 * code_diff.tsx — what differs between two snapshots of code: files that changed, and the lines of
 * one of them side by side.
 */
import { useMemo } from "preact/hooks";
import { text, useQuery } from "../address.ts";
import { formatBytes, formatPlural } from "../format.ts";
import { useLoad } from "../load.ts";
import { ask, codeFiles, codeText } from "../trial/details.ts";
import { Empty, Loaded } from "../ui/parts.tsx";
import { changedPart, changesOf, diffTexts, foldEqual, type Change, type Row } from "./textdiff.ts";

export interface Side {
    label: string;
    sha: string;
}

const TEXT_MAX = 1024 * 1024, ROWS_MAX = 3000;

/* The text of a file, or why it is not shown. */
async function textOf(sha: string, path: string, signal: AbortSignal): Promise<string> {
    const file = (await codeFiles(sha, signal)).find((f) => f.path === path);
    if (!file) return "";
    return file.size > TEXT_MAX ? `(${formatBytes(file.size)}: too large to show)` : codeText(sha, path, signal);
}

async function loadRows(a: Side, b: Side, file: Change, signal: AbortSignal): Promise<Row[]> {
    const [left, right] = await Promise.all([
        file.kind === "added" ? "" : textOf(a.sha, file.path, signal), file.kind === "removed" ? "" : textOf(b.sha, file.path, signal),
    ]);
    return diffTexts(left, right);
}

function Cell({ row, side }: { row: Row; side: "left" | "right" }) {
    const line = row[side];
    if (line === null) return <td class="none" />;
    if (row.kind !== "change") return <td>{line}</td>;
    const [from, to] = changedPart(row.left!, row.right!)[side];
    return <td>{line.slice(0, from)}<mark>{line.slice(from, to)}</mark>{line.slice(to)}</td>;
}

function Rows({ rows, labels }: { rows: Row[]; labels: [string, string] }) {
    const shown = useMemo(() => foldEqual(rows).slice(0, ROWS_MAX), [rows]);
    return (
        <div class="diff-box" tabIndex={0} role="region" aria-label={`lines of ${labels[0]} and ${labels[1]} side by side`}>
            <table class="diff">
                <thead><tr><th scope="col"><span class="sr">line</span></th><th scope="col">{labels[0]}</th><th scope="col"><span class="sr">line</span></th><th scope="col">{labels[1]}</th></tr></thead>
                <tbody>
                    {shown.map((row, i) => typeof row === "number"
                        ? <tr key={i} class="fold"><td colSpan={4}>{formatPlural(row, "equal line")}</td></tr>
                        : (
                            <tr key={i} class={row.kind}>
                                <td class="line-number">{row.leftNumber || ""}</td><Cell row={row} side="left" />
                                <td class="line-number">{row.rightNumber || ""}</td><Cell row={row} side="right" />
                            </tr>
                        ))}
                </tbody>
            </table>
        </div>
    );
}

function File({ a, b, file }: { a: Side; b: Side; file: Change }) {
    const load = useLoad(`${a.sha} ${b.sha} ${file.path}`, (signal) => loadRows(a, b, file, signal));
    return (
        <section aria-label={`differences in ${file.path}`}>
            <h2 class="mono">{file.path}</h2>
            <Loaded of={load} what={file.path}>{(rows) => <Rows rows={rows} labels={[a.label, b.label]} />}</Loaded>
        </section>
    );
}

/* `hone diff` knows which files differ; only the open one is read. */
export function CodeDiff({ a, b }: { a: Side; b: Side }) {
    const same = a.sha === b.sha;
    const loaded = useLoad(same ? null : `${a.label} ${b.label}`, async (signal) => changesOf((await ask<{ code_changes: string }>("diff", [a.label, b.label], signal)).code_changes));
    const [path, setPath] = useQuery("file", text());
    if (same) return <Empty title="The same code"><p>{a.label} and {b.label} ran the same snapshot, {a.sha.slice(0, 12)}.</p></Empty>;
    return (
        <Loaded of={loaded} what="what differs">
            {(files) => {
                const open = files.find((f) => f.path === path) ?? files.find((f) => f.kind === "changed") ?? files[0];
                if (!open) return <Empty title="No file differs" />;
                return (
                    <div class="code-panes">
                        <nav class="code-files card" aria-label={`${formatPlural(files.length, "file")} that differ`}>
                            <ul>
                                {files.map((f) => (
                                    <li key={f.path}>
                                        <button type="button" aria-current={f === open ? "true" : undefined} onClick={() => setPath(f.path)}>
                                            <span>{f.path}</span><small>{f.kind}</small>
                                        </button>
                                    </li>
                                ))}
                            </ul>
                        </nav>
                        <File key={open.path} a={a} b={b} file={open} />
                    </div>
                );
            }}
        </Loaded>
    );
}
