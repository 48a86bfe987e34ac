/* SPDX-License-Identifier: MIT */
/*
 * reason.ts — why a trial was made, and why it was ended early, as sentences from the numbers that
 * are kept with it ("why" and "verdict" of a row). The words are those of `hone show`.
 */
export interface Why {
    why?: string;
    by?: string;
    seen?: number;
    mean?: number | null;
    deviation?: number | null;
}

export interface Verdict {
    rule?: string;
    step?: number | null;
    chance?: number | null;
    threshold?: number | null;
    rung?: number | null;
    mean?: number | null;
    deviation?: number | null;
}

const known = (x: number | null | undefined): x is number => typeof x === "number" && !Number.isNaN(x);

export function significant(x: number, digits = 6): string {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x > 0 ? "∞" : "−∞";
    if (x === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(x)));
    if (size < -5 || size >= Math.max(digits, 6)) return x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    return String(Number(x.toPrecision(digits)));
}

/* "0.9298 ± 0.0011": the deviation as half of a 95 % interval, the mean to its digits. */
export function interval(mean: number, deviation: number | null | undefined): string {
    const half = 1.96 * (deviation ?? Number.NaN);
    if (!Number.isFinite(half) || half <= 0 || half < Math.abs(mean) * 1e-12) return significant(mean);
    if (half >= 1e6 || half < 1e-10 || Math.abs(mean) >= 1e9) return `${significant(mean)} ± ${significant(half, 2)}`;
    const digits = Math.floor(Math.log10(half) + 0.0022);
    const decimals = digits >= 1 ? 0 : Math.min(1 - digits, 12);
    return `${mean.toFixed(decimals)} ± ${half.toFixed(decimals)}`;
}

export function chance(p: number): string {
    const percent = p * 100;
    return percent > 0 && percent < 0.01 ? "under 0.01 %" : `${significant(percent, 2)} %`;
}

function by(why: Why, verb: string): string {
    const seen = why.seen ?? 0;
    const after = seen > 0 ? ` after ${seen} result${seen === 1 ? "" : "s"}` : "";
    return `${verb} by ${why.by ?? "the search"}${after}`;
}

function expected(why: Why, joint: string): string {
    return known(why.mean) ? `${joint} expects ${interval(why.mean, why.deviation)} here` : "";
}

const KINDS: Record<string, (why: Why, repeatOf: string | null) => string> = {
    walk: () => "one of all settings, each in turn",
    draw: (why) => `spread over the space by ${why.by ?? "the search"}, whatever the results`,
    try: () => "from your try list",
    known: () => "among the best of an earlier experiment",
    model: (why) => `${by(why, "suggested")}${expected(why, ":")}, most promising of what is left`,
    near: (why) => `${by(why, "suggested")}: a neighbour of the best${expected(why, ",")}`,
    breed: (why) => `${by(why, "bred")}, from the better ones${expected(why, ",")}`,
    repeat: (_, of) => `a repeat${of ? ` of ${of}` : ""}: is that setting as good as it seems?`,
};

/* "suggested by bayes after 17 results: …"; null: nothing is kept. */
export function reasonMade(why: Why | null | undefined, repeatOf: string | null): string | null {
    const kind = why?.why;
    if (!why || !kind || !Object.hasOwn(KINDS, kind)) return null;
    return KINDS[kind]!(why, repeatOf);
}

function judged(verdict: Verdict): string {
    const { chance: p, threshold, rung } = verdict;
    if (known(p)) return `: chance to win ${chance(p)}${known(threshold) ? `, below ${chance(threshold)}` : ""}`;
    if (known(threshold)) return `: not better than ${significant(threshold)}`;
    return known(rung) ? `: not among the best at rung ${significant(rung)}` : "";
}

/* "stopped by curve at step 12: …"; null: no rule has judged it. */
export function reasonEnded(verdict: Verdict | null | undefined, state: string): string | null {
    if (!verdict?.rule) return null;
    const verb = state === "stopped" ? "stopped" : "paused";
    const at = known(verdict.step) ? ` at step ${verdict.step}` : "";
    const near = known(verdict.mean) ? `; it would have ended near ${interval(verdict.mean, verdict.deviation)}` : "";
    const later = state !== "stopped" && state !== "paused" ? "; it went on later" : "";
    return `${verb} by ${verdict.rule}${at}${judged(verdict)}${near}${later}`;
}

/* What the reason of a state means to people. */
const ENDINGS: Record<string, string> = {
    exit: "the program ended with an error",
    signal: "ended by a signal that Hone did not send",
    oom: "over its memory limit",
    timeout: "over its time limit",
    lost: "its keeper or machine is gone",
    spawn: "the program could not be started",
    no_metric: "ended without writing the objective metric",
    diverged: "a metric became NaN or infinite",
    pruned: "stopped early: worse than the others",
    target: "the objective reached its target",
    cancelled: "stopped by the user",
    by_hand: "stopped by hand",
    interrupted: "interrupted; goes on with hone resume",
    checkpoint: "checkpointed and asked to be started again",
    retry: "ended with an exit code that is to be retried",
    reconfigured: "starts again with another configuration",
    alert: "stopped by an alert",
    requeued: "ended by an alert, to start again",
};

export function ending(reason: string): string {
    return Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason]! : reason;
}
