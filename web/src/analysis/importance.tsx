/* SPDX-License-Identifier: MIT */
/*
 * importance.tsx — which parameters mattered: the share of the spread that each explains alone, with
 * an interval, and pairs that explain more together. The numbers are those of `hone importance`.
 */
import { formatCount } from "../format.ts";
import { useLoad } from "../load.ts";
import { ask } from "../trial/details.ts";
import type { ApiError } from "../api.ts";
import { Empty, Failure, Loading } from "../ui/parts.tsx";
import { Card } from "./figure.tsx";

interface Share {
    share: number;
    low: number;
    high: number;
}
export interface Importance {
    objective: string;
    results: number;
    explained: number;
    params: (Share & { param: string })[];
    pairs: (Share & { a: string; b: string })[];
}

const percent = (x: number) => `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)} %`;

function Bars({ rows, most }: { rows: (Share & { name: string })[]; most: number }) {
    const at = (x: number) => `${(100 * Math.min(x, most)) / most}%`;
    return (
        <table class="importance" aria-label="Shares of the spread">
            <tbody>
                {rows.map((row) => (
                    <tr key={row.name}>
                        <th scope="row" title={row.name}>{row.name}</th>
                        <td class="wide">
                            <span class="share" aria-hidden="true">
                                <i class="bar" style={{ width: at(row.share) }} />
                                <i class="whisker" style={{ left: at(row.low), width: `calc(${at(row.high)} - ${at(row.low)})` }} />
                            </span>
                        </td>
                        <td class="num">{percent(row.share)}</td>
                        <td class="num dim">{percent(row.low)} – {percent(row.high)}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function ImportancePicture({ told }: { told: Importance }) {
    const params = told.params.slice(0, 12).map((p) => ({ ...p, name: p.param }));
    const pairs = told.pairs.filter((p) => p.share >= 0.01).slice(0, 4).map((p) => ({ ...p, name: `${p.a} × ${p.b}` }));
    const most = Math.max(0.02, ...[...params, ...pairs].map((p) => p.high));
    return (
        <>
            <Bars rows={params} most={most} />
            {pairs.length > 0 && <><h3 class="together">More together than each alone</h3><Bars rows={pairs} most={most} /></>}
            <p class="dim figure-note">
                Of the spread of {told.objective} over {formatCount(told.results)} results; the parameters together explain {percent(told.explained)}. Thin lines hold the share in 9 of 10 resamplings.
            </p>
        </>
    );
}

/* Too few results are no failure: how many it takes is said. */
function tooFew(error: Error): { has: string; needs: string } | null {
    const found = /^(\d+) results? .* it takes (\d+) completed/.exec(error.message);
    return found ? { has: found[1]!, needs: found[2]! } : null;
}

function Without({ error, retry }: { error: ApiError; retry: () => void }) {
    const few = tooFew(error);
    if (!few) return <Failure error={error} retry={retry} />;
    return <Empty title="Too few trials yet"><p>It takes {few.needs} completed trials to tell which parameters mattered; there {few.has === "1" ? "is" : "are"} {few.has}.</p></Empty>;
}

/* metric: "" for the first objective, null for one that is no objective, undefined where there is none. */
export function ImportanceCard({ experiment, rows, metric }: { experiment: number; rows: number; metric: string | null | undefined }) {
    const more = metric ? ["--objective", metric] : [];
    const load = useLoad(metric === null || metric === undefined ? null : `${experiment} ${metric} ${Math.floor(Math.log2(rows + 1) * 2)}`, async (signal) => ({ told: await ask<Importance>("importance", [String(experiment), ...more], signal), metric }));
    return (
        <Card title="Importance">
            {metric === undefined ? <Empty title="There is no objective"><p>Which parameters mattered is told of an objective, and this experiment has none.</p></Empty>
                : metric === null ? <Empty title="Known of objectives only"><p>Look at an objective to see which parameters mattered for it.</p></Empty>
                : load.value?.metric === metric ? <ImportancePicture told={load.value.told} /> : load.error && !load.loading ? <Without error={load.error} retry={load.reload} /> : <Loading what="what mattered" />}
        </Card>
    );
}
