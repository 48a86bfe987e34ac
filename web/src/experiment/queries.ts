/* SPDX-License-Identifier: MIT */
/*
 * queries.ts — what the page of an experiment asks for first, by its address: its row, its table. Pure,
 * and alone: ahead.ts asks it before there is a page.
 */
import type { ListQuery, TableQuery } from "../api.ts";
import { flag, list, text } from "../codec.ts";

export const pageRows = 200;

/* The row of the list. */
export function rowQuery(number: string): ListQuery {
    return { where: `number = ${number}`, limit: 1 };
}

/* What is asked of the table; all of it is in the address. */
export interface TableView {
    where: string;
    sort: string; /* a column's name; "": as the server gives them */
    desc: boolean;
    columns: string[]; /* empty: the usual ones */
}

export function viewOf(query: URLSearchParams): TableView {
    return {
        where: text().read(query.get("where")),
        sort: text().read(query.get("sort")),
        desc: flag().read(query.get("desc")),
        columns: list.read(query.get("cols")),
    };
}

export function tableQuery(view: TableView, offset: number, limit: number): TableQuery {
    const columns = view.columns.length === 0 ? undefined : [...new Set(["number", "state", ...view.columns])].join(",");
    return { where: view.where, sort: view.sort, desc: view.desc, offset, limit, columns };
}
