/* SPDX-License-Identifier: MIT */
/*
 * links.tsx — the name of a trial, which leads to its page; in a report, where there are no other
 * pages, it is only a name.
 */
import { format, go } from "../address.ts";

let pages = true;

/* There is only this page: call before the first drawing. */
export function withoutPages(): void {
    pages = false;
}

export function TrialLink({ name }: { name: string }) {
    return pages ? <a href={format(["t", name])}>{name}</a> : <>{name}</>;
}

export function goToTrial(name: string): void {
    if (pages) go(format(["t", name]));
}
