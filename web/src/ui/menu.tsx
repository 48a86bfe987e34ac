/* SPDX-License-Identifier: MIT */
/*
 * menu.tsx — a button with a menu: arrows move, Enter chooses, Escape closes, a letter jumps.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { place, useDismiss } from "./popover.tsx";

export interface MenuItem {
    label: string;
    icon?: IconName;
    danger?: boolean;
    disabled?: boolean;
    checked?: boolean;
    act: () => void;
}

function move(list: HTMLElement, event: KeyboardEvent): void {
    const items = [...list.querySelectorAll<HTMLElement>("[role^=menuitem]:not([disabled])")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    let to = -1;
    if (event.key === "ArrowDown") to = (at + 1) % items.length;
    else if (event.key === "ArrowUp") to = (at - 1 + items.length) % items.length;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey)
        to = items.findIndex((item) => item.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()));
    if (to < 0) return;
    event.preventDefault();
    items[to]?.focus();
}

export function Menu({ button, items }: { button: ButtonProps; items: () => MenuItem[] }) {
    const [open, setOpen] = useState(false);
    const box = useDismiss(open, () => setOpen(false));
    const list = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        if (!open || !list.current || !box.current) return;
        place(list.current, box.current);
        list.current.querySelector<HTMLElement>("[role^=menuitem]:not([disabled])")?.focus();
    }, [open]);
    const choose = (item: MenuItem) => {
        setOpen(false);
        box.current?.querySelector("button")?.focus();
        item.act();
    };
    return (
        <span class="popover" ref={box}>
            <Button {...button} expanded={open} popup="menu" onClick={() => setOpen(!open)} />
            {open && (
                <div
                    class="panel menu"
                    role="menu"
                    aria-label={button.label ?? "menu"}
                    ref={list}
                    onKeyDown={(e) => (e.key === "Tab" ? setOpen(false) : list.current && move(list.current, e))}
                >
                    {items().map((item) => (
                        <button
                            type="button"
                            key={item.label}
                            role={item.checked === undefined ? "menuitem" : "menuitemradio"}
                            aria-checked={item.checked}
                            tabIndex={-1}
                            class={item.danger ? "danger" : ""}
                            disabled={item.disabled}
                            onClick={() => choose(item)}
                        >
                            <span class="menu-icon">{item.checked ? <Icon name="check" /> : item.icon && <Icon name={item.icon} />}</span>
                            {item.label}
                        </button>
                    ))}
                </div>
            )}
        </span>
    );
}
