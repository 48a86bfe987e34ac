/* SPDX-License-Identifier: MIT */
/* tabs.tsx — what the experiment page shows of the analysis: four tabs. */
import type { Experiment } from "../types.ts";
import { Check, Filter } from "../ui/field.tsx";
import { Empty, Failure, Loading } from "../ui/parts.tsx";
import "../trial/trial.css";
import "./analysis.css";
import { ContourCard, HistoryCard, ParetoCard, SliceCard } from "./cards.tsx";
import { useResults } from "./data.ts";
import { WhenSeen } from "./figure.tsx";
import { ImportanceCard } from "./importance.tsx";
import { ParallelCard } from "./parallel_view.tsx";

export { MachineTab } from "./machine.tsx";
export { TimelineTab } from "./timeline.tsx";
export { TuningTab } from "./tuning.tsx";

export function AnalysisTab({ experiment }: { experiment: Experiment }) {
    const { load, all, setAll, where, setWhere } = useResults(experiment);
    const results = load.value;
    const wrong = load.error && where ? load.error.message : null;
    return (
        <>
            <div class="toolbar">
                <Filter label="Only these trials" placeholder="only trials such as lr > 1e-4 and min(loss) < 0.3" value={where} onChange={setWhere} error={wrong} busy={load.loading} />
                <Check label="Also trials that did not complete" value={all} onChange={setAll} />
            </div>
            {!results ? (load.error && !wrong ? <Failure error={load.error} retry={load.reload} /> : <Loading what="the results" />)
                : results.rows === 0 ? <Empty title="No results to look at yet"><p>Charts appear with the first trial that completes{where && ", or with another filter"}.</p></Empty>
                : (
                    <div class="figures">
                        <ParallelCard results={results} />
                        <HistoryCard results={results} />
                        <WhenSeen height={320}>{() => <ImportanceCard experiment={experiment.experiment} rows={results.rows} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <SliceCard results={results} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <ContourCard results={results} />}</WhenSeen>
                        <WhenSeen height={320}>{() => <ParetoCard results={results} />}</WhenSeen>
                    </div>
                )}
        </>
    );
}
