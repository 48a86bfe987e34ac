/* SPDX-License-Identifier: MIT */
/*
 * store.ts — a value that parts of the page share and hear about. The smallest thing that does it.
 */
import { useEffect, useState } from "preact/hooks";

export class Store<T> {
    private readonly listeners = new Set<(value: T) => void>();
    constructor(private value: T) {}

    get(): T {
        return this.value;
    }
    set(value: T): void {
        if (Object.is(value, this.value)) return;
        this.value = value;
        for (const listener of [...this.listeners]) listener(value);
    }
    update(change: (value: T) => T): void {
        this.set(change(this.value));
    }
    /* Returns how to stop listening. */
    subscribe(listener: (value: T) => void): () => void {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
    }
}

export function useStore<T>(store: Store<T>): T {
    const [value, set] = useState(() => store.get());
    useEffect(() => {
        set(() => store.get());
        return store.subscribe((v) => set(() => v));
    }, [store]);
    return value;
}
