/* SPDX-License-Identifier: MIT */
/*
 * keys.ts — the keyboard. A part of the page says which keys it has and what they do; "?" lists all
 * that are in force. A key may be a sequence ("g e"). While somebody writes, keys are letters.
 */
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Key {
    keys: string; /* "j", "/", "g e", "Shift+X" as event.key gives it */
    help: string;
    act: (event: KeyboardEvent) => void;
    hidden?: boolean; /* another key for the same: not listed */
}

const groups: { title: string; keys: () => Key[] }[] = [];
let begun = "";
let timer: ReturnType<typeof setTimeout> | undefined;

function isWriting(target: EventTarget | null): boolean {
    const el = target as HTMLElement | null;
    if (!el?.matches) return false;
    return el.matches("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])");
}

function find(words: string): Key | undefined {
    for (let i = groups.length - 1; i >= 0; i--) {
        const found = groups[i]!.keys().find((k) => k.keys === words);
        if (found) return found;
    }
    return undefined;
}

const begins = (words: string) => groups.some((g) => g.keys().some((k) => k.keys.startsWith(`${words} `)));

function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isWriting(event.target)) return;
    if (document.querySelector("dialog[open]") || event.key === "Shift") return;
    const words = begun ? `${begun} ${event.key}` : event.key;
    clearTimeout(timer);
    begun = "";
    const key = find(words);
    if (key) {
        if ((event.key === "Enter" || event.key === " ") && (event.target as HTMLElement).matches?.("a, button, input")) return;
        event.preventDefault();
        key.act(event);
    } else if (begins(words)) {
        begun = words;
        timer = setTimeout(() => (begun = ""), 1500);
    }
}

export function startKeys(): void {
    document.addEventListener("keydown", onKey);
}

/* These keys are in force while the part is on the page; later parts win over earlier ones. */
export function useKeys(title: string, keys: Key[]): void {
    const latest = useRef(keys);
    latest.current = keys;
    useLayoutEffect(() => {
        const group = { title, keys: () => latest.current };
        groups.push(group);
        return () => void groups.splice(groups.indexOf(group), 1);
    }, [title]);
}

export function keyHelp(): { title: string; keys: Key[] }[] {
    return groups.map((g) => ({ title: g.title, keys: g.keys().filter((k) => !k.hidden) })).filter((g) => g.keys.length > 0);
}
