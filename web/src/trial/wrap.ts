/* SPDX-License-Identifier: MIT */
/*
 * wrap.ts — where lines are when long ones go on below: how many rows each takes in a box of so many
 * columns, and which line is at a row. Pure.
 *
 * Rows are counted from the text (one font, breaks anywhere). A few characters are wider than one
 * thinks; what is on the screen is measured, and corrects the count.
 * Invariant: starts[i] is the row of line i, starts[count] the number of rows.
 */
const PLAIN = /^[\x20-\x7e]*$/;
const TAB = 8;

/* East Asian letters and pictures take two columns, marks on letters none. */
function columnsOfChar(c: number): number {
    if (c < 0x300) return c < 0x20 ? 0 : 1;
    if ((c >= 0x300 && c < 0x370) || c === 0x200b || c === 0x200d || (c >= 0xfe00 && c < 0xfe10)) return 0;
    return (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) || (c >= 0xff00 && c < 0xff61) || c >= 0x1f300 ? 2 : 1;
}

export function rowsOf(text: string, columns: number): number {
    if (PLAIN.test(text)) return Math.max(1, Math.ceil(text.length / columns));
    let row = 1, at = 0;
    for (const letter of text) {
        const wide = letter === "\t" ? TAB - (at % TAB) : columnsOfChar(letter.codePointAt(0)!);
        if (at + wide > columns && at > 0) {
            row++;
            at = 0;
        }
        at += wide;
    }
    return row;
}

export class Wrap {
    private starts = new Uint32Array(1);
    private shifted = 0;
    count = 0;

    constructor(private readonly columns: number, private readonly text: (line: number) => string) {}

    get rows(): number { return this.starts[this.count]!; }

    top(line: number): number { return this.starts[Math.max(0, Math.min(line, this.count))]!; }

    /* The line at a row; the last one for rows behind it. */
    at(row: number): number {
        let low = 0, high = Math.max(0, this.count - 1);
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.starts[middle]! <= row) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    /* There are so many lines now; `shifted` counts those that came in front. Only new ones are counted,
     * and the last of the old ones, which may have grown. */
    update(count: number, shifted: number): void {
        const moved = shifted - this.shifted, old = this.starts;
        if (moved !== 0 || count >= old.length) {
            this.starts = new Uint32Array(Math.max(count + 1, 2 * old.length));
            if (moved === 0) this.starts.set(old);
        }
        for (let i = moved === 0 ? Math.max(0, Math.min(this.count, count) - 1) : 0; i < count; i++) {
            const was = i - moved, isKnown = was >= 0 && was < this.count - 1;
            this.starts[i + 1] = this.starts[i]! + (isKnown ? old[was + 1]! - old[was]! : rowsOf(this.text(i), this.columns));
        }
        this.count = count;
        this.shifted = shifted;
    }

    /* A line was seen to take so many rows. True: that is news. */
    correct(line: number, rows: number): boolean {
        const wrong = rows - (this.top(line + 1) - this.top(line));
        if (line >= this.count || wrong === 0) return false;
        for (let i = line + 1; i <= this.count; i++) this.starts[i]! += wrong;
        return true;
    }
}
