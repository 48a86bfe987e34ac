/* SPDX-License-Identifier: MIT */
/*
 * about_words.ts — a spec in words: the lines that one looks for first, a parameter's range, and all
 * of it as YAML. Pure.
 */
import { formatValue } from "../format.ts";
import type { Objective, ParamSpec } from "../types.ts";

type Spec = Record<string, unknown>;
const isObject = (value: unknown): value is Spec => typeof value === "object" && value !== null && !Array.isArray(value);

/* As one would type it in a shell. */
function quoted(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/* "float from 0.1 to 1, log", "a, b" */
export function rangeWords(param: unknown): string {
    if (Array.isArray(param)) return param.map(formatValue).join(", ");
    if (!isObject(param)) return formatValue(param);
    const p = param as ParamSpec & { step?: number };
    const values = p.values ?? p.choices;
    if (values) return values.map(formatValue).join(", ");
    const words = [`${p.type ?? "float"} from ${formatValue(p.min)} to ${formatValue(p.max)}`, p.scale === "linear" ? "" : (p.scale ?? ""), p.step === undefined ? "" : `in steps of ${formatValue(p.step)}`];
    return words.filter((w) => w !== "").join(", ");
}

function objectiveWords(o: Objective & { target?: number }): string {
    return `${o.goal} ${o.metric}${typeof o.target === "number" ? ` until ${formatValue(o.target)}` : ""}`;
}

/* "algorithm random, trials 20": what has a value. */
function pairs(part: unknown): string {
    if (!isObject(part)) return "";
    const said = Object.entries(part).filter(([, v]) => v !== null && v !== "none" && v !== "never" && !(Array.isArray(v) && v.length === 0));
    return said.map(([name, v]) => `${name.replaceAll("_", " ")} ${formatValue(v)}`).join(", ");
}

/* What `hone show` tells of an experiment, line by line; what is not there has none. */
export function specWords(spec: Spec): [string, string][] {
    const command = Array.isArray(spec.command) ? spec.command.map((w) => quoted(String(w))).join(" ") : formatValue(spec.command ?? null);
    const goals = (Array.isArray(spec.objective) ? spec.objective : [spec.objective]).filter((o): o is Objective => isObject(o) && typeof o.metric === "string");
    const lines: [string, string][] = [
        ["description", typeof spec.description === "string" ? spec.description : ""],
        ["command", command === "–" || command === "" ? "none: it was imported, or is told from elsewhere" : command],
        ["folder", typeof spec.dir === "string" ? spec.dir : ""],
        ["file", typeof spec.file === "string" ? spec.file : ""],
        ["objective", goals.map(objectiveWords).join("; ")],
        ["search", pairs(spec.search)],
        ["limits", pairs(spec.limits)],
        ["resources", pairs(spec.resources)],
        ["until", pairs(spec.until)],
    ];
    return lines.filter(([, words]) => words !== "");
}

/* A word that YAML would not read as itself is quoted as JSON is, which YAML reads too. */
function scalar(value: unknown): string {
    if (typeof value !== "string") return JSON.stringify(value) ?? "null";
    const isPlain = /^[A-Za-z_/.~][\w ./+@-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|~)$/i.test(value) && !value.endsWith(" ");
    return isPlain ? value : JSON.stringify(value);
}

const isFlat = (value: unknown): boolean => !isObject(value) && !(Array.isArray(value) && value.some((v) => typeof v === "object" && v !== null));

function short(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(scalar).join(", ")}]`;
    return scalar(value);
}

export function yamlOf(value: unknown, indent = ""): string {
    if (isFlat(value)) return short(value);
    const lines = Array.isArray(value)
        ? value.map((v) => `${indent}- ${yamlOf(v, `${indent}  `).trimStart()}`)
        : Object.entries(value as Spec).map(([name, v]) => {
              if (isObject(v) && Object.keys(v).length === 0) return `${indent}${scalar(name)}: {}`;
              return isFlat(v) ? `${indent}${scalar(name)}: ${short(v)}` : `${indent}${scalar(name)}:\n${yamlOf(v, `${indent}  `)}`;
          });
    return lines.join("\n");
}
