/* SPDX-License-Identifier: MIT */
/*
 * early.ts — answers that were asked for before the pages began. Who asks (ahead.ts) and who takes
 * (api.ts) are two scripts, so they meet in a property of the window. Each answer is taken once.
 */
type Answer = Promise<Response>;

const place = globalThis as typeof globalThis & { honeEarly?: Map<string, Answer> };
const early = (place.honeEarly ??= new Map());
const keptMs = 10_000; /* who did not take it by then will not */

export type Query = Record<string, string | number | boolean | null | undefined>;

export function url(path: string, query: Query = {}): string {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value === null || value === undefined || value === "" || value === false) continue;
        params.set(name, value === true ? "1" : String(value));
    }
    const text = params.toString();
    return text ? `${path}?${text}` : path;
}

/* With a body it is another question. */
const nameOf = (address: string, body?: unknown) => (body === undefined ? address : `${address} ${String(body)}`);

/* Ask now for what will be wanted in a moment; `read` may look at it first. */
export function askEarly(address: string, init: RequestInit, read?: (response: Response) => Answer): Answer {
    const name = nameOf(address, init.body);
    const answer = fetch(address, init).then(read);
    answer.catch(() => {}); /* who takes it hears of it */
    early.set(name, answer);
    setTimeout(() => early.get(name) === answer && early.delete(name), keptMs);
    return answer;
}

export function takeEarly(address: string, init: RequestInit): Answer | undefined {
    const name = nameOf(address, init.body ?? undefined);
    const answer = early.get(name);
    early.delete(name);
    return answer;
}

/* Something happened since: what nobody has taken yet is asked for again. */
export function forgetEarly(): void {
    early.clear();
}
