/* SPDX-License-Identifier: MIT */
/*
 * prepare.c — the records that are made before an experiment begins.
 */
#include "cli/prepare.h"
#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

void prepared_release(struct prepared *prepared)
{
    str_release(&prepared->environment);
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int check_path(const char *word, const char *path, struct err *err)
{
    if (is_program(path))
        return 0;
    if (!fs_exists(path))
        return err_set(err, ENOENT,
                       "the program '%s' does not exist: there is no %s; is the path right, "
                       "seen from the spec's folder?",
                       word, path);
    if (fs_is_dir(path))
        return err_set(err, EISDIR, "the program '%s' is a folder: name a file in it", word);
    return err_set(err, EACCES,
                   "the program '%s' is not executable: 'chmod +x %s', or name its interpreter "
                   "before it (python3 %s)",
                   word, path, word);
}

/* PATH of the trials: the spec's own, else ours. */
static const char *path_variable(const struct spec *spec)
{
    vec_foreach (pair, &spec->env)
        if (str_eq(pair->key, "PATH"))
            return pair->value;
    const char *path = getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

int program_check(const struct spec *spec, struct err *err)
{
    const char *word = spec->command.len ? spec->command.at[0] : "";

    if (!*word)
        return err_set(err, EINVAL,
                       "there is no program to run: give 'command:' in the spec, or "
                       "the program after --");
    if (strchr(word, '{'))
        return 0; /* a parameter decides */
    if (strchr(word, '/')) {
        const char *rest = str_starts(word, "./") ? word + 2 : word;
        autofree(mem) char *full =
            word[0] == '/' ? xstrdup(word) : xasprintf("%s/%s", spec->dir, rest);
        return check_path(word, full, err);
    }
    for (const char *p = path_variable(spec); *p;) {
        size_t n = strcspn(p, ":");
        autofree(mem) char *full = xasprintf("%.*s/%s", (int)n, p, word);
        if (is_program(full))
            return 0;
        p += n + (p[n] == ':');
    }
    autofree(mem) char *here = xasprintf("%s/%s", spec->dir, word);
    if (fs_exists(here))
        return err_set(err, ENOENT,
                       "the program '%s' is not in PATH: './%s' names the one beside "
                       "the spec",
                       word, word);
    return err_set(err, ENOENT, "the program '%s' is not in PATH: is it installed?", word);
}

/* "/a/b/../c/." → "/a/c". By the words alone: the folder may be gone when its trial is repeated. */
static void add_plain_path(struct str *to, const char *path)
{
    for (const char *p = path; *p; p += strcspn(p, "/")) {
        p += strspn(p, "/");
        size_t n = strcspn(p, "/");
        const char *parent = strrchr(to->s, '/');
        if (n == 2 && p[0] == '.' && p[1] == '.')
            str_cut(to, parent ? (size_t)(parent - to->s) : 0);
        else if (n && !(n == 1 && p[0] == '.'))
            str_addf(to, "/%.*s", (int)n, p);
    }
}

/* Where the spec's folder is inside of the code's, as "/sub/folder"; empty if it is that folder, or
 * lies elsewhere. */
static void add_place_in_code(struct str *to, const struct spec *spec)
{
    autorelease(str) struct str code = STR_INIT, dir = STR_INIT;

    if (!spec->code)
        return;
    add_plain_path(&code, spec->code);
    add_plain_path(&dir, spec->dir);
    if (str_starts(dir.s, code.s) && dir.s[code.len] == '/')
        str_add(to, dir.s + code.len);
}

int prepare_checkout(const char *home, const char *sha256, struct spec *spec, struct err *err)
{
    autofree(mem) char *folder = xasprintf("%s/checkouts/%s", home, sha256);
    autorelease(str) struct str dir = STR_INIT;
    int r = 0;

    if (!fs_is_dir(folder)) {
        autofree(mem) char *beside = xasprintf("%s.%d.tmp", folder, (int)getpid());
        autofree(mem) char *parent = xasprintf("%s/checkouts", home);
        r = fs_make_dirs(parent, 0700, err);
        if (r >= 0)
            r = snapshot_unpack(home, sha256, beside, err);
        if (r >= 0 && rename(beside, folder) < 0 && !fs_is_dir(folder))
            r = err_errno(err, errno, "cannot make the checkout %s", folder);
    }
    if (r < 0)
        return r;
    str_add(&dir, folder);
    add_place_in_code(&dir, spec);
    free(spec->dir);
    spec->dir = str_take(&dir);
    return 0;
}

static int record_code(const struct cmd_call *call, struct spec *spec, struct prepared *ret,
                       struct err *err)
{
    if (!spec->code)
        return 0;
    int r = snapshot_take(call->home, spec->code, &ret->snapshot, err);
    if (r < 0) {
        ret->snapshot.sha256[0] = '\0';
        if (r == -EROFS || r == -EACCES || r == -ENOSPC || spec->code_isolate)
            return r;
        log_warn("the code is not recorded: %s", err_text(err));
        err_release(err);
        return 0;
    }
    return spec->code_isolate ? prepare_checkout(call->home, ret->snapshot.sha256, spec, err) : 0;
}

static int make_home(const char *home, struct err *err)
{
    autorelease(err) struct err why = ERR_INIT;
    int r = fs_make_dirs(home, 0700, &why);

    if (r >= 0)
        return r;
    return err_set(err, -r, "%s; choose another home with --home or HONE_HOME", err_text(&why));
}

int prepare(const struct cmd_call *call, struct spec *spec, struct prepared *ret, struct err *err)
{
    *ret = (struct prepared){.environment = STR_INIT};
    int r = make_home(call->home, err);
    if (r >= 0)
        r = record_code(call, spec, ret, err);
    if (r < 0)
        return r;
    autorelease(err) struct err why = ERR_INIT;
    if (environment_record(call->home, spec->code ? spec->code : spec->dir, spec->command.at[0],
                           (const char *const *)environ, &ret->environment, &why) < 0)
        log_warn("the environment is not recorded: %s", err_text(&why));
    return 0;
}

struct submission prepared_submission(const struct prepared *prepared, struct spec *spec)
{
    bool code = prepared->snapshot.sha256[0] != '\0';
    return (struct submission){
        .spec = spec,
        .code = code ? prepared->snapshot.sha256 : NULL,
        .code_size = code ? prepared->snapshot.size : 0,
        .environment = prepared->environment.len ? prepared->environment.s : NULL,
        .envp = environ,
    };
}
