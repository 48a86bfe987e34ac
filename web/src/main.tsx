/* SPDX-License-Identifier: MIT */
/* main.tsx — the start: theme, address, keys, then the shell. */
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import { startAddress } from "./address.ts";
import { startKeys } from "./keys.ts";
import { Shell } from "./shell/shell.tsx";
import "./style.css";
import { startTheme } from "./theme.ts";

startTheme();
startAddress();
startKeys();
const place = document.getElementById("app") as HTMLElement;
place.textContent = ""; /* what stood there until now */
render(<Shell />, place);
