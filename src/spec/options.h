/* SPDX-License-Identifier: MIT */
/*
 * options.h — every key of the spec as a row. Reading, writing, defaults, checks, error texts and
 * docs/spec.md walk these rows. To add a key: one row in options.c (and a member in struct spec).
 */
#ifndef HONE_SPEC_OPTIONS_H
#define HONE_SPEC_OPTIONS_H

#include "model/spec.h"

enum option_type {
    OPTION_GROUP,    /* a mapping of further keys: the rows "NAME.…" after it */
    OPTION_TEXT,     /* char * */
    OPTION_TEXTS,    /* VEC(char *) */
    OPTION_PAIRS,    /* VEC(struct text_pair) */
    OPTION_CHOICE,   /* char *: one of `words` */
    OPTION_ENUM,     /* bool or enum: the number of one of `words` */
    OPTION_INT,      /* int64_t */
    OPTION_NUMBER,   /* double; percentages too */
    OPTION_BOOL,     /* bool */
    OPTION_DURATION, /* int64_t µs */
    OPTION_SIZE,     /* uint64_t bytes */
    OPTION_CODES,    /* VEC(int64_t) */
    OPTION_SPECIAL,  /* has a reader and a writer of its own */
    OPTION_LATER,    /* recognised, not available yet */
};

/* A word that an option may be, and what it is inside. */
struct option_word {
    const char *word;
    int number;
    bool later; /* recognised, not available yet */
};

struct reader;
struct yaml_node;
struct json_out;
/* Read the node into reader->spec. 0 or -EINVAL with place and sentence. */
typedef int option_read_fn(struct reader *reader, const struct yaml_node *node);
/* Write the value (not the key) in canonical form. */
typedef void option_write_fn(const struct spec *spec, struct json_out *out);

struct option {
    const char *path; /* "search.trials" */
    enum option_type type;
    size_t offset, size;             /* of the member in struct spec */
    double min, max;                 /* INT, NUMBER; CODES: of each */
    const char *zero;                /* a word that means 0: "none", "auto"; NULL: there is none */
    const char *fallback;            /* default as written in a spec; NULL: none, it stays zero */
    const struct option_word *words; /* CHOICE, ENUM: ends with NULL */
    option_read_fn *read;            /* SPECIAL; GROUP: reads short forms that are no mapping */
    option_write_fn *write;          /* SPECIAL; GROUP: writes them, where a mapping does not do */
    bool late;                       /* read when all parameters are known */
    bool internal;                   /* only in the canonical JSON: not in docs, not suggested */
    const char *form;                /* what may stand there, for docs and errors */
    const char *help;
};

extern const struct option options[];
extern const size_t n_options;

/* The row with this path, NULL if there is none. */
const struct option *option_find(const char *path);
/* The path closest to one that does not exist, NULL if none is close. */
const char *option_suggest(const char *path);
/* Is it a key of the first level? */
static inline bool option_is_top(const struct option *option)
{
    return !strchr(option->path, '.');
}
/* "minimize, maximize": the words that are available. */
void option_list_words(const struct option *option, struct str *to);

#endif
