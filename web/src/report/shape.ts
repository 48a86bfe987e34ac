// The document inside a report: what `hone report` (src/cli/report.c) writes into
// <script type="application/json" id="data">, and what the page of the report reads.

/** As GET /v1/experiments/E/trials answers. */
export interface ReportColumn {
    name: string; // "number", "state", "value", "params.lr", "metrics.loss.last"
    kind: 'field' | 'param' | 'metric';
    type: 'number' | 'text' | 'bool' | 'time';
    choices?: string[];
    log?: boolean;
}

export interface ReportLine {
    trial: number;
    x: number[]; // steps
    y: (number | null)[]; // null: a gap
}

export interface Report {
    made: string; // when, ISO
    version: string; // of hone
    experiment: Record<string, unknown>; // `hone show E --json`: name, state, spec, environment, best …
    objective: { metric: string; goal: 'minimize' | 'maximize' } | null;
    objectives?: { metric: string; goal: 'minimize' | 'maximize' }[]; // all of them
    best_words?: string | null; // "best 0.93 (model 0.929 ± 0.001, run 3 times): trial 3.12"; of several objectives how many are on the front
    by_model?: boolean; // the best was named by what the search expects, not by its value alone
    front?: number[]; // trials that no other one beats in all objectives
    total: number; // trials there are; rows may be fewer: the best ones
    columns: ReportColumn[];
    rows: unknown[][]; // in the order of columns
    history: [number, number | null, number | null][]; // trial, value, best so far
    curves: { metric: string; lines: ReportLine[] }[]; // of the best trials
    importance: Record<string, unknown> | null; // `hone importance E --json`
    importance_why: string | null; // why there is none
}
