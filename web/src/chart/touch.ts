/* SPDX-License-Identifier: MIT */
/*
 * touch.ts — a chart under fingers: one moves the range, two make it wider or narrower, a double tap
 * shows everything. What is under a finger stays under it. Up and down still scrolls the page.
 *
 * The range follows at once from what is loaded (preview); when the last finger is lifted it is said
 * (done), and finer values may be fetched.
 */
export interface TouchView {
    range: () => [number, number];
    log?: () => boolean;
    preview: (range: [number, number]) => void;
    done: (range: [number, number] | null) => void; /* null: everything */
}

/* Where a finger went down and where it is, as shares of the width. */
export interface Finger {
    from: number;
    at: number;
}

const closest = 0.03; /* two fingers nearer than this count as this far apart */

/* The range in which each finger is over what it was over in `range`; of more than two the first two
 * count. */
export function dragged(range: [number, number], fingers: readonly Finger[], log: boolean): [number, number] {
    const [low, high] = log ? [Math.log(range[0]), Math.log(range[1])] : range;
    const [a, b] = fingers;
    if (!a) return range;
    const spread = (x: number, y: number) => (Math.abs(y - x) < closest ? Math.sign(y - x || 1) * closest : y - x);
    const grow = b ? spread(a.from, b.from) / spread(a.at, b.at) : 1;
    const width = (high - low) * Math.min(50, Math.max(0.001, Math.abs(grow)));
    const [from, at] = b ? [(a.from + b.from) / 2, (a.at + b.at) / 2] : [a.from, a.at];
    const first = low + from * (high - low) - at * width;
    return log ? [Math.exp(first), Math.exp(first + width)] : [first, first + width];
}

const tapPx = 24, tapMs = 350, movedPx = 6;

class Gesture {
    private readonly fingers = new Map<number, Finger>();
    private start: [number, number] = [0, 1];
    private now: [number, number] | null = null; /* null: nothing has moved yet */
    private tap = { time: -Infinity, x: 0, y: 0 };
    private queued = 0;

    constructor(
        private readonly el: HTMLElement,
        private readonly view: TouchView,
    ) {}

    down(event: PointerEvent): void {
        const at = this.shareOf(event);
        this.fingers.set(event.pointerId, { from: at, at });
        this.begin();
    }

    move(event: PointerEvent): void {
        const finger = this.fingers.get(event.pointerId);
        if (!finger) return;
        finger.at = this.shareOf(event);
        if (!this.now && Math.abs(finger.at - finger.from) * this.el.clientWidth < movedPx) return;
        this.now = dragged(this.start, [...this.fingers.values()], this.view.log?.() === true);
        if (!this.queued) this.queued = requestAnimationFrame(() => this.draw());
    }

    up(event: PointerEvent): void {
        if (!this.fingers.delete(event.pointerId)) return;
        if (this.fingers.size > 0) return this.begin();
        this.draw();
        if (this.now) this.view.done(this.now);
        else if (event.type === "pointerup") this.onTap(event);
        this.now = null;
    }

    /* One more or one less: from here on it is counted anew. */
    private begin(): void {
        this.start = this.now ?? this.view.range();
        for (const finger of this.fingers.values()) finger.from = finger.at;
    }

    private draw(): void {
        cancelAnimationFrame(this.queued);
        this.queued = 0;
        if (this.now) this.view.preview(this.now);
    }

    private onTap(event: PointerEvent): void {
        const { time, x, y } = this.tap;
        const again = event.timeStamp - time < tapMs && Math.hypot(event.clientX - x, event.clientY - y) < tapPx;
        this.tap = { time: again ? -Infinity : event.timeStamp, x: event.clientX, y: event.clientY };
        if (again) this.view.done(null);
    }

    private shareOf(event: PointerEvent): number {
        const box = this.el.getBoundingClientRect();
        return box.width > 0 ? (event.clientX - box.left) / box.width : 0;
    }
}

/* Follow the fingers on `el` as long as it is there. Returns how to stop. */
export function followTouch(el: HTMLElement, view: TouchView): () => void {
    const gesture = new Gesture(el, view);
    const on = (act: (event: PointerEvent) => void) => (event: PointerEvent) => event.pointerType === "touch" && act(event);
    const acts: [string, (event: PointerEvent) => unknown][] = [
        ["pointerdown", on((e) => gesture.down(e))], ["pointermove", on((e) => gesture.move(e))],
        ["pointerup", on((e) => gesture.up(e))], ["pointercancel", on((e) => gesture.up(e))],
    ];
    el.style.touchAction = "pan-y";
    for (const [name, act] of acts) el.addEventListener(name, act as EventListener);
    return () => acts.forEach(([name, act]) => el.removeEventListener(name, act as EventListener));
}
