/* SPDX-License-Identifier: MIT */
/*
 * library.c — dlopen() when needed, every symbol or none.
 */
#include "store/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

struct symbol {
    const char *name;
    size_t offset;
};

struct library {
    const char *file, *package, *what;
    const struct symbol *symbols;
    size_t n_symbols;
    void *table;
    void *handle; /* NULL: not open */
    size_t users;
};

#define SYMBOL_CRYPTO(result, name, arguments)  {#name, offsetof(struct libcrypto, name)},
#define SYMBOL_ARCHIVE(result, name, arguments) {#name, offsetof(struct libarchive, name)},
#define SYMBOL_CURL(result, name, arguments)    {#name, offsetof(struct libcurl, name)},
static const struct symbol crypto_symbols[] = {LIBCRYPTO(SYMBOL_CRYPTO)};
static const struct symbol archive_symbols[] = {LIBARCHIVE(SYMBOL_ARCHIVE)};
static const struct symbol curl_symbols[] = {LIBCURL(SYMBOL_CURL)};

static struct libcrypto crypto_table;
static struct libarchive archive_table;
static struct libcurl curl_table;
static struct library crypto = {
    .file = "libcrypto.so.3",
    .package = "libssl3",
    .what = "names of stored files",
    .symbols = crypto_symbols,
    .n_symbols = ARRAY_LEN(crypto_symbols),
    .table = &crypto_table,
};
static struct library archive = {
    .file = "libarchive.so.13",
    .package = "libarchive13",
    .what = "code snapshots",
    .symbols = archive_symbols,
    .n_symbols = ARRAY_LEN(archive_symbols),
    .table = &archive_table,
};
static struct library curl = {
    .file = "libcurl.so.4",
    .package = "libcurl4",
    .what = "requests to other servers",
    .symbols = curl_symbols,
    .n_symbols = ARRAY_LEN(curl_symbols),
    .table = &curl_table,
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int load_symbols(const struct library *library, void *handle, struct err *err)
{
    for (size_t i = 0; i < library->n_symbols; i++) {
        void *symbol = dlsym(handle, library->symbols[i].name);
        if (!symbol)
            return err_set(err, ENOTSUP, "%s is too old for %s: it has no %s", library->file,
                           library->what, library->symbols[i].name);
        memcpy((char *)library->table + library->symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

static int load(struct library *library, struct err *err)
{
    int r = 0;
    pthread_mutex_lock(&mutex);
    if (!library->handle) {
        void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
        r = handle ? load_symbols(library, handle, err)
                   : err_set(err, ENOTSUP, "%s need %s (Debian package %s): %s", library->what,
                             library->file, library->package, dlerror());
        if (r < 0 && handle)
            dlclose(TAKE(handle));
        library->handle = handle;
    }
    library->users += r == 0;
    pthread_mutex_unlock(&mutex);
    return r;
}

static void unload(struct library *library)
{
    pthread_mutex_lock(&mutex);
    if (--library->users == 0)
        dlclose(TAKE(library->handle));
    pthread_mutex_unlock(&mutex);
}

int libcrypto_load(const struct libcrypto **ret, struct err *err)
{
    *ret = &crypto_table;
    return load(&crypto, err);
}

int libcurl_load(const struct libcurl **ret, struct err *err)
{
    *ret = &curl_table;
    return load(&curl, err);
}

int libarchive_load(const struct libarchive **ret, struct err *err)
{
    int r = load(&archive, err);
    *ret = r < 0 ? NULL : &archive_table;
    return r;
}

void libarchive_unload(const struct libarchive **lib)
{
    if (*lib)
        unload(&archive);
    *lib = NULL;
}
