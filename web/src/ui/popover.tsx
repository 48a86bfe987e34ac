/* SPDX-License-Identifier: MIT */
/*
 * popover.tsx — a button that opens a panel below it: choices of columns, of metrics. Closed by
 * Escape, by a press outside, or when the focus leaves it.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";

/* Keep it on the screen: below the button, moved left where it would stick out, above when there is
 * no room below. */
export function place(panel: HTMLElement, anchor: HTMLElement): void {
    const a = anchor.getBoundingClientRect();
    const p = panel.getBoundingClientRect();
    const left = Math.max(8, Math.min(a.left, innerWidth - p.width - 8));
    const below = a.bottom + 4;
    const top = below + p.height <= innerHeight - 8 || a.top < p.height + 12 ? below : a.top - p.height - 4;
    panel.style.left = `${left}px`;
    panel.style.top = `${Math.max(8, top)}px`;
    panel.style.maxHeight = `${Math.max(160, innerHeight - Math.max(8, top) - 8)}px`;
}

/* Close when pressed outside, Escape, scrolled away. Returns refs for anchor and panel. */
export function useDismiss(open: boolean, close: () => void) {
    const box = useRef<HTMLSpanElement>(null);
    useEffect(() => {
        if (!open) return;
        const onDown = (event: Event) => box.current?.contains(event.target as Node) || close();
        const onKey = (event: KeyboardEvent) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            close();
            box.current?.querySelector("button")?.focus();
        };
        document.addEventListener("pointerdown", onDown, true);
        document.addEventListener("keydown", onKey, true);
        return () => {
            document.removeEventListener("pointerdown", onDown, true);
            document.removeEventListener("keydown", onKey, true);
        };
    }, [open]);
    return box;
}

export function Popover({ button, label, children }: { button: ButtonProps; label: string; children: () => ComponentChildren }) {
    const [open, setOpen] = useState(false);
    const box = useDismiss(open, () => setOpen(false));
    const panel = useRef<HTMLDivElement>(null);
    const id = useId();
    useLayoutEffect(() => {
        if (!open || !panel.current || !box.current) return;
        place(panel.current, box.current);
        panel.current.querySelector<HTMLElement>("input, button, [tabindex]")?.focus();
    }, [open]);
    return (
        <span class="popover" ref={box}>
            <Button {...button} expanded={open} popup="dialog" onClick={() => setOpen(!open)} />
            {open && (
                <div class="panel" role="dialog" aria-label={label} id={id} ref={panel}>
                    {children()}
                </div>
            )}
        </span>
    );
}
