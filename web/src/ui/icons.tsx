/* SPDX-License-Identifier: MIT */
/* icons.tsx — a few drawings on a 16 × 16 grid, in the colour of the text beside them. */
const paths = {
    star: "M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
    stop: "M4 4h8v8H4z",
    play: "M5 3.2v9.6l7.5-4.8z",
    pause: "M5 3.5v9M11 3.5v9",
    more: "M3 8h.01M8 8h.01M13 8h.01",
    close: "M4 4l8 8M12 4l-8 8",
    check: "M3 8.5l3.2 3.2L13 4.8",
    down: "M4 6l4 4 4-4",
    up: "M4 10l4-4 4 4",
    left: "M10 4L6 8l4 4",
    right: "M6 4l4 4-4 4",
    search: "M7 11.5a4.5 4.5 0 110-9 4.5 4.5 0 010 9zM10.5 10.5L14 14",
    sun: "M8 5.2a2.8 2.8 0 110 5.6 2.8 2.8 0 010-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.1 1.1M11.9 11.9L13 13M13 3l-1.1 1.1M4.1 11.9L3 13",
    moon: "M13.2 9.8A5.6 5.6 0 016.2 2.8a5.6 5.6 0 107 7z",
    system: "M2 3h12v8H2zM5.5 14h5M8 11v3",
    keys: "M1.5 4h13v8h-13zM4 6.6h.01M6.6 6.6h.01M9.2 6.6h.01M11.8 6.6h.01M5 9.6h6",
    link: "M6.5 9.5l3-3M7 4.5l1.3-1.3a2.8 2.8 0 014 4L11 8.5M9 11.5l-1.3 1.3a2.8 2.8 0 01-4-4L5 7.5",
    columns: "M2 3h12v10H2zM6 3v10M10 3v10",
    pin: "M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5",
    tag: "M2 7.5V2.5h5l6.5 6.5-5 5zM5 5.5h.01",
    note: "M3 2.5h10v8l-3 3H3zM5.5 6h5M5.5 8.8h3",
    trash: "M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9",
    filter: "M2 3.5h12L9.5 8.8v4.4l-3-1.6V8.8z",
    curve: "M2 3c2 7 5 9 12 9",
    zoom: "M7 11.5a4.5 4.5 0 110-9 4.5 4.5 0 010 9zM10.5 10.5L14 14M5 7h4",
    picture: "M2 3h12v10H2zM4 10.8l3-3.6 2.4 2.6 1.4-1.4 1.6 2.4M10.5 5.8h.01",
    user: "M8 8a2.7 2.7 0 110-5.4A2.7 2.7 0 018 8zM3 14c.6-3 2.4-4.3 5-4.3s4.4 1.3 5 4.3",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, filled }: { name: IconName; filled?: boolean }) {
    return (
        <svg class={filled ? "icon filled" : "icon"} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path d={paths[name]} />
        </svg>
    );
}
