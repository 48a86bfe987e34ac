/* SPDX-License-Identifier: MIT */
/*
 * canvas.ts — a canvas that is as large as its place, sharp on every screen, and drawn anew when its
 * size, the theme or what it shows changes.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useStore } from "../store.ts";
import { theme } from "../theme.ts";

export interface Size {
    width: number; /* CSS pixels */
    height: number;
}

/* `draw` may return how to stop a drawing that goes on over several frames. */
export function useCanvas(height: number, draw: (ctx: CanvasRenderingContext2D, size: Size) => void | (() => void), inputs: readonly unknown[]) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, setWidth] = useState(0);
    const shade = useStore(theme);
    useEffect(() => {
        const place = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() => setWidth(place.clientWidth));
        observer.observe(place);
        setWidth(place.clientWidth);
        return () => observer.disconnect();
    }, []);
    useEffect(() => {
        const el = canvas.current;
        if (!el || width <= 0) return;
        const ratio = devicePixelRatio || 1;
        el.width = Math.round(width * ratio);
        el.height = Math.round(height * ratio);
        el.style.width = `${width}px`;
        el.style.height = `${height}px`;
        const ctx = el.getContext("2d")!;
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        const stop = draw(ctx, { width, height });
        return () => stop?.();
    }, [width, height, shade, ...inputs]);
    return { canvas, width };
}

/* Where a pointer is within an element, in CSS pixels. */
export function pointerAt(event: PointerEvent | MouseEvent): { x: number; y: number } {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
}
