/* SPDX-License-Identifier: MIT */
/*
 * theme.ts — dark, light, or as the system says; and the colours of lines.
 *
 * style.css has every colour once, with light-dark(). Canvas needs plain ones: colourOf() resolves a
 * variable; charts draw anew when `theme` tells that they changed.
 */
import { Store } from "./store.ts";

export type Choice = "system" | "light" | "dark";
const key = "hone.theme";

function stored(): Choice {
    const t = localStorage.getItem(key);
    return t === "light" || t === "dark" ? t : "system";
}

export const choice = new Store<Choice>("system");
/* Which one is shown now. */
export const theme = new Store<"light" | "dark">("light");

const resolved = new Map<string, string>();

function apply(): void {
    const c = choice.get();
    if (c === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = c;
    resolved.clear();
    const dark = c === "dark" || (c === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    theme.set(dark ? "dark" : "light");
}

export function startTheme(): void {
    choice.set(stored());
    apply();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
    choice.subscribe((c) => {
        localStorage.setItem(key, c);
        apply();
    });
}

/* A variable of style.css ("--line") as a colour that canvas understands. */
export function colourOf(name: string): string {
    let colour = resolved.get(name);
    if (colour === undefined) {
        const probe = document.createElement("span");
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        colour = getComputedStyle(probe).color;
        probe.remove();
        resolved.set(name, colour);
    }
    return colour;
}

/* Twelve colours that differ for colour-blind eyes too (after Okabe and Ito, and Tol), a little
 * darker on white and lighter on black. */
const lines = {
    light: ["#0072b2", "#d55e00", "#00805c", "#b2417f", "#8a6d00", "#4a3aa7", "#2a93b8", "#a3341f", "#5b8a00", "#7a4ea0", "#5f6b7a", "#c2185b"],
    dark: ["#56a9e8", "#ff8f3f", "#2fc49a", "#e78ac3", "#e6c84a", "#a99bff", "#6fd3f2", "#ff7b66", "#a8d84e", "#c9a0f0", "#a7b2c2", "#ff6fa5"],
};

export const lineColours = lines.light.length;

/* The colour of a trial, of a group: the same wherever it is shown. */
export function lineColour(index: number): string {
    const all = lines[theme.get()];
    return all[((Math.trunc(index) % all.length) + all.length) % all.length] as string;
}

/* A sequential scale for 0 … 1 (viridis, by a few stops): cells, points by value. */
const stops: [number, number, number][] = [
    [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
    [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
];
export function scaleColour(share: number, alpha = 1): string {
    const at = Math.min(1, Math.max(0, Number.isNaN(share) ? 0 : share)) * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(at));
    const [a, b] = [stops[i]!, stops[i + 1]!];
    const mix = a.map((v, k) => Math.round(v + (b[k]! - v) * (at - i)));
    return `rgb(${mix.join(" ")} / ${alpha})`;
}
