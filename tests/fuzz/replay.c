/* SPDX-License-Identifier: MIT */
/*
 * replay.c — feeds a fuzzer every file of its corpus and prints TAP, so that what once broke a
 * reader is tried in every `make test`, with any compiler. Called NAME_replay, it reads
 * tests/fuzz/corpus/NAME; or the files and folders given as arguments.
 */
#include "base/fs.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define INPUT_MAX (64u << 20)

static int n_tests;

static void replay_file(const char *path)
{
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;

    printf("# %s\n", path);
    fflush(stdout); /* the last line names the culprit if this ends the program */
    if (fs_read(path, INPUT_MAX, &text, &err) < 0) {
        printf("not ok %d - %s\n", ++n_tests, err_text(&err));
        err_release(&err);
        return;
    }
    uint8_t *exact = xmemdup(text.s, text.len); /* without the NUL: reading past it is found */
    LLVMFuzzerTestOneInput(exact, text.len);
    free(exact);
    printf("ok %d - %s\n", ++n_tests, path);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
    struct dirent **entries;
    int n = fs_is_dir(path) ? scandir(path, &entries, visible, alphasort) : -1;

    if (n < 0) {
        replay_file(path);
        return;
    }
    for (int i = 0; i < n; i++) {
        autofree(mem) char *inside = xasprintf("%s/%s", path, entries[i]->d_name);
        replay_file(inside);
        free(entries[i]);
    }
    free(entries);
}

/* build/tests/fuzz/spec_replay → tests/fuzz/corpus/spec */
static char *own_corpus(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    const char *end = strrchr(name, '_');
    return xasprintf("tests/fuzz/corpus/%.*s", (int)(end ? end - name : 0), name);
}

int main(int argc, char **argv)
{
    autofree(mem) char *corpus = own_corpus(argv[0]);

    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    if (argc == 1)
        replay(corpus);
    printf("1..%d\n", n_tests);
    return 0;
}
