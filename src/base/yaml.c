/* SPDX-License-Identifier: MIT */
/*
 * yaml.c — builds our tree from libfyaml's events, on a stack of our own so that depth is a number
 * we check and not the machine's stack.
 *
 * An alias points at the node it names; what would blow up is the walk over it later. So each node
 * knows how many nodes and levels it stands for, and the caps are checked against those: a file of
 * exploding aliases is refused at the first node that stands for too many.
 */
#include "base/yaml.h"
#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <libfyaml.h>
#include <stdarg.h>

struct open_node { /* a list or map whose end has not come yet */
    struct yaml_node *node;
    struct yaml_node *key; /* MAP: waits for its value */
    VEC(struct yaml_node *) keys, items;
};

struct builder {
    struct arena *arena;
    const char *name;
    struct err *err;
    struct map_text anchors;
    struct open_node open[YAML_DEPTH_MAX];
    size_t depth;
    size_t nodes; /* so far, aliases counted each time */
    struct yaml_node *root;
    const struct yaml_node *last; /* newest node with a place */
};

/* ---- errors ---- */

static int place_err(struct err *err, const char *source, int line, int column, const char *text)
{
    if (line == 0)
        return err_set(err, EINVAL, "%s: %s", source, text);
    return err_set(err, EINVAL, "%s:%d:%d: %s", source, line, column, text);
}

int yaml_err_(struct err *err, const struct yaml_node *node, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    int r = place_err(err, node->source, node->line, node->column, n < 0 ? "out of memory" : text);
    if (n >= 0)
        free(text);
    return r;
}

static int library_err(struct builder *b, struct fy_diag *diag)
{
    void *cursor = NULL;
    struct fy_diag_error *error = fy_diag_errors_iterate(diag, &cursor);
    const struct yaml_node *last = b->last;

    if (error) { /* of an open quote it tells the place behind it */
        int behind = strstr(error->msg, "without closing quote") ? 1 : 0;
        return place_err(b->err, b->name, MAX(error->line, 1), MAX(error->column - behind, 1),
                         error->msg);
    }
    return place_err(b->err, b->name, last ? last->line : 1, last ? last->column : 1,
                     "not valid YAML");
}

/* ---- bytes before YAML ---- */

/* Length of the valid UTF-8 character at p, 0 if there is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (p[0] >= 0xf5 || len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (len == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)))
        return 0; /* overlong, surrogate */
    if (len == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)))
        return 0;
    return len;
}

static int check_bytes(const char *text, size_t n, const char *name, struct err *err)
{
    int line = 1, column = 1;

    for (size_t i = 0; i < n;) {
        size_t len = utf8_length((const unsigned char *)text + i, n - i);
        if (text[i] == '\0')
            return place_err(err, name, line, column, "a NUL byte; is this a text file?");
        if (len == 0)
            return place_err(err, name, line, column, "not valid UTF-8; is this a text file?");
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
        i += len;
    }
    return 0;
}

/* ---- building ---- */

static struct yaml_node *node_at(struct builder *b, enum yaml_kind kind, const struct fy_mark *mark)
{
    struct yaml_node *node = arena_alloc(b->arena, sizeof(*node));
    node->kind = kind;
    node->source = b->name;
    node->text = "";
    node->size = 1;
    node->line = mark ? mark->line + 1 : b->last ? b->last->line : 1;
    node->column = mark ? mark->column + 1 : b->last ? b->last->column : 1;
    b->last = node;
    return node;
}

static const char *token_text(struct builder *b, struct fy_token *token, size_t *ret_n)
{
    size_t n = 0;
    const char *text = token ? fy_token_get_text(token, &n) : NULL;
    char *copy = arena_alloc(b->arena, n + 1);

    if (text && n)
        memcpy(copy, text, n);
    if (ret_n)
        *ret_n = n;
    return copy;
}

static int add_key(struct builder *b, struct open_node *parent, struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR)
        return yaml_err(b->err, node, "a key must be a single word or text");
    parent->key = node;
    return 0;
}

/* The node is complete: hang it into what is open. */
static int attach(struct builder *b, struct yaml_node *node)
{
    if (b->depth == 0) {
        b->root = node;
        return 0;
    }
    struct open_node *parent = &b->open[b->depth - 1];
    if (parent->node->kind == YAML_MAP && !parent->key)
        return add_key(b, parent, node);
    if (parent->node->kind == YAML_MAP)
        vec_push(&parent->keys, parent->key);
    vec_push(&parent->items, node);
    parent->key = NULL;
    parent->node->size += node->size;
    parent->node->height = MAX(parent->node->height, node->height + 1);
    return 0;
}

static int count(struct builder *b, const struct yaml_node *node)
{
    b->nodes += node->size;
    if (b->nodes > YAML_NODES_MAX)
        return yaml_err(b->err, node, "more than %d values (aliases counted each time)",
                        YAML_NODES_MAX);
    if (b->depth + (size_t)node->height >= YAML_DEPTH_MAX)
        return yaml_err(b->err, node, "nested deeper than %d levels", YAML_DEPTH_MAX);
    return 0;
}

static void remember(struct builder *b, struct fy_token *anchor, struct yaml_node *node)
{
    if (anchor)
        map_text_put(&b->anchors, token_text(b, anchor, NULL), node);
}

static int on_scalar(struct builder *b, struct fy_event *event)
{
    struct fy_token *value = event->scalar.value;
    enum fy_scalar_style style = value ? fy_token_scalar_style(value) : FYSS_PLAIN;
    struct yaml_node *node = node_at(b, YAML_SCALAR, fy_event_start_mark(event));
    size_t n = 0;

    node->text = token_text(b, value, &n);
    node->quoted = style != FYSS_PLAIN && style != FYSS_ANY;
    if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
        node->column = MAX(node->column - 1, 1); /* the library's mark is behind the quote */
    if (event->scalar.tag)
        node->tag = token_text(b, event->scalar.tag, NULL);
    if (strlen(node->text) != n)
        return yaml_err(b->err, node, "a text may not hold a NUL character");
    remember(b, event->scalar.anchor, node);
    int r = count(b, node);
    return r < 0 ? r : attach(b, node);
}

static int on_alias(struct builder *b, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    struct yaml_node *here = node_at(b, YAML_SCALAR, mark);
    const char *name = token_text(b, event->alias.anchor, NULL);
    struct yaml_node *node = map_text_find(&b->anchors, name);

    here->column = MAX(here->column - 1, 1); /* behind the star */
    if (!node)
        return yaml_err(b->err, here, "the alias *%s has no anchor &%s before it", name, name);
    for (size_t i = 0; i < b->depth; i++)
        if (b->open[i].node == node)
            return yaml_err(b->err, here, "the alias *%s stands inside of what it names", name);
    here->size = node->size;
    here->height = node->height;
    int r = count(b, here);
    return r < 0 ? r : attach(b, node);
}

static int on_begin(struct builder *b, struct fy_event *event, enum yaml_kind kind)
{
    bool map = kind == YAML_MAP;
    struct fy_token *anchor = map ? event->mapping_start.anchor : event->sequence_start.anchor;
    struct fy_token *tag = map ? event->mapping_start.tag : event->sequence_start.tag;
    struct yaml_node *node = node_at(b, kind, fy_event_start_mark(event));

    int r = count(b, node);
    if (r < 0)
        return r;
    if (tag)
        node->tag = token_text(b, tag, NULL);
    remember(b, anchor, node);
    b->open[b->depth++] = (struct open_node){.node = node};
    return 0;
}

static int check_keys(struct builder *b, const struct yaml_node *map)
{
    struct map_text seen = MAP_TEXT_INIT;
    int r = 0;

    for (size_t i = 0; i < map->n && r == 0; i++) {
        const struct yaml_node *key = map->keys[i], *first = map_text_find(&seen, key->text);
        if (first)
            r = yaml_err(b->err, key, "the key '%s' stands here again; it was first on line %d",
                         key->text, first->line);
        else
            map_text_put(&seen, key->text, map->keys[i]);
    }
    map_text_release(&seen);
    return r;
}

static int on_end(struct builder *b)
{
    struct open_node *top = &b->open[--b->depth];
    struct yaml_node *node = top->node;

    assert(node); /* on_begin() opened it */
    node->n = top->items.len;
    node->items = arena_memdup(b->arena, top->items.at, node->n * sizeof(*node->items));
    if (node->kind == YAML_MAP)
        node->keys = arena_memdup(b->arena, top->keys.at, node->n * sizeof(*node->keys));
    vec_release(&top->items);
    vec_release(&top->keys);
    int r = node->kind == YAML_MAP ? check_keys(b, node) : 0;
    return r < 0 ? r : attach(b, node);
}

static int on_document(struct builder *b, struct fy_event *event)
{
    if (!b->root)
        return 0;
    const struct yaml_node *here = node_at(b, YAML_SCALAR, fy_event_start_mark(event));
    return yaml_err(b->err, here, "a second document begins here; one file is one document");
}

static int on_event(struct builder *b, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return on_document(b, event);
    case FYET_SCALAR:
        return on_scalar(b, event);
    case FYET_ALIAS:
        return on_alias(b, event);
    case FYET_MAPPING_START:
        return on_begin(b, event, YAML_MAP);
    case FYET_SEQUENCE_START:
        return on_begin(b, event, YAML_LIST);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return on_end(b);
    default:
        return 0;
    }
}

/* ---- the library ---- */

static void swallow(struct fy_diag *diag, void *user, const char *bytes, size_t n)
{
    (void)diag, (void)user, (void)bytes, (void)n; /* it would print on stderr otherwise */
}

static struct fy_diag *diag_new(void)
{
    struct fy_diag_cfg cfg;

    fy_diag_cfg_default(&cfg);
    cfg.fp = NULL;
    cfg.output_fn = swallow;
    cfg.level = FYET_ERROR;
    struct fy_diag *diag = fy_diag_create(&cfg);
    if (diag)
        fy_diag_set_collect_errors(diag, true);
    return diag;
}

static int read_events(struct builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
    struct fy_event *event;
    int r = 0;

    while (r == 0 && (event = fy_parser_parse(parser))) {
        r = on_event(b, event);
        fy_parser_event_free(parser, event);
    }
    if (r == 0 && fy_parser_get_stream_error(parser))
        return library_err(b, diag);
    return r;
}

static int run_library(struct builder *b, const char *text, size_t n)
{
    struct fy_diag *diag = diag_new();
    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_DISABLE_ACCELERATORS |
                                        FYPCF_DISABLE_DEPTH_LIMIT | FYPCF_JSON_NONE,
                               .diag = diag};
    struct fy_parser *parser = diag ? fy_parser_create(&cfg) : NULL;
    int r;

    if (!parser || fy_parser_set_string(parser, text, n) != 0)
        r = err_set(b->err, ENOMEM, "%s: the YAML library could not be started", b->name);
    else
        r = read_events(b, parser, diag);
    if (parser)
        fy_parser_destroy(parser);
    if (diag)
        fy_diag_destroy(diag);
    return r;
}

int yaml_parse(const char *text, size_t n, const char *name, struct arena *arena,
               struct yaml_node **ret, struct err *err)
{
    struct builder b = {.arena = arena, .name = arena_strdup(arena, name), .err = err};

    if (n > YAML_TEXT_MAX)
        return err_set(err, EFBIG, "%s: larger than 4 MiB, too large for a file written by people",
                       name);
    int r = check_bytes(text, n, name, err);
    if (r < 0)
        return r;
    r = run_library(&b, text, n);
    for (size_t i = 0; i < b.depth; i++) {
        vec_release(&b.open[i].keys);
        vec_release(&b.open[i].items);
    }
    map_text_release(&b.anchors);
    if (r < 0)
        return r;
    if (!b.root || (yaml_is_null(b.root) && b.root->text[0] == '\0'))
        return err_set(err, EINVAL, "%s: the file is empty", name);
    *ret = b.root;
    return 0;
}

/* ---- looking and making ---- */

struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
    if (map->kind != YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (str_eq(map->keys[i]->text, key))
            return map->items[i];
    return NULL;
}

bool yaml_is_null(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || str_eq(node->text, "~") || str_eq(node->text, "null"));
}

const char *yaml_describe(const struct yaml_node *node, struct arena *arena)
{
    if (node->kind != YAML_SCALAR)
        return node->kind == YAML_LIST ? "a list" : "a mapping";
    if (yaml_is_null(node))
        return "nothing";
    size_t n = strlen(node->text), cut = MIN(n, 40);
    while (cut < n && cut > 0 && ((unsigned char)node->text[cut] & 0xc0) == 0x80)
        cut--;
    autofree(mem) char *text = xasprintf("'%.*s%s'", (int)cut, node->text, cut < n ? "…" : "");
    return arena_strdup(arena, text);
}

static struct yaml_node *make(struct arena *arena, const struct yaml_node *like,
                              enum yaml_kind kind)
{
    struct yaml_node *node = arena_alloc(arena, sizeof(*node));
    *node = (struct yaml_node){.kind = kind,
                               .text = "",
                               .source = like->source,
                               .line = like->line,
                               .column = like->column,
                               .size = 1};
    return node;
}

struct yaml_node *yaml_scalar(struct arena *arena, const struct yaml_node *like, const char *text,
                              bool quoted)
{
    struct yaml_node *node = make(arena, like, YAML_SCALAR);
    node->text = arena_strdup(arena, text);
    node->quoted = quoted;
    return node;
}

struct yaml_node *yaml_list(struct arena *arena, const struct yaml_node *like)
{
    return make(arena, like, YAML_LIST);
}

struct yaml_node *yaml_map(struct arena *arena, const struct yaml_node *like)
{
    return make(arena, like, YAML_MAP);
}

/* Room for one more in both arrays. */
static void reserve(struct arena *arena, struct yaml_node *node)
{
    if (node->n < node->cap)
        return;
    size_t cap = node->cap ? node->cap * 2 : 4;
    struct yaml_node **items = arena_alloc(arena, cap * sizeof(*items));
    struct yaml_node **keys = arena_alloc(arena, cap * sizeof(*keys));
    if (node->n)
        memcpy(items, node->items, node->n * sizeof(*items));
    if (node->n && node->keys)
        memcpy(keys, node->keys, node->n * sizeof(*keys));
    node->items = items;
    node->keys = keys;
    node->cap = cap;
}

struct yaml_node *yaml_copy(struct arena *arena, const struct yaml_node *node)
{
    struct yaml_node *copy = arena_memdup(arena, node, sizeof(*node));
    copy->cap = node->n;
    reserve(arena, copy);
    return copy;
}

void yaml_add(struct arena *arena, struct yaml_node *list, struct yaml_node *item)
{
    reserve(arena, list);
    list->items[list->n++] = item;
}

void yaml_put(struct arena *arena, struct yaml_node *map, const char *key, struct yaml_node *value)
{
    for (size_t i = 0; i < map->n; i++)
        if (str_eq(map->keys[i]->text, key)) {
            map->items[i] = value;
            return;
        }
    reserve(arena, map);
    map->keys[map->n] = yaml_scalar(arena, value, key, true);
    map->items[map->n++] = value;
}
