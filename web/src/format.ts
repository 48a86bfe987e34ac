/* SPDX-License-Identifier: MIT */
/*
 * format.ts — numbers, times and sizes as people read them. Pure; the caller says what time it is.
 */

/* Four significant digits; powers of ten where zeros would have to be counted. */
export function formatNumber(told: number | string | null | undefined, digits = 4): string {
    if (told === null || told === undefined) return "–";
    const value = typeof told === "string" ? notFinite(told) : told;
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e9) return minus(String(value));
    if (size >= 1e6 || size < 1e-4) return minus(value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e"));
    return minus(String(Number(value.toPrecision(digits))));
}

/* What JSON has no number for comes as "nan", "inf" and "-inf". */
function notFinite(text: string): number {
    return text === "inf" ? Infinity : text === "-inf" ? -Infinity : NaN;
}

function minus(digits: string): string {
    return digits.replace(/-/g, "−");
}

/* A count: 12,345. */
export function formatCount(value: number | null | undefined): string {
    return value === null || value === undefined ? "–" : value.toLocaleString("en-US");
}

const two = (n: number) => String(n).padStart(2, "0");

/* Seconds: "0.42 s", "12 s", "3 m 05 s", "2 h 07 m", "4 d 03 h". */
export function formatSeconds(seconds: number | null | undefined): string {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
    if (seconds < 0) return `−${formatSeconds(-seconds)}`;
    if (seconds === 0) return "0 s";
    if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
    if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`;
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    const s = Math.round(seconds);
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} m`;
    return `${Math.floor(s / 86400)} d ${two(Math.floor(s / 3600) % 24)} h`;
}

const units = ["B", "KB", "MB", "GB", "TB", "PB"];

/* Bytes, powers of 1024. */
export function formatBytes(bytes: number | null | undefined): string {
    if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return "–";
    let unit = 0;
    while (Math.abs(bytes) >= 1024 && unit < units.length - 1) {
        bytes /= 1024;
        unit++;
    }
    return `${unit === 0 ? bytes : Number(bytes.toPrecision(3))} ${units[unit]}`;
}

/* How long ago: "just now", "5 m ago", "2 h ago", "3 d ago", then the date. */
export function formatAgo(iso: string | null | undefined, nowMs: number): string {
    const at = iso ? Date.parse(iso) : NaN;
    if (Number.isNaN(at)) return "–";
    const s = (nowMs - at) / 1000;
    if (s < 10) return "just now";
    if (s < 60) return `${Math.floor(s)} s ago`;
    if (s < 3600) return `${Math.floor(s / 60)} m ago`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
    if (s < 14 * 86400) return `${Math.floor(s / 86400)} d ago`;
    return formatDate(iso).slice(0, 10);
}

/* Local date and time: "2026-11-16 14:53:59". */
export function formatDate(iso: string | null | undefined): string {
    const at = iso ? new Date(iso) : null;
    if (!at || Number.isNaN(at.getTime())) return "–";
    return (
        `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
        `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
    );
}

/* Any value of a parameter or a cell. */
export function formatValue(value: unknown): string {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number") return formatNumber(value);
    if (typeof value === "boolean") return value ? "true" : "false";
    if (typeof value === "string") return value;
    return JSON.stringify(value);
}

/* "1 trial", "3 trials". */
export function formatPlural(count: number, noun: string): string {
    return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
