/* SPDX-License-Identifier: MIT */
/* facts.tsx — an object as a table of dotted names and values; a long one is closed at first. */
import { flatten } from "../trial/details.ts";

const LONG = 24;

export function Facts({ title, object }: { title: string; object: unknown }) {
    const rows = flatten(object);
    if (rows.length === 0) return null;
    const table = (
        <table class="facts"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table>
    );
    return (
        <section class="card figure" aria-label={title}>
            {rows.length > LONG ? <details><summary><h2>{title}</h2> <small>{rows.length} rows</small></summary>{table}</details> : <><h2>{title}</h2>{table}</>}
        </section>
    );
}
