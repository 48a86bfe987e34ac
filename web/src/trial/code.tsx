/* SPDX-License-Identifier: MIT */
/*
 * code.tsx — the code that a trial ran: the files of its snapshot, one of them open, or what differs
 * from the snapshot of another trial. File and other trial are in the address.
 */
import { useState } from "preact/hooks";
import { text, useQuery } from "../address.ts";
import { CodeDiff } from "../compare/code_diff.tsx";
import { splitLines } from "../compare/textdiff.ts";
import { formatBytes, formatPlural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/parts.tsx";
import { codeFiles, codeText, details, type CodeFile, type Details } from "./details.ts";
import { Lines } from "./lines.tsx";

const TEXT_MAX = 1024 * 1024;

function FileText({ sha, file }: { sha: string; file: CodeFile }) {
    const load = useLoad(file.size <= TEXT_MAX ? `${sha} ${file.path}` : null, (signal) => codeText(sha, file.path, signal));
    if (file.size > TEXT_MAX) return <Empty title="Too large to show"><p>{file.path} has {formatBytes(file.size)}; files up to 1 MB are shown.</p></Empty>;
    return (
        <Loaded of={load} what={file.path}>
            {(content) => {
                const lines = splitLines(content);
                const digits = String(lines.length).length;
                if (content.includes("\0")) return <Empty title="Not a text" />;
                return (
                    <Lines key={file.path} count={lines.length} label={file.path}
                        line={(i) => <><span class="line-number">{String(i + 1).padStart(digits)}</span><span>{lines[i]}</span></>} />
                );
            }}
        </Loaded>
    );
}

function Snapshot({ sha }: { sha: string }) {
    const load = useLoad(sha, (signal) => codeFiles(sha, signal));
    const [path, setPath] = useQuery("file", text());
    return (
        <Loaded of={load} what="the files">
            {(files) => {
                const open = files.find((f) => f.path === path) ?? files.find((f) => /\.(py|c|jl|r|sh|ya?ml)$/i.test(f.path)) ?? files[0];
                if (!open) return <Empty title="The snapshot has no files" />;
                return (
                    <div class="code-panes">
                        <nav class="code-files card" aria-label="Files of the snapshot">
                            <ul>
                                {files.map((f) => (
                                    <li key={f.path}>
                                        <button type="button" aria-current={f.path === open.path ? "true" : undefined} onClick={() => setPath(f.path)}>
                                            <span>{f.path}</span><small>{formatBytes(f.size)}</small>
                                        </button>
                                    </li>
                                ))}
                            </ul>
                        </nav>
                        <div>
                            <h2 class="mono">{open.path}</h2>
                            <FileText sha={sha} file={open} />
                        </div>
                    </div>
                );
            }}
        </Loaded>
    );
}

function Against({ details: mine, other }: { details: Details; other: string }) {
    const load = useLoad(other, (signal) => details(other, signal));
    return (
        <Loaded of={load} what={`trial ${other}`}>
            {(theirs) => theirs.code && mine.code
                ? <CodeDiff a={{ label: other, sha: theirs.code }} b={{ label: mine.trial, sha: mine.code }} />
                : <Empty title={`Trial ${theirs.code ? mine.trial : other} has no snapshot of its code`} />}
        </Loaded>
    );
}

export function CodeTab({ details: mine }: { details: Details }) {
    const [other, setOther] = useQuery("with", text());
    const [words, setWords] = useState(other);
    if (!mine.code) return <Empty title="No snapshot"><p>The spec says <code>code: .</code> to keep the code with every experiment.</p></Empty>;
    const attempts = mine.runs.filter((run) => run.code && run.code !== mine.code);
    return (
        <>
            <form class="toolbar" onSubmit={(e) => (e.preventDefault(), setOther(words.trim(), true))}>
                <span class="dim mono" title={mine.code}>snapshot {mine.code.slice(0, 12)}</span>
                {attempts.length > 0 && <span class="dim">{formatPlural(attempts.length, "attempt")} ran changed code</span>}
                <span class="grow" />
                <label class="field inline"><span>Differences to trial</span>
                    <input size={8} placeholder={`${mine.experiment}.1`} value={words} onInput={(e) => setWords((e.target as HTMLInputElement).value)} />
                </label>
                <Button submit>Show</Button>
                {other && <Button kind="quiet" onClick={() => (setWords(""), setOther("", true))}>Files</Button>}
            </form>
            {other ? <Against details={mine} other={other} /> : <Snapshot sha={mine.code} />}
        </>
    );
}
