/* SPDX-License-Identifier: MIT */
/*
 * search_c_test.c — libhone-search.so as it was built, opened as a foreign program would: what it
 * shows, and that searches in different threads have nothing in common. (src/lib/lib_test.c tests
 * the code itself.)
 */
#include "tests/test.h"

#include "hone_search.h"

#include <dlfcn.h>
#include <pthread.h>

#define PLANE                                                                                      \
    "{params: {x: {min: -1, max: 1}, y: {min: -1, max: 1}, kind: [a, b]},"                         \
    " search: {trials: 30, seed: 3}}"

/* The library's calls under their names. */
/* clang-format off */
#define CALLS(X) \
    X(new) X(free) X(error) X(problem) X(ask) X(add) X(trial) X(count) X(tell) X(report) \
    X(instance) X(close) X(stopped) X(fail) X(cancel) X(best) X(front) X(save) X(load)
/* clang-format on */
static struct {
#define POINTER(name) __typeof__(hone_search_##name) *name;
    CALLS(POINTER)
} lib;

static void *open_library(void)
{
    const char *build = getenv("HONE_BUILD");
    autofree(mem) char *path = xasprintf("%s/libhone-search.so", build ? build : "build");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
#define FIND(name)                                                                                 \
    lib.name = (__typeof__(lib.name))dlsym(handle, "hone_search_" #name);                          \
    assert_non_null(lib.name);
    CALLS(FIND)
    return handle;
}

TEST(it_shows_its_own_names_only)
{
    static const char *const inner[] = {"search_new", "spec_parse_params", "xmalloc",
                                        "lib_new",    "asked_new",         "space_release"};
    void *handle = open_library();
    for (size_t i = 0; i < ARRAY_LEN(inner); i++)
        assert_null(dlsym(handle, inner[i]));
    dlclose(handle);
}

struct life {
    pthread_t thread;
    char *trials; /* all trials as JSON, a line each */
};

static double value_of(const char *trial)
{
    double value = 0;
    for (const char *p = trial; *p && *p != '}'; p++)
        value += *p % 7;
    return value;
}

/* A search from its beginning to its end, saved and loaded on the way. */
static void *live(void *arg)
{
    struct life *life = arg;
    char error[200] = "";
    hone_search *s = lib.new(PLANE, error, sizeof(error));
    for (int i = 1; s && i <= 30; i++) {
        int64_t id = lib.ask(s);
        double value = value_of(lib.trial(s, id));
        lib.tell(s, id, &value, 1);
        if (i != 15)
            continue;
        size_t n;
        const void *saved = lib.save(s, &n);
        autofree(mem) void *bytes = xmemdup(saved, n);
        lib.free(s);
        s = lib.load(bytes, n, error, sizeof(error));
    }
    life->trials = xstrdup(error);
    for (int64_t id = 1; s && id <= lib.count(s); id++) {
        char *longer = xasprintf("%s%s\n", life->trials, lib.trial(s, id));
        free(life->trials);
        life->trials = longer;
    }
    lib.free(s);
    return NULL;
}

TEST(searches_in_different_threads_have_nothing_in_common)
{
    struct life lives[4] = {0};
    void *handle = open_library();
    live(&lives[0]);
    for (size_t i = 1; i < ARRAY_LEN(lives); i++)
        assert_int_equal(pthread_create(&lives[i].thread, NULL, live, &lives[i]), 0);
    for (size_t i = 1; i < ARRAY_LEN(lives); i++) {
        pthread_join(lives[i].thread, NULL);
        assert_string_equal(lives[i].trials, lives[0].trials);
    }
    assert_non_null(strstr(lives[0].trials, "{\"id\":30,"));
    for (size_t i = 0; i < ARRAY_LEN(lives); i++)
        free(lives[i].trials);
    dlclose(handle);
}

TEST_MAIN
