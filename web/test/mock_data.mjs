/* SPDX-License-Identifier: MIT */
/*
 * mock_data.mjs — made experiments for mock.mjs. Everything follows from numbers: trial T of
 * experiment E always has the same parameters and the same curve.
 */
export const names = ["quadratic", "fashion-cnn", "big-sweep", "<img src=x onerror=alert(1)>", "resnet-lr", "empty"];

/* A number in 0 … 1 from some integers. */
export function chance(...seed) {
    let h = 2166136261;
    for (const s of seed) {
        h = Math.imul(h ^ s, 16777619);
        h ^= h >>> 13;
        h = Math.imul(h, 0x5bd1e995);
        h ^= h >>> 15;
    }
    return (h >>> 0) / 2 ** 32;
}

const round = (v, digits = 5) => Number(v.toPrecision(digits));
const begin = Date.UTC(2026, 10, 16, 8, 0, 0);
export const iso = (ms) => new Date(ms).toISOString().replace("Z", "000Z");

export function params(e, t) {
    return {
        lr: round(10 ** (-4 + 3 * chance(e, t, 1))),
        batch: [32, 64, 128, 256][Math.floor(4 * chance(e, t, 2))],
        optimizer: ["sgd", "adam", "adamw"][Math.floor(3 * chance(e, t, 3))],
        layers: 1 + Math.floor(4 * chance(e, t, 4)),
        bias: chance(e, t, 5) > 0.5,
    };
}

/* The loss at a step: falls to a floor that depends on the parameters. */
export function loss(e, t, step) {
    const p = params(e, t);
    const floor = 0.05 + 0.08 * Math.abs(Math.log10(p.lr) + 2.5) + (p.optimizer === "sgd" ? 0.05 : 0) + 0.05 * chance(e, t, 6);
    return floor + 2.2 * Math.exp(-step / (20 + 60 * chance(e, t, 7))) + 0.02 * (chance(e, t, 8, step) - 0.5);
}

export const steps = 200;
export const stateOf = (x, t) => {
    if (t > x.count - x.running) return "running";
    const r = chance(x.experiment, t, 9);
    return r < 0.03 ? "failed" : r < 0.25 ? "stopped" : "completed";
};

export function trialRow(x, t) {
    const e = x.experiment;
    const state = stateOf(x, t);
    const last = state === "running" ? x.step : state === "stopped" ? 30 + Math.floor(60 * chance(e, t, 10)) : steps;
    const started = begin + t * 1000;
    return {
        number: t, state, reason: state === "failed" ? "oom" : state === "stopped" ? "pruned" : "",
        value: state === "failed" ? null : round(loss(e, t, last)), best: state === "failed" ? null : round(loss(e, t, last) - 0.005),
        step: last, seconds: round(20 + 100 * chance(e, t, 11)), started: iso(started),
        ended: state === "running" ? null : iso(started + 60000), attempts: 1, starred: x.stars.has(t), tags: x.tags.get(t) ?? [], note: null,
        energy: round(50 * chance(e, t, 12)), repeat_of: null,
        "metrics.loss.last": round(loss(e, t, last)), "metrics.acc.last": round(1 - loss(e, t, last) / 3),
        ...Object.fromEntries(Object.entries(params(e, t)).map(([k, v]) => [`params.${k}`, v])),
    };
}

export function makeExperiments() {
    const counts = [30, 64, 100000, 12, 40, 0];
    return names.map((name, i) => ({
        experiment: i + 1, name, count: counts[i], running: i === 1 ? 4 : 0, step: 40, budget: counts[i] || 20,
        state: i === 1 ? "running" : i === 3 ? "failed" : i === 4 ? "stopped" : i === 5 ? "interrupted" : "finished",
        stars: new Set(), tags: new Map(), starred: i === 2, note: i === 4 ? "baseline of the paper" : null, labels: i === 4 ? ["paper", "baseline"] : [],
        paused: false, owner: ["ann", "bob"][i % 2], priority: 0, created: begin - i * 7200_000,
    }));
}

export function experimentRow(x) {
    const c = { queued: 0, running: 0, paused: 0, completed: 0, stopped: 0, failed: 0 };
    const seen = Math.min(x.count, 2000);
    for (let t = x.count - seen + 1; t <= x.count; t++) c[stateOf(x, t)]++;
    c.completed += x.count - seen;
    const best = x.count ? { trial: `${x.experiment}.7`, value: trialRow(x, 7).value, params: params(x.experiment, 7) } : null;
    return {
        experiment: x.experiment, number: x.experiment, name: x.name, trial: null, state: x.state, reason: x.state === "failed" ? "failures" : "",
        value: best?.value ?? null, params: best?.params ?? null, attempts: x.count, seconds: 3600, created: iso(x.created), started: iso(x.created),
        ended: x.state === "running" ? null : iso(x.created + 3600_000), trials: c, best,
        error: x.state === "failed" ? "5 trials failed in a row: exit 1" : null, starred: x.starred, tags: x.labels, note: x.note,
        owner: x.owner, priority: x.priority, paused: x.paused, objective: { metric: "loss", goal: "minimize" }, budget: x.budget,
        spark: Array.from({ length: x.count ? 40 : 0 }, (_, i) => round(0.3 + Math.exp(-i / 8) * (1 + chance(x.experiment, i)))),
    };
}

export function liveOf(x) {
    const row = experimentRow(x);
    const active = [];
    for (let t = x.count - x.running + 1; t <= x.count; t++)
        active.push({
            trial: `${x.experiment}.${t}`, words: `lr=${params(x.experiment, t).lr} batch=${params(x.experiment, t).batch}`, step: x.step,
            value: round(loss(x.experiment, t, x.step)), curve: Array.from({ length: 30 }, (_, i) => round(loss(x.experiment, t, (i * x.step) / 30))),
            elapsed_us: x.step * 1e6, left_us: (steps - x.step) * 1e6, attempt: 1, paused: false, stopping: false,
        });
    return {
        experiment: x.experiment, name: x.name, state: x.state, reason: "", home: "/home", elapsed_us: 61e6, eta_us: x.state === "running" ? 95e6 : null,
        metric: "loss", goal: "minimize", target: null, trials: { total: x.budget, ...row.trials },
        best: row.best && { ...row.best, words: "lr=0.003 batch=64" }, active,
    };
}
