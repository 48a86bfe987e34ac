/* SPDX-License-Identifier: MIT */
/*
 * checkout.c — recorded code unpacked to run from.
 *
 * A command names its files as seen from the spec's folder, so the checkout keeps the layout: what
 * the spec's folder and the code have in common is left out, the rest is kept.
 *
 *   folder   code       HOME/checkouts/…         runs in
 *   /p       /p         SHA/ the code            SHA/
 *   /p/exp   /p         SHA/ the code            SHA/exp/
 *   /p       /p/src     SHA-LAYOUT/src/ …        SHA-LAYOUT/
 *   /p/exp   /p/lib     SHA-LAYOUT/lib/ …        SHA-LAYOUT/exp/
 *
 * It is unpacked beside and renamed: whole or not there. Its time says when it was last asked for.
 */
#include "api/checkout.h"
#include "base/fs.h"
#include "base/rng.h"
#include "store/object.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYOUT_DIGITS 8

/* "/a/b/../c/." → "/a/c". By the words alone: the folder may be gone when its trial is repeated. */
static void add_plain_path(struct str *to, const char *path)
{
    for (const char *p = path; *p; p += strcspn(p, "/")) {
        p += strspn(p, "/");
        size_t n = strcspn(p, "/");
        const char *parent = strrchr(to->s, '/');
        if (n == 2 && p[0] == '.' && p[1] == '.')
            str_cut(to, parent ? (size_t)(parent - to->s) : 0);
        else if (n && !(n == 1 && p[0] == '.'))
            str_addf(to, "/%.*s", (int)n, p);
    }
}

/* Bytes of the folder that both paths lie in. */
static size_t common_folder(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0;; i++) {
        bool a_ends = a[i] == '/' || !a[i], b_ends = b[i] == '/' || !b[i];
        if (a_ends && b_ends)
            common = i;
        if (a[i] != b[i] || !a[i])
            return common;
    }
}

/* Where the spec's folder and the code are inside of the checkout: "" or "/sub/folder". */
struct layout {
    struct str dir, code;
};

static void layout_release(struct layout *layout)
{
    str_release(&layout->dir);
    str_release(&layout->code);
}

static struct layout layout_of(const struct spec *spec)
{
    autorelease(str) struct str dir = STR_INIT, code = STR_INIT;
    struct layout layout = {STR_INIT, STR_INIT};

    add_plain_path(&dir, spec->dir);
    add_plain_path(&code, spec->code ? spec->code : spec->dir);
    size_t common = common_folder(dir.s, code.s);
    str_add(&layout.dir, dir.s + common);
    str_add(&layout.code, code.s + common);
    return layout;
}

/* The same code may be wanted in several layouts. */
static int add_name(struct str *to, const char *sha256, const struct layout *layout,
                    struct err *err)
{
    char hash[SHA256_HEX_SIZE];

    str_add(to, sha256);
    if (layout->code.len == 0)
        return 0;
    int r = sha256_hex(layout->code.s, layout->code.len, hash, err);
    if (r >= 0)
        str_addf(to, "-%.*s", LAYOUT_DIGITS, hash);
    return r;
}

/* Unpack into `folder`/`inside`, and all of it appears at once. Others may be at the same code, in
 * this process, too: each has a place of its own. */
static int unpack(const char *home, const char *sha256, const char *folder, const char *inside,
                  struct err *err)
{
    autofree(mem) char *beside =
        xasprintf("%s.%016llx.tmp", folder, (unsigned long long)random_u64());
    autofree(mem) char *target = xasprintf("%s%s", beside, inside);
    autofree(mem) char *parent = xasprintf("%s/checkouts", home);
    int r = fs_make_dirs(parent, 0700, err);

    if (r >= 0)
        r = fs_make_dirs(target, 0777, err);
    if (r >= 0)
        r = snapshot_unpack(home, sha256, target, err);
    if (r >= 0 && rename(beside, folder) < 0 && !fs_is_dir(folder))
        r = err_errno(err, errno, "cannot make the checkout %s", folder);
    if (fs_is_dir(beside))
        fs_remove_tree(beside, NULL);
    return r;
}

static int open_checkout(const char *home, const char *sha256, const char *folder,
                         const struct layout *layout, struct err *err)
{
    autofree(mem) char *dir = xasprintf("%s%s", folder, layout->dir.s);
    int r = 0;

    if (utimensat(AT_FDCWD, folder, NULL, 0) < 0) /* `gc` leaves it alone from now on */
        r = unpack(home, sha256, folder, layout->code.s, err);
    return r < 0 ? r : fs_make_dirs(dir, 0777, err);
}

int checkout_make(const char *home, const char *sha256, struct spec *spec, struct err *err)
{
    struct layout layout = layout_of(spec);
    autorelease(str) struct str folder = STR_INIT;

    str_addf(&folder, "%s/checkouts/", home);
    int r = add_name(&folder, sha256, &layout, err);
    if (r >= 0)
        r = open_checkout(home, sha256, folder.s, &layout, err);
    if (r >= 0) {
        free(spec->dir);
        free(spec->code);
        spec->dir = xasprintf("%s%s", folder.s, layout.dir.s);
        spec->code = xasprintf("%s%s", folder.s, layout.code.s);
        spec->code_isolate = true;
    }
    layout_release(&layout);
    return r;
}

int checkout_restore(const char *home, const char *sha256, const struct spec *spec, struct err *err)
{
    autofree(mem) char *parent = xasprintf("%s/checkouts/", home);

    if (!sha256 || !spec->code_isolate || !str_starts(spec->dir, parent))
        return 0;
    size_t n = strlen(parent) + strcspn(spec->dir + strlen(parent), "/");
    autofree(mem) char *folder = xstrndup(spec->dir, n);
    struct layout layout = layout_of(spec);
    int r = open_checkout(home, sha256, folder, &layout, err);
    layout_release(&layout);
    return r;
}

bool checkout_holds(const char *name, const char *dir)
{
    autofree(mem) char *part = xasprintf("/checkouts/%s", name);
    const char *at = dir ? strstr(dir, part) : NULL;
    return at && (at[strlen(part)] == '/' || !at[strlen(part)]);
}
