/* SPDX-License-Identifier: MIT */
/*
 * curve_legend.tsx — which line is which, in what trials differ, and a switch for each. Trials are known
 * by their number, groups by their place: so they stand in the address.
 */
import { useMemo } from "preact/hooks";
import { format } from "../address.ts";
import { AllLines, LineSwitch, type Switches } from "../chart/line_switch.tsx";
import { formatValue } from "../format.ts";
import { useStore } from "../store.ts";
import { lineColour, lineColours, theme } from "../theme.ts";
import { dashesOf, differing, type Bundle, type CurveTrial } from "./curve_data.ts";

export function GroupLegend({ groups, of }: { groups: Bundle[]; of: Switches }) {
    useStore(theme);
    const all = groups.map((_, i) => String(i));
    return (
        <ul class="legend" aria-label="Groups in the charts">
            {groups.map((g, i) => (
                <li key={g.label}>
                    <LineSwitch of={of} id={String(i)} name={g.label} all={all} colour={lineColour(i)} /> <span>{g.label} <small>{g.trials.length}</small></span>
                </li>
            ))}
            <AllLines of={of} all={all} />
        </ul>
    );
}

const wordsMost = 4, trialsMost = 60;

export function Legend({ trials, of, onLoud }: { trials: CurveTrial[]; of: Switches; onLoud: (name: string | null) => void }) {
    useStore(theme);
    const dashes = dashesOf(trials, lineColours);
    const names = useMemo(() => differing(trials), [trials]);
    const all = trials.map((t) => String(t.number));
    const loud = (t: CurveTrial) => onLoud(of.off.has(String(t.number)) ? null : t.name);
    const words = (t: CurveTrial, some: string[]) => some.map((name) => `${name} ${formatValue(t.params[name])}`).join(", ");
    return (
        <ul class="legend" aria-label="Trials in the charts">
            {trials.slice(0, trialsMost).map((t, i) => (
                <li key={t.name}>
                    <LineSwitch of={of} id={String(t.number)} name={`trial ${t.name}`} all={all} colour={lineColour(t.number)} dash={dashes[i]!} />
                    <a href={format(["t", t.name])} onMouseEnter={() => loud(t)} onMouseLeave={() => onLoud(null)} onFocus={() => loud(t)} onBlur={() => onLoud(null)}>
                        {t.label} {names.length > 0 && <small title={words(t, names)}>{words(t, names.slice(0, wordsMost))}{names.length > wordsMost && " …"}</small>}
                    </a>
                </li>
            ))}
            {trials.length > trialsMost && <li class="dim">{trials.length - trialsMost} more</li>}
            <AllLines of={of} all={all} />
        </ul>
    );
}
