/* SPDX-License-Identifier: MIT */
/*
 * cgroup_plan_test.c — what is chosen on which machine, by fake trees; and the kinds this machine
 * has, for real.
 */
#include "exec/fixture.h"

#include "exec/cgroup_plan.h"
#include <grp.h>
#include <sys/stat.h>

#define NOBODY 65534

/* A tree of plain files and folders: "a/b/" is a folder, "a/b=text" a file. */
static char *fake_tree(const char *const *entries)
{
    const char *tmp = getenv("TMPDIR");
    char *root = xasprintf("%s/hone-cgroup-XXXXXX", tmp ? tmp : "/tmp");
    struct err err = ERR_INIT;

    assert_non_null(mkdtemp(root));
    for (; *entries; entries++) {
        size_t name = strcspn(*entries, "=");
        autofree(mem) char *path = xasprintf("%s/%.*s", root, (int)name, *entries);
        autofree(mem) char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
        assert_ok(fs_make_dirs(folder, 0755, &err), &err);
        if ((*entries)[name])
            assert_ok(
                fs_write_atomic(path, *entries + name + 1, strlen(*entries + name + 1), 0644, &err),
                &err);
    }
    return root;
}

static void fake_end(char *root, struct cgroup_plan *plan)
{
    struct err err = ERR_INIT;

    cgroup_plan_release(plan);
    assert_ok(fs_remove_tree(root, &err), &err);
    free(root);
}

static void check_path(const char *path, const char *root, const char *below)
{
    autofree(mem) char *want = below ? xasprintf("%s/%s", root, below) : NULL;

    if (!want)
        assert_null(path);
    else
        assert_string_equal(path, want);
}

static void check_plan(const char *const *entries, const char *self, enum cgroup_kind kind,
                       const char *tree, const char *memory, bool limits)
{
    struct cgroup_plan plan;
    char *root = fake_tree(entries);

    cgroup_plan_find(&plan, root, self);
    assert_int_equal(plan.kind, kind);
    check_path(plan.tree, root, tree);
    check_path(plan.memory, root, memory);
    assert_int_equal(plan.limits_memory, limits);
    assert_non_null(plan.why);
    fake_end(root, &plan);
}

TEST(without_cgroups_there_is_a_plan_that_says_so)
{
    static const char *const nothing[] = {NULL};

    check_plan(nothing, "", CGROUP_NONE, NULL, NULL, false);
    check_plan(nothing, "0::/user.slice\n", CGROUP_NONE, NULL, NULL, false);
}

TEST(hybrid_holds_trees_by_v2_and_limits_by_v1_below_our_own)
{
    static const char *const tree[] = {"unified/cgroup.controllers=\n",  "unified/cgroup.procs=",
                                       "memory/memory.limit_in_bytes=1", "memory/box/a/",
                                       "freezer/cgroup.procs=",          NULL};

    check_plan(tree, "4:memory:/box/a\n0::/\n", CGROUP_HYBRID, "unified", "memory/box/a", true);
    /* a path of the host that a container does not see: we are at the mount */
    check_plan(tree, "4:memory:/host/x\n0::/host/y\n", CGROUP_HYBRID, "unified", "memory", true);
}

TEST(v1_alone_holds_trees_by_the_freezer)
{
    static const char *const tree[] = {"freezer/cgroup.procs=", "freezer/me/",
                                       "memory/memory.limit_in_bytes=1", NULL};
    static const char *const no_memory[] = {"freezer/cgroup.procs=", NULL};

    check_plan(tree, "6:cpu,freezer:/me\n4:memory:/\n", CGROUP_V1, "freezer/me", "memory", true);
    check_plan(no_memory, "6:freezer:/\n", CGROUP_V1, "freezer", NULL, false);
}

TEST(v2_limits_memory_where_the_controller_is_ours)
{
    static const char *const tree[] = {"cgroup.controllers=cpu memory\n", "a/cgroup.procs=1\n2\n",
                                       "a/cgroup.controllers=cpu memory\n",
                                       "a/cgroup.subtree_control=cpu memory\n", NULL};
    static const char *const without[] = {"cgroup.controllers=cpu memory\n",
                                          "a/cgroup.procs=", "a/cgroup.controllers=cpu\n",
                                          "a/cgroup.subtree_control=", NULL};

    check_plan(tree, "0::/a\n", CGROUP_V2, "a", NULL, true);
    check_plan(without, "0::/a\n", CGROUP_V2, "a", NULL, false);
}

/* Run `body` in a child as nobody; it returns 0 when all is well. */
static void as_nobody(int (*body)(const char *arg), const char *arg, const char *cgroup)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (cgroup) {
            autofree(mem) char *path = xasprintf("%s/cgroup.procs", cgroup);
            int fd = open(path, O_WRONLY);
            if (write(fd, "0", 1) != 1)
                _exit(90);
            close(fd);
        }
        if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(91);
        _exit(body(arg));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int ask_manager(const char *root)
{
    autofree(mem) char *path = xasprintf("%s/bin", root);
    autofree(mem) char *asked = xasprintf("%s/asked", root);
    autofree(mem) char *unit = xasprintf(" hone-%d.scope fail 3 Delegate b true ", (int)getpid());
    autorelease(str) struct str text = STR_INIT;
    struct cgroup_plan plan;

    setenv("PATH", path, 1);
    setenv("XDG_RUNTIME_DIR", root, 1);
    cgroup_plan_init(&plan, root);
    bool good = plan.kind == CGROUP_NONE && !plan.delegated &&
                fs_read(asked, 4096, &text, NULL) == 0 && strstr(text.s, "--user") &&
                strstr(text.s, "StartTransientUnit") && strstr(text.s, unit);
    cgroup_plan_release(&plan);
    return good ? 0 : 1;
}

TEST(a_plain_user_asks_the_manager_for_a_delegated_scope)
{
    static const char *const tree[] = {
        "bin/busctl=#!/bin/sh\necho \"$@\" >${0%/*}/../asked\nexit 1\n", "systemd/", NULL};
    struct cgroup_plan none = {.kind = CGROUP_NONE};

    if (getuid() != 0)
        SKIP("needs root");
    char *root = fake_tree(tree);
    autofree(mem) char *busctl = xasprintf("%s/bin/busctl", root);
    assert_int_equal(chmod(busctl, 0755), 0);
    assert_int_equal(chown(root, NOBODY, NOBODY), 0);
    as_nobody(ask_manager, root, NULL);
    fake_end(root, &none);
}

static int run_delegated(const char *cgroup)
{
    struct fixture f;

    fixture_init(&f, "cat /proc/self/cgroup; (setsid sleep 1000 &); exit 12");
    const struct cgroup_plan *plan = exec_cgroups(f.exec);
    bool below = plan->kind == CGROUP_V2 && str_starts(plan->tree, cgroup);
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    bool inside = strstr(out, "/hone-test") != NULL;
    bool good = below && inside && f.look.exit.status == 12 && f.look.exit.leftovers == 1;
    check_no_cgroup(&f);
    fixture_release(&f);
    return good ? 0 : 1;
}

/* A folder of the real v2 hierarchy; NULL if there is none that we may use. */
static char *real_v2_folder(void)
{
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

    for (size_t i = 0; i < ARRAY_LEN(mounts) && getuid() == 0; i++) {
        autofree(mem) char *proof = xasprintf("%s/cgroup.controllers", mounts[i]);
        autofree(mem) char *path = xasprintf("%s/hone-unit-test-%d", mounts[i], (int)getpid());
        if (fs_exists(proof) && mkdir(path, 0755) == 0)
            return TAKE(path);
    }
    return NULL;
}

TEST(a_user_with_a_delegated_subtree_uses_it)
{
    autofree(mem) char *folder = real_v2_folder();

    if (!folder)
        SKIP("no writable v2 tree here");
    autofree(mem) char *procs = xasprintf("%s/cgroup.procs", folder);
    autofree(mem) char *control = xasprintf("%s/cgroup.subtree_control", folder);
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    assert_int_equal(chown(procs, NOBODY, NOBODY), 0);
    assert_int_equal(chown(control, NOBODY, NOBODY), 0);
    as_nobody(run_delegated, folder, folder);
    wait_until(rmdir(folder) == 0 || errno != EBUSY);
    assert_false(fs_exists(folder));
}

static int run_plainly(const char *unused UNUSED)
{
    struct fixture f;

    fixture_init(&f, "(setsid sleep 1000 &); exit 13");
    fixture_run(&f);
    bool good = f.look.exit.status == 13 && f.look.exit.leftovers == 1;
    fixture_release(&f);
    return good ? 0 : 1;
}

TEST(a_plain_user_without_any_still_loses_no_process)
{
    if (getuid() != 0)
        SKIP("needs root");
    as_nobody(run_plainly, NULL, NULL);
}

/* The v1 freezer, where this machine has one. */
TEST(v1_alone_works_for_real)
{
    struct fixture f;

    fixture_init(&f, "grep freezer /proc/self/cgroup; trap '' TERM; (setsid sleep 1000 &); "
                     "while :; do sleep 0.01; done");
    autofree(mem) char *freezer = xasprintf("/sys/fs/cgroup/freezer/hone-unit-%d", (int)getpid());
    if (mkdir(freezer, 0755) < 0) {
        fixture_release(&f);
        SKIP("no v1 freezer here");
    }
    fixture_without_cgroups(&f);
    struct cgroup_plan *mine = (struct cgroup_plan *)exec_cgroups(f.exec);
    *mine = (struct cgroup_plan){.kind = CGROUP_V1, .tree = xstrdup(freezer)};
    f.launch.time_limit_us = 100000;
    f.launch.grace_us = 20000;
    fixture_run(&f);
    autofree(mem) char *out = fixture_read(&f, "attempts/7/stdout");
    assert_non_null(strstr(out, "hone-unit-"));
    assert_int_equal(f.look.exit.cause, CAUSE_TIME);
    assert_int_equal(f.look.exit.signal, SIGKILL);
    check_no_cgroup(&f);
    fixture_release(&f);
    assert_false(fs_exists(freezer));
}

TEST(the_last_keeper_of_a_dead_engine_removes_the_homes_folder)
{
    struct fixture f;

    fixture_init(&f, "touch $DIR/up; while [ ! -e $DIR/go ]; do sleep 0.01; done");
    autofree(mem) char *tree =
        exec_cgroups(f.exec)->tree ? xstrdup(exec_cgroups(f.exec)->tree) : NULL;
    if (!tree) {
        fixture_release(&f);
        SKIP("no cgroup tree here");
    }
    pid_t engine = fork();
    if (engine == 0) {
        struct err err = ERR_INIT;
        int r = exec_start(f.exec, &f.launch, &f.pid, &f.pidfd, &err);
        _exit(r < 0);
    }
    int status;
    assert_int_equal(waitpid(engine, &status, 0), engine);
    assert_int_equal(status, 0);
    wait_until(fixture_has(&f, "up"));
    wait_until(fs_exists(tree));
    autofree(mem) char *go = xasprintf("%s/go", f.home);
    close(open(go, O_CREAT | O_WRONLY, 0644));
    wait_until(!fs_exists(tree));
    wait_until(exec_look(f.dir, &f.look, NULL) == 0 && f.look.life == LIFE_ENDED);
    fixture_release(&f);
}

TEST_MAIN
