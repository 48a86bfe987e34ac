/* SPDX-License-Identifier: MIT */
/*
 * open.c — HOME/hone.db as a handle: opened, checked, brought up to date, closed.
 *
 * Nothing is written before we know that the file is ours and not newer than this program: its
 * header is read first as plain bytes, since SQLite itself may move a log into the file when a
 * handle is closed. The same is asked again through SQLite, which also sees the log.
 *
 * A reader works beside a writer. In a folder that it cannot write, where SQLite cannot make its
 * shared memory, it reads the file as immutable, but only if there is no log to miss.
 */
#include "base/fs.h"
#include "store/file.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS        5000
#define PAGES_IN_LOG   4000        /* 16 MB: a checkpoint syncs twice, so not too often */
#define MAPPED_MAX     "134217728" /* bytes; what lies behind them is copied as ever */
#define HEADER_SIZE    100
#define HEADER_VERSION 60
#define HEADER_ID      68

static void configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* counting allocations takes a lock each */
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Look at the first bytes. 0: absent, empty or one that we may open. */
static int check_header(const char *path, struct err *err)
{
    unsigned char header[HEADER_SIZE];
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_errno(err, errno, "cannot read %s", path);
    ssize_t n = pread(fd, header, sizeof(header), 0);
    if (n < 0)
        return err_errno(err, errno, "cannot read %s", path);
    if (n == 0)
        return 0;
    if (n < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0)
        return err_set(err, EINVAL, "%s is not a database", path);
    uint32_t version = big_endian(header + HEADER_VERSION);
    if (big_endian(header + HEADER_ID) != STORE_APPLICATION_ID ||
        version <= (uint32_t)schema_newest())
        return 0;
    return err_set(err, ENOTSUP,
                   "this home was written by a newer Hone (schema %u, this one knows %d): use that "
                   "version",
                   version, schema_newest());
}

static int open_database(struct store *store, const char *name, int flags, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);

    /* One thread at a time uses a handle, so SQLite need not lock it. */
    int rc = sqlite3_open_v2(name, &store->db,
                             flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI,
                             NULL);
    if (rc != SQLITE_OK)
        return store_error(store, rc, "open", err);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* until accepted */
    return 0;
}

static struct store *store_make(const char *home)
{
    struct store *store = xcalloc(1, sizeof(*store));
    store->home = xstrdup(home);
    store->path = xasprintf("%s/hone.db", home);
    return store;
}

static int load_home_id(struct store *store, struct err *err)
{
    autofree(stmt) sqlite3_stmt *stmt = NULL;
    int r = store_prepare(store, "SELECT value FROM meta WHERE key = 'home_id'", &stmt, err);
    if (r >= 0)
        r = store_step(store, stmt, err);
    if (r < 0)
        return r;
    const char *id = r ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (!id || strlen(id) != sizeof(store->home_id) - 1)
        return err_set(err, EBADMSG, "%s has no home id: it is damaged", store->path);
    memcpy(store->home_id, id, sizeof(store->home_id));
    return 0;
}

/* Attempts are known to the kernel by the home's id: a copy of a home needs another one, or it
 * would end what runs in the original. Moved, a folder keeps its inode; copied it gets a new one.
 * Network file systems may count anew at every mount: there it says nothing. */
static int refresh_home_id(struct store *store, struct err *err)
{
    struct stat st;
    int64_t noted = 0;
    if (fs_is_network(store->home) || stat(store->home, &st) < 0)
        return 0;
    int r = store_number(store, "SELECT value FROM meta WHERE key = 'home_inode'", 0, &noted, err);
    if (r < 0 || noted == (int64_t)st.st_ino)
        return r;
    autofree(mem) char *sql = xasprintf(
        "BEGIN IMMEDIATE;%s"
        "INSERT INTO meta (key, value) VALUES ('home_inode', %lld)"
        " ON CONFLICT (key) DO UPDATE SET value=excluded.value;"
        "COMMIT",
        noted ? "UPDATE meta SET value=lower(hex(randomblob(8))) WHERE key = 'home_id';" : "",
        (long long)st.st_ino);
    r = store_exec(store, sql, err);
    if (r < 0)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return r < 0 ? r : load_home_id(store, err);
}

/* Make the accepted database ready for writing. */
static int prepare_writer(struct store *store, struct err *err)
{
    autofree(mem) char *pragmas = xasprintf("PRAGMA journal_mode=WAL;"
                                            "PRAGMA synchronous=FULL;"
                                            "PRAGMA wal_autocheckpoint=%d;"
                                            "PRAGMA journal_size_limit=67108864;"
                                            "PRAGMA cache_size=-8000;"
                                            "PRAGMA temp_store=MEMORY;",
                                            PAGES_IN_LOG);
    int r = store_exec(store, pragmas, err);
    if (r >= 0)
        r = schema_migrate(store, err);
    if (r >= 0)
        r = load_home_id(store, err);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return r;
}

int store_open(const char *home, struct store **ret, struct err *err)
{
    autofree(store) struct store *store = store_make(home);
    int version;

    int r = fs_make_dirs(home, 0700, err); /* others have no business in it */
    if (r >= 0)
        r = check_header(store->path, err);
    if (r >= 0)
        r = open_database(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (r >= 0 && sqlite3_db_readonly(store->db, "main") == 1)
        r = err_set(err, EROFS, "%s cannot be written", store->path);
    /* Without shared memory the first look already needs the mode. */
    if (r >= 0 && fs_is_network(home))
        r = store_exec(store, "PRAGMA locking_mode=EXCLUSIVE", err);
    if (r >= 0)
        r = schema_version(store, &version, err);
    if (r >= 0)
        r = prepare_writer(store, err);
    if (r >= 0)
        r = refresh_home_id(store, err);
    if (r < 0)
        return r;
    object_sweep(home);
    *ret = TAKE(store);
    return 0;
}

int store_open_memory(struct store **ret, struct err *err)
{
    autofree(store) struct store *store = store_make(":memory:");
    int r = open_database(store, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (r >= 0)
        r = prepare_writer(store, err);
    if (r < 0)
        return r;
    *ret = TAKE(store);
    return 0;
}

/* file:…?immutable=1 with the characters that mean something there escaped. */
static char *immutable_name(const char *path)
{
    struct str name = STR_INIT;
    str_add(&name, "file:");
    for (const char *p = path; *p; p++)
        if (strchr("%?#", *p))
            str_addf(&name, "%%%02x", (unsigned)*p);
        else
            str_add_char(&name, *p);
    str_add(&name, "?immutable=1");
    return str_take(&name);
}

static bool has_log(const struct store *store)
{
    autofree(mem) char *log = xasprintf("%s-wal", store->path);
    struct stat st;
    return stat(log, &st) == 0 && st.st_size > 0;
}

static int read_version(struct store *store, const char *name, int flags, bool alone, int *ret,
                        struct err *err)
{
    int r = open_database(store, name, flags, err);
    if (r >= 0 && alone) {
        sqlite3_busy_timeout(store->db, 0); /* whoever holds it holds it for long */
        r = store_exec(store, "PRAGMA locking_mode=EXCLUSIVE", err);
    }
    if (r >= 0)
        r = schema_version(store, ret, err);
    return r;
}

/* Open for reading in whatever way the folder allows. */
static int open_reader(struct store *store, int *ret_version, struct err *err)
{
    bool alone = fs_is_network(store->home);
    int flags = alone ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int r = read_version(store, store->path, flags, alone, ret_version, err);
    if ((r != -EROFS && r != -EACCES && r != -EPERM && r != -ENOENT) || has_log(store))
        return r;
    autofree(mem) char *name = immutable_name(store->path);
    sqlite3_close_v2(TAKE(store->db));
    err_release(err);
    return read_version(store, name, SQLITE_OPEN_READONLY, false, ret_version, err);
}

/* Whoever first comes brings an older home up to date, also to read in it. Not while somebody has
 * it for himself, nor where nothing can be written. */
static int bring_up_to_date(struct store *store, int *version, struct err *err)
{
    autofree(store) struct store *writer = store_make(store->home);
    int old = *version, r = -EROFS;

    sqlite3_close_v2(TAKE(store->db));
    if (!fs_is_network(store->home))
        r = open_database(writer, writer->path, SQLITE_OPEN_READWRITE, NULL);
    if (r >= 0 && sqlite3_db_readonly(writer->db, "main") != 1)
        r = prepare_writer(writer, NULL);
    if (r >= 0)
        r = open_reader(store, version, err);
    if (r < 0 || *version < schema_newest())
        return err_set(err, ENOTSUP,
                       "this home is of an older Hone (schema %d, now %d), and cannot be written: "
                       "'hone run' by its owner brings it up to date",
                       old, schema_newest());
    return 0;
}

int store_open_read(const char *home, struct store **ret, struct err *err)
{
    autofree(store) struct store *store = store_make(home);
    int version;

    if (!fs_exists(store->path) && errno == ENOENT)
        return err_set(err, ENOENT, "no experiments yet in %s", home);
    int r = check_header(store->path, err);
    if (r >= 0)
        r = open_reader(store, &version, err);
    if (r < 0)
        return r;
    if (version == 0)
        return err_set(err, ENOENT, "no experiments yet in %s", home);
    if (version < schema_newest())
        r = bring_up_to_date(store, &version, err);
    if (r < 0)
        return r;
    r = store_exec(store, "PRAGMA temp_store=MEMORY", err);
    if (r >= 0)
        r = load_home_id(store, err);
    if (r < 0)
        return r;
    *ret = TAKE(store);
    return 0;
}

/* On a network the file may change, or go, without our locks; then a copy fails with an error and a
 * look at memory with a signal. */
void store_map(struct store *store)
{
    if (!fs_is_network(store->home))
        store_exec(store, "PRAGMA mmap_size=" MAPPED_MAX, NULL);
}

void store_free(struct store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < STMTS; i++)
        sqlite3_finalize(store->stmts[i]);
    sqlite3_close_v2(store->db);
    map_release(&store->event_highs);
    free(store->path);
    free(store->home);
    free(store);
}

const char *store_home_id(const struct store *store)
{
    return store->home_id;
}
