/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c — a folder's code as one object: a tar in the GNU format, packed by zstd.
 *
 * Equal trees give equal archives: files sorted by name, no times, no owners, of the mode only
 * whether it may be executed. The GNU format takes names as bytes, whatever the locale.
 */
#include "base/fs.h"
#include "base/rng.h"
#include "store/file.h"
#include "store/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

struct packer {
    const struct libarchive *lib;
    struct archive *archive;
    struct archive_entry *entry;
    struct object_writer writer;
    const char *folder;
    size_t files;
    struct err *err; /* of the object's file, told from inside the library's call */
};

static ssize_t on_bytes(struct archive *archive UNUSED, void *arg, const void *bytes, size_t n)
{
    struct packer *packer = arg;
    int r = object_writer_add(&packer->writer, bytes, n, packer->err);
    return r < 0 ? -1 : (ssize_t)n;
}

/* The sentence of the library, unless our own file already said why. */
static int pack_error(struct packer *packer)
{
    const char *text = packer->lib->archive_error_string(packer->archive);
    if (packer->err && packer->err->text)
        return -packer->err->code;
    return err_set(packer->err, EIO, "cannot pack the code: %s", text ? text : "libarchive failed");
}

static int packer_init(struct packer *packer, const char *home, struct err *err)
{
    int r = libarchive_load(&packer->lib, err);
    if (r >= 0)
        r = object_writer_init(&packer->writer, home, err);
    if (r < 0)
        return r;
    const struct libarchive *lib = packer->lib;
    packer->archive = lib->archive_write_new();
    packer->entry = lib->archive_entry_new();
    if (!packer->archive || !packer->entry)
        return err_set(err, ENOMEM, "libarchive is out of memory");
    if (lib->archive_write_add_filter_zstd(packer->archive) != ARCHIVE_OK ||
        lib->archive_write_set_format_gnutar(packer->archive) != ARCHIVE_OK ||
        lib->archive_write_set_bytes_in_last_block(packer->archive, 1) != ARCHIVE_OK ||
        lib->archive_write_open(packer->archive, packer, NULL, on_bytes, NULL) != ARCHIVE_OK)
        return pack_error(packer);
    return 0;
}

static void packer_release(struct packer *packer)
{
    packer->err = NULL;
    if (packer->archive)
        packer->lib->archive_write_free(packer->archive);
    if (packer->entry)
        packer->lib->archive_entry_free(packer->entry);
    libarchive_unload(&packer->lib);
    object_writer_release(&packer->writer);
}

static int write_header(struct packer *packer, const struct tree_file *file)
{
    const struct libarchive *lib = packer->lib;
    struct archive_entry *entry = lib->archive_entry_clear(packer->entry);

    lib->archive_entry_set_pathname(entry, file->path);
    lib->archive_entry_set_filetype(entry, file->link ? S_IFLNK : S_IFREG);
    lib->archive_entry_set_perm(entry, file->link ? 0777 : file->executable ? 0755 : 0644);
    lib->archive_entry_set_mtime(entry, 0, 0);
    lib->archive_entry_set_size(entry, (int64_t)file->size);
    if (file->link)
        lib->archive_entry_set_symlink(entry, file->link);
    return lib->archive_write_header(packer->archive, entry) < ARCHIVE_WARN ? pack_error(packer)
                                                                            : 0;
}

/* Exactly file->size bytes, as the header says: a file that shrinks meanwhile is filled with
 * zeros, one that grows is cut. */
static int write_content(struct packer *packer, int fd, uint64_t size)
{
    char bytes[CHUNK];
    while (size > 0) {
        size_t want = (size_t)MIN(size, sizeof(bytes));
        ssize_t n = read(fd, bytes, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            memset(bytes, 0, want);
            n = (ssize_t)want;
        }
        if (packer->lib->archive_write_data(packer->archive, bytes, (size_t)n) != n)
            return pack_error(packer);
        size -= (uint64_t)n;
    }
    return 0;
}

static int pack_file(struct packer *packer, const struct tree_file *file)
{
    autofree(mem) char *path = xasprintf("%s/%s", packer->folder, file->path);
    autoclose int fd = -1;
    struct stat st;
    struct tree_file now = *file;

    if (!file->link) {
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
            return 0; /* gone, or something else by now */
        now.size = MIN((uint64_t)st.st_size, TREE_FILE_BYTES);
    }
    int r = write_header(packer, &now);
    if (r >= 0 && !file->link)
        r = write_content(packer, fd, now.size);
    packer->files++;
    return r;
}

static int pack_all(struct packer *packer, const struct tree *tree, struct snapshot *ret)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < tree->files.len; i++)
        r = pack_file(packer, &tree->files.at[i]);
    if (r >= 0 && packer->lib->archive_write_close(packer->archive) != ARCHIVE_OK)
        r = pack_error(packer);
    if (r >= 0)
        r = object_writer_commit(&packer->writer, ret->sha256, &ret->is_new, packer->err);
    ret->size = packer->writer.size;
    ret->files = packer->files;
    return r;
}

int snapshot_take(const char *home, const char *folder, struct snapshot *ret, struct err *err)
{
    struct err own = ERR_INIT;
    struct packer packer = {.folder = folder, .writer = {.fd = -1}, .err = err ? err : &own};
    struct tree tree = {0};

    *ret = (struct snapshot){.size = 0};
    int r = fs_make_dirs(home, 0700, packer.err);
    if (r >= 0)
        r = tree_list(folder, home, &tree, packer.err);
    if (r >= 0)
        r = packer_init(&packer, home, packer.err);
    if (r >= 0)
        r = pack_all(&packer, &tree, ret);
    packer_release(&packer);
    tree_release(&tree);
    err_release(&own);
    return r;
}

int snapshot_fingerprint(const char *home, const char *folder, uint64_t *ret, struct err *err)
{
    struct tree tree = {0};
    uint64_t hash = 0;
    int r = tree_list(folder, home, &tree, err);
    vec_foreach (file, &tree.files) {
        const uint64_t facts[] = {hash, file->size, (uint64_t)file->mtime_ns, file->executable};
        hash = hash_bytes(file->path, strlen(file->path), hash_bytes(facts, sizeof(facts), 0));
        if (file->link)
            hash = hash_bytes(file->link, strlen(file->link), hash);
    }
    tree_release(&tree);
    *ret = hash;
    return r;
}
