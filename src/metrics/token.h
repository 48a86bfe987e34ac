/* SPDX-License-Identifier: MIT */
/*
 * token.h — a line of output in pieces: words, numbers, marks. Private to metrics/.
 *
 * The care is in what is no number: dates, times, versions, addresses, hashes and ranges come out
 * as TOKEN_JUNK, so that nobody above can take a part of them for a value.
 */
#ifndef HONE_METRICS_TOKEN_H
#define HONE_METRICS_TOKEN_H

#include "metrics/line.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* begins with a letter or '_': loss, val/acc, top-1, mAP@0.5 */
    TOKEN_NUMBER, /* 0.5, 93.1%, 3.2s, -inf after a sign */
    TOKEN_RATIO,  /* 45/100 */
    TOKEN_MARK,   /* one ASCII character of punctuation; '=' … others as they are */
    TOKEN_BAR,    /* a part of a progress bar: 45%|, ━━━, [==== */
    TOKEN_JUNK,
};

struct token {
    enum token_kind kind;
    const char *s;
    size_t n;
    double value, of; /* NUMBER, RATIO: `value` of `of` */
    bool whole;       /* NUMBER: digits only and no unit. A ratio is always whole */
};

struct scan {
    const char *start, *p, *end;
};

void token_next(struct scan *scan, struct token *ret);
/* A word that may follow a number: s, ms, it/s, samples. */
bool unit_known(const char *s, size_t n);
/* The value at s where one is expected: a number, nan, or one in a wrapper such as
 * tensor(0.41, device='cuda:0'). Returns the bytes read, 0: none. */
size_t value_parse(const char *s, const char *end, double *ret);

#endif
