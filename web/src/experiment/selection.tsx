/* SPDX-License-Identifier: MIT */
/*
 * selection.tsx — the bar above the run table while rows are selected: where they can be seen, and what
 * can be done to all of them.
 */
import { useState } from "preact/hooks";
import { format } from "../address.ts";
import { useRefusal } from "../experiments/actions.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { useLoad } from "../load.ts";
import type { Experiment } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Loaded } from "../ui/parts.tsx";
import { Popover } from "../ui/popover.tsx";
import { pickedOf, star, tag, tagCounts } from "./selection_acts.ts";

/* The tags that some of them have, each with a way to take it from all; and one more for all. */
function Tags({ e, numbers, changed }: { e: number; numbers: number[]; changed: () => void }) {
    const [name, setName] = useState("");
    const load = useLoad(`tags ${e} ${numbers.join()}`, (signal) => pickedOf(e, numbers, signal));
    const act = async (which: number[], words: string, add: boolean) => {
        await tag(e, which, words, add);
        load.reload();
        changed();
    };
    return (
        <div class="selection-tags">
            <form
                class="row"
                onSubmit={(event) => {
                    event.preventDefault();
                    if (name.trim()) void act(numbers, name.trim(), true);
                    setName("");
                }}
            >
                <label class="field inline"><span class="sr">Tag for {formatPlural(numbers.length, "trial")}</span><input value={name} maxLength={100} placeholder="a tag" onInput={(event) => setName((event.target as HTMLInputElement).value)} /></label>
                <Button submit disabled={!name.trim()}>Add to {formatPlural(numbers.length, "trial")}</Button>
            </form>
            <Loaded of={load} what="their tags">
                {(picked) => (
                    <ul>
                        {tagCounts(picked).map(([t, n]) => (
                            <li key={t}>
                                <span class="tag">{t}</span> <small class="dim">{formatCount(n)} of {formatPlural(picked.length, "trial")}</small>
                                <Button kind="quiet" icon="close" label={`Take the tag ${t} away`} onClick={() => void act(picked.filter((p) => p.tags.includes(t)).map((p) => p.number), t, false)} />
                            </li>
                        ))}
                    </ul>
                )}
            </Loaded>
        </div>
    );
}

export function SelectionBar({ x, selected, clear, changed, remove }: { x: Experiment; selected: ReadonlySet<number>; clear: () => void; changed: () => void; remove: () => void }) {
    const refused = useRefusal(x), off = refused !== null, e = x.experiment;
    if (selected.size === 0) return null;
    const numbers = [...selected];
    const hint = (words: string) => (refused ? `${words}: ${refused}` : undefined);
    const mark = (add: boolean) => void star(e, numbers, add).then(changed);
    return (
        <div class="selection" role="group" aria-label="Selected trials">
            <b role="status">{formatCount(selected.size)} selected</b>
            <a class="button" href={format(["e", e, "curves"], { sel: numbers.join(",") })}>Curves</a>
            <a class="button" href={format(["compare"], { runs: numbers.map((n) => `${e}.${n}`).join(",") })}>Compare</a>
            <Button icon="star" label={hint("Star")} disabled={off} onClick={() => mark(true)}>Star</Button>
            <Button label={hint("Take stars away")} disabled={off} onClick={() => mark(false)}>Take stars away</Button>
            <Popover button={{ icon: "tag", children: "Tags", label: hint("Tags"), disabled: off }} label="Tags of the selected trials">
                {() => <Tags e={e} numbers={numbers} changed={changed} />}
            </Popover>
            <Button icon="trash" label={hint("Delete …")} disabled={off} onClick={remove}>Delete …</Button>
            <Button kind="quiet" onClick={clear}>Clear</Button>
        </div>
    );
}
