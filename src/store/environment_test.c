/* SPDX-License-Identifier: MIT */
/*
 * environment_test.c — what is recorded, what is kept secret, and that asking never takes long.
 */
#include "store/testing.h"

#include "base/clock.h"
#include "base/json.h"
#include "store/child.h"
#include "store/object.h"
#include "store/secret.h"

extern char **environ;

static const struct {
    const char *name, *value;
    bool secret;
} cases[] = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin", false},
    {"HOME", "/home/someone", false},
    {"AWS_SECRET_ACCESS_KEY", "x", true},
    {"github_token", "x", true},
    {"WANDB_API_KEY", "x", true},
    {"PGPASSWORD", "", true},
    {"SSH_AUTH_SOCK", "/tmp/agent", true},
    {"MY_CREDENTIALS", "x", true},
    {"SESSION_COOKIE", "x", true},
    {"DATABASE", "postgres://me:hunter2@db/x", true},
    {"DATABASE", "postgres://me@db/x", false},
    {"PROXY", "http://proxy:3128/", false},
    {"LINK", "http://a.b/x:y@z", false},
    {"THING", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", true},
    {"THING", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", true},
    {"THING", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLE1x0QZvT", true},
    {"FOLDER", "results/run-2024-11-05/fashion", false},
    {"OMP_NUM_THREADS", "4", false},
    {"LANG", "en_US.UTF-8", false},
    {"TEXT", "a sentence of some words, 24 or more letters", false},
    {"LD_LIBRARY_PATH", "/opt/lib/x86_64-linux-gnu/1234567890abcdef", false},
};

TEST(secrets_are_known_by_name_and_by_value)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (is_secret(cases[i].name, cases[i].value) != cases[i].secret)
            fail_msg("%s=%s", cases[i].name, cases[i].value);
}

static int ask(const char *script, int64_t within_us, size_t cap, struct str *to)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct child child = {.argv = argv,
                          .envp = (const char *const *)environ,
                          .dir = "/",
                          .deadline_us = clock_mono_us() + within_us,
                          .cap = cap};
    return child_ask(&child, to);
}

TEST(a_child_is_bounded_in_time_and_output)
{
    autorelease(str) struct str out = STR_INIT;
    assert_int_equal(ask("echo hello; exit 3", 10 * US_PER_S, 100, &out), 3);
    assert_string_equal(out.s, "hello\n");
    assert_int_equal(ask("while :; do :; done", 50000, 100, &out), -ETIMEDOUT);
    assert_int_equal(ask("exec >&-; while :; do :; done", 50000, 100, &out), -ECHILD);
    assert_int_equal(ask("while :; do echo xxxxxxxxxxxxxxxx; done", 10 * US_PER_S, 1000, &out),
                     -EFBIG);
    const char *const argv[] = {"hone-no-such-program", NULL};
    struct child child = {.argv = argv,
                          .envp = (const char *const *)environ,
                          .dir = "/",
                          .deadline_us = clock_mono_us() + US_PER_S};
    assert_int_equal(child_ask(&child, &out), -ENOENT);
}

static json_t *record(const char *home, const char *folder, const char *program,
                      const char *const *envp)
{
    autorelease(str) struct str text = STR_INIT;
    struct err err = ERR_INIT;
    json_t *value = NULL;
    const struct environment_of of = {folder, NULL, &program, program != NULL, envp};
    assert_ok(environment_record(home, &of, &text, &err), &err);
    assert_ok(json_parse(text.s, text.len, &value, &err), &err);
    return value;
}

TEST(the_same_program_elsewhere_has_the_same_hash_and_a_changed_one_another)
{
    char *home = make_home();
    const char *const envp[] = {"LANG=C", NULL};
    autofree(mem) char *a = xasprintf("%s/a.sh", home), *b = xasprintf("%s/b.sh", home);
    assert_ok(fs_write_atomic(a, "echo 1\n", 7, 0700, NULL), NULL);
    assert_ok(fs_write_atomic(b, "echo 1\n", 7, 0700, NULL), NULL);
    autofree(json) json_t *first = record(home, home, "a.sh", envp);
    autofree(json) json_t *second = record(home, home, b, envp);
    assert_int_equal(strlen(json_get_text(first, "program", "")), 64);
    assert_string_equal(json_get_text(first, "program", ""), json_get_text(second, "program", "x"));
    assert_ok(fs_write_atomic(b, "echo 2\n", 7, 0700, NULL), NULL);
    autofree(json) json_t *third = record(home, home, b, envp);
    assert_string_not_equal(json_get_text(first, "program", ""),
                            json_get_text(third, "program", ""));
    autofree(json) json_t *none = record(home, home, "true", envp);
    assert_null(json_object_get(none, "program"));
    remove_home(home);
}

TEST(the_machine_and_the_variables_are_recorded_without_secrets)
{
    char *home = make_home();
    const char *const envp[] = {"LANG=C", "API_TOKEN=abc", "BROKEN", "EMPTY=", NULL};
    autofree(json) json_t *value = record(home, home, NULL, envp);
    assert_string_equal(json_get_text(value, "hone", ""), HONE_VERSION);
    assert_true(strlen(json_get_text(value, "host", "")) > 0);
    assert_true(strlen(json_get_text(value, "kernel", "")) > 0);
    assert_true(strlen(json_get_text(value, "user", "")) > 0);
    assert_true(json_get_int(value, "cpus", 0) > 0);
    assert_true(json_get_int(value, "memory_bytes", 0) > 0);
    assert_true(json_array_size(json_object_get(value, "command")) > 0);
    json_t *variables = json_object_get(value, "variables");
    assert_int_equal(json_object_size(variables), 3);
    assert_string_equal(json_get_text(variables, "LANG", ""), "C");
    assert_string_equal(json_get_text(variables, "EMPTY", "x"), "");
    assert_true(json_is_null(json_object_get(variables, "API_TOKEN")));
    assert_null(json_object_get(value, "git"));
    assert_null(json_object_get(value, "python"));
    struct err err = ERR_INIT;
    autorelease(str) struct str text = STR_INIT;
    const struct environment_of nowhere = {.folder = "/no/such", .envp = envp};
    assert_int_equal(environment_record(home, &nowhere, &text, &err), -ENOTDIR);
    err_release(&err);
    remove_home(home);
}

TEST(git_is_recorded_with_the_patch_of_what_is_not_committed)
{
    char *top = make_home();
    autorelease(str) struct str out = STR_INIT;
    autofree(mem) char *home = xasprintf("%s/.hone", top);
    autofree(mem) char *script = xasprintf(
        "cd %s && git init -q -b trunk . && git config user.email a@b && git config user.name n && "
        "echo one > f && git add f && git commit -q -m first && echo two > f && "
        "echo .hone > .git/info/exclude",
        top);
    if (ask(script, 20 * US_PER_S, 10000, &out) != 0) {
        remove_home(top);
        SKIP("no git here");
    }
    autofree(json) json_t *value = record(home, top, NULL, (const char *const *)environ);
    json_t *git = json_object_get(value, "git");
    assert_int_equal(strlen(json_get_text(git, "commit", "")), 40);
    assert_string_equal(json_get_text(git, "branch", ""), "trunk");
    assert_true(json_get_bool(git, "dirty", false));
    autorelease(str) struct str patch = STR_INIT;
    struct err err = ERR_INIT;
    assert_ok(object_load(home, json_get_text(git, "patch", ""), 10000, &patch, &err), &err);
    assert_int_equal(json_get_int(git, "patch_bytes", 0), patch.len);
    assert_non_null(strstr(patch.s, "-one\n+two\n"));

    autofree(mem) char *commit = xasprintf("cd %s && git commit -q -a -m second", top);
    assert_int_equal(ask(commit, 20 * US_PER_S, 10000, &out), 0);
    autofree(json) json_t *clean = record(home, top, NULL, (const char *const *)environ);
    git = json_object_get(clean, "git");
    assert_false(json_get_bool(git, "dirty", true));
    assert_null(json_object_get(git, "patch"));
    remove_home(top);
}

TEST(python_packages_are_recorded_for_a_python_program)
{
    char *top = make_home();
    autorelease(str) struct str out = STR_INIT;
    if (ask("python3 -c 'import importlib.metadata'", 20 * US_PER_S, 1000, &out) != 0) {
        remove_home(top);
        SKIP("no Python here");
    }
    autofree(mem) char *script = xasprintf("%s/train", top);
    autofree(mem) char *trap = xasprintf("%s/json.py", top); /* must not be imported */
    assert_int_equal(fs_write_atomic(trap, "raise SystemExit(1)\n", 20, 0644, NULL), 0);
    static const char text[] = "#!/usr/bin/env -S python3 -u\n";
    assert_int_equal(fs_write_atomic(script, text, strlen(text), 0755, NULL), 0);
    const char *const programs[] = {"python3", "./train", script};
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        autofree(json) json_t *value = record(top, top, programs[i], (const char *const *)environ);
        json_t *python = json_object_get(value, "python");
        assert_true(str_starts(json_get_text(python, "version", ""), "3."));
        assert_true(json_is_object(json_object_get(python, "packages")));
    }
    autofree(json) json_t *shell = record(top, top, "/bin/sh", (const char *const *)environ);
    assert_null(json_object_get(shell, "python"));
    remove_home(top);
}

TEST_MAIN
