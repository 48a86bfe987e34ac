/* SPDX-License-Identifier: MIT */
/*
 * dialog.tsx — a modal dialog. The browser's <dialog> keeps the focus inside, closes on Escape, and
 * gives the focus back. confirm() and askText() are the two that everybody needs.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Store, useStore } from "../store.ts";
import { Button } from "./button.tsx";

export function Dialog({ title, children, onClose, wide }: { title: string; children: ComponentChildren; onClose: () => void; wide?: boolean }) {
    const dialog = useRef<HTMLDialogElement>(null);
    const id = useId();
    useEffect(() => {
        const el = dialog.current;
        el?.showModal();
        return () => el?.close();
    }, []);
    return (
        <dialog
            ref={dialog}
            class={wide ? "dialog wide" : "dialog"}
            aria-labelledby={id}
            onCancel={(e) => {
                e.preventDefault();
                onClose();
            }}
            onClick={(e) => e.target === dialog.current && onClose()}
        >
            <div class="dialog-body">
                <header>
                    <h2 id={id}>{title}</h2>
                    <Button icon="close" label="Close" kind="quiet" onClick={onClose} />
                </header>
                {children}
            </div>
        </dialog>
    );
}

interface Question {
    title: string;
    words: ComponentChildren;
    yes: string;
    danger?: boolean;
    text?: { label: string; value: string; long?: boolean };
    done: (answer: string | null) => void;
}
const question = new Store<Question | null>(null);

/* Resolves to whether it was confirmed. */
export function confirm(title: string, words: ComponentChildren, yes: string, danger = false): Promise<boolean> {
    return new Promise((resolve) => question.set({ title, words, yes, danger, done: (a) => resolve(a !== null) }));
}

/* Resolves to the text, or null when it was given up. */
export function askText(title: string, label: string, value: string, yes = "Save", long = false): Promise<string | null> {
    return new Promise((resolve) => question.set({ title, words: null, yes, text: { label, value, long }, done: resolve }));
}

function Ask({ q }: { q: Question }) {
    const [words, setWords] = useState(q.text?.value ?? "");
    const end = (answer: string | null) => {
        question.set(null);
        q.done(answer);
    };
    const onInput = (e: Event) => setWords((e.target as HTMLInputElement).value);
    return (
        <Dialog title={q.title} onClose={() => end(null)}>
            <form
                method="dialog"
                onSubmit={(e) => {
                    e.preventDefault();
                    end(words);
                }}
            >
                {q.words}
                {q.text && (
                    <label class="field">
                        <span>{q.text.label}</span>
                        {q.text.long ? <textarea rows={5} value={words} onInput={onInput} autofocus /> : <input value={words} onInput={onInput} autofocus />}
                    </label>
                )}
                <footer>
                    <Button onClick={() => end(null)}>Cancel</Button>
                    <Button submit kind={q.danger ? "danger" : "primary"}>
                        {q.yes}
                    </Button>
                </footer>
            </form>
        </Dialog>
    );
}

/* Where questions appear; once, in the shell. */
export function Questions() {
    const q = useStore(question);
    return q && <Ask key={q.title} q={q} />;
}
