/* SPDX-License-Identifier: MIT */
/* row.tsx — one experiment in the list. On a phone the same cells stand below each other. */
import { format } from "../address.ts";
import { formatCount, formatSeconds } from "../format.ts";
import type { ExperimentRow } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, Num, Progress, Spark, StateChip } from "../ui/parts.tsx";
import { actionsOf, star, useRefusal } from "./actions.tsx";

function endedOf(row: ExperimentRow): number {
    return row.trials.completed + row.trials.stopped + row.trials.failed;
}

export function Row({ row, changed, isCurrent }: { row: ExperimentRow; changed: () => void; isCurrent: boolean }) {
    const { experiment, name, objective } = row;
    const refused = useRefusal(row);
    return (
        <tr class={isCurrent ? "current" : ""} data-experiment={experiment}>
            <td class="cell-star">
                <Button kind="quiet" icon="star" filled={row.starred} pressed={row.starred} label={refused ?? (row.starred ? `${name} has a star` : `Star ${name}`)} disabled={refused !== null}
                    onClick={() => void star(row, changed)} />
            </td>
            <th scope="row" class="cell-name">
                <a href={format(["e", experiment])}>
                    <span class="number">{experiment}</span> <span class="name">{name}</span>
                </a>
                {row.tags.map((t) => (
                    <span key={t} class="tag">
                        {t}
                    </span>
                ))}
                {row.error && <small class="row-error">{row.error}</small>}
                {row.note && <small class="row-note">{row.note}</small>}
            </th>
            <td class="cell-state">
                <StateChip state={row.state} reason={row.reason} paused={row.paused} />
            </td>
            <td class="cell-progress">
                <Progress counts={row.trials} total={row.budget} />
                <small>
                    {formatCount(endedOf(row))}
                    {row.budget && row.budget >= endedOf(row) ? ` / ${formatCount(row.budget)}` : ""}
                    {row.trials.failed > 0 && <span class="bad-count"> · {formatCount(row.trials.failed)} failed</span>}
                </small>
            </td>
            <td class="cell-best num">
                {row.best && typeof row.front !== "number" && (
                    <a href={format(["t", row.best.trial])}>
                        <span class="sr">best, trial {row.best.trial}: </span>
                        <Num value={row.best.value} />
                    </a>
                )}
                {typeof row.front === "number" ? (
                    <a href={format(["e", experiment, "analysis"])} title="Trials that no other one beats in all objectives">
                        {formatCount(row.front)} on the front
                    </a>
                ) : (
                    objective && <small> {objective.metric}</small>
                )}
            </td>
            <td class="cell-spark">
                <Spark values={row.spark ?? []} label={`best so far of ${name}`} />
            </td>
            <td class="cell-owner">{row.owner ?? ""}</td>
            <td class="cell-time">
                <Ago time={row.started ?? row.created} />
                <small> {formatSeconds(row.seconds)}</small>
            </td>
            <td class="cell-more">
                <Menu button={{ kind: "quiet", icon: "more", label: `What to do with ${name}` }} items={() => actionsOf(row, changed)} />
            </td>
        </tr>
    );
}
