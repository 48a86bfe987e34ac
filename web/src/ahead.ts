/* SPDX-License-Identifier: MIT */
/*
 * ahead.ts — what the first page will ask for is asked for at once. A script of its own, of some
 * kilobytes: its questions are answered while the pages are still being read and set up, and who is
 * signed in is found out. What it gets wrong, or has no answer for, the page asks itself.
 */
import { flag, parse, text, type Codec } from "./codec.ts";
import { askEarly, url, type Query } from "./early.ts";
import { trialsOf } from "./experiment/curve_data.ts";
import { codecs, seriesQuery, trialsQuery, usualMetrics, viewOf as rangeOf, widthOf } from "./experiment/curve_query.ts";
import { pageRows, rowQuery, tableQuery, viewOf } from "./experiment/queries.ts";
import { pageSize } from "./experiments/page_size.ts";
import type { ExperimentPage, MetricName, Objective, TrialTable } from "./types.ts";

const init = { headers: { Accept: "application/json" } };

/* The answer for who is here. The page gets it later by a step or two, so that what follows from it is
 * asked for here before the page would. */
async function ask<R>(path: string, query?: Query): Promise<R> {
    let words = "";
    const response = await askEarly(url(path, query), init, async (got) => {
        words = await got.text();
        return new Response(words, got);
    });
    if (!response.ok) throw new Error(response.statusText);
    return JSON.parse(words) as R;
}

/* Nobody here waits for it. */
function askOnly(path: string, query?: Query): void {
    void askEarly(url(path, query), init);
}

/* As the tab chooses: it does not wait for names when there is an objective. */
async function metricsOf(chosen: string[], objective: Promise<Objective | null>, names: Promise<{ metrics: MetricName[] }>): Promise<string[]> {
    if (chosen.length > 0) return chosen;
    const usual = usualMetrics(await objective, []);
    return usual.length > 0 ? usual : usualMetrics(null, (await names).metrics);
}

/* All that the curves ask for when they are one chart of lines, each as soon as it is known. */
async function askCurves(e: number, query: URLSearchParams, row: Promise<ExperimentPage>): Promise<void> {
    const read = <T>(name: string, codec: Codec<T>) => codec.read(query.get(name));
    const names = ask<{ metrics: MetricName[] }>(`/v1/experiments/${e}/metrics`);
    const objective = row.then((page) => page.experiments[0]?.objective ?? null);
    const selected = read("sel", codecs.sel);
    const pick = read("pick", codecs.pick(selected));
    const goal = pick === "newest" || pick === "selected" ? null : await objective; /* the order needs it */
    const table = ask<TrialTable>(`/v1/experiments/${e}/trials`, trialsQuery(goal, pick, read("n", codecs.n), selected, read("where", codecs.where)));
    const [metrics, trials] = await Promise.all([metricsOf(read("metric", codecs.metric), objective, names), table.then((t) => trialsOf(e, t))]);
    if (trials.some((t) => t.state === "running")) return; /* an early answer might miss what the stream has not yet told */
    if (metrics.length !== 1 || trials.length === 0 || read("group", codecs.group) || read("facet", codecs.facet) || read("over", codecs.over)) return;
    const shown = {
        metric: metrics[0]!, trials, groups: null, x: read("x", codecs.x), smooth: read("smooth", codecs.smooth), middle: read("middle", codecs.middle),
        band: read("band", codecs.band), view: rangeOf(read("from", codecs.from), read("to", codecs.to)),
    };
    const body = JSON.stringify(seriesQuery(shown, widthOf(innerWidth)));
    void askEarly("/v1/series", { method: "POST", headers: { "Content-Type": "application/json" }, body });
}

async function askExperiment(name: string, tab: string, query: URLSearchParams): Promise<void> {
    if (tab === "table") askOnly(`/v1/experiments/${name}/trials`, tableQuery(viewOf(query), 0, pageRows));
    const row = ask<ExperimentPage>("/v1/experiments", rowQuery(name));
    const curves = tab === "curves" ? askCurves(Number(name), query, row) : null;
    askOnly(`/v1/experiments/${name}`);
    await Promise.all([row, curves]);
}

function start(): void {
    const { path, query } = parse(location.hash);
    const [page, name, tab = "table"] = path;
    const read = (n: string) => text().read(query.get(n));
    askOnly("/v1/me");
    if (page === undefined) askOnly("/v1/experiments", { where: read("where"), sort: read("sort"), desc: flag().read(query.get("desc")), limit: pageSize });
    if (page === "e" && name !== undefined && /^\d+$/.test(name)) askExperiment(name, tab, query).catch(() => {}); /* the page asks itself, and tells */
}

start();
