/* SPDX-License-Identifier: MIT */
/*
 * side_by_side.tsx — a table with a column for each run: parameters, results, environment. Equal rows
 * can be left out; what differs stands out.
 */
import { format } from "../address.ts";
import { formatNumber, formatSeconds } from "../format.ts";
import { flatten } from "../trial/details.ts";
import { StateChip } from "../ui/parts.tsx";
import type { Run } from "./runs.ts";

export interface SideRow {
    name: string;
    values: (string | null)[]; /* null: it has none */
    differs: boolean;
}

/* Rows over all names, in the order in which they first appear. */
export function sideRows(columns: readonly ReadonlyMap<string, string>[]): SideRow[] {
    const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
    return names.map((name) => {
        const values = columns.map((column) => column.get(name) ?? null);
        return { name, values, differs: values.some((value) => value !== values[0]) };
    });
}

export const exact = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

export const paramColumns = (runs: readonly Run[]) =>
    runs.map((run) => new Map(Object.entries(run.trial.params).map(([name, value]) => [name, exact(value)])));

export const environmentColumns = (runs: readonly Run[]) => runs.map((run) => new Map(flatten(run.details?.environment ?? null)));

export const metricColumns = (runs: readonly Run[]) =>
    runs.map((run) => new Map(run.trial.metrics.map((m) => [m.metric, formatNumber(m.last, 6)])));

export function resultColumns(runs: readonly Run[]): Map<string, string>[] {
    return runs.map((run) => new Map(([
        ["value", formatNumber(run.trial.value, 6)], ["best", formatNumber(run.trial.best, 6)], ["step", formatNumber(run.trial.step)],
        ["time", formatSeconds(run.trial.seconds)], ["attempts", String(run.trial.attempts)],
        ["energy", run.details?.energy_j ? `${formatNumber(run.details.energy_j, 3)} J ${run.details.energy ?? ""}` : "–"],
    ] as [string, string][]).filter(([, value]) => value !== "–")));
}

export function RunHeads({ runs, remove }: { runs: readonly Run[]; remove?: (asked: string) => void }) {
    return (
        <tr>
            <th scope="col"><span class="sr">what</span></th>
            {runs.map((run) => (
                <th key={run.name} scope="col">
                    <span class="run-letter">{run.letter}</span> <a href={format(["t", run.name])}>{run.name}</a>
                    {remove && <button type="button" class="run-off" aria-label={`Leave ${run.name} out`} onClick={() => remove(run.asked)}>×</button>}
                    {run.details?.run_name && <small class="run-of">{run.details.run_name}</small>}
                    <small class="run-of">{run.trial.name}</small>
                    <StateChip state={run.trial.state} />
                </th>
            ))}
        </tr>
    );
}

export function Rows({ title, rows, only, span }: { title: string; rows: SideRow[]; only: boolean; span: number }) {
    const shown = only ? rows.filter((row) => row.differs) : rows;
    const hidden = rows.length - shown.length;
    return (
        <tbody>
            <tr class="side-title"><th colSpan={span + 1} scope="colgroup">{title}{hidden > 0 && <small> {hidden} equal hidden</small>}</th></tr>
            {shown.map((row) => (
                <tr key={row.name} class={row.differs ? "differs" : ""}>
                    <th scope="row" title={row.name}>{row.name}</th>
                    {row.values.map((value, i) => <td key={i} class={value === null ? "none" : ""}>{value ?? "–"}</td>)}
                </tr>
            ))}
        </tbody>
    );
}
