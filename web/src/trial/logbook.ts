/* SPDX-License-Identifier: MIT */
/*
 * logbook.ts — the part of a log that is in memory: a window of whole lines over a file that may be
 * large and may grow.
 *
 * The end is loaded first; older parts are put before it as one scrolls up, newer ones after it as
 * the program writes. A window larger than WINDOW_MAX lets go of its other end, which is loaded
 * again when one comes back. Lines are kept in chunks that begin behind a newline, so either end
 * can be dropped and fetched anew. What the cap on output has dropped is one line that says so.
 * Invariant: chunks are adjacent: chunk[i].to === chunk[i+1].from.
 */
import { formatBytes } from "../format.ts";
import { type Span, Terminal, lineText } from "./ansi.ts";

export const CHUNK_MAX = 128 * 1024; /* bytes of a chunk before the next begins */
export const WINDOW_MAX = 24 * 1024 * 1024;
const LINES_MAX = 500_000; /* browsers draw nothing taller than some millions of pixels */

interface Chunk {
    from: number;
    to: number;
    terminal: Terminal;
    decoder: TextDecoder;
}

const NEWLINE = 10;

export class Logbook {
    private chunks: Chunk[] = [];
    private starts: number[] = []; /* line number at which a chunk begins, within the window */
    /* How many lines went before the window's first since it was opened; keeps places stable. */
    shifted = 0;
    openings = 0; /* how often it began anew */

    constructor(private readonly windowMax = WINDOW_MAX, private readonly chunkMax = CHUNK_MAX) {}

    get from(): number { return this.chunks[0]?.from ?? 0; }
    get to(): number { return this.chunks[this.chunks.length - 1]?.to ?? 0; }
    get empty(): boolean { return this.chunks.length === 0; }

    get count(): number {
        const last = this.chunks.length - 1;
        return last < 0 ? 0 : this.starts[last]! + linesOf(this.chunks[last]!);
    }

    line(i: number): Span[] {
        let low = 0, high = this.chunks.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.starts[middle]! <= i) low = middle;
            else high = middle - 1;
        }
        return this.chunks[low]?.terminal.lines[i - (this.starts[low] ?? 0)] ?? [];
    }

    text(i: number): string { return lineText(this.line(i)); }

    /* Forget everything and begin at this byte: a line begins there, or `atLineStart` is false and
     * what comes before the first newline is skipped. */
    open(bytes: Uint8Array, from: number, atLineStart: boolean): void {
        const skip = atLineStart ? 0 : bytes.indexOf(NEWLINE) + 1;
        this.chunks = [fresh(from + skip)];
        this.shifted = 0;
        this.openings++;
        this.add(bytes.subarray(skip));
        this.number();
    }

    /* Bytes that follow the window. Returns how many lines were let go at its beginning. */
    append(bytes: Uint8Array): number {
        if (this.empty) this.chunks = [fresh(0)];
        this.add(bytes);
        let gone = 0;
        while (this.chunks.length > 1 && this.tooLarge) gone += linesOf(this.chunks.shift()!);
        this.shifted -= gone;
        this.number();
        return gone;
    }

    /* Bytes that go before the window and end at its beginning. Returns how many lines came in front,
     * 0 if the bytes hold no whole line (ask for more of them at once). */
    prepend(bytes: Uint8Array, from: number, atLineStart = from === 0): number {
        const skip = atLineStart ? 0 : bytes.indexOf(NEWLINE) + 1;
        if (skip === 0 && !atLineStart) return 0;
        const part = new Logbook(Infinity, this.chunkMax);
        part.open(bytes.subarray(skip), from + skip, true);
        return this.putBefore(part.chunks.filter((chunk) => chunk.to > chunk.from));
    }

    /* The bytes from the window's end to `to`, or from `from` to its beginning, are not there any more. */
    dropAfter(to: number): void {
        this.chunks.push(dropped(this.to, to), fresh(to));
        this.number();
    }
    dropBefore(from: number): number {
        return this.putBefore([dropped(from, this.from)]);
    }

    private putBefore(older: Chunk[]): number {
        this.chunks = [...older, ...this.chunks];
        while (this.chunks.length > older.length + 1 && this.tooLarge) this.chunks.pop();
        this.number();
        const added = older.length < this.chunks.length ? this.starts[older.length]! : this.count;
        this.shifted += added;
        return added;
    }

    private get tooLarge(): boolean {
        return this.to - this.from > this.windowMax || this.chunks.reduce((n, chunk) => n + linesOf(chunk), 0) > LINES_MAX;
    }

    private add(bytes: Uint8Array): void {
        for (let rest = bytes; rest.length;) {
            const chunk = this.chunks[this.chunks.length - 1]!;
            const cut = chunkEnd(rest, chunk.to - chunk.from, this.chunkMax);
            chunk.terminal.write(chunk.decoder.decode(rest.subarray(0, cut), { stream: true }));
            chunk.to += cut;
            rest = rest.subarray(cut);
            if (chunk.to - chunk.from >= this.chunkMax && bytes[bytes.length - rest.length - 1] === NEWLINE)
                this.chunks.push(fresh(chunk.to));
        }
    }

    private number(): void {
        let n = 0;
        this.starts = this.chunks.map((chunk) => {
            const at = n;
            n += linesOf(chunk);
            return at;
        });
    }
}

function fresh(from: number): Chunk {
    return { from, to: from, terminal: new Terminal(), decoder: new TextDecoder() };
}

/* A hole in the file, as a line. */
function dropped(from: number, to: number): Chunk {
    const chunk = fresh(from);
    chunk.to = to;
    chunk.terminal.write(`\x1b[2m… ${formatBytes(to - from)} of output were dropped here (limits.output) …\x1b[0m\n`);
    return chunk;
}

/* A chunk's last line counts once something is in it. */
function linesOf(chunk: Chunk): number {
    return chunk.terminal.lines.length - (chunk.terminal.open ? 0 : 1);
}

/* How many of the bytes still belong to a chunk that has `have`: to the first newline beyond its size. */
function chunkEnd(bytes: Uint8Array, have: number, max: number): number {
    const at = bytes.indexOf(NEWLINE, Math.max(0, max - have - 1));
    return at < 0 ? bytes.length : at + 1;
}
