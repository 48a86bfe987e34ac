/* SPDX-License-Identifier: MIT */
/*
 * yaml.h — YAML (and so JSON) text to a tree of plain nodes, each with its place.
 *
 * Meant for files that people write: one document, at most 4 MiB, 64 levels, 100,000 nodes with
 * aliases counted as often as they are used. Duplicate keys, keys that are not scalars, and NUL
 * bytes are refused. Errors read NAME:LINE:COLUMN: SENTENCE.
 */
#ifndef HONE_YAML_H
#define HONE_YAML_H

#include "base/arena.h"
#include "base/err.h"

#define YAML_TEXT_MAX  (4u << 20)
#define YAML_DEPTH_MAX 64
#define YAML_NODES_MAX 100000

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

/* Owned by the arena. An alias is the same node again, so a tree may share branches: change a copy.
 */
struct yaml_node {
    enum yaml_kind kind;
    const char *text;         /* SCALAR: its content, "" when empty */
    bool quoted;              /* SCALAR: in quotes or a block: certainly a text */
    const char *tag;          /* "tag:yaml.org,2002:python/tuple"; NULL: none */
    struct yaml_node **keys;  /* MAP: scalars */
    struct yaml_node **items; /* LIST: items; MAP: values */
    size_t n, cap;
    const char *source; /* the name given to yaml_parse() */
    int line, column;   /* from 1; line 0: the source has no lines (a command-line option) */
    size_t size;        /* nodes in it, aliases counted each time */
    int height;         /* levels below it */
};

/* 0 and *ret, or -EINVAL, -EFBIG with a sentence. `name` is copied. */
int yaml_parse(const char *text, size_t n, const char *name, struct arena *arena,
               struct yaml_node **ret, struct err *err);
/* The value of `key` in a MAP; NULL if absent or not a map. */
struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);
/* An empty or null plain scalar: "key:" with nothing behind it. */
bool yaml_is_null(const struct yaml_node *node);
/* "a list", "a mapping", "'text'" — for sentences; the text cut after 40 bytes. */
const char *yaml_describe(const struct yaml_node *node, struct arena *arena);
/* err_set() with the node's place before the sentence. */
#define yaml_err(err, node, ...) err_negative(yaml_err_((err), (node), __VA_ARGS__))
int yaml_err_(struct err *err, const struct yaml_node *node, const char *fmt, ...) PRINTF(3, 4);

/* Build trees by hand; places are those of `like`. */
struct yaml_node *yaml_scalar(struct arena *arena, const struct yaml_node *like, const char *text,
                              bool quoted);
struct yaml_node *yaml_list(struct arena *arena, const struct yaml_node *like);
struct yaml_node *yaml_map(struct arena *arena, const struct yaml_node *like);
/* Below: on nodes made by hand or copied, never on those of yaml_parse(). */
void yaml_add(struct arena *arena, struct yaml_node *list, struct yaml_node *item);
/* A copy of the node itself with arrays of its own; what hangs below is shared. */
struct yaml_node *yaml_copy(struct arena *arena, const struct yaml_node *node);
/* Set or replace; a new key gets the place of the value. */
void yaml_put(struct arena *arena, struct yaml_node *map, const char *key, struct yaml_node *value);

#endif
