/* SPDX-License-Identifier: MIT */
/* tabs.ts — the tabs of an experiment, in their order. A new one is a row here. */
import { AnalysisTab, MachineTab, TimelineTab, TuningTab } from "./analysis/tabs.tsx";
import { AboutTab } from "./experiment/about.tsx";
import { CurvesTab } from "./experiment/curves.tsx";
import { TableTab } from "./experiment/table.tsx";
import type { Tab } from "./pages.ts";

export const tabs: Tab[] = [
    { id: "table", title: "Trials", tab: TableTab, early: true },
    { id: "curves", title: "Curves", tab: CurvesTab, early: true },
    { id: "analysis", title: "Analysis", tab: AnalysisTab },
    { id: "timeline", title: "Timeline", tab: TimelineTab },
    { id: "tuning", title: "Tuning", tab: TuningTab },
    { id: "machine", title: "Machine", tab: MachineTab },
    { id: "about", title: "About", tab: AboutTab },
];
