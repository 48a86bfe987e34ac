/* SPDX-License-Identifier: MIT */
/*
 * microhttpd.c — dlopen() once, every symbol or none.
 */
#include "net/microhttpd.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#define FILE_NAME "libmicrohttpd.so.12"

struct symbol {
    const char *name;
    size_t offset;
};
#define SYMBOL(name) {#name, offsetof(struct microhttpd, name)},
static const struct symbol symbols[] = {MICROHTTPD(SYMBOL)};

static int load_symbols(void *handle, struct microhttpd *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return err_set(err, ENOTSUP, "%s is too old: it has no %s", FILE_NAME, symbols[i].name);
        memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

const struct microhttpd *microhttpd_load(struct err *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct microhttpd table;
    static void *handle;

    pthread_mutex_lock(&mutex);
    if (!handle) {
        void *opened = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
        if (!opened)
            err_set(err, ENOTSUP, "serving needs %s (Debian package libmicrohttpd12): %s",
                    FILE_NAME, dlerror());
        else if (load_symbols(opened, &table, err) < 0)
            dlclose(TAKE(opened));
        handle = opened;
    }
    bool there = handle != NULL;
    pthread_mutex_unlock(&mutex);
    return there ? &table : NULL;
}
