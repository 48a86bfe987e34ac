/* SPDX-License-Identifier: MIT */
/* column_panel.tsx — which columns the run table shows, and in which order. */
import * as api from "../api.ts";
import { useLoad } from "../load.ts";
import type { Column } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Picker } from "../ui/field.tsx";
import { Popover } from "../ui/popover.tsx";
import { fields, metricOf, reorder, titleOf } from "./columns.ts";

/* Chosen ones first, in their order; then what else there is. */
function useOptions(experiment: number, catalog: Column[], chosen: string[]): { value: string; label: string; hint: string }[] {
    const metrics = useLoad(`metrics ${experiment}`, (signal) => api.metrics(experiment, signal));
    const names = new Set<string>([...chosen, ...catalog.map((c) => c.name), ...fields]);
    for (const m of metrics.value ?? []) for (const which of ["last", "min", "max", "count"]) names.add(`metrics.${m.name}.${which}`);
    return [...names].map((value) => ({ value, label: titleOf(value), hint: value.startsWith("params.") ? "parameter" : metricOf(value) ? "metric" : "" }));
}

function Panel({ experiment, catalog, chosen, onChange }: { experiment: number; catalog: Column[]; chosen: string[]; onChange: (names: string[]) => void }) {
    const options = useOptions(experiment, catalog, chosen);
    const arrows = (name: string) => {
        const at = chosen.indexOf(name);
        if (at < 0) return null;
        return (
            <>
                <Button kind="quiet" icon="up" label={`${titleOf(name)} further left`} disabled={at === 0} onClick={() => onChange(reorder(chosen, name, chosen[at - 1]!))} />
                <Button kind="quiet" icon="down" label={`${titleOf(name)} further right`} disabled={at === chosen.length - 1} onClick={() => onChange(reorder(chosen, name, chosen[at + 2] ?? null))} />
            </>
        );
    };
    return (
        <div class="column-panel">
            <Picker label="columns" options={options} chosen={chosen} onChange={(names) => names.length > 0 && onChange(names)} extra={arrows} />
            <Button onClick={() => onChange([])}>The usual columns</Button>
        </div>
    );
}

export function ColumnPanel(p: { experiment: number; catalog: Column[]; chosen: string[]; onChange: (names: string[]) => void }) {
    return (
        <Popover button={{ icon: "columns", children: "Columns" }} label="Columns">
            {() => <Panel {...p} />}
        </Popover>
    );
}
