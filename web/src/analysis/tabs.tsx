/* SPDX-License-Identifier: MIT */
/* tabs.tsx — what the experiment page shows of the analysis: four tabs. */
import { useMemo } from "preact/hooks";
import { text, useQuery } from "../address.ts";
import { tellsMore } from "../experiment/best.ts";
import type { Experiment } from "../types.ts";
import { Check, Filter, Select } from "../ui/field.tsx";
import { Empty, Failure, Loading } from "../ui/parts.tsx";
import "../trial/trial.css";
import "./analysis.css";
import { ContourCard, HistoryCard, ParetoCard, SliceCard } from "./cards.tsx";
import { lookAt, useResults } from "./data.ts";
import { WhenSeen } from "./figure.tsx";
import { ImportanceCard } from "./importance.tsx";
import { ParallelCard } from "./parallel_view.tsx";

export { MachineTab } from "./machine.tsx";
export { TimelineTab } from "./timeline.tsx";
export { TuningTab } from "./tuning.tsx";

export function AnalysisTab({ experiment }: { experiment: Experiment }) {
    const { load, all, setAll, where, setWhere } = useResults(experiment);
    const [of, setOf] = useQuery("of", text());
    const whole = load.value;
    const results = useMemo(() => whole && lookAt(whole, of), [whole, of]);
    const first = whole?.objectives[0]?.field ?? "";
    const metrics = whole?.fields.filter((f) => f.kind === "metric" && f.name !== first && f !== whole.objective) ?? [];
    const isFirst = results?.objective === whole?.objective;
    const objective = results && (results.objectives.length === 0 ? undefined : isFirst ? "" : results.objectives.some((o) => o.field === results.objective.name) ? results.objective.label : null);
    const wrong = load.error && where ? load.error.message : null;
    return (
        <>
            <div class="toolbar">
                <Filter label="Only these trials" placeholder="only trials such as lr > 1e-4 and min(loss) < 0.3" value={where} onChange={setWhere} error={wrong} busy={load.loading} />
                {whole && metrics.length > 0 && <Select label="Look at" value={isFirst ? "" : of} options={[{ value: "", label: whole.objective.label }, ...metrics.map((f) => ({ value: f.name, label: f.label }))]} onChange={setOf} />}
                <Check label="Also trials that did not complete" value={all} onChange={setAll} />
            </div>
            {!results ? (load.error && !wrong ? <Failure error={load.error} retry={load.reload} /> : <Loading what="the results" />)
                : results.rows === 0 ? <Empty title="No results to look at yet"><p>Charts appear with the first trial that completes{where && ", or with another filter"}.</p></Empty>
                : (
                    <div class="figures">
                        <ParallelCard results={results} />
                        <HistoryCard results={results} best={isFirst && !where && !all && results.objectives.length < 2 && tellsMore(experiment) ? experiment.best : null} />
                        <WhenSeen height={320}>{() => <ImportanceCard experiment={experiment.experiment} rows={results.rows} metric={objective} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <SliceCard results={results} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <ContourCard results={results} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <ParetoCard results={results} />}</WhenSeen>
                    </div>
                )}
        </>
    );
}
