/* SPDX-License-Identifier: MIT */
/*
 * shell.tsx — what is around every page: the bar above, the login when nobody is signed in, the
 * banner when the server is away, toasts, questions, the list of keys.
 */
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { format, go, useAddress } from "../address.ts";
import * as api from "../api.ts";
import { keyHelp, useKeys } from "../keys.ts";
import { useLoad } from "../load.ts";
import { pages, type Page } from "../pages.ts";
import { useStore } from "../store.ts";
import { hurry, startStream, status } from "../stream.ts";
import type { Me } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, Questions } from "../ui/dialog.tsx";
import { Empty, Failure, Loading, RunEnded } from "../ui/parts.tsx";
import { Toasts } from "../ui/toast.tsx";
import { Login } from "./login.tsx";
import { TopBar } from "./top_bar.tsx";

/* It is about the page it was opened on: another address, and it is gone. */
function KeyList({ onClose }: { onClose: () => void }) {
    const address = useAddress();
    const at = format(address.path, address.query);
    const [openedAt] = useState(at);
    useEffect(() => void (at !== openedAt && onClose()), [at]);
    return (
        <Dialog title="Keys" onClose={onClose} wide>
            <div class="key-list">
                {keyHelp().map((group) => (
                    <section key={group.title}>
                        <h3>{group.title}</h3>
                        <dl>
                            {group.keys.map((k) => (
                                <div key={k.keys}>
                                    <dt>
                                        {k.keys.split(" ").map((word) => (
                                            <kbd key={word}>{word}</kbd>
                                        ))}
                                    </dt>
                                    <dd>{k.help}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
            </div>
        </Dialog>
    );
}

/* A part that threw must not take the rest of the page with it. */
class Guard extends Component<{ children: ComponentChildren }, { error: Error | null }> {
    override state = { error: null as Error | null };
    static override getDerivedStateFromError(error: Error) {
        return { error };
    }
    override componentDidCatch(error: Error): void {
        console.error(error);
    }
    override render() {
        const { error } = this.state;
        return error ? <Failure error={error} retry={() => this.setState({ error: null })} /> : this.props.children;
    }
}

function Banner() {
    const answers = useStore(api.reachable);
    const live = useStore(status);
    if (answers && live !== "away") return null;
    return (
        <div class="banner" role="alert">
            <span>
                The server does not answer. What you see is what was last known; it will come back by itself. <RunEnded />
            </span>
            <Button kind="quiet" onClick={hurry}>
                Try now
            </Button>
        </div>
    );
}

function find(path: string[]): Page | undefined {
    return pages.find((p) => p.path === (path[0] ?? ""));
}

function CurrentPage() {
    const address = useAddress();
    const page = find(address.path);
    const args = address.path.slice(1);
    const title = page ? page.title(args) : "Not found";
    useEffect(() => void (document.title = `${title} · Hone`), [title]);
    if (!page)
        return (
            <Empty title="There is no such page">
                <p>
                    <a href="#/">All experiments</a>
                </p>
            </Empty>
        );
    return (
        <Guard key={address.path.slice(0, 2).join("/")}>
            <page.page args={args} />
        </Guard>
    );
}

function SignedIn({ me }: { me: Me }) {
    const [help, setHelp] = useState(false);
    useEffect(startStream, []);
    useKeys("Everywhere", [
        { keys: "?", help: "show all keys", act: () => setHelp(true) },
        { keys: "/", help: "write a filter", act: () => document.querySelector<HTMLInputElement>("[data-filter]")?.focus() },
        ...pages.flatMap((p) => (p.nav ? [{ keys: p.nav.key, help: `go to ${p.nav.label.toLowerCase()}`, act: () => go(`#/${p.path}`) }] : [])),
        { keys: "u", help: "one page back", act: () => history.back() },
    ]);
    return (
        <>
            <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
                Skip to the content
            </a>
            <TopBar me={me} onHelp={() => setHelp(true)} />
            <Banner />
            <main id="main" tabIndex={-1}>
                <CurrentPage />
            </main>
            {help && <KeyList onClose={() => setHelp(false)} />}
        </>
    );
}

export function Shell() {
    const out = useStore(api.signedOut);
    const who = useLoad("me", api.me);
    const enter = () => {
        api.signedOut.set(false);
        who.reload();
    };
    let page = <Loading what="Hone" />;
    if (out) page = <Login onDone={enter} />;
    else if (who.value) page = <SignedIn me={who.value} />;
    else if (who.error) page = <Failure error={who.error} retry={who.reload} />;
    return (
        <>
            {page}
            <Questions />
            <Toasts />
        </>
    );
}
