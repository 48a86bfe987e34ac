/* SPDX-License-Identifier: MIT */
/*
 * errors.ts — which lines of a log tell of an error, so that one can jump there.
 *
 * A line such as "error=0.12" or "0 errors" is a figure, not a failure: words count only where
 * programs put them when something is wrong. Every pattern is linear in the line.
 */
const PATTERNS: readonly RegExp[] = [
    /^Traceback \(most recent call last\)/,
    /^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Warning: .*error)\b(?::|$)/,
    /\bout of memory\b/i,
    /\b(?:Segmentation fault|core dumped|Bus error|Illegal instruction|Aborted|Killed)\b/,
    /^\W{0,3}(?:ERROR|FATAL|CRITICAL)\b/,
    /(?:^|\] ?|\d |- )(?:ERROR|FATAL|CRITICAL)(?::|\]| )/,
    /^(?:[^\s:]{1,200}:)?(?:\d+:){0,2} ?(?:fatal )?error: /,
    /^E\d{4} \d/,
    /^thread '.{0,80}' panicked|^panic: |^fatal: /,
    /\b[Aa]ssertion\b.{0,400}\bfailed\b/,
    /\b(?:loss|gradient|grad_norm)\b.{0,40}\b(?:is|became|contains) (?:nan|inf)/i,
    /(?:NCCL|CUDA|cuDNN|cublas)\b.{0,40}\berror\b/i,
];

/* Does the line tell of an error? Looks at its first 2,000 characters. */
export function isErrorLine(line: string): boolean {
    const head = line.length > 2000 ? line.slice(0, 2000) : line;
    return PATTERNS.some((pattern) => pattern.test(head));
}

/* The first or last line in the direction from `from` (exclusive) that `matches`; -1: none. */
export function findLine(
    count: number, at: (i: number) => string, from: number, direction: 1 | -1, matches: (line: string) => boolean,
): number {
    for (let i = from + direction; i >= 0 && i < count; i += direction) if (matches(at(i))) return i;
    return -1;
}
