/* SPDX-License-Identifier: MIT */
/*
 * group_table.tsx — the run table grouped by a column: how many, mean ± standard deviation, lowest or highest value. A
 * group's name filters the table to its trials.
 */
import * as api from "../api.ts";
import { formatCount, formatNumber } from "../format.ts";
import { useLoad } from "../load.ts";
import type { Column, Objective } from "../types.ts";
import { Loaded } from "../ui/parts.tsx";
import { extremeOf } from "./best.ts";
import { both, equals, expressionOf, isNumeric, titleOf } from "./columns.ts";
import { groupRows, summarize, type GroupRow, type Sum } from "./groups.ts";

function whereOf(column: Column, group: GroupRow): string {
    if (group.value !== undefined) return equals(column.name, group.value);
    const e = expressionOf(column.name);
    return `${e} >= ${group.from} and ${e} ${group.last ? "<=" : "<"} ${group.to}`;
}

function Spread({ sum }: { sum: Sum }) {
    if (sum.count === 0) return <>–</>;
    return (
        <span title={`${sum.min} … ${sum.max}, ${sum.count} values`}>
            {formatNumber(sum.mean)}
            {!Number.isNaN(sum.sd) && <small> ± {formatNumber(sum.sd, 2)}</small>}
        </span>
    );
}

export function GroupTable({ experiment, column, columns, where, objective, onWhere }: {
    experiment: number;
    column: Column;
    columns: Column[]; /* on the page; those that are numbers are summed up */
    where: string;
    objective: Objective | null;
    onWhere: (where: string) => void;
}) {
    const summed = columns.filter((c) => isNumeric(c) && c.name !== column.name && c.name !== "value");
    const names = [column.name, "value", ...summed.map((c) => c.name)];
    /* What was asked goes along with the answer: while another is on its way, the old one is shown. */
    const load = useLoad(JSON.stringify([experiment, names, where]), async (signal) => ({ ...(await api.columns(experiment, names, where, signal)), by: column, summed }));
    const goal = objective?.goal ?? "minimize";
    return (
        <Loaded of={load} what="the groups">
            {(data) => (
                <div class="group-scroll" tabIndex={0} role="region" aria-label="Groups">
                    <table class="groups">
                        <caption class="sr">Trials by {titleOf(data.by.name)}</caption>
                        <thead>
                            <tr>
                                <th scope="col">{titleOf(data.by.name)}</th>
                                <th scope="col" class="num">trials</th>
                                <th scope="col" class="num">{extremeOf(goal)} {objective?.metric ?? "value"}</th>
                                <th scope="col" class="num">{objective?.metric ?? "value"}</th>
                                {data.summed.map((c) => (
                                    <th key={c.name} scope="col" class="num">{titleOf(c.name)}</th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {groupRows(data.by, data.columns[0]!).map((g) => {
                                const value = summarize(data.columns[1]!, g.rows);
                                return (
                                    <tr key={g.label}>
                                        <th scope="row">
                                            <button type="button" class="link" onClick={() => onWhere(both(where, whereOf(data.by, g)))}>{g.label}</button>
                                        </th>
                                        <td class="num">{formatCount(g.rows.length)}</td>
                                        <td class="num"><b>{formatNumber(value.count === 0 ? null : goal === "maximize" ? value.max : value.min)}</b></td>
                                        <td class="num"><Spread sum={value} /></td>
                                        {data.summed.map((c, i) => (
                                            <td key={c.name} class="num"><Spread sum={summarize(data.columns[i + 2]!, g.rows)} /></td>
                                        ))}
                                    </tr>
                                );
                            })}
                        </tbody>
                    </table>
                </div>
            )}
        </Loaded>
    );
}
