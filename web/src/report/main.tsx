/* SPDX-License-Identifier: MIT */
/*
 * main.tsx — the page of `hone report`: one experiment in one file that opens offline, years later.
 *
 * Everything it shows is in <script type="application/json" id="data">, whose shape is in shape.ts;
 * there is no request to anywhere. It is drawn by the same charts as the pages of the server. The
 * file is this bundle (report.js), its style (report.css) and the document.
 */
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import { withoutPages } from "../analysis/links.tsx";
import { startAddress } from "../address.ts";
import { startKeys } from "../keys.ts";
import "../style.css";
import { startTheme } from "../theme.ts";
import { readReport } from "./model.ts";
import { ReportPage } from "./page.tsx";

function start(): void {
    const place = document.getElementById("app") ?? document.body.appendChild(document.createElement("div"));
    place.id = "app";
    withoutPages();
    startTheme();
    startAddress();
    startKeys();
    try {
        const report = readReport(document.getElementById("data")?.textContent ?? "");
        document.title = `${String(report.experiment.name ?? "experiment")} · Hone`;
        render(<ReportPage report={report} />, place);
    } catch (error) {
        render(<main><h1>This report cannot be read</h1><p>{error instanceof Error ? error.message : String(error)}</p></main>, place);
    }
}

start();
