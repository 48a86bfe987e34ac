/* SPDX-License-Identifier: MIT */
/*
 * log_view.tsx — what a trial's program prints, as it prints it: colours, bars, search, errors.
 *
 * The end is shown first and followed while the trial runs; scrolling up stops following, End or the
 * button goes on. Searching and jumping to errors go beyond what is loaded: older parts are fetched
 * until something is found; an error that is not in this stream is looked for in the other. Of a trial
 * that ended the stream that has text is shown, of a failed one rather stderr. Which stream and attempt, what is searched, and whether long lines are
 * wrapped, are in the address.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { choice, flag, number, text, useQuery } from "../address.ts";
import { reachable } from "../api.ts";
import { formatBytes, formatCount } from "../format.ts";
import { useKeys } from "../keys.ts";
import { useLoad } from "../load.ts";
import type { Trial } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/field.tsx";
import { Empty, Failure } from "../ui/parts.tsx";
import type { Span } from "./ansi.ts";
import { fileAddress } from "./details.ts";
import { isErrorLine } from "./errors.ts";
import { Lines, type LinesHandle } from "./lines.tsx";
import { LogSource, otherOf, seek, streamWithText, type Stream } from "./log_source.ts";

const TALL = "max(320px, calc(100vh - 260px))";

/* A source for what the address says; the part is drawn anew when it has read something. */
function useSource(trial: string, stream: Stream, attempt: number): LogSource | null {
    const [, setVersion] = useState(0);
    const [source, setSource] = useState<LogSource | null>(null);
    useEffect(() => {
        const made = new LogSource(trial, stream, attempt || null, () => setVersion((n) => n + 1));
        setSource(made);
        return () => made.close();
    }, [trial, stream, attempt]);
    return source;
}

/* Ask for more while it runs: each second, less often when nothing comes, not at all when hidden. */
function usePolling(source: LogSource | null, running: boolean, after: () => void): void {
    useEffect(() => {
        if (!source || !running) return;
        let timer = 0, waitMs = 700, gone = false;
        const turn = async () => {
            if (!document.hidden && source.opened && source.atEnd) {
                const more = await source.newer();
                waitMs = more ? 700 : Math.min(waitMs * 1.4, 3000);
                if (more && !gone) after();
            }
            if (!gone) timer = window.setTimeout(() => void turn(), waitMs);
        };
        timer = window.setTimeout(() => void turn(), waitMs);
        return () => {
            gone = true;
            clearTimeout(timer);
        };
    }, [source, running]);
}

/* The spans of a line with what is searched marked in them. */
function marked(spans: readonly Span[], query: string) {
    const lower = query.toLowerCase();
    return spans.map((span, i) => {
        const parts = query ? splitAt(span.text, lower) : [span.text];
        const inside = parts.map((part, k) => (k % 2 ? <mark key={k}>{part}</mark> : part));
        return span.style ? <span key={i} class={span.style}>{inside}</span> : <span key={i}>{inside}</span>;
    });
}

/* "aXbX" at "x" is a, X, b, X, "" */
function splitAt(text: string, lower: string): string[] {
    const parts: string[] = [], hay = text.toLowerCase();
    let at = 0;
    for (let found = hay.indexOf(lower); found >= 0 && parts.length < 400; found = hay.indexOf(lower, at)) {
        parts.push(text.slice(at, found), text.slice(found, found + lower.length));
        at = found + lower.length;
    }
    parts.push(text.slice(at));
    return parts;
}

const isRunning = (trial: Trial) => trial.state === "running" || trial.state === "paused";
const opening = <div class="lines empty" role="status">Loading the log …</div>;

/* Which stream is the usual one is found when the log is opened: it does not change while somebody reads. */
export function LogView({ trial }: { trial: Trial }) {
    const [attempt] = useQuery("attempt", number(0));
    const [first] = useState<Stream>(trial.state === "failed" ? "stderr" : "stdout");
    const [ask] = useState(!isRunning(trial) && trial.attempts > 0);
    const usual = useLoad(ask ? trial.trial : null, (signal) => streamWithText(trial.trial, first, attempt || null, signal));
    if (ask && !usual.value && !usual.error) return opening;
    return <OneLog trial={trial} usual={usual.value ?? first} />;
}

function OneLog({ trial, usual }: { trial: Trial; usual: Stream }) {
    const [stream, setStream] = useQuery("stream", choice<Stream>(["stdout", "stderr"], usual));
    const [attempt, setAttempt] = useQuery("attempt", number(0));
    const [query, setQuery] = useQuery("find", text());
    const [wrap, setWrap] = useQuery("wrap", flag());
    const [follow, setFollow] = useState(true);
    const [at, setAt] = useState(-1); /* the line that was found, counted so that older lines do not move it */
    const [said, setSaid] = useState("");
    const [busy, setBusy] = useState(false);
    const source = useSource(trial.trial, stream, attempt);
    const lines = useRef<LinesHandle>(null);
    const box = useRef<HTMLInputElement>(null);
    const running = isRunning(trial);
    usePolling(source, running, () => follow && requestAnimationFrame(() => lines.current?.toEnd()));
    useEffect(() => {
        if (source?.opened && follow) requestAnimationFrame(() => lines.current?.toEnd());
    }, [source, source?.opened, follow]);
    useEffect(() => setAt(-1), [source]);
    useEffect(() => reachable.subscribe((yes) => yes && source && !source.opened && void source.toEnd()), [source]);

    const elsewhere = useRef(false); /* the other stream has an error: it is gone to when that is open */
    const gone = useRef(false);
    useEffect(() => () => void (gone.current = true), []);
    const jump = async (matches: (line: string) => boolean, direction: 1 | -1, what: string, otherwise?: () => Promise<boolean>) => {
        if (!source || busy) return;
        const book = source.book;
        setBusy(true);
        setFollow(false);
        setSaid(`looking for ${what} …`);
        if (otherwise) await source.toEnd();
        const from = at >= 0 ? at + book.shifted : direction < 0 ? book.count : (lines.current?.first() ?? 0) - 1;
        const found = await seek(source, from, direction, matches);
        const isElsewhere = found < 0 && otherwise && (await otherwise());
        if (gone.current) return; /* the address is that of another page */
        setBusy(false);
        if (isElsewhere) {
            elsewhere.current = true;
            return setStream(otherOf(stream));
        }
        if (found < 0) return setSaid(otherwise ? `no ${what} on stdout or stderr` : `no ${direction < 0 ? "earlier" : "later"} ${what}`);
        setAt(found - book.shifted);
        setSaid(`${what} in line ${formatCount(found + 1)} of ${formatCount(book.count)}${source.atStart ? "" : " loaded"}`);
        requestAnimationFrame(() => lines.current?.show(found));
    };
    const hasErrorElsewhere = async () => {
        const other = new LogSource(trial.trial, otherOf(stream), attempt || null, () => {});
        await other.toEnd();
        const found = await seek(other, other.book.count, -1, isErrorLine);
        other.close();
        return found >= 0;
    };
    const search = (direction: 1 | -1) => {
        const lower = query.toLowerCase();
        if (lower) void jump((line) => line.toLowerCase().includes(lower), direction, `“${query}”`);
    };
    /* Without a place to begin at it is the last one, of this stream or of the other. */
    const toError = (direction: 1 | -1) => void jump(isErrorLine, direction, "error line", direction < 0 && at < 0 ? hasErrorElsewhere : undefined);
    useEffect(() => {
        if (!source?.opened || !elsewhere.current) return;
        elsewhere.current = false;
        toError(-1);
    }, [source, source?.opened]);
    const toEnd = async () => {
        setFollow(true);
        setAt(-1);
        await source?.toEnd();
        requestAnimationFrame(() => lines.current?.toEnd());
    };
    const toStart = async () => {
        setFollow(false);
        setAt(-1);
        await source?.toStart();
        requestAnimationFrame(() => lines.current?.show(0));
    };
    useKeys("Log", [
        { keys: "/", help: "search in the log", act: () => box.current?.focus() },
        { keys: "n", help: "next match", act: () => search(1) },
        { keys: "N", help: "match before", act: () => search(-1) },
        { keys: "e", help: "error line before", act: () => toError(-1) },
        { keys: "E", help: "next error line", act: () => toError(1) },
        { keys: "f", help: "to the end, and follow it", act: () => void toEnd() },
        { keys: "w", help: "wrap long lines", act: () => setWrap(!wrap) },
        { keys: "b", help: "to the beginning", act: () => void toStart() },
    ]);
    const book = source?.book;
    const attempts = Array.from({ length: Math.max(trial.attempts, 1) }, (_, i) => String(i + 1));
    const newest = attempts[attempts.length - 1]!;
    const download = fileAddress(trial.trial, `${attempt || newest}/${stream}`);
    return (
        <section class="log" aria-label="Log">
            <div class="toolbar">
                <Select label="Stream" hideLabel value={stream} options={["stdout", "stderr"]} onChange={setStream} />
                {attempts.length > 1 && (
                    <Select label="Attempt" value={attempt ? String(attempt) : newest} options={attempts} onChange={(n) => setAttempt(n === newest ? 0 : Number(n))} />
                )}
                <div class="log-search" role="search">
                    <input ref={box} type="search" aria-label="Search in the log" placeholder="search …" value={query} spellcheck={false} autocomplete="off"
                        onInput={(e) => (setAt(-1), setQuery((e.target as HTMLInputElement).value))}
                        onKeyDown={(e) => {
                            if (e.key === "Enter") search(e.shiftKey ? 1 : -1);
                            if (e.key === "Escape") box.current?.blur();
                        }} />
                    <Button icon="up" label="Match before (Enter)" disabled={!query || busy} onClick={() => search(-1)} />
                    <Button icon="down" label="Next match (Shift+Enter)" disabled={!query || busy} onClick={() => search(1)} />
                </div>
                <Button disabled={busy} onClick={() => toError(-1)}>Jump to error</Button>
                {book && book.count > 60 && <><Button onClick={() => void toStart()}>Beginning</Button><Button onClick={() => void toEnd()}>End</Button></>}
                <Check label="Wrap" value={wrap} onChange={setWrap} />
                {running && <Check label="Follow" value={follow} onChange={(yes) => (yes ? void toEnd() : setFollow(false))} />}
                <span class="grow" />
                <span class="dim" role="status">{said || (source?.opened ? formatBytes(source.size) : "")}</span>
                <a class="button" href={download} download={`${trial.trial}.${stream}.txt`}>Download</a>
            </div>
            {source?.error && !source.opened ? <Failure error={source.error} retry={() => void source.toEnd()} />
                : book && source.opened && book.count === 0 ? <Empty title={running ? `Nothing on ${stream} yet` : `Nothing was printed on ${stream}`} />
                : book && source.opened ? (
                    <>
                        {!source.atStart && <p class="dim log-more">{formatBytes(book.from)} before; scroll up for older lines</p>}
                        <Lines count={book.count} shifted={book.shifted} text={book.openings} label={`${stream} of trial ${trial.trial}`} live={running} handle={lines}
                            height={running ? TALL : undefined} tallest={TALL} wrap={wrap ? (i) => book.text(i) : undefined}
                            lineClass={(i) => (i - book.shifted === at ? "found" : isErrorLine(book.text(i)) ? "error" : "")}
                            line={(i) => marked(book.line(i), query)}
                            onScroll={(start, end) => {
                                if (start && !source.atStart && !busy) void source.older();
                                if (end && !source.atEnd) void source.newer();
                                if (follow && !end) setFollow(false);
                            }} />
                    </>
                ) : opening}
        </section>
    );
}
