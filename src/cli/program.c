/* SPDX-License-Identifier: MIT */
/*
 * program.c — the program of a spec, looked for where its trials will look; and a program that was
 * given where a spec belongs (`hone run train.py`), told by its ending, its first bytes or its
 * being executable. What ends like a spec is one, executable or not: on some file systems all
 * files are.
 */
#include "cli/program.h"
#include "base/fs.h"
#include "base/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the program of a spec ---- */

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

/* ---- a program instead of a spec ---- */

/* Who reads a file of that ending; NULL: nobody, it is a spec. */
static const struct {
    const char *ending, *interpreter;
} endings[] = {
    {".py", "python3"}, {".sh", "sh"},   {".bash", "bash"}, {".R", "Rscript"}, {".r", "Rscript"},
    {".jl", "julia"},   {".pl", "perl"}, {".rb", "ruby"},   {".lua", "lua"},   {".js", "node"},
    {".m", "octave"},   {".yaml", NULL}, {".yml", NULL},    {".json", NULL},   {".conf", NULL},
};

/* "#!/usr/bin/env python3 -u" → "python3", "#!/bin/sh" → "sh"; NULL if it is none. Free it. */
static char *interpreter_of(const char *head)
{
    if (!str_starts(head, "#!"))
        return NULL;
    const char *p = head + 2 + strspn(head + 2, " \t");
    for (;;) {
        size_t n = strcspn(p, " \t\r\n");
        autofree(mem) char *word = xstrndup(p, n);
        const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
        const char *next = p + n + strspn(p + n, " \t");
        if (!str_eq(name, "env") || !*next || *next == '\n')
            return *name ? xstrdup(name) : NULL;
        p = next;
    }
}

static void read_head(const char *path, char *head, size_t size)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? -1 : read(fd, head, size - 1);
    head[n < 0 ? 0 : n] = '\0';
}

/* How one starts it from here, as words for a shell; false if it does not look like a program. */
static bool add_start(struct str *to, const char *path)
{
    const char *dot = strrchr(path, '.');
    char head[256];
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    for (size_t i = 0; dot && i < ARRAY_LEN(endings); i++)
        if (str_eq(dot, endings[i].ending)) {
            if (endings[i].interpreter)
                str_addf(to, "%s ", endings[i].interpreter);
            return endings[i].interpreter != NULL;
        }
    read_head(path, head, sizeof(head));
    autofree(mem) char *interpreter = interpreter_of(head);
    if (interpreter && str_eq(interpreter, "hone"))
        return false;
    if (access(path, X_OK) == 0) {
        str_add(to, strchr(path, '/') ? "" : "./");
        return true;
    }
    if (interpreter)
        str_addf(to, "%s ", interpreter);
    return interpreter != NULL;
}

int program_refuse(const struct cmd *cmd, const char *path, struct err *err)
{
    autorelease(str) struct str start = STR_INIT;

    if (str_eq(path, "-") || !add_start(&start, path))
        return 0;
    shell_quote(path, &start);
    return err_set(err, EINVAL, "%s is a program, not a spec: hone %s --minimize METRIC -- %s",
                   path, cmd->name, start.s);
}
