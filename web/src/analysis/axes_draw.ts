/* SPDX-License-Identifier: MIT */
/*
 * axes_draw.ts — the frame of a scatter: grid, ticks, their words and the names of both axes, on a canvas.
 */
import { formatNumber } from "../format.ts";
import { colourOf } from "../theme.ts";
import { type Axis, place, ticks } from "./axis.ts";
import type { Size } from "./canvas.ts";

export interface Box {
    left: number;
    top: number;
    width: number;
    height: number;
}

export const FONT = "11px system-ui, sans-serif";

export function boxOf({ width, height }: Size): Box {
    return { left: 70, top: 8, width: Math.max(20, width - 70 - 10), height: Math.max(20, height - 8 - 36) };
}

export const xOf = (box: Box, axis: Axis, value: number) => box.left + box.width * (0.02 + 0.96 * place(axis, value));
export const yOf = (box: Box, axis: Axis, value: number) => box.top + box.height * (1 - (0.03 + 0.94 * place(axis, value)));

export function tickText(axis: Axis, value: number): string {
    return axis.names ? (axis.names[value] ?? "") : formatNumber(value, 3);
}

function cut(ctx: CanvasRenderingContext2D, words: string, most: number): string {
    if (ctx.measureText(words).width <= most) return words;
    let short = words;
    while (short.length > 1 && ctx.measureText(`${short}…`).width > most) short = short.slice(0, -1);
    return `${short}…`;
}

export function drawFrame(ctx: CanvasRenderingContext2D, box: Box, x: Axis, y: Axis): void {
    const [grid, dim] = [colourOf("--grid"), colourOf("--dim")];
    ctx.font = FONT;
    ctx.lineWidth = 1;
    ctx.strokeStyle = grid;
    ctx.fillStyle = dim;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const wide = box.width / Math.max(1, ticks(x, box.width / 80).length);
    for (const tick of ticks(x, box.width / 80)) {
        const at = Math.round(xOf(box, x, tick)) + 0.5;
        line(ctx, at, box.top, at, box.top + box.height);
        ctx.fillText(cut(ctx, tickText(x, tick), Math.max(40, wide)), at, box.top + box.height + 4);
    }
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const tick of ticks(y, box.height / 44)) {
        const at = Math.round(yOf(box, y, tick)) + 0.5;
        line(ctx, box.left, at, box.left + box.width, at);
        ctx.fillText(cut(ctx, tickText(y, tick), 48), box.left - 6, at);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(cut(ctx, x.name, box.width), box.left + box.width / 2, box.top + box.height + 32);
    ctx.save();
    ctx.translate(12, box.top + box.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(cut(ctx, y.name, box.height), 0, 0);
    ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
}
