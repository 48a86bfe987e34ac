/* SPDX-License-Identifier: MIT */
/*
 * packing.ts — the timeline: attempts as bars over lanes. A lane is a core, for the time in which an
 * attempt was held to it; cpus that were granted on no particular core fill lanes called "any", the
 * first that are free, so that there are as many as were granted at once; GPUs have their own. While an
 * attempt is paused its cpus are others': it stands in its lanes still, and fills none.
 *
 * Invariant: bars of one lane that are not still do not overlap, unless cores themselves were shared.
 */
export interface Piece {
    trial: number;
    attempt: number;
    started: number; /* seconds since 1970 */
    ended: number | null; /* null: still running */
    state: string;
    cpus: number; /* granted */
    held: { from: number; cpus: number[] }[]; /* to which ones, oldest first; none: to any */
    paused: { from: number; to: number | null }[]; /* oldest first; null: until it ended, or still */
    host: string | null;
    gpus: string | null; /* names, with commas */
}

export interface Bar {
    piece: Piece;
    lane: number;
    span: number; /* lanes, from `lane` on */
    from: number;
    to: number;
    still: boolean; /* paused */
}

export interface Lanes {
    bars: Bar[]; /* those that are still first: what others did there is drawn over them */
    labels: string[];
    kinds: Kind[]; /* of each lane */
    from: number;
    to: number;
}

type Kind = "cpu" | "any" | "gpu";
const KINDS: Kind[] = ["cpu", "any", "gpu"];

/* A time in which an attempt had the same cores (null: any), or stood still. */
interface Phase {
    piece: Piece;
    from: number;
    to: number;
    cores: number[] | null;
    still: boolean;
}

/* It is held as soon as it runs: this long is part of its start. */
const STARTING_S = 2;

function phasesOf(piece: Piece, end: number): Phase[] {
    const holds = piece.held.filter((h) => h.from < end && h.cpus.length > 0);
    const phases = holds.map((h, i): Phase => ({ piece, from: Math.max(h.from, piece.started), to: holds[i + 1]?.from ?? end, cores: h.cpus, still: false }));
    const first = phases[0], any: Phase = { piece, from: piece.started, to: first?.from ?? end, cores: null, still: false };
    if (!first) return cut(any, end);
    if (first.from - piece.started > STARTING_S) phases.unshift(any);
    else first.from = piece.started;
    return phases.flatMap((phase) => cut(phase, end));
}

/* Its parts between the pauses, and these. */
function cut(phase: Phase, end: number): Phase[] {
    const parts: Phase[] = [];
    let at = phase.from;
    for (const pause of phase.piece.paused) {
        const from = Math.max(pause.from, at), to = Math.min(pause.to ?? end, phase.to);
        if (to <= from) continue;
        if (from > at) parts.push({ ...phase, from: at, to: from });
        parts.push({ ...phase, from, to, still: true });
        at = to;
    }
    return at < phase.to || parts.length === 0 ? [...parts, { ...phase, from: at }] : parts;
}

/* Lanes that are free at this time, as many as are needed: those it had before, or else the first ones. */
function takeFree(free: number[], needed: number, before: number[], from: number, to: number): number[] {
    if (before.length === needed && before.every((lane) => free[lane]! <= from)) {
        for (const lane of before) free[lane] = to;
        return before;
    }
    const taken: number[] = [];
    for (let lane = 0; taken.length < needed; lane++) {
        if (lane === free.length) free.push(-Infinity);
        if (free[lane]! > from) continue;
        free[lane] = to;
        taken.push(lane);
    }
    return taken;
}

/* A lane, known by host, kind and name; where it stands is known when all are. */
interface Place {
    host: string;
    kind: Kind;
    name: string;
}

const laneKey = (p: Place) => `${p.host}\n${p.kind}\n${p.name}`;

function inOrder(places: Iterable<Place>): Place[] {
    return [...places].sort((a, b) => a.host.localeCompare(b.host) || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.name.localeCompare(b.name, "en", { numeric: true }));
}

/* Neighbours become one bar. */
function barsOver(lanes: number[], phase: Phase): Bar[] {
    const bars: Bar[] = [];
    for (const lane of lanes.sort((a, b) => a - b)) {
        const last = bars[bars.length - 1];
        if (last && last.lane + last.span === lane) last.span++;
        else bars.push({ piece: phase.piece, lane, span: 1, from: phase.from, to: phase.to, still: phase.still });
    }
    return bars;
}

const GRANTED_MOST = 4096;

export function packTimeline(pieces: readonly Piece[], now: number): Lanes {
    const phases = pieces.filter((p) => Number.isFinite(p.started)).flatMap((p) => phasesOf(p, Math.max(p.ended ?? now, p.started)))
        .sort((a, b) => a.from - b.from || a.piece.trial - b.piece.trial);
    const places = new Map<string, Place>(), free = new Map<string, number[]>();
    const last = new Map<Piece, { cpus: number[]; all: Place[] }>();
    const wanted = phases.map((phase) => {
        const host = phase.piece.host ?? "", before = last.get(phase.piece);
        if (phase.still) return before?.all ?? [];
        if (!phase.cores && !free.has(host)) free.set(host, []);
        const cpus = phase.cores ?? takeFree(free.get(host)!, Math.min(GRANTED_MOST, Math.max(1, Math.ceil(phase.piece.cpus || 1))), before?.cpus ?? [], phase.from, phase.to);
        const gpus = (phase.piece.gpus ?? "").split(",").filter((id) => id !== "");
        const all: Place[] = [...cpus.map((n): Place => ({ host, kind: phase.cores ? "cpu" : "any", name: String(n) })), ...gpus.map((name): Place => ({ host, kind: "gpu", name }))];
        for (const place of all) places.set(laneKey(place), place);
        last.set(phase.piece, { cpus: phase.cores ? [] : cpus, all });
        return all;
    });
    const order = inOrder(places.values()), hosts = new Set(order.map((p) => p.host));
    const lane = new Map(order.map((p, i) => [laneKey(p), i]));
    const from = phases[0]?.from ?? 0, to = phases.reduce((most, p) => Math.max(most, p.to), from);
    const bars = phases.flatMap((phase, i) => barsOver(wanted[i]!.map((p) => lane.get(laneKey(p))!), phase));
    return {
        bars: [...bars.filter((bar) => bar.still), ...bars.filter((bar) => !bar.still)],
        labels: order.map((p) => `${hosts.size > 1 ? `${p.host} ` : ""}${p.kind === "any" ? "any" : `${p.kind} ${p.name}`}`),
        kinds: order.map((p) => p.kind), from, to: to > from ? to : from + 1,
    };
}

/* The bar under a point; -1: none. The last one wins, as it is drawn on top. */
export function barAt(lanes: Lanes, lane: number, time: number, slack: number): number {
    for (let i = lanes.bars.length - 1; i >= 0; i--) {
        const bar = lanes.bars[i]!;
        if (lane >= bar.lane && lane < bar.lane + bar.span && time >= bar.from - slack && time <= bar.to + slack) return i;
    }
    return -1;
}

/* How many lanes are cpus, and the share of their time in which something ran: what is still does not. */
export function busy(lanes: Lanes): { cpus: number; share: number } {
    const cpus = lanes.kinds.filter((kind) => kind !== "gpu").length;
    const used = lanes.bars.reduce((sum, bar) => sum + (bar.still || lanes.kinds[bar.lane] === "gpu" ? 0 : (bar.to - bar.from) * bar.span), 0);
    return { cpus, share: cpus > 0 ? Math.min(1, used / ((lanes.to - lanes.from) * cpus)) : 0 };
}

/* Seconds in which it stood still. */
export function pausedSeconds(piece: Piece, now: number): number {
    return piece.paused.reduce((sum, pause) => sum + (pause.to ?? piece.ended ?? now) - pause.from, 0);
}

/* Which cores an attempt had, in words: "0, 1", "0, 1 → 0 – 3", "any 2". */
export function coresOf(piece: Piece): string {
    if (piece.held.length === 0) return `any${piece.cpus ? ` ${piece.cpus}` : ""}`;
    return piece.held.map((h) => ranges(h.cpus)).join(" → ");
}

function ranges(cpus: readonly number[]): string {
    const runs: [number, number][] = [];
    for (const cpu of cpus) {
        const last = runs[runs.length - 1];
        if (last && last[1] + 1 === cpu) last[1] = cpu;
        else runs.push([cpu, cpu]);
    }
    return runs.map(([a, b]) => (a === b ? String(a) : `${a}–${b}`)).join(", ");
}
