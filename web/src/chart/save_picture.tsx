/* SPDX-License-Identifier: MIT */
/* save_picture.tsx — the small button that saves a chart; it stands in the same box as the chart. */
import { Button } from "../ui/button.tsx";
import { attempt } from "../ui/toast.tsx";
import type { ChartLine } from "./line.ts";
import { savePicture } from "./picture.ts";

export function SavePicture({ title, lines }: { title: string; lines: readonly ChartLine[] }) {
    const save = (e: MouseEvent) => {
        const box = (e.currentTarget as HTMLElement).closest(".curve-panel, .curve");
        void attempt(() => savePicture(box, title, lines));
    };
    return <Button kind="quiet" icon="picture" label={`Save ${title} as a picture`} onClick={save} />;
}
