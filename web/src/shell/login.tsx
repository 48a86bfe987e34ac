/* SPDX-License-Identifier: MIT */
/*
 * login.tsx — for those without a cookie: `hone open` makes a link that signs in, or a token does.
 */
import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { Button } from "../ui/button.tsx";

export function Login({ onDone }: { onDone: () => void }) {
    const [token, setToken] = useState("");
    const [error, setError] = useState("");
    const [busy, setBusy] = useState(false);
    const submit = async (event: Event) => {
        event.preventDefault();
        setBusy(true);
        setError("");
        try {
            await api.login(token.trim());
            onDone();
        } catch (e) {
            setError(e instanceof Error ? e.message : String(e));
        } finally {
            setBusy(false);
        }
    };
    return (
        <main class="login">
            <h1>Hone</h1>
            <p>This browser is not signed in. On the machine where the server runs, write</p>
            <pre>
                <code>hone open</code>
            </pre>
            <p>and follow the link that it prints. It works once and signs this browser in.</p>
            <form onSubmit={submit}>
                <label class="field">
                    <span>Or paste a token (made by hone token add)</span>
                    <input type="password" value={token} autocomplete="current-password" spellcheck={false}
                        aria-invalid={error !== ""} aria-describedby="login-error"
                        onInput={(e) => setToken((e.target as HTMLInputElement).value)} />
                </label>
                <p id="login-error" class="filter-error" role="alert">
                    {error}
                </p>
                <Button submit kind="primary" disabled={busy || token.trim() === ""}>
                    Sign in
                </Button>
            </form>
        </main>
    );
}
