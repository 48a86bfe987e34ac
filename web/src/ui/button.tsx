/* SPDX-License-Identifier: MIT */
/* button.tsx — buttons: with words, or with an icon whose `label` a screen reader says. */
import type { ComponentChildren, Ref } from "preact";
import { Icon, type IconName } from "./icons.tsx";

export interface ButtonProps {
    children?: ComponentChildren;
    icon?: IconName;
    filled?: boolean;
    label?: string /* needed when there are no words; also shown as hint */;
    kind?: "plain" | "primary" | "danger" | "quiet";
    pressed?: boolean;
    disabled?: boolean;
    submit?: boolean;
    expanded?: boolean;
    popup?: "menu" | "dialog" | "listbox";
    innerRef?: Ref<HTMLButtonElement>;
    onClick?: (event: MouseEvent) => void;
    onKeyDown?: (event: KeyboardEvent) => void;
}

export function Button(p: ButtonProps) {
    return (
        <button
            ref={p.innerRef}
            type={p.submit ? "submit" : "button"}
            class={`button ${p.kind ?? "plain"}${p.children === undefined ? " bare" : ""}`}
            aria-label={p.label}
            title={p.label}
            aria-pressed={p.pressed}
            aria-expanded={p.expanded}
            aria-haspopup={p.popup}
            disabled={p.disabled}
            onClick={p.onClick}
            onKeyDown={p.onKeyDown}
        >
            {p.icon && <Icon name={p.icon} filled={p.filled} />}
            {p.children}
        </button>
    );
}
