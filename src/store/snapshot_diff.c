/* SPDX-License-Identifier: MIT */
/*
 * snapshot_diff.c — what changed between two snapshots. Both are sorted, so they are read side by
 * side, once, and only the two files at hand are in memory.
 */
#include "store/file.h"
#include "store/line_diff.h"
#include "store/tree.h"

#include <errno.h>

#define TEXT_BYTES (1u << 20) /* larger files are not compared line by line */

/* One side: the entry at hand with its content. */
struct side {
    struct unpacker unpacker;
    char *path; /* NULL: at the end */
    struct str content;
    bool is_link;
};

static int read_content(struct side *side, struct err *err)
{
    char bytes[65536];
    str_cut(&side->content, 0);
    if (side->is_link) {
        str_add(&side->content, side->unpacker.link);
        return 0;
    }
    for (;;) {
        ssize_t n = unpacker_read(&side->unpacker, bytes, sizeof(bytes), err);
        if (n <= 0)
            return (int)n;
        if (side->content.len > TREE_FILE_BYTES)
            return err_set(err, EFBIG, "'%s' is too large", side->path);
        str_add_n(&side->content, bytes, (size_t)n);
    }
}

static int side_next(struct side *side, struct err *err)
{
    free(TAKE(side->path));
    int r = unpacker_next(&side->unpacker, err);
    if (r <= 0)
        return r;
    side->path = xstrdup(side->unpacker.path);
    side->is_link = side->unpacker.link != NULL;
    return read_content(side, err);
}

static int side_open(struct side *side, const char *home, const char *sha256, struct err *err)
{
    int r = unpacker_open(&side->unpacker, home, sha256, err);
    return r < 0 ? r : side_next(side, err);
}

static void side_release(struct side *side)
{
    unpacker_release(&side->unpacker);
    free(side->path);
    str_release(&side->content);
}

static bool is_text(const struct side *side)
{
    return !side->is_link && side->content.len <= TEXT_BYTES &&
           !memchr(side->content.s, '\0', MIN(side->content.len, 8000));
}

static void show_changed(const struct side *a, const struct side *b, bool with_diff, struct str *to)
{
    bool content = a->is_link != b->is_link || a->content.len != b->content.len ||
                   memcmp(a->content.s, b->content.s, a->content.len) != 0;
    if (!content && a->unpacker.executable == b->unpacker.executable)
        return;
    str_addf(to, "changed %s\n", a->path);
    if (content && with_diff && is_text(a) && is_text(b))
        line_diff(a->path, a->content.s, a->content.len, b->content.s, b->content.len, to);
}

int snapshot_diff(const char *home, const char *sha_a, const char *sha_b, bool with_diff,
                  struct str *to, struct err *err)
{
    struct side a = {.unpacker.fd = -1, .content = STR_INIT};
    struct side b = {.unpacker.fd = -1, .content = STR_INIT};

    int r = side_open(&a, home, sha_a, err);
    if (r >= 0)
        r = side_open(&b, home, sha_b, err);
    while (r >= 0 && (a.path || b.path)) {
        int order = !a.path ? 1 : !b.path ? -1 : strcmp(a.path, b.path);
        if (order == 0)
            show_changed(&a, &b, with_diff, to);
        else
            str_addf(to, "%s %s\n", order < 0 ? "removed" : "added", order < 0 ? a.path : b.path);
        if (order <= 0)
            r = side_next(&a, err);
        if (r >= 0 && order >= 0)
            r = side_next(&b, err);
    }
    side_release(&a);
    side_release(&b);
    return r;
}
