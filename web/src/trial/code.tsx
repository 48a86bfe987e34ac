/* SPDX-License-Identifier: MIT */
/*
 * code.tsx — the code that a trial ran: the files of its snapshot, one of them open, or what differs
 * from the snapshot of another trial. File and other trial are in the address.
 */
import { useState } from "preact/hooks";
import { text, useQuery } from "../address.ts";
import { CodeDiff } from "../compare/code_diff.tsx";
import { splitLines } from "../compare/textdiff.ts";
import { formatBytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";
import { Empty, Loaded } from "../ui/parts.tsx";
import { codeFiles, codeText, details, ranCode, type CodeFile, type Details } from "./details.ts";
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
            {(theirs) => {
                const [a, b] = [ranCode(theirs), ranCode(mine)];
                return a && b ? <CodeDiff a={{ label: other, sha: a }} b={{ label: mine.trial, sha: b }} /> : <Empty title={`Trial ${a ? mine.trial : other} has no snapshot of its code`} />;
            }}
        </Loaded>
    );
}

/* What an attempt ran: its own snapshot, or that of the one before, or of the experiment. */
function codeOf(of: Details, attempt: number): string | null {
    return of.runs.findLast((run) => run.attempt <= attempt && run.code)?.code ?? of.code;
}

export function CodeTab({ details: mine }: { details: Details }) {
    const [other, setOther] = useQuery("with", text());
    const [words, setWords] = useState(other);
    const [attempt, setAttempt] = useQuery("attempt", text());
    const ran = ranCode(mine);
    if (!ran) return <Empty title="No snapshot"><p>The spec says <code>code: .</code> to keep the code with every experiment.</p></Empty>;
    const codes = mine.runs.map((run) => ({ value: String(run.attempt), label: `attempt ${run.attempt}`, sha: codeOf(mine, run.attempt) }));
    const several = new Set(codes.map((c) => c.sha)).size > 1;
    const chosen = codes.find((c) => c.value === attempt) ?? { value: codes.at(-1)?.value ?? "", sha: ran };
    const sha = (several && chosen.sha) || ran;
    return (
        <>
            <form class="toolbar" onSubmit={(e) => (e.preventDefault(), setOther(words.trim(), true))}>
                {several && !other && <Select label="Code of" value={chosen.value} options={codes} onChange={setAttempt} />}
                <span class="dim mono" title={sha}>snapshot {sha.slice(0, 12)}</span>
                {mine.code && sha !== mine.code && <span class="dim">changed since the experiment began</span>}
                <span class="grow" />
                <label class="field inline"><span>Differences to trial</span>
                    <input size={8} placeholder={`${mine.experiment}.1`} value={words} onInput={(e) => setWords((e.target as HTMLInputElement).value)} />
                </label>
                <Button submit>Show</Button>
                {other && <Button kind="quiet" onClick={() => (setWords(""), setOther("", true))}>Files</Button>}
            </form>
            {other ? <Against details={mine} other={other} /> : <Snapshot sha={sha} />}
        </>
    );
}
