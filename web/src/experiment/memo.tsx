/* SPDX-License-Identifier: MIT */
/* memo.tsx — a part that is drawn anew only when `same` says that its properties differ. */
import { Component, h, type FunctionComponent } from "preact";

export function memo<P extends object>(part: FunctionComponent<P>, same: (a: P, b: P) => boolean): FunctionComponent<P> {
    class Memo extends Component<P> {
        override shouldComponentUpdate(next: P): boolean {
            return !same(this.props as P, next);
        }
        override render() {
            return h(part, this.props as P);
        }
    }
    return Memo as unknown as FunctionComponent<P>;
}
