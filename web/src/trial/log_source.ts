/* SPDX-License-Identifier: MIT */
/*
 * log_source.ts — reads one stream of one attempt from the server into a Logbook: its end first,
 * older parts on demand, newer ones as it grows. One request at a time; what was asked for meanwhile
 * is done after it.
 *
 * The cap on output punches a hole into a long file. An answer begins behind the hole and ends before
 * the next one; where the hole began is found by bisection when one comes to it from behind.
 */
import { ApiError, getBytes } from "../api.ts";
import { findLine } from "./errors.ts";
import { Logbook } from "./logbook.ts";

export type Stream = "stdout" | "stderr";

export const PART = 64 * 1024, PART_MAX = 1024 * 1024;
export const otherOf = (stream: Stream): Stream => (stream === "stdout" ? "stderr" : "stdout");

async function hasText(trial: string, stream: Stream, attempt: number | null, signal: AbortSignal): Promise<boolean> {
    const { headers } = await getBytes(`/v1/trials/${encodeURIComponent(trial)}/logs`, { stream, attempt, from: "0", limit: 1 }, signal);
    return Number(headers.get("X-Hone-Size") ?? 0) > 0;
}

/* `first`, unless only the other stream has text. */
export async function streamWithText(trial: string, first: Stream, attempt: number | null, signal: AbortSignal): Promise<Stream> {
    if (await hasText(trial, first, attempt, signal)) return first;
    return (await hasText(trial, otherOf(first), attempt, signal)) ? otherOf(first) : first;
}

const BLOCK = 4096; /* holes begin and end at multiples of it */

export class LogSource {
    readonly book = new Logbook();
    size = 0; /* of the whole file, when it was last looked at */
    error: ApiError | null = null;
    opened = false;
    private turn: Promise<void> = Promise.resolve();
    private readonly abort = new AbortController();

    constructor(readonly trial: string, readonly stream: Stream, readonly attempt: number | null, private readonly onChange: () => void) {
        void this.queue(() => this.open());
    }

    close(): void {
        this.abort.abort();
    }

    get atStart(): boolean {
        return this.book.from === 0;
    }
    get atEnd(): boolean {
        return this.book.to >= this.size;
    }

    /* Older lines in front; resolves to whether there were any. A search asks for more at once. */
    async older(part = PART): Promise<boolean> {
        const before = this.book.from;
        await this.queue(() => this.readOlder(part));
        return this.book.from < before;
    }

    /* What was written since, or what the window let go of. */
    async newer(): Promise<boolean> {
        const before = this.book.to;
        await this.queue(() => this.readNewer());
        return this.book.to > before;
    }

    /* Back to the end, wherever the window is. */
    async toEnd(): Promise<void> {
        if (!this.opened || this.size - this.book.to > PART_MAX) await this.queue(() => this.open());
        else while (!this.atEnd && (await this.newer()));
    }

    /* To the first line, without what lies between. */
    toStart(): Promise<void> {
        return this.queue(async () => {
            const { bytes } = await this.read(0, PART);
            this.book.open(bytes, 0, true);
            this.opened = true;
        });
    }

    private queue(act: () => Promise<void>): Promise<void> {
        this.turn = this.turn.then(async () => {
            if (this.abort.signal.aborted) return;
            try {
                await act();
                this.error = null;
            } catch (error) {
                if (this.abort.signal.aborted) return;
                this.error = error instanceof ApiError ? error : new ApiError(String(error), 0, "internal");
            }
            this.onChange();
        });
        return this.turn;
    }

    private async read(from: number, limit: number): Promise<{ bytes: Uint8Array; from: number }> {
        const query = { stream: this.stream, attempt: this.attempt, from: String(from), limit };
        const { bytes, headers } = await getBytes(`/v1/trials/${encodeURIComponent(this.trial)}/logs`, query, this.abort.signal);
        this.size = Number(headers.get("X-Hone-Size") ?? bytes.byteLength);
        return { bytes: new Uint8Array(bytes), from: Number(headers.get("X-Hone-From") ?? Math.max(0, from)) };
    }

    private async open(): Promise<void> {
        const { bytes, from } = await this.read(-PART, PART);
        this.book.open(bytes, from, from === 0);
        this.opened = true;
    }

    private async readNewer(): Promise<void> {
        const at = this.book.to;
        const { bytes, from } = await this.read(at, 4 * PART);
        if (this.size < at) return this.open(); /* begun anew */
        const begin = bytes.length ? from : this.size;
        if (begin > at) this.book.dropAfter(begin);
        if (bytes.length) this.book.append(bytes);
    }

    /* A part without a whole line is asked for again, larger. */
    private async readOlder(least: number): Promise<void> {
        const end = this.book.from;
        for (let part = least; end > 0 && part <= PART_MAX; part *= 4) {
            const from = Math.max(0, end - part);
            if (await this.readBefore(from, end)) return;
        }
        if (end > 0 && this.book.from === end) await this.readBefore(Math.max(0, end - PART_MAX), end, true);
    }

    /* The bytes of [from, end) in front of the window; false: no whole line among them. */
    private async readBefore(from: number, end: number, anywhere = false): Promise<boolean> {
        const { bytes, from: begin } = await this.read(from, end - from);
        const stop = Math.min(begin + bytes.length, end);
        if (bytes.length === 0 || begin >= end) {
            this.book.dropBefore(await this.holeBefore(from));
            return true;
        }
        if (stop < end) { /* a hole between these bytes and the window: that first, the bytes the next time */
            this.book.dropBefore(stop);
            return true;
        }
        return this.book.prepend(bytes.subarray(0, stop - begin), begin, anywhere || begin === 0 || begin > from) > 0;
    }

    /* Where the hole began that `at` lies in. */
    private async holeBefore(at: number): Promise<number> {
        let data = -1, hole = Math.floor(at / BLOCK);
        while (hole - data > 1) {
            const middle = Math.floor((data + hole) / 2);
            if ((await this.read(middle * BLOCK, 1)).from > middle * BLOCK) hole = middle;
            else data = middle;
        }
        return Math.min(hole * BLOCK, at);
    }
}

/* The first line from `from` (exclusive) on in a direction that `matches`; what is not loaded is fetched. -1: none. */
export async function seek(source: LogSource, from: number, direction: 1 | -1, matches: (line: string) => boolean): Promise<number> {
    const book = source.book;
    const look = (begin: number) => findLine(book.count, (i) => book.text(i), begin, direction, matches);
    let found = look(from);
    while (found < 0 && (direction < 0 ? !source.atStart : !source.atEnd)) {
        const count = book.count, before = book.shifted;
        if (!(await (direction < 0 ? source.older(PART_MAX) : source.newer()))) break;
        found = look(direction < 0 ? book.shifted - before : count + (book.shifted - before) - 1);
    }
    return found;
}
