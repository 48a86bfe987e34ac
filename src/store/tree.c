/* SPDX-License-Identifier: MIT */
/*
 * tree.c — walk a folder for its code: regular files and links, minus what .honeignore names, what
 * is never code, and what is likely a secret. Folders are opened one in the other, without
 * following links, so a tree that changes meanwhile can lead nowhere else.
 *
 * What cannot be read, or goes while we look, is left out: the program could not have used it.
 */
#include "store/tree.h"

#include "base/fs.h"
#include "store/ignore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX    64
#define IGNORE_BYTES (1 << 20)

static const char *const never[] = {".git", ".hone", "node_modules", "__pycache__"};
/* Whoever may read the code may not read these; "!name" in .honeignore takes one in. */
static const char secrets[] = ".env\n.env.*\n*.pem\n*.key\n*.p12\n*.pfx\nid_rsa\nid_dsa\nid_ecdsa\n"
                              "id_ed25519\n.netrc\n.pgpass\n.ssh/\n.aws/\n.gnupg/\n";

struct walk {
    struct tree *tree;
    struct ignore ignore;
    struct stat home; /* st_ino 0: there is none */
    struct str path;  /* of the folder at hand, with a slash at its end; "" at the top */
    int depth;
};

static bool is_left_out(const struct walk *walk, const char *name, const struct stat *st)
{
    bool is_dir = S_ISDIR(st->st_mode);
    if (!is_dir && !S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (str_eq(name, never[i]))
            return true;
    if (is_dir && walk->home.st_ino && st->st_ino == walk->home.st_ino &&
        st->st_dev == walk->home.st_dev)
        return true;
    if (S_ISREG(st->st_mode) && (uint64_t)st->st_size > TREE_FILE_BYTES)
        return true;
    return ignore_match(&walk->ignore, walk->path.s, is_dir);
}

static void add_file(struct walk *walk, int dir, const char *name, const struct stat *st)
{
    struct tree *tree = walk->tree;
    struct tree_file file = {
        .executable = (st->st_mode & 0100) != 0,
        .size = (uint64_t)st->st_size,
        .mtime_ns = st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec,
    };
    if (S_ISLNK(st->st_mode)) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
        if (n < 0)
            return;
        target[n] = '\0';
        file.link = arena_strdup(&tree->arena, target);
        file.size = 0;
        file.executable = false;
    } else if (faccessat(dir, name, R_OK, AT_EACCESS) < 0) {
        return;
    }
    file.path = arena_strdup(&tree->arena, walk->path.s);
    tree->total_bytes += file.size;
    vec_push(&tree->files, file);
}

static int walk_dir(struct walk *walk, int fd, struct err *err);

static int walk_entry(struct walk *walk, int dir, const char *name, struct err *err)
{
    struct stat st;
    if (str_eq(name, ".") || str_eq(name, "..") ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || is_left_out(walk, name, &st))
        return 0;
    if (!S_ISDIR(st.st_mode)) {
        add_file(walk, dir, name, &st);
        if (walk->tree->files.len > TREE_FILES)
            return err_set(err, EFBIG,
                           "more than %d files: name what is not code in .honeignore, or set "
                           "'code:' to a smaller folder",
                           TREE_FILES);
        return 0;
    }
    if (walk->depth >= DEPTH_MAX)
        return err_set(err, EFBIG, "folders are nested more than %d deep at %s", DEPTH_MAX,
                       walk->path.s);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    str_add_char(&walk->path, '/');
    walk->depth++;
    int r = walk_dir(walk, fd, err);
    walk->depth--;
    return r;
}

/* Takes `fd` over. */
static int walk_dir(struct walk *walk, int fd, struct err *err)
{
    size_t len = walk->path.len;
    int r = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return 0;
    }
    for (struct dirent *entry; r == 0 && (entry = readdir(dir));) {
        str_add(&walk->path, entry->d_name);
        r = walk_entry(walk, fd, entry->d_name, err);
        str_cut(&walk->path, len);
    }
    closedir(dir);
    return r;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct tree_file *)a)->path, ((const struct tree_file *)b)->path);
}

/* ---- too large ---- */

struct share {
    const char *name;
    size_t name_len;
    uint64_t bytes;
};

static int compare_shares(const void *a, const void *b)
{
    uint64_t x = ((const struct share *)a)->bytes, y = ((const struct share *)b)->bytes;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The files are sorted: those of one top folder follow each other. */
static int too_large(const struct tree *tree, struct err *err)
{
    VEC(struct share) shares = {0};
    autorelease(str) struct str names = STR_INIT;

    vec_foreach (file, &tree->files) {
        size_t len = strcspn(file->path, "/");
        struct share *last = shares.len ? vec_last(&shares) : NULL;
        if (last && last->name_len == len && memcmp(last->name, file->path, len) == 0)
            last->bytes += file->size;
        else
            vec_push(&shares, ((struct share){file->path, len, file->size}));
    }
    if (shares.len)
        qsort(shares.at, shares.len, sizeof(*shares.at), compare_shares);
    for (size_t i = 0; i < MIN(shares.len, 3); i++)
        str_addf(&names, "%s%.*s (%llu MB)", i ? ", " : "", (int)shares.at[i].name_len,
                 shares.at[i].name, (unsigned long long)(shares.at[i].bytes >> 20));
    vec_release(&shares);
    return err_set(err, EFBIG,
                   "the code is larger than %llu MB; largest are %s: name what is not code in "
                   ".honeignore, or set 'code:' to a smaller folder",
                   TREE_TOTAL_BYTES >> 20, names.s);
}

int tree_list(const char *folder, const char *home, struct tree *ret, struct err *err)
{
    struct walk walk = {.tree = ret, .path = STR_INIT};
    autorelease(str) struct str rules = STR_INIT;
    autofree(mem) char *ignore_file = xasprintf("%s/.honeignore", folder);

    if (stat(home, &walk.home) < 0)
        walk.home.st_ino = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "cannot read the code folder %s", folder);
    ignore_parse(&walk.ignore, secrets, strlen(secrets));
    if (fs_read(ignore_file, IGNORE_BYTES, &rules, NULL) == 0)
        ignore_parse(&walk.ignore, rules.s, rules.len);
    int r = walk_dir(&walk, fd, err);
    str_release(&walk.path);
    ignore_release(&walk.ignore);
    if (r < 0)
        return r;
    if (ret->files.len)
        qsort(ret->files.at, ret->files.len, sizeof(*ret->files.at), compare_paths);
    return ret->total_bytes > TREE_TOTAL_BYTES ? too_large(ret, err) : 0;
}

void tree_release(struct tree *tree)
{
    arena_release(&tree->arena);
    vec_release(&tree->files);
}
