/* SPDX-License-Identifier: MIT */
/* top_bar.tsx — name, pages, whether it is live, theme, keys, who is signed in. */
import { hereText, useAddress } from "../address.ts";
import * as api from "../api.ts";
import { pages } from "../pages.ts";
import { useStore } from "../store.ts";
import { status } from "../stream.ts";
import { choice, type Choice } from "../theme.ts";
import type { Me } from "../types.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { attempt, toast } from "../ui/toast.tsx";

const words = { connecting: "connecting …", live: "live", away: "server away", "signed-out": "signed out" };
const themes: { id: Choice; label: string; icon: "sun" | "moon" | "system" }[] = [
    { id: "system", label: "As the system", icon: "system" },
    { id: "light", label: "Light", icon: "sun" },
    { id: "dark", label: "Dark", icon: "moon" },
];

function LiveDot() {
    const now = useStore(status);
    return (
        <span class={`live-dot ${now}`} role="status" title="Changes appear as they happen">
            {words[now]}
        </span>
    );
}

async function copyLink(): Promise<void> {
    const link = location.origin + location.pathname + hereText();
    if (!navigator.clipboard) return toast("Browsers copy for pages of this machine or over https only: the address is in the bar above");
    await attempt(() => navigator.clipboard.writeText(link), "The address of this view is copied");
}

async function signOut(): Promise<void> {
    if (await attempt(api.logout)) api.signedOut.set(true);
}

export function TopBar({ me, onHelp }: { me: Me; onHelp: () => void }) {
    const address = useAddress();
    const chosen = useStore(choice);
    const at = address.path[0] ?? "";
    return (
        <header class="top-bar">
            <a class="brand" href="#/">
                Hone
            </a>
            <nav aria-label="Pages">
                {pages.map(
                    (p) =>
                        p.nav && (
                            <a key={p.path} href={`#/${p.path}`} aria-current={p.path === at ? "page" : undefined}>
                                {p.nav.label}
                            </a>
                        ),
                )}
            </nav>
            <span class="grow" />
            <LiveDot />
            <Button kind="quiet" icon="link" label="Copy the address of this view" onClick={copyLink} />
            <Menu
                button={{ kind: "quiet", icon: themes.find((t) => t.id === chosen)?.icon, label: "Theme" }}
                items={() => themes.map((t) => ({ label: t.label, icon: t.icon, checked: t.id === chosen, act: () => choice.set(t.id) }))}
            />
            <Button kind="quiet" icon="keys" label="Keys (?)" onClick={onHelp} />
            <Menu
                button={{ kind: "quiet", icon: "user", label: `${me.user}, ${me.role}` }}
                items={() => [
                    { label: `Hone ${me.server.version}`, disabled: true, act: () => {} },
                    { label: "Sign out", act: () => void signOut() },
                ]}
            />
        </header>
    );
}
