/* SPDX-License-Identifier: MIT */
/*
 * picture.ts — a chart as a file: its canvas with axes as it stands, its title above, its lines' names
 * below, on the ground of the page.
 */
import { colourOf } from "../theme.ts";
import { nameFile, saveFile } from "../ui/save.ts";
import type { ChartLine } from "./line.ts";

const namesMost = 40, titleHeight = 28, rowHeight = 18, pad = 12, swatch = 16;

/* Where each name goes: rows of words, each as wide as `widthOf` says, that break at `width`. */
export function flow(widths: readonly number[], width: number): { x: number; row: number }[] {
    let x = 0;
    let row = 0;
    return widths.map((w) => {
        if (x > 0 && x + w > width) [x, row] = [0, row + 1];
        const at = { x, row };
        x += w;
        return at;
    });
}

function drawNames(ctx: CanvasRenderingContext2D, names: { words: string; line: ChartLine | null }[], places: { x: number; row: number }[], top: number): void {
    names.forEach(({ words, line }, i) => {
        const { x, row } = places[i]!, y = top + row * rowHeight + rowHeight / 2;
        ctx.fillStyle = colourOf("--text");
        ctx.fillText(words, pad + x + (line ? swatch + 5 : 0), y);
        if (!line) return;
        ctx.strokeStyle = line.colour;
        ctx.lineWidth = 2.4;
        ctx.setLineDash(line.dash ?? []);
        ctx.beginPath();
        ctx.moveTo(pad + x, y);
        ctx.lineTo(pad + x + swatch, y);
        ctx.stroke();
    });
}

function draw(chart: HTMLCanvasElement, title: string, lines: readonly ChartLine[]): HTMLCanvasElement {
    const ratio = chart.width / chart.clientWidth || 1, [width, height] = [chart.width / ratio, chart.height / ratio];
    const picture = document.createElement("canvas"), ctx = picture.getContext("2d")!;
    const more = lines.length - namesMost;
    const names = [...lines.slice(0, namesMost).map((line) => ({ words: line.label, line })), ...(more > 0 ? [{ words: `${more} more`, line: null }] : [])];
    ctx.font = "12px system-ui, sans-serif";
    const places = flow(names.map(({ words }) => ctx.measureText(words).width + swatch + 20), width - 2 * pad);
    const rows = places.length > 0 ? places.at(-1)!.row + 1 : 0;
    picture.width = chart.width;
    picture.height = Math.round((titleHeight + height + rows * rowHeight + (rows > 0 ? pad : 0)) * ratio);
    ctx.fillStyle = colourOf("--bg");
    ctx.fillRect(0, 0, picture.width, picture.height);
    ctx.drawImage(chart, 0, titleHeight * ratio);
    ctx.scale(ratio, ratio);
    ctx.textBaseline = "middle";
    ctx.fillStyle = colourOf("--text");
    ctx.font = "600 14px system-ui, sans-serif";
    ctx.fillText(title, pad, titleHeight / 2 + 2);
    ctx.font = "12px system-ui, sans-serif";
    drawNames(ctx, names, places, titleHeight + height + pad / 2);
    return picture;
}

/* Save the chart inside `box` as TITLE.png. */
export async function savePicture(box: Element | null, title: string, lines: readonly ChartLine[]): Promise<void> {
    const chart = box?.querySelector("canvas");
    if (!chart) throw new Error("There is no chart to save yet");
    const blob = await new Promise<Blob | null>((done) => draw(chart, title, lines).toBlob(done, "image/png"));
    if (!blob) throw new Error("This browser could not make a picture of it");
    saveFile(blob, nameFile(title, "png"));
}
