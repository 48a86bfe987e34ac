/* SPDX-License-Identifier: MIT */
/*
 * ansi.ts — what a program printed, as lines of coloured spans: a small terminal.
 *
 * Programs colour their words and draw progress bars by going back in the line (\r, \b, CSI K,
 * CSI G) or up a few lines (CSI A, as nested bars do). The terminal has no width: a line is as
 * long as it was written, up to LINE_MAX. Colours beyond the sixteen become the nearest of them,
 * which the style sheet draws readably in both themes. Unknown sequences are left out.
 * Invariant: spans of a line are not empty, and neighbours differ in style.
 */

/* Class names such as "a1 ab" (foreground red, bold); "" is plain. */
export interface Span {
    text: string;
    style: string;
}

export const LINE_MAX = 20_000; /* characters of a line that are kept */

interface Pen {
    fg: number; /* 0…15, -1: none */
    bg: number;
    bold: boolean;
    dim: boolean;
    italic: boolean;
    underline: boolean;
    inverse: boolean;
}

const PLAIN: Pen = {
    fg: -1, bg: -1, bold: false, dim: false, italic: false, underline: false, inverse: false,
};

/* The sixteen colours as the eye knows them, to find the nearest. */
const SIXTEEN = [
    [0, 0, 0], [187, 0, 0], [0, 170, 0], [170, 130, 0], [0, 60, 200], [170, 0, 170], [0, 160, 160], [190, 190, 190],
    [110, 110, 110], [255, 85, 85], [85, 255, 85], [255, 255, 85], [95, 135, 255], [255, 85, 255], [85, 255, 255], [255, 255, 255],
] as const;

function nearest(r: number, g: number, b: number): number {
    let best = 7, least = Infinity;
    SIXTEEN.forEach(([x, y, z], i) => {
        const distance = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
        if (distance < least) [best, least] = [i, distance];
    });
    return best;
}

/* A colour of the 256: sixteen, a cube of 6×6×6, 24 greys. */
function of256(n: number): number {
    if (n < 16) return n;
    if (n >= 232) return nearest(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
    const level = (i: number) => (i ? 55 + 40 * i : 0);
    const cube = n - 16;
    return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function className(pen: Pen): string {
    const [fg, bg] = pen.inverse ? [pen.bg < 0 ? 16 : pen.bg, pen.fg < 0 ? 16 : pen.fg] : [pen.fg, pen.bg];
    const names: string[] = [];
    if (fg >= 0) names.push(fg === 16 ? "a-inv" : `a${fg}`);
    if (bg >= 0) names.push(bg === 16 ? "g-inv" : `g${bg}`);
    if (pen.bold) names.push("ab");
    if (pen.dim) names.push("ad");
    if (pen.italic) names.push("ai");
    if (pen.underline) names.push("au");
    return names.join(" ");
}

/* The colour behind 38 or 48, and how many numbers it took. */
function extended(codes: number[], i: number): [number, number] {
    if (codes[i + 1] === 5) return [of256(Math.min(codes[i + 2] ?? 7, 255)), 2];
    if (codes[i + 1] === 2) return [nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0), 4];
    return [-1, 0];
}

function select(pen: Pen, codes: number[]): Pen {
    let next = { ...pen };
    for (let i = 0; i < codes.length; i++) {
        const code = codes[i] ?? 0;
        if (code === 0) next = { ...PLAIN };
        else if (code === 1) next.bold = true;
        else if (code === 2) next.dim = true;
        else if (code === 3) next.italic = true;
        else if (code === 4) next.underline = true;
        else if (code === 7) next.inverse = true;
        else if (code === 22) next.bold = next.dim = false;
        else if (code === 23) next.italic = false;
        else if (code === 24) next.underline = false;
        else if (code === 27) next.inverse = false;
        else if (code >= 30 && code <= 37) next.fg = code - 30;
        else if (code >= 90 && code <= 97) next.fg = code - 82;
        else if (code >= 40 && code <= 47) next.bg = code - 40;
        else if (code >= 100 && code <= 107) next.bg = code - 92;
        else if (code === 39) next.fg = -1;
        else if (code === 49) next.bg = -1;
        else if (code === 38 || code === 48) {
            const [colour, taken] = extended(codes, i);
            if (code === 38) next.fg = colour;
            else next.bg = colour;
            i += taken;
        }
    }
    return next;
}

/* ---- a line ---- */

export function lineText(spans: readonly Span[]): string {
    return spans.length === 1 ? spans[0]!.text : spans.map((span) => span.text).join("");
}

function lineLength(spans: readonly Span[]): number {
    let n = 0;
    for (const span of spans) n += span.text.length;
    return n;
}

/* The spans between two columns. */
export function lineSlice(spans: readonly Span[], from: number, to: number): Span[] {
    const cut: Span[] = [];
    let at = 0;
    for (const { text, style } of spans) {
        const part = text.slice(Math.max(from - at, 0), Math.max(to - at, 0));
        if (part) cut.push({ text: part, style });
        at += text.length;
    }
    return cut;
}

function push(spans: Span[], span: Span): void {
    const last = spans[spans.length - 1];
    if (!span.text) return;
    if (last && last.style === span.style) spans[spans.length - 1] = { text: last.text + span.text, style: last.style };
    else spans.push(span);
}

/* The line with `text` written at `column`, over what was there. */
function overwrite(spans: Span[], column: number, span: Span): Span[] {
    const length = lineLength(spans), end = column + span.text.length;
    if (column === length) {
        push(spans, span);
        return spans;
    }
    const line = lineSlice(spans, 0, column);
    if (column > length) push(line, { text: " ".repeat(column - length), style: "" });
    push(line, span);
    for (const rest of lineSlice(spans, end, Infinity)) push(line, rest);
    return line;
}

/* ---- the terminal ---- */

/* One piece of output: text, a control sign, or an escape sequence. A sequence that is cut off at the
 * end stays in `rest` until more comes. Made of alternatives that never share a beginning: linear. */
const PIECE =
    /[^\x00-\x1f\x7f]+|\x1b\[([0-9;:?<=>!]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()#][0-9A-Za-z]|\x1b[0-Z\\^-~]|[\x00-\x1f\x7f]/g;
const UNFINISHED = /\x1b(?:\[[0-9;:?<=>! -/]*|\][^\x07\x1b]{0,4096}|[()#])?$/;

export class Terminal {
    lines: Span[][] = [[]];
    private row = 0;
    private column = 0;
    private pen: Pen = PLAIN;
    private style = "";
    private rest = "";

    write(text: string): void {
        const all = this.rest + text;
        const cut = UNFINISHED.exec(all);
        this.rest = cut ? cut[0] : "";
        const whole = cut ? all.slice(0, cut.index) : all;
        for (const piece of whole.matchAll(PIECE)) this.take(piece[0], piece[1], piece[2]);
    }

    /* Is the last line still being written? */
    get open(): boolean {
        return this.row < this.lines.length - 1 || this.column > 0 || (this.lines[this.row]?.length ?? 0) > 0;
    }

    private take(piece: string, numbers: string | undefined, final: string | undefined): void {
        if (final) this.control(final, numbers ?? "");
        else if (piece === "\n") this.feed();
        else if (piece === "\r") this.column = 0;
        else if (piece === "\b") this.column = Math.max(0, this.column - 1);
        else if (piece === "\t") this.put(" ".repeat(8 - (this.column % 8)));
        else if (piece.charCodeAt(0) >= 32) this.put(piece);
    }

    private feed(): void {
        this.row++;
        this.column = 0;
        if (this.row === this.lines.length) this.lines.push([]);
    }

    private put(text: string): void {
        const room = LINE_MAX - this.column;
        if (room <= 0) return;
        const part = text.length > room ? text.slice(0, room - 1) + "…" : text;
        this.lines[this.row] = overwrite(this.lines[this.row]!, this.column, { text: part, style: this.style });
        this.column += part.length;
    }

    private control(final: string, numbers: string): void {
        const codes = numbers.split(/[;:]/).map((text) => Number.parseInt(text, 10) || 0);
        const n = Math.min(Math.max(codes[0] ?? 0, 1), LINE_MAX);
        if (final === "m") {
            this.pen = select(this.pen, codes);
            this.style = className(this.pen);
        } else if (final === "K") this.erase(codes[0] ?? 0);
        else if (final === "A") this.row = Math.max(0, this.row - n);
        else if (final === "F") [this.row, this.column] = [Math.max(0, this.row - n), 0];
        else if (final === "B" || final === "E") this.down(n, final === "E");
        else if (final === "C") this.column = Math.min(LINE_MAX, this.column + n);
        else if (final === "D") this.column = Math.max(0, this.column - n);
        else if (final === "G") this.column = n - 1;
    }

    private down(n: number, home: boolean): void {
        this.row = Math.min(this.lines.length - 1, this.row + n);
        if (home) this.column = 0;
    }

    private erase(how: number): void {
        const line = this.lines[this.row]!;
        if (how === 0) this.lines[this.row] = lineSlice(line, 0, this.column);
        else if (how === 2) this.lines[this.row] = [];
        else if (how === 1) this.lines[this.row] = overwrite(line, 0, { text: " ".repeat(this.column), style: "" });
    }
}

/* Words without the codes of a terminal. In records of earlier versions an escape became "?". */
export function plainText(text: string): string {
    return text.replace(/\x1b\[[\d;?]*[A-Za-z]|\?\[\d[\d;]*m/g, "");
}

/* All of a text at once; a final newline begins no line. */
export function parseAnsi(text: string): Span[][] {
    const terminal = new Terminal();
    terminal.write(text);
    const lines = terminal.lines;
    return terminal.open ? lines : lines.slice(0, -1);
}
