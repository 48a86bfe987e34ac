/* SPDX-License-Identifier: MIT */
/*
 * line_switch.tsx — lines are switched off and on in the legend of their charts; with Shift all others
 * are. Which ones are off is in the address: off=3,7. They stay loaded, so that a press is seen at once.
 */
import { useMemo } from "preact/hooks";
import { list, useQuery } from "../address.ts";
import { Button } from "../ui/button.tsx";
import "./line_switch.css";

export interface Switches {
    off: ReadonlySet<string>;
    set: (off: string[]) => void;
}

export function useSwitches(): Switches {
    const [raw, set] = useQuery("off", list);
    const off = useMemo(() => new Set(raw), [raw.join("\n")]);
    return { off, set };
}

/* What is off after a press on `id`: it or, `alone`, all others; and nothing where it was alone already. */
export function pressed(off: ReadonlySet<string>, id: string, all: readonly string[], alone: boolean): string[] {
    if (!alone) return off.has(id) ? [...off].filter((o) => o !== id) : [...off, id];
    const others = all.filter((o) => o !== id);
    return !off.has(id) && others.every((o) => off.has(o)) ? [] : others;
}

/* The stroke of a line, as it is in the charts, as its switch. */
export function LineSwitch({ of, id, name, all, colour, dash = [] }: { of: Switches; id: string; name: string; all: readonly string[]; colour: string; dash?: number[] }) {
    const isOff = of.off.has(id);
    return (
        <button type="button" class="line-switch" aria-pressed={!isOff} aria-label={`Line of ${name}`} title={`${isOff ? "Show" : "Hide"} the line; with Shift only this one`}
            onClick={(e) => of.set(pressed(of.off, id, all, e.shiftKey))}>
            <svg width="18" height="6" aria-hidden="true">
                <line x1="0" y1="3" x2="18" y2="3" stroke={colour} stroke-width="2.4" stroke-dasharray={dash.join(" ")} />
            </svg>
        </button>
    );
}

/* All lines again, while some are off. */
export function AllLines({ of, all }: { of: Switches; all: readonly string[] }) {
    return all.some((id) => of.off.has(id)) ? <li><Button kind="quiet" onClick={() => of.set([])}>All lines</Button></li> : null;
}
