/* SPDX-License-Identifier: MIT */
/*
 * ignore_test.c — the rules of .gitignore, as a table.
 */
#include "tests/test.h"

#include "store/ignore.h"

/* A path that ends in a slash is a folder. */
static const struct {
    const char *rules, *path;
    bool ignored;
} cases[] = {
    {"", "a", false},
    {"*.pyc", "a.pyc", true},
    {"*.pyc", "deep/er/a.pyc", true},
    {"*.pyc", "a.py", false},
    {"# *.py", "a.py", false},
    {"\\#a", "#a", true},
    {"\\!a", "!a", true},
    {"a  ", "a", true},
    {"a\\ ", "a ", true},
    {"a\r", "a", true},
    {"\n\n  \n", "a", false},
    {"build/", "build/", true},
    {"build/", "build", false},
    {"build/", "src/build/", true},
    {"/build", "build/", true},
    {"/build", "src/build/", false},
    {"/*.c", "a.c", true},
    {"/*.c", "src/a.c", false},
    {"src/*.c", "src/a.c", true},
    {"src/*.c", "src/x/a.c", false},
    {"src/*.c", "x/src/a.c", false},
    {"**/foo", "foo", true},
    {"**/foo", "a/b/foo", true},
    {"**/foo/bar", "a/foo/bar", true},
    {"**/foo/bar", "a/foo/x/bar", false},
    {"abc/**", "abc/", false},
    {"abc/**", "abc/x", true},
    {"abc/**", "abc/x/y", true},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/x/y/c", false},
    {"a/**/b/**/c", "a/b/x/b/c", true},
    {"**", "anything/at/all", true},
    {"*.log\n!keep.log", "keep.log", false},
    {"*.log\n!keep.log", "lose.log", true},
    {"*.log\n!keep.log\nkeep.*", "keep.log", true},
    {"!a", "a", false},
    {"data?", "data1", true},
    {"data?", "data", false},
    {"a?b", "a/b", false},
    {"[a-c].txt", "b.txt", true},
    {"[!a-c].txt", "b.txt", false},
    {"[!a-c].txt", "d.txt", true},
    {"a*c", "abbc", true},
    {"a*c", "ab/c", false},
    {"a**c", "abbc", true},
    {"a/", "a/", true},
    {"/", "a", false},
    {"größe", "x/größe", true},
    {".env", ".env", true},
    {"*", ".hidden", true},
    {"doc/frotz", "doc/frotz", true},
    {"doc/frotz", "a/doc/frotz", false},
    {"frotz/", "a/frotz/", true},
};

TEST(rules_match_as_in_gitignore)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ignore ignore = {0};
        autofree(mem) char *path = xstrdup(cases[i].path);
        size_t n = strlen(path);
        bool is_dir = path[n - 1] == '/';
        if (is_dir)
            path[n - 1] = '\0';
        ignore_parse(&ignore, cases[i].rules, strlen(cases[i].rules));
        if (ignore_match(&ignore, path, is_dir) != cases[i].ignored)
            fail_msg("rules \"%s\", path \"%s\"", cases[i].rules, cases[i].path);
        ignore_release(&ignore);
    }
}

TEST(a_name_longer_than_any_file_is_not_ignored_by_a_star)
{
    struct ignore ignore = {0};
    char name[1000];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ignore_parse(&ignore, "a*", 2);
    assert_false(ignore_match(&ignore, name, false));
    ignore_release(&ignore);
}

TEST_MAIN
