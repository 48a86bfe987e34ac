/* SPDX-License-Identifier: MIT */
/*
 * worker.ts — the SharedWorker: all tabs of this browser share one connection to the server.
 * Browsers allow six connections a host; seven tabs with a stream each would hang.
 *
 * A port does not tell when its tab is gone. A tab says `bye` when it is left; one that died without
 * a word is dropped when it has not been heard for three minutes (tabs speak every 45 s, hidden ones
 * at least once a minute).
 */
import { browserEnv, Hub, type Message, type Tab, type Wish } from "./hub.ts";

const silentMs = 180_000;
const hub = new Hub(browserEnv);
const heard = new Map<Tab, number>();

function accept(port: MessagePort): void {
    const tab: Tab = (message: Message) => port.postMessage(message);
    port.onmessage = (event: MessageEvent<Wish>) => {
        const wish = event.data;
        if (wish.kind === "bye") {
            heard.delete(tab);
            hub.leave(tab);
            return;
        }
        heard.set(tab, Date.now());
        if (wish.kind === "hurry") hub.hurry();
        else hub.watch(tab, wish.experiments, wish.since);
    };
    port.start();
}

setInterval(() => {
    for (const [tab, at] of [...heard]) {
        if (Date.now() - at < silentMs) continue;
        heard.delete(tab);
        hub.leave(tab);
    }
}, 60_000);

addEventListener("connect", (event) => {
    const port = (event as MessageEvent).ports[0];
    if (port) accept(port);
});
