/* SPDX-License-Identifier: MIT */
/* colour_key.tsx — what the colours of a chart mean: the scale from its worst to its best, with numbers. */
import { useMemo } from "preact/hooks";
import { formatNumber } from "../format.ts";
import { useStore } from "../store.ts";
import { theme } from "../theme.ts";
import type { Field } from "./data.ts";
import { goodColour } from "./scatter.tsx";

/* `values` stand at equal distances, from the first colour to the last. */
export function ColourKey({ label, values }: { label: string; values: number[] }) {
    useStore(theme);
    const colours = Array.from({ length: 9 }, (_, i) => goodColour(i / 8)).join(", ");
    return (
        <div class="colour-key" role="img" aria-label={`Colours: ${label} from ${values.map((v) => formatNumber(v, 3)).join(" over ")}`}>
            <span>{label}</span>
            <div>
                <i style={{ background: `linear-gradient(to right, ${colours})` }} />
                <p aria-hidden="true">{values.map((v, i) => <span key={i}>{formatNumber(v, 3)}</span>)}</p>
            </div>
        </div>
    );
}

/* From the worst over the middle to the best; goal 1: the largest is the best. */
export function endsOf(worst: number, best: number): number[] {
    return worst === best ? [best] : [worst, (worst + best) / 2, best];
}

export function FieldKey({ field, goal }: { field: Field; goal: number }) {
    const values = useMemo(() => {
        let low = Infinity, high = -Infinity;
        for (const v of field.values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
        return low > high ? null : goal > 0 ? endsOf(low, high) : endsOf(high, low);
    }, [field.values, goal]);
    return values && <ColourKey label={field.label} values={values} />;
}
