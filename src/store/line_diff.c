/* SPDX-License-Identifier: MIT */
/*
 * line_diff.c — the shortest edit script by Myers' greedy algorithm ("An O(ND) Difference
 * Algorithm", 1986), after equal lines at both ends were set aside.
 *
 * The frontier of every round is kept to walk back: D² numbers, 16 MB at the cap of 2,000.
 */
#include "store/line_diff.h"

#include "base/rng.h"

#define EDITS_MAX 2000
#define CONTEXT   3

struct line {
    const char *s;
    size_t n; /* with its newline */
    uint64_t hash;
};
struct text {
    VEC(struct line) lines;
    bool *changed; /* removed from a, or added in b */
};

static void text_init(struct text *text, const char *s, size_t n)
{
    for (const char *end = s + n; s < end;) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        size_t len = newline ? (size_t)(newline - s) + 1 : (size_t)(end - s);
        vec_push(&text->lines, ((struct line){s, len, hash_bytes(s, len, 0)}));
        s += len;
    }
    text->changed = xcalloc(text->lines.len + 1, sizeof(bool));
}

static void text_release(struct text *text)
{
    vec_release(&text->lines);
    free(text->changed);
}

static bool same(const struct text *a, size_t i, const struct text *b, size_t j)
{
    const struct line *x = &a->lines.at[i], *y = &b->lines.at[j];
    return x->hash == y->hash && x->n == y->n && memcmp(x->s, y->s, x->n) == 0;
}

/* The middle parts that are compared: a[a0 .. a0+n), b[b0 .. b0+m). */
struct window {
    struct text *a, *b;
    long a0, b0, n, m;
};

static struct window trim(struct text *a, struct text *b)
{
    size_t head = 0, a_end = a->lines.len, b_end = b->lines.len;
    while (head < a_end && head < b_end && same(a, head, b, head))
        head++;
    while (a_end > head && b_end > head && same(a, a_end - 1, b, b_end - 1))
        a_end--, b_end--;
    return (struct window){
        a, b, (long)head, (long)head, (long)(a_end - head), (long)(b_end - head)};
}

/* Row d of the frontiers holds x for the diagonals -d, -d+2, … d: d + 1 numbers. */
static int *row_at(int *rows, long d)
{
    return rows + d * (d + 1) / 2;
}

/* Best x on diagonal k before its snake, from the row of d - 1. */
static long step_to(const int *before, long d, long k)
{
    if (d == 0)
        return 0;
    long down = k < d ? before[(k + 1 + d - 1) / 2] : -1; /* from k + 1: a line of b is added */
    long right = k > -d ? before[(k - 1 + d - 1) / 2] + 1 : -1; /* from k - 1: one of a goes */
    if (k == -d)
        return down;
    if (k == d)
        return right;
    return MAX(down, right);
}

static long follow(const struct window *w, long x, long k)
{
    while (x < w->n && x - k < w->m &&
           same(w->a, (size_t)(w->a0 + x), w->b, (size_t)(w->b0 + x - k)))
        x++;
    return x;
}

/* Fill the frontiers until the end is reached; returns the number of edits, -1: too many. */
static long search(const struct window *w, int *rows, long most)
{
    for (long d = 0; d <= most; d++)
        for (long k = -d; k <= d; k += 2) {
            long x = step_to(d ? row_at(rows, d - 1) : NULL, d, k);
            if (x >= 0 && x <= w->n && x - k >= 0 && x - k <= w->m)
                x = follow(w, x, k);
            row_at(rows, d)[(k + d) / 2] = (int)x;
            if (x >= w->n && x - k >= w->m)
                return d;
        }
    return -1;
}

static void walk_back(const struct window *w, int *rows, long d)
{
    for (long k = w->n - w->m; d > 0; d--) {
        const int *before = row_at(rows, d - 1);
        long right = k > -d ? before[(k - 1 + d - 1) / 2] + 1 : -1;
        long x = step_to(before, d, k);
        if (k > -d && x == right) {
            w->a->changed[w->a0 + x - 1] = true;
            k--;
        } else {
            w->b->changed[w->b0 + x - k - 1] = true;
            k++;
        }
    }
}

static void mark_changes(struct text *a, struct text *b)
{
    struct window w = trim(a, b);
    long most = MIN(w.n + w.m, EDITS_MAX);
    autofree(mem) int *rows = xmalloc((size_t)((most + 1) * (most + 2) / 2) * sizeof(int));
    long d = search(&w, rows, most);
    if (d >= 0) {
        walk_back(&w, rows, d);
        return;
    }
    memset(a->changed + w.a0, true, (size_t)w.n);
    memset(b->changed + w.b0, true, (size_t)w.m);
}

/* ---- showing ---- */

/* The script as one list: ' ' both, '-' a only, '+' b only. */
struct op {
    char kind;
    const struct line *line;
};
struct script {
    VEC(struct op) ops;
};

static void make_script(const struct text *a, const struct text *b, struct script *ret)
{
    size_t i = 0, j = 0;
    while (i < a->lines.len || j < b->lines.len)
        if (i < a->lines.len && a->changed[i])
            vec_push(&ret->ops, ((struct op){'-', &a->lines.at[i++]}));
        else if (j < b->lines.len && b->changed[j])
            vec_push(&ret->ops, ((struct op){'+', &b->lines.at[j++]}));
        else {
            vec_push(&ret->ops, ((struct op){' ', &a->lines.at[i++]}));
            j++;
        }
}

/* The end of the hunk that begins at `from`: where more than 2·CONTEXT equal lines follow. */
static size_t hunk_end(const struct script *script, size_t from)
{
    size_t last = from;
    for (size_t i = from; i < script->ops.len && i <= last + 2 * CONTEXT + 1; i++)
        if (script->ops.at[i].kind != ' ')
            last = i;
    return MIN(last + 1 + CONTEXT, script->ops.len);
}

static void show_line(const struct op *op, struct str *to)
{
    str_add_char(to, op->kind);
    str_add_n(to, op->line->s, op->line->n);
    if (op->line->s[op->line->n - 1] != '\n')
        str_add(to, "\n\\ No newline at end of file\n");
}

/* "3,4": begins at line 3, 4 lines; an empty side names the line before it. */
static void add_range(struct str *to, size_t before, size_t n)
{
    str_addf(to, "%zu,%zu", n ? before + 1 : before, n);
}

static void show_hunk(const struct script *script, size_t from, size_t end, size_t a_before,
                      size_t b_before, struct str *to)
{
    size_t in_a = 0, in_b = 0;
    for (size_t i = from; i < end; i++) {
        in_a += script->ops.at[i].kind != '+';
        in_b += script->ops.at[i].kind != '-';
    }
    str_add(to, "@@ -");
    add_range(to, a_before, in_a);
    str_add(to, " +");
    add_range(to, b_before, in_b);
    str_add(to, " @@\n");
    for (size_t i = from; i < end; i++)
        show_line(&script->ops.at[i], to);
}

static void show(const struct script *script, struct str *to)
{
    size_t a_line = 0, b_line = 0, counted = 0;
    for (size_t i = 0; i < script->ops.len; i++) {
        if (script->ops.at[i].kind == ' ')
            continue;
        size_t from = MAX(counted, i > CONTEXT ? i - CONTEXT : 0), end = hunk_end(script, i);
        for (; counted < from; counted++) {
            a_line += script->ops.at[counted].kind != '+';
            b_line += script->ops.at[counted].kind != '-';
        }
        show_hunk(script, from, end, a_line, b_line, to);
        i = end - 1;
    }
}

void line_diff(const char *name, const char *a, size_t a_size, const char *b, size_t b_size,
               struct str *to)
{
    struct text old = {.changed = NULL}, new = {.changed = NULL};
    struct script script = {0};
    if (a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0))
        return;
    text_init(&old, a, a_size);
    text_init(&new, b, b_size);
    mark_changes(&old, &new);
    make_script(&old, &new, &script);
    str_addf(to, "--- a/%s\n+++ b/%s\n", name, name);
    show(&script, to);
    vec_release(&script.ops);
    text_release(&old);
    text_release(&new);
}
