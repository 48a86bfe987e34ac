/* SPDX-License-Identifier: MIT */
/*
 * table_data.ts — the rows of the run table, by pages of 200 from the server: only what is looked at
 * is fetched, at most two pages at a time, the newest wish first. Pages far from the window are
 * forgotten. A refresh keeps the old rows on the screen until the new ones are there.
 */
import * as api from "../api.ts";
import type { Column, TrialTable } from "../types.ts";
import { pageRows, tableQuery, type TableView } from "./queries.ts";

const keptPages = 40;

export class Pager {
    total = 0;
    matched = 0;
    columns: Column[] = [];
    error: api.ApiError | null = null;
    ready = false;
    private readonly pages = new Map<number, unknown[][]>();
    private readonly stale = new Set<number>();
    private readonly asked = new Map<number, AbortController>();
    private window: [number, number] = [0, 0];
    private closed = false;

    constructor(
        private readonly e: number,
        private readonly view: TableView,
        private readonly changed: () => void,
    ) {}

    row(index: number): unknown[] | null {
        return this.pages.get(Math.floor(index / pageRows))?.[index % pageRows] ?? null;
    }

    /* These rows are on the screen. */
    want(first: number, last: number): void {
        this.window = [Math.floor(first / pageRows), Math.floor(Math.max(first, last) / pageRows)];
        for (const [page, abort] of this.asked) if (!this.near(page)) abort.abort();
        this.fetchNext();
    }

    /* Something changed: the pages in the window are fetched anew, others when they are seen. */
    refresh(): void {
        for (const page of this.pages.keys()) this.stale.add(page);
        this.fetchNext();
    }

    close(): void {
        this.closed = true;
        for (const abort of this.asked.values()) abort.abort();
    }

    private near(page: number): boolean {
        return page >= this.window[0] - 1 && page <= this.window[1] + 1;
    }

    private fetchNext(): void {
        for (let page = this.window[0]; page <= this.window[1] && this.asked.size < 2; page++) {
            const isMissing = !this.pages.has(page) || this.stale.has(page);
            if (!isMissing || this.asked.has(page) || (this.ready && page * pageRows >= Math.max(1, this.matched))) continue;
            void this.fetch(page);
        }
    }

    private async fetch(page: number): Promise<void> {
        const abort = new AbortController();
        this.asked.set(page, abort);
        this.stale.delete(page);
        try {
            this.take(page, await api.trials(this.e, tableQuery(this.view, page * pageRows, pageRows), abort.signal));
        } catch (error) {
            if (!abort.signal.aborted) this.error = error instanceof api.ApiError ? error : new api.ApiError(String(error), 0, "internal");
        } finally {
            this.asked.delete(page);
        }
        if (this.closed) return;
        this.changed();
        if (!this.error) this.fetchNext();
    }

    private take(page: number, table: TrialTable): void {
        this.error = null;
        this.ready = true;
        this.total = table.total;
        if (table.matched !== this.matched) this.forgetBeyond(table.matched);
        this.matched = table.matched;
        this.columns = mergeRanges(this.columns, table.columns);
        this.pages.delete(page);
        this.pages.set(page, table.rows);
        for (const old of this.pages.keys()) {
            if (this.pages.size <= keptPages) break;
            if (!this.near(old)) this.pages.delete(old);
        }
    }

    private forgetBeyond(matched: number): void {
        for (const page of this.pages.keys()) if (page * pageRows >= matched) this.pages.delete(page);
    }
}

/* The server may tell the range of what it sent, not of all: the colours grow with what was seen. */
export function mergeRanges(old: Column[], fresh: Column[]): Column[] {
    return fresh.map((c) => {
        const before = old.find((o) => o.name === c.name);
        if (typeof before?.min !== "number" || typeof c.min !== "number" || typeof before.max !== "number" || typeof c.max !== "number") return c;
        return { ...c, min: Math.min(before.min, c.min), max: Math.max(before.max, c.max) };
    });
}
