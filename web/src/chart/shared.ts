/* SPDX-License-Identifier: MIT */
/*
 * shared.ts — a y axis that several charts share: each tells how far its own lines go, all show the
 * whole of it. What one tells never follows from what it was told, so this comes to rest.
 */
export type Range = [number, number];

export function union(a: Range | null, b: Range | null): Range | null {
    return a && b ? [Math.min(a[0], b[0]), Math.max(a[1], b[1])] : (a ?? b);
}

export class SharedAxis {
    private readonly charts = new Map<object, { own: Range | null; redraw: () => void }>();

    join(chart: object, redraw: () => void): void {
        this.charts.set(chart, { own: this.charts.get(chart)?.own ?? null, redraw });
    }
    leave(chart: object): void {
        this.charts.delete(chart);
    }
    whole(): Range | null {
        return [...this.charts.values()].reduce<Range | null>((all, c) => union(all, c.own), null);
    }
    /* Its lines go this far; the others are drawn anew if that changes the axis. */
    tell(chart: object, own: Range | null): void {
        const mine = this.charts.get(chart);
        if (!mine) return;
        const before = this.whole();
        mine.own = own;
        const now = this.whole();
        if (before?.[0] === now?.[0] && before?.[1] === now?.[1]) return;
        for (const [other, { redraw }] of this.charts) if (other !== chart) redraw();
    }
}
