/* SPDX-License-Identifier: MIT */
/*
 * table.tsx — the tab "Trials": filter, columns, groups, selection around the grid. All of its state
 * is in the address: where, sort, desc, cols, pin, tint, group, sel.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { flag, format, go, list, text, useQuery, type Codec } from "../address.ts";
import * as api from "../api.ts";
import { useRefusal } from "../experiments/actions.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { useKeys } from "../keys.ts";
import { useLoad, useThrottled } from "../load.ts";
import { useChanges, useLives } from "../stream.ts";
import type { Column, Experiment } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Filter } from "../ui/field.tsx";
import type { MenuItem } from "../ui/menu.tsx";
import { Empty, Failure, Loading } from "../ui/parts.tsx";
import { attempt } from "../ui/toast.tsx";
import { ColumnPanel } from "./column_panel.tsx";
import { arrange, isNumeric, reorder, titleOf } from "./columns.ts";
import { Grid } from "./grid.tsx";
import { GroupTable } from "./group_table.tsx";
import { objectiveOf } from "./header.tsx";
import { SelectionBar } from "./selection.tsx";
import { remove } from "./selection_acts.ts";
import "./table.css";
import type { TableView } from "./queries.ts";
import { Pager } from "./table_data.ts";

/* A list whose default is not the empty one: "-" is. */
const listOr = (otherwise: string[]): Codec<string[]> => ({
    read: (t) => (t === null ? otherwise : t === "-" ? [] : list.read(t)),
    write: (v) => (v.join() === otherwise.join() ? null : (list.write(v) ?? "-")),
});
const pinCodec = listOr(["number", "state"]);
const tintCodec = listOr(["value"]);

/* The pager of the view in the address; counts up when it has something new. */
function usePager(e: number, view: TableView): [Pager, number] {
    const [version, setVersion] = useState(0);
    const key = JSON.stringify([e, view]);
    const pager = useMemo(() => new Pager(e, view, () => setVersion((v) => v + 1)), [key]);
    useEffect(() => {
        pager.want(0, 40);
        return () => pager.close();
    }, [pager]);
    return [pager, version];
}

/* While a new view loads, the old one stays: no flicker between filters. */
function useSettled(pager: Pager): Pager {
    const last = useRef(pager);
    if (pager.ready || !last.current.ready) last.current = pager;
    return last.current;
}

/* On a phone only the first stays: others would leave no room. */
function pinnedOf(columns: Column[], pin: string[]): number {
    const count = columns.filter((c) => pin.includes(c.name)).length;
    return innerWidth < 640 ? Math.min(1, count) : count;
}

type Fresh = ReadonlyMap<number, { value: number | null; step: number | null }>;

function useFresh(e: number): Fresh {
    const [fresh, setFresh] = useState<Fresh>(new Map());
    useLives((batch) => {
        const mine = batch.findLast((l) => l.experiment === e);
        if (mine) setFresh(new Map(mine.active.map((t) => [Number(t.trial.split(".")[1]), { value: t.value, step: t.step }])));
    });
    return fresh;
}

function useSelection(pager: Pager) {
    const [raw, setRaw] = useQuery("sel", list);
    const selected = useMemo(() => new Set(raw.map(Number).filter((n) => Number.isInteger(n))), [raw.join()]);
    const anchor = useRef(-1);
    const latest = useRef({ pager, selected, setRaw });
    latest.current = { pager, selected, setRaw };
    const toggle = useCallback((number: number, index: number, range: boolean) => {
        const now = latest.current;
        const next = new Set(now.selected);
        if (range && anchor.current >= 0) {
            const numberAt = now.pager.columns.findIndex((c) => c.name === "number");
            for (let i = Math.min(anchor.current, index); i <= Math.max(anchor.current, index); i++) {
                const n = now.pager.row(i)?.[numberAt];
                if (typeof n === "number") next.add(n);
            }
        } else if (next.has(number)) next.delete(number);
        else next.add(number);
        anchor.current = index;
        now.setRaw([...next].sort((a, b) => a - b).map(String));
    }, []);
    return { selected, toggle, clear: () => setRaw([]) };
}

export function TableTab({ experiment: x }: { experiment: Experiment }) {
    const e = x.experiment;
    const [where, setWhere] = useQuery("where", text());
    const [sort, setSort] = useQuery("sort", text());
    const [desc, setDesc] = useQuery("desc", flag());
    const [cols, setCols] = useQuery("cols", list);
    const [pin, setPin] = useQuery("pin", pinCodec);
    const [tint, setTint] = useQuery("tint", tintCodec);
    const [group, setGroup] = useQuery("group", text());
    const [current, setCurrent] = useState(-1);
    const [asked, version] = usePager(e, { where, sort, desc, columns: cols });
    const pager = useSettled(asked);
    const fresh = useFresh(e);
    const selection = useSelection(pager), refused = useRefusal(x);
    const catalog = useLoad(cols.length > 0 ? `columns ${e}` : null, async (signal) => (await api.trials(e, { limit: 1 }, signal)).columns);
    const refresh = useThrottled(() => asked.refresh(), 1500);
    useChanges((batch) => batch.some((c) => c.experiment === e) && refresh());
    /* A running trial saves its metrics about once a second and no event tells of it. */
    useLives((batch) => batch.some((l) => l.experiment === e && l.active.some((t) => !t.paused)) && refresh());

    const known = catalog.value ?? (cols.length === 0 ? pager.columns : []);
    const wanted = cols.length > 0 ? cols : pager.columns.map((c) => c.name);
    const key = JSON.stringify([pager.columns, wanted, pin]);
    const columns = useMemo(() => {
        const chosen = wanted.map((n) => pager.columns.find((c) => c.name === n)).filter((c): c is Column => c !== undefined);
        return arrange(chosen, pin);
    }, [key]);
    const tinted = useMemo(() => tint, [tint.join()]);
    const names = columns.map((c) => c.name);
    const sortBy = (name: string, down: boolean) => (setSort(name), setDesc(down));
    const onSort = (c: Column) => {
        if (c.name !== sort) sortBy(c.name, objectiveOf(x)?.goal === "maximize" && c.name === "value");
        else if (!desc) setDesc(true);
        else sortBy("", false);
    };
    const menuOf = (c: Column): MenuItem[] => [
        { label: "Sort: smallest first", icon: "up", act: () => sortBy(c.name, false) },
        { label: "Sort: largest first", icon: "down", act: () => sortBy(c.name, true) },
        { label: pin.includes(c.name) ? "Do not keep at the left" : "Keep at the left", icon: "pin", act: () => setPin(pin.includes(c.name) ? pin.filter((n) => n !== c.name) : [...pin, c.name]) },
        ...(isNumeric(c) ? [{ label: tint.includes(c.name) ? "No colours" : "Colours by value", icon: "filter" as const, act: () => setTint(tint.includes(c.name) ? tint.filter((n) => n !== c.name) : [...tint, c.name]) }] : []),
        ...(c.name === "number" ? [] : [{ label: `Group by ${titleOf(c.name)}`, icon: "columns" as const, act: () => setGroup(c.name, true) }]),
        { label: "Move left", icon: "left", disabled: names.indexOf(c.name) <= 0, act: () => setCols(reorder(names, c.name, names[names.indexOf(c.name) - 1] ?? null)) },
        { label: "Move right", icon: "right", disabled: names.at(-1) === c.name, act: () => setCols(reorder(names, c.name, names[names.indexOf(c.name) + 2] ?? null)) },
        { label: "Hide", icon: "close", disabled: names.length <= 1, act: () => setCols(names.filter((n) => n !== c.name)) },
    ];
    const numberOf = (index: number) => {
        const n = pager.row(index)?.[pager.columns.findIndex((c) => c.name === "number")];
        return typeof n === "number" ? n : null;
    };
    const open = (n: number) => go(format(["t", `${e}.${n}`]));
    const on = (act: (number: number, index: number) => void) => () => {
        const n = numberOf(current);
        if (n !== null) act(n, current);
    };
    const removeSelected = async () => {
        if (!(await remove(x, [...selection.selected]))) return;
        selection.clear();
        asked.refresh();
    };
    const step = (by: number) => () => setCurrent(Math.max(0, Math.min(pager.matched - 1, current + by)));
    useKeys("Trials", [
        { keys: "j", help: "next row", act: step(1) },
        { keys: "k", help: "row before", act: step(-1) },
        { keys: "ArrowDown", help: "", hidden: true, act: step(1) },
        { keys: "ArrowUp", help: "", hidden: true, act: step(-1) },
        { keys: "PageDown", help: "twenty rows on", act: step(20) },
        { keys: "PageUp", help: "twenty rows back", act: step(-20) },
        { keys: "Home", help: "first row", act: () => setCurrent(0) },
        { keys: "End", help: "last row", act: () => setCurrent(pager.matched - 1) },
        { keys: "Enter", help: "open the trial", act: on(open) },
        { keys: "x", help: "select the row", act: on((n, i) => selection.toggle(n, i, false)) },
        { keys: "X", help: "select up to the row", act: on((n, i) => selection.toggle(n, i, true)) },
        { keys: "s", help: "star the trial", act: on((n) => void attempt(() => api.star(e, n, true), `trial ${e}.${n} has a star`)) },
        { keys: "c", help: "curves of the selected", act: () => go(format(["e", e, "curves"], { sel: [...selection.selected].join(",") })) },
        { keys: "D", help: "delete the selected", act: () => void (selection.selected.size > 0 && !refused && removeSelected()) },
        { keys: "Escape", help: "select nothing", act: selection.clear },
    ]);

    const isRefused = asked.error?.status === 400, isWhereError = isRefused && where !== "";
    const grouped = group ? (known.find((c) => c.name === group) ?? pager.columns.find((c) => c.name === group)) : undefined;
    return (
        <section class="table-tab" data-version={version}>
            <h2 class="sr">Trials</h2>
            <div class="toolbar">
                <Filter label="Filter trials" placeholder="filter:  lr > 1e-3 and state = 'completed'  ·  min(loss) < 0.3" value={where} onChange={(w) => (setWhere(w), setCurrent(-1))}
                    error={isWhereError ? asked.error?.message : null} busy={!asked.ready} />
                <ColumnPanel catalog={known} chosen={wanted} onChange={setCols} experiment={e} />
                {group && <Button icon="close" onClick={() => setGroup("", true)}>Grouped by {titleOf(group)}</Button>}
                <span class="table-count dim" role="status">
                    {pager.ready && (pager.matched === pager.total ? formatPlural(pager.total, "trial") : `${formatCount(pager.matched)} of ${formatPlural(pager.total, "trial")}`)}
                </span>
            </div>
            <SelectionBar x={x} selected={selection.selected} clear={selection.clear} changed={() => asked.refresh()} remove={removeSelected} />
            {isRefused && !isWhereError && sort && <p class="head-error" role="alert">The trials cannot be sorted by “{sort}”: {asked.error?.message}. <Button onClick={() => sortBy("", false)}>Without this order</Button></p>}
            {!pager.ready && (!asked.error ? <Loading what="trials" /> : (!isRefused || (!where && !sort)) && <Failure error={asked.error} retry={() => asked.want(0, 40)} />)}
            {pager.ready && grouped && <GroupTable experiment={e} column={grouped} columns={columns} where={where} objective={objectiveOf(x)} onWhere={(w) => (setWhere(w, true), setGroup(""))} />}
            {pager.ready && !grouped && pager.matched === 0 && (pager.total === 0 ? <Empty title="No trial yet" /> : <Empty title="No trial fits the filter" />)}
            {pager.ready && !grouped && pager.matched > 0 && (
                <Grid experiment={e} pager={pager} version={version} isStale={pager !== asked} columns={columns} pinned={pinnedOf(columns, pin)} tinted={tinted} sort={sort} desc={desc}
                    selected={selection.selected} current={current} fresh={fresh} onSort={onSort} onSelect={selection.toggle} onCurrent={setCurrent} onOpen={open}
                    onMove={(name, before) => names.includes(name) && setCols(reorder(names, name, before))} menuOf={menuOf} />
            )}
        </section>
    );
}
