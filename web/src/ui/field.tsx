/* SPDX-License-Identifier: MIT */
/*
 * field.tsx — labelled inputs. A filter is sent when it rests or Enter is pressed; its error, a
 * sentence of the server, is shown below it and said by a screen reader.
 */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

export function Select<T extends string>({ label, value, options, onChange, hideLabel }: {
    label: string;
    value: T;
    options: readonly (T | { value: T; label: string })[];
    onChange: (value: T) => void;
    hideLabel?: boolean;
}) {
    return (
        <label class="field inline">
            <span class={hideLabel ? "sr" : ""}>{label}</span>
            <select value={value} onChange={(e) => onChange((e.target as HTMLSelectElement).value as T)}>
                {options.map((o) => {
                    const item = typeof o === "string" ? { value: o, label: o } : o;
                    return (
                        <option key={item.value} value={item.value}>
                            {item.label}
                        </option>
                    );
                })}
            </select>
        </label>
    );
}

export function Slider({ label, value, min, max, step, format, onChange }: {
    label: string;
    value: number;
    min: number;
    max: number;
    step: number;
    format?: (value: number) => string;
    onChange: (value: number) => void;
}) {
    const shown = format ? format(value) : String(value);
    return (
        <label class="field inline slider">
            <span>{label}</span>
            <input type="range" min={min} max={max} step={step} value={value} aria-valuetext={shown}
                onInput={(e) => onChange(Number((e.target as HTMLInputElement).value))} />
            <output>{shown}</output>
        </label>
    );
}

export function Check({ label, value, onChange }: { label: string; value: boolean; onChange: (value: boolean) => void }) {
    return (
        <label class="field inline check">
            <input type="checkbox" checked={value} onChange={(e) => onChange((e.target as HTMLInputElement).checked)} />
            <span>{label}</span>
        </label>
    );
}

/* A filter in the expression language. `id` lets "/" find it. */
export function Filter({ value, onChange, error, placeholder, label, busy }: {
    value: string;
    onChange: (value: string) => void;
    error?: string | null;
    placeholder: string;
    label: string;
    busy?: boolean;
}) {
    const [words, setWords] = useState(value);
    const timer = useRef(0);
    const id = useId();
    const sent = useRef(value); /* what comes back of it must not undo what was typed since */
    useEffect(() => {
        if (value !== sent.current) setWords((sent.current = value));
    }, [value]);
    useEffect(() => () => clearTimeout(timer.current), []);
    const send = (next: string, ms: number) => {
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => onChange((sent.current = next.trim())), ms);
    };
    return (
        <div class={`filter${error ? " wrong" : ""}${busy ? " busy" : ""}`} role="search">
            <Icon name="search" />
            <input type="search" aria-label={label} placeholder={placeholder} value={words} data-filter spellcheck={false} autocomplete="off"
                autocapitalize="off" aria-invalid={Boolean(error)} aria-describedby={error ? id : undefined}
                onInput={(e) => {
                    const next = (e.target as HTMLInputElement).value;
                    setWords(next);
                    send(next, next === "" ? 0 : 350);
                }}
                onKeyDown={(e) => {
                    if (e.key === "Enter") send(words, 0);
                    if (e.key === "Escape") (e.target as HTMLInputElement).blur();
                }} />
            {error && (
                <p id={id} class="filter-error" role="alert">
                    {error}
                </p>
            )}
        </div>
    );
}

/* A list to choose several of, with a box to find them in a long one. */
export function Picker({ label, options, chosen, onChange, extra }: {
    label: string;
    options: { value: string; label?: string; hint?: string }[];
    chosen: string[];
    onChange: (chosen: string[]) => void;
    extra?: (value: string) => preact.ComponentChildren;
}) {
    const [part, setPart] = useState("");
    const fits = options.filter((o) => (o.label ?? o.value).toLowerCase().includes(part.toLowerCase()));
    const toggle = (value: string) => onChange(chosen.includes(value) ? chosen.filter((c) => c !== value) : [...chosen, value]);
    return (
        <div class="picker" role="group" aria-label={label}>
            {options.length > 8 && (
                <input type="search" aria-label={`find in ${label}`} placeholder="find …" value={part}
                    onInput={(e) => setPart((e.target as HTMLInputElement).value)} />
            )}
            <ul>
                {fits.slice(0, 300).map((o) => (
                    <li key={o.value}>
                        <label>
                            <input type="checkbox" checked={chosen.includes(o.value)} onChange={() => toggle(o.value)} />
                            <span>{o.label ?? o.value}</span>
                            {o.hint && <small>{o.hint}</small>}
                        </label>
                        {extra?.(o.value)}
                    </li>
                ))}
            </ul>
            {fits.length === 0 && <p class="dim">nothing fits</p>}
            {fits.length > 300 && <p class="dim">{fits.length - 300} more: write a part of the name</p>}
        </div>
    );
}
