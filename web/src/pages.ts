/* SPDX-License-Identifier: MIT */
/*
 * pages.ts — the table of pages and of the tabs of an experiment. A new page is a row here: the
 * router, the bar above and the titles read it.
 */
import type { ComponentType } from "preact";
import type { Experiment } from "./types.ts";
import { ComparePage } from "./compare/page.tsx";
import { ExperimentPage } from "./experiment/page.tsx";
import { ExperimentsPage } from "./experiments/page.tsx";
import { TrialPage } from "./trial/page.tsx";

/* `args` are the segments of the path after the first. */
export interface Page {
    path: string; /* first segment; "" is the start */
    title: (args: string[]) => string;
    page: ComponentType<{ args: string[] }>;
    nav?: { label: string; key: string }; /* in the bar above; key: "g e" */
}

export const pages: Page[] = [
    { path: "", title: () => "Experiments", page: ExperimentsPage, nav: { label: "Experiments", key: "g e" } },
    { path: "e", title: (args) => `Experiment ${args[0] ?? ""}`, page: ExperimentPage },
    { path: "t", title: (args) => `Trial ${args[0] ?? ""}`, page: TrialPage },
    { path: "compare", title: () => "Compare", page: ComparePage, nav: { label: "Compare", key: "g c" } },
];

/* A tab of the experiment page gets the experiment as it is now (and anew when it changes). */
export interface Tab {
    id: string;
    title: string;
    tab: ComponentType<{ experiment: Experiment }>;
    early?: boolean; /* begins with the row of the list: spec, environment and code are not there yet */
}
