/* SPDX-License-Identifier: MIT */
/*
 * sha256.c — dlopen() once, as for libmicrohttpd.
 */
#include "net/sha256.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#define FILE_NAME "libcrypto.so.3"
#define SIZE      32

/* X(result, name, arguments) */
#define LIBCRYPTO(X)                                                                               \
    X(void *, EVP_MD_CTX_new, (void))                                                              \
    X(void, EVP_MD_CTX_free, (void *))                                                             \
    X(const void *, EVP_sha256, (void))                                                            \
    X(int, EVP_DigestInit_ex, (void *, const void *, void *))                                      \
    X(int, EVP_DigestUpdate, (void *, const void *, size_t))                                       \
    X(int, EVP_DigestFinal_ex, (void *, unsigned char *, unsigned *))

#define MEMBER(result, name, arguments) result(*name) arguments;
struct libcrypto {
    LIBCRYPTO(MEMBER)
};

struct symbol {
    const char *name;
    size_t offset;
};
#define SYMBOL(result, name, arguments) {#name, offsetof(struct libcrypto, name)},
static const struct symbol symbols[] = {LIBCRYPTO(SYMBOL)};

struct sha256 {
    const struct libcrypto *lib;
    void *digest;
};

static int load(struct libcrypto *ret, struct err *err)
{
    void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return err_set(err, ENOTSUP, "names of files need %s (Debian package libssl3): %s",
                       FILE_NAME, dlerror());
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol) {
            dlclose(handle);
            return err_set(err, ENOTSUP, "%s is too old: it has no %s", FILE_NAME, symbols[i].name);
        }
        memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

static int libcrypto_find(const struct libcrypto **ret, struct err *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct libcrypto table;
    static bool loaded;
    int r = 0;

    pthread_mutex_lock(&mutex);
    if (!loaded)
        r = load(&table, err);
    loaded = loaded || r == 0;
    pthread_mutex_unlock(&mutex);
    *ret = &table;
    return r;
}

int sha256_new(struct sha256 **ret, struct err *err)
{
    const struct libcrypto *lib;
    int r = libcrypto_find(&lib, err);

    if (r < 0)
        return r;
    void *digest = lib->EVP_MD_CTX_new();
    if (!digest || lib->EVP_DigestInit_ex(digest, lib->EVP_sha256(), NULL) != 1) {
        lib->EVP_MD_CTX_free(digest);
        return err_set(err, ENOTSUP, "libcrypto cannot make a SHA-256");
    }
    *ret = xcalloc(1, sizeof(**ret));
    **ret = (struct sha256){lib, digest};
    return 0;
}

void sha256_free(struct sha256 *sha)
{
    if (!sha)
        return;
    sha->lib->EVP_MD_CTX_free(sha->digest);
    free(sha);
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t n)
{
    sha->lib->EVP_DigestUpdate(sha->digest, bytes, n);
}

void sha256_finish(struct sha256 *sha, char ret[65])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[SIZE] = {0};

    sha->lib->EVP_DigestFinal_ex(sha->digest, bytes, NULL);
    for (size_t i = 0; i < SIZE; i++) {
        ret[2 * i] = hex[bytes[i] >> 4];
        ret[2 * i + 1] = hex[bytes[i] & 15];
    }
    ret[2 * SIZE] = '\0';
}
