/* SPDX-License-Identifier: MIT */
/* save.ts — what a page has made becomes a file of the browser's. */
export function saveFile(blob: Blob, name: string): void {
    const at = URL.createObjectURL(blob);
    Object.assign(document.createElement("a"), { href: at, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(at), 60_000);
}

/* "train/loss · x 1" → "train-loss-x-1.png" */
export function nameFile(words: string, ending: string): string {
    return `${words.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.${ending}`;
}
