/* SPDX-License-Identifier: MIT */
/*
 * codec.ts — how an address is written: "#/e/3/curves?metric=loss&smooth=0.6", and the values of its
 * query. Pure, and alone: ahead.ts reads an address before there is anything else.
 */
export interface Address {
    path: string[]; /* segments, decoded */
    query: URLSearchParams;
}

/* How a value is written: `read` gets null where it is absent, `write` gives null to leave it out. */
export interface Codec<T> {
    read(text: string | null): T;
    write(value: T): string | null;
}

export const text = (otherwise = ""): Codec<string> => ({
    read: (t) => t ?? otherwise,
    write: (v) => (v === otherwise ? null : v),
});
export const number = (otherwise: number): Codec<number> => ({
    read: (t) => (t === null || t === "" || !Number.isFinite(Number(t)) ? otherwise : Number(t)),
    write: (v) => (v === otherwise ? null : String(v)),
});
export const maybe: Codec<number | null> = {
    read: (t) => (t === null || t === "" || !Number.isFinite(Number(t)) ? null : Number(t)),
    write: (v) => (v === null ? null : String(v)),
};
export const flag = (otherwise = false): Codec<boolean> => ({
    read: (t) => (t === null ? otherwise : t !== "0"),
    write: (v) => (v === otherwise ? null : v ? "1" : "0"),
});
export const choice = <T extends string>(choices: readonly T[], otherwise: T): Codec<T> => ({
    read: (t) => (choices.includes(t as T) ? (t as T) : otherwise),
    write: (v) => (v === otherwise ? null : v),
});
/* Names may hold commas: they are percent-encoded one by one. */
export const list: Codec<string[]> = {
    read: (t) => (t ? t.split(",").map(decode) : []),
    write: (v) => (v.length === 0 ? null : v.map((s) => s.replace(/[%,]/g, encodeURIComponent)).join(",")),
};

function decode(segment: string): string {
    try {
        return decodeURIComponent(segment);
    } catch {
        return segment;
    }
}

export function parse(hash: string): Address {
    const bare = hash.replace(/^#?\/?/, "");
    const at = bare.indexOf("?");
    const path = at < 0 ? bare : bare.slice(0, at);
    return {
        path: path.split("/").filter((s) => s !== "").map(decode),
        query: new URLSearchParams(at < 0 ? "" : bare.slice(at + 1)),
    };
}

export function format(path: readonly (string | number)[], query?: URLSearchParams | Record<string, string>): string {
    const words = path.map((s) => encodeURIComponent(String(s))).join("/");
    const params = new URLSearchParams(query).toString().replace(/%2C/g, ",").replace(/%2F/g, "/");
    return `#/${words}${params ? `?${params}` : ""}`;
}
