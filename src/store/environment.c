/* SPDX-License-Identifier: MIT */
/*
 * environment.c — what was there when an experiment began, as JSON: the machine, the user, the
 * state of the repository, the Python packages, the variables.
 *
 * It asks git and Python, each within a few seconds, so it belongs into a worker thread. What
 * cannot be found out is left out: a record with a gap is better than an experiment that does not
 * start.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "store/child.h"
#include "store/object.h"
#include "store/secret.h"

#include <errno.h>
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define GIT_US       (5 * US_PER_S)
#define GIT_BYTES    (10u << 20)
#define PYTHON_US    (10 * US_PER_S)
#define PYTHON_BYTES (4u << 20)
#define VALUE_BYTES  4096 /* longer variables are cut */

/* ---- the machine ---- */

/* The text after "key :" of the first such line in /proc/cpuinfo. */
static void put_cpu(struct json_out *out)
{
    autorelease(str) struct str text = STR_INIT;
    if (fs_read("/proc/cpuinfo", 4u << 20, &text, NULL) < 0)
        return;
    const char *line = strstr(text.s, "model name");
    const char *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        return;
    colon += 1 + strspn(colon + 1, " \t");
    json_key(out, "cpu");
    json_text_n(out, colon, strcspn(colon, "\n"));
}

static void put_machine(struct json_out *out)
{
    struct utsname uts;
    struct sysinfo info;
    cpu_set_t cpus;
    if (uname(&uts) == 0) {
        autofree(mem) char *kernel = xasprintf("%s %s %s", uts.sysname, uts.release, uts.machine);
        json_put_text(out, "host", uts.nodename);
        json_put_text(out, "kernel", kernel);
    }
    put_cpu(out);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        json_put_int(out, "cpus", CPU_COUNT(&cpus));
    if (sysinfo(&info) == 0)
        json_put_int(out, "memory_bytes", (int64_t)info.totalram * info.mem_unit);
}

static void put_user(struct json_out *out)
{
    struct passwd entry, *found = NULL;
    char buf[16384];
    if (getpwuid_r(getuid(), &entry, buf, sizeof(buf), &found) == 0 && found) {
        json_put_text(out, "user", found->pw_name);
        return;
    }
    autofree(mem) char *number = xasprintf("%u", (unsigned)getuid());
    json_put_text(out, "user", number);
}

/* "--token=abc" becomes "--token=…". The name of a file may look like a secret and is none. */
static void put_word(struct json_out *out, const char *word)
{
    const char *equals = strchr(word, '=');
    autofree(mem) char *name = equals ? xstrndup(word, (size_t)(equals - word)) : xstrdup("");
    if ((!equals && fs_exists(word)) || !is_secret(name, equals ? equals + 1 : word)) {
        json_text(out, word);
        return;
    }
    autofree(mem) char *masked = xasprintf("%s%s…", name, equals ? "=" : "");
    json_text(out, masked);
}

/* "--token abc": the option says it of the word behind it. */
static bool asks_for_secret(const char *word)
{
    return word[0] == '-' && !strchr(word, '=') && is_secret(word, "");
}

/* The command line of this process: words that end in NUL. */
static void put_command(struct json_out *out)
{
    autorelease(str) struct str words = STR_INIT;
    if (fs_read("/proc/self/cmdline", 1u << 20, &words, NULL) < 0)
        return;
    json_key(out, "command");
    json_begin_array(out);
    bool secret = false;
    for (size_t at = 0; at < words.len; at += strlen(words.s + at) + 1) {
        const char *word = words.s + at;
        secret = secret && word[0] != '-';
        if (secret)
            json_text(out, "…");
        else
            put_word(out, word);
        secret = asks_for_secret(word);
    }
    json_end_array(out);
}

static void put_variables(struct json_out *out, const char *const *envp)
{
    json_key(out, "variables");
    json_begin_object(out);
    for (; *envp; envp++) {
        const char *equals = strchr(*envp, '=');
        if (!equals)
            continue;
        autofree(mem) char *name = xstrndup(*envp, (size_t)(equals - *envp));
        json_key(out, name);
        if (is_secret(name, equals + 1))
            json_null_out(out);
        else
            json_text_n(out, equals + 1, MIN(strlen(equals + 1), VALUE_BYTES));
    }
    json_end_object(out);
}

/* ---- git ---- */

/* What all questions to git share. */
struct git {
    const char *folder;
    const char *const *envp;
    int64_t deadline_us;
};

/* Ask `git …`; 0 if it succeeded. */
static int git_ask(const struct git *git, const char *const *words, struct str *to)
{
    static const char *const quiet[] = {"git", "-c", "core.fsmonitor=false", "--no-optional-locks",
                                        "--no-pager"};
    VEC(const char *) argv = {0};
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
        vec_push(&argv, quiet[i]);
    for (; *words; words++)
        vec_push(&argv, *words);
    vec_push(&argv, NULL);
    struct child child = {.argv = argv.at,
                          .envp = git->envp,
                          .dir = git->folder,
                          .deadline_us = git->deadline_us,
                          .cap = GIT_BYTES};
    int r = child_ask(&child, to);
    vec_release(&argv);
    return r;
}
#define GIT(git, to, ...) git_ask(git, (const char *const[]){__VA_ARGS__, NULL}, to)

static void cut_newline(struct str *text)
{
    while (text->len > 0 && text->s[text->len - 1] == '\n')
        str_cut(text, text->len - 1);
}

/* What is not committed, as an object that `git apply` takes. */
static void put_patch(struct json_out *out, const struct git *git, const char *home)
{
    autorelease(str) struct str patch = STR_INIT;
    char sha256[SHA256_HEX_SIZE];
    int r = GIT(git, &patch, "diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color",
                "HEAD");
    if (r != 0)
        json_put_text(out, "patch_error", r == -EFBIG ? "larger than 10 MB" : "git did not answer");
    else if (patch.len > 0 && object_store(home, patch.s, patch.len, sha256, NULL) == 0) {
        json_put_text(out, "patch", sha256);
        json_put_int(out, "patch_bytes", (int64_t)patch.len);
    }
}

static void put_git(struct json_out *out, const struct git *git, const char *home)
{
    autorelease(str) struct str commit = STR_INIT, branch = STR_INIT, status = STR_INIT;
    if (GIT(git, &commit, "rev-parse", "--verify", "-q", "HEAD") != 0)
        return; /* no git, no repository, or nothing committed */
    cut_newline(&commit);
    json_key(out, "git");
    json_begin_object(out);
    json_put_text(out, "commit", commit.s);
    if (GIT(git, &branch, "symbolic-ref", "-q", "--short", "HEAD") == 0) {
        cut_newline(&branch);
        json_put_text(out, "branch", branch.s);
    }
    int r = GIT(git, &status, "status", "--porcelain");
    bool dirty = r == -EFBIG || (r == 0 && status.len > 0);
    if (r == 0 || dirty)
        json_put_bool(out, "dirty", dirty);
    if (dirty)
        put_patch(out, git, home);
    json_end_object(out);
}

/* git with nothing that asks, pages or waits. */
static void record_git(struct json_out *out, const char *home, const char *folder,
                       const char *const *envp)
{
    VEC(const char *) quiet = {0};
    vec_push(&quiet, "GIT_TERMINAL_PROMPT=0");
    vec_push(&quiet, "LC_ALL=C");
    for (; *envp; envp++)
        if (!str_starts(*envp, "LC_ALL=") && !str_starts(*envp, "GIT_")) /* a hook's repository */
            vec_push(&quiet, *envp);
    vec_push(&quiet, NULL);
    struct git git = {folder, quiet.at, clock_mono_us() + GIT_US};
    put_git(out, &git, home);
    vec_release(&quiet);
}

/* ---- Python ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The interpreter of a script's first line: "#!/usr/bin/env -S python3 -u" gives python3. */
static char *shebang_program(const char *line)
{
    const char *word = line + strspn(line, " \t");
    for (;;) {
        size_t n = strcspn(word, " \t\r\n");
        autofree(mem) char *text = xstrndup(word, n);
        if (n == 0)
            return NULL;
        if (!str_eq(base_name(text), "env") && text[0] != '-')
            return TAKE(text);
        word += n + strspn(word + n, " \t");
    }
}

/* The Python that `program` is or is run by; NULL: it is none. Free it. */
static char *find_python(const char *folder, const char *program)
{
    bool relative = program[0] != '/' && strchr(program, '/');
    autofree(mem) char *path = relative ? xasprintf("%s/%s", folder, program) : xstrdup(program);
    if (str_starts(base_name(program), "python"))
        return TAKE(path);
    char head[256] = "";
    /* cppcheck-suppress nullPointer ; TAKE leaves by return */
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    bool got = fgets(head, sizeof(head), file) != NULL;
    fclose(file);
    if (!got || !str_starts(head, "#!"))
        return NULL;
    autofree(mem) char *interpreter = shebang_program(head + 2);
    if (!interpreter || !str_starts(base_name(interpreter), "python"))
        return NULL;
    return TAKE(interpreter);
}

/* The folder is not to be searched for modules: a json.py there would be run. */
static const char python_question[] =
    "import sys\n"
    "sys.path[:] = [p for p in sys.path if p]\n"
    "import json, importlib.metadata as m\n"
    "packages = {}\n"
    "for d in m.distributions():\n"
    "    n = d.metadata['Name']\n"
    "    if n: packages.setdefault(n, d.version)\n"
    "print(json.dumps({'version': sys.version.split()[0], 'executable': sys.executable,\n"
    "                  'packages': dict(sorted(packages.items()))}))\n";

static void put_python(struct json_out *out, const char *folder, const char *program,
                       const char *const *envp)
{
    autofree(mem) char *python = program ? find_python(folder, program) : NULL;
    autorelease(str) struct str answer = STR_INIT;
    autofree(json) json_t *value = NULL;
    if (!python)
        return;
    const char *const argv[] = {python, "-c", python_question, NULL};
    const struct child child = {.argv = argv,
                                .envp = envp,
                                .dir = folder,
                                .deadline_us = clock_mono_us() + PYTHON_US,
                                .cap = PYTHON_BYTES};
    if (child_ask(&child, &answer) != 0 || json_parse(answer.s, answer.len, &value, NULL) < 0)
        return;
    json_key(out, "python");
    json_value(out, value);
}

/* ---- the program ---- */

#define PROGRAM_MAX (256u << 20) /* bytes of a file of it */

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The files that the command names, whatever their names are: a copy elsewhere is the same program.
 * What is found by PATH is the machine's. */
static void put_program(struct json_out *out, const struct environment_of *of)
{
    autorelease(str) struct str hashes = STR_INIT;
    char hash[SHA256_HEX_SIZE];

    for (size_t i = 0; i < of->n_words; i++) {
        const char *dir = of->dir ? of->dir : of->folder;
        autofree(mem) char *path =
            of->words[i][0] == '/' ? xstrdup(of->words[i]) : xasprintf("%s/%s", dir, of->words[i]);
        autorelease(str) struct str bytes = STR_INIT;
        if (!is_regular(path) || fs_read(path, PROGRAM_MAX, &bytes, NULL) < 0 ||
            sha256_hex(bytes.s, bytes.len, hash, NULL) < 0)
            continue;
        str_add(&hashes, hash);
    }
    if (hashes.len && sha256_hex(hashes.s, hashes.len, hash, NULL) >= 0)
        json_put_text(out, "program", hash);
}

int environment_record(const char *home, const struct environment_of *of, struct str *to_json,
                       struct err *err)
{
    struct json_out out = JSON_OUT(to_json);
    const char *folder = of->folder, *program = of->n_words ? of->words[0] : NULL;
    const char *const *envp = of->envp;

    if (!fs_is_dir(folder))
        return err_set(err, ENOTDIR, "%s is not a folder", folder);
    json_begin_object(&out);
    json_put_text(&out, "hone", HONE_VERSION);
    put_machine(&out);
    put_user(&out);
    json_put_text(&out, "folder", folder);
    put_command(&out);
    record_git(&out, home, folder, envp);
    put_python(&out, folder, program, envp);
    put_program(&out, of);
    put_variables(&out, envp);
    json_end_object(&out);
    return 0;
}
