/* SPDX-License-Identifier: MIT */
/*
 * types.ts — what the server says, as docs/openapi.yaml tells it. Times are ISO texts.
 */
export type Scalar = number | string | boolean | null;
export type Params = Record<string, unknown>;
export type State = "queued" | "running" | "paused" | "completed" | "stopped" | "failed" | "finished" | "interrupted";
export type Counts = Record<"queued" | "running" | "paused" | "completed" | "stopped" | "failed", number>;

export interface Me {
    user: string;
    role: "viewer" | "user" | "admin";
    server: { version: string; home_id: string; started: string };
}

export interface Objective {
    metric: string;
    goal: "minimize" | "maximize";
}

export interface ExperimentRow {
    experiment: number;
    name: string;
    state: State;
    reason: string;
    value: number | null;
    params: Params | null;
    attempts: number;
    seconds: number | null;
    created: string;
    started: string | null;
    ended: string | null;
    trials: Counts;
    best: { trial: string; value: number; params: Params } | null;
    error: string | null;
    starred: boolean;
    tags: string[];
    note: string | null;
    owner?: string | null;
    priority?: number;
    paused?: boolean;
    objective?: Objective | null;
    budget?: number | null;
    spark?: (number | null)[];
    front?: number | null; /* of several objectives: trials that no other one beats in all */
}

export interface ExperimentPage {
    experiments: ExperimentRow[];
    next: string | null;
    total: number;
}

/* One parameter of the space, as the spec of an experiment writes it. */
export interface ParamSpec {
    type?: string;
    scale?: string;
    min?: number;
    max?: number;
    choices?: Scalar[];
    values?: Scalar[];
    when?: unknown;
}

export interface Experiment extends ExperimentRow {
    code: string | null;
    energy_j: number | null;
    energy: string | null;
    changes?: number;
    changes_asked?: number;
    change_cost_s?: number;
    environment: Record<string, unknown> | null;
    spec: { name?: string; params?: Record<string, ParamSpec | unknown>; objective?: Objective | Objective[] } & Record<string, unknown>;
    live: Live | null;
}

/* The live document: src/cli/view.h. */
export interface Live {
    experiment: number;
    name: string;
    state: State;
    reason: string;
    elapsed_us: number;
    eta_us: number | null;
    metric: string | null;
    goal: "minimize" | "maximize";
    target: number | null;
    trials: Counts & { total: number };
    best: { trial: string; value: number; params: Params; words: string } | null;
    active: LiveTrial[];
}

export interface LiveTrial {
    trial: string;
    words: string;
    step: number | null;
    value: number | null;
    curve: (number | null)[];
    elapsed_us: number;
    left_us: number | null;
    attempt: number;
    paused: boolean;
    stopping: boolean;
    system?: string;
    remaining_s?: number;
    remaining_low_s?: number;
    remaining_high_s?: number;
    chance?: number;
    tuning?: string;
}

export interface Column {
    name: string;
    kind: "field" | "param" | "metric";
    type: "number" | "text" | "bool" | "time";
    min?: number | null;
    max?: number | null;
    choices?: Scalar[];
}

export interface TrialTable {
    total: number;
    matched: number;
    columns: Column[];
    rows: unknown[][];
}

export interface MetricName {
    name: string;
    trials: number;
    system: boolean;
}

/* Metric and trial of a line of /v1/series; of the machine's own the trial is "machine". */
export interface Figure {
    name: string;
    of: string;
}

export interface MetricSummary {
    metric: string;
    count: number;
    last: number | null;
    min: number | null;
    max: number | null;
    step: number | null;
    first_nan_step: number | null;
}

export interface Run {
    attempt: number;
    id: number;
    state: string;
    reason: string;
    exit: number | null;
    signal: number | null;
    oom: boolean;
    seconds: number | null;
    cpu_seconds: number | null;
    max_rss_bytes: number | null;
    dropped_bytes: number;
    started: string | null;
    ended: string | null;
    host: string | null;
    gpus: unknown;
    code: string | null;
    error: string | null;
}

export interface Trial {
    experiment: number;
    name: string;
    trial: string;
    state: State;
    reason: string;
    value: number | null;
    best: number | null;
    params: Params;
    attempts: number;
    step: number | null;
    first_nan_step: number | null;
    seconds: number | null;
    created: string;
    started: string | null;
    ended: string | null;
    starred: boolean;
    tags: string[];
    note: string | null;
    repeat_of: string | number | null;
    why: Record<string, unknown> | null;
    verdict: unknown;
    owner?: string | null;
    metrics: MetricSummary[];
    runs: Run[];
}

/* An event of the events table; other members depend on `event`. */
export interface HoneEvent {
    id?: number;
    experiment?: number;
    trial: number | null;
    time: string;
    event: string;
    [member: string]: unknown;
}

export interface Attempt {
    trial: number;
    attempt: number;
    started: number;
    ended: number | null;
    state: string;
    cpus: number; /* granted */
    held: { from: number; cpus: number[] }[]; /* to which ones, from when on; none: to any */
    paused: { from: number; to: number | null }[]; /* null: until it ended, or still */
    host: string | null;
    gpus: string | null;
    code?: string; /* its own snapshot: changed since the experiment began */
}

export interface QueueEntry {
    experiment: number;
    name: string;
    owner: string | null;
    priority: number;
    state: State;
    running: number;
    wanted: number;
    paused: boolean;
}

export interface Machine {
    name: string;
    cpus: number;
    cpus_used: number;
    mem_bytes: number;
    mem_used: number;
    gpus: { id: string | number; used: boolean | number }[];
    load: number[];
    mem_available: number;
}

export interface CommandResult {
    exit: number;
    output: unknown;
    text: string;
    error: string | null;
}

/* Values that came in while somebody watches. */
export interface Points {
    experiment: number;
    trial: number;
    metric: string;
    step: (number | null)[];
    time: number[];
    value: (number | "NaN" | "Infinity" | "-Infinity")[];
}
