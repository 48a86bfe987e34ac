/* SPDX-License-Identifier: MIT */
/*
 * open.c — hone open: the pages of a home or of a server, in a browser.
 *
 * The link holds a secret that works once. It reaches the browser by way of a file that only its
 * owner can read: everybody on this machine sees the words of a command.
 */
#include "api/find.h"
#include "api/link.h"
#include "base/fs.h"
#include "cli/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct cmd_option options[] = {
    {"print", 0, NULL, "only print the link"},
    {NULL, 0, NULL, NULL},
};

/* ---- of this home, or of the server that was named ---- */

static int find_page(const struct cmd_call *call, struct link_page *ret, struct err *err)
{
    autofree(store) struct store *store = NULL;
    struct target target = {.has_trial = false};

    if (!call->n_args)
        return 0;
    int r = store_open_read(call->home, &store, err);
    if (r < 0)
        return r;
    r = target_find(store, call->args[0], FIND_ANY, &target, err);
    ret->experiment = target.experiment.experiment.id;
    ret->trial = target.has_trial ? target.trial.trial.number : 0;
    target_release(&target);
    return r;
}

static int link_here(const struct cmd_call *call, char **ret, struct err *err)
{
    struct link_page page = {0};
    int r = find_page(call, &page, err);

    return r < 0 ? r : link_new(call->home, &page, ret, err);
}

/* "3.7" or null. */
static int64_t trial_number(const json_t *shown)
{
    const char *dot = strrchr(json_get_text(shown, "trial", ""), '.');
    return dot ? strtoll(dot + 1, NULL, 10) : 0;
}

/* By the name that reached it from here. Its role is that of our token. */
static int link_there(const struct cmd_call *call, char **ret, struct err *err)
{
    autofree(remote) struct remote *remote = NULL;
    autofree(json) json_t *reply = NULL, *shown = NULL;
    int r = remote_open(call, &remote, err);

    if (r >= 0 && call->n_args)
        r = remote_show(remote, call->args[0], &shown, err);
    if (r >= 0)
        r = remote_call(remote, "POST", "/v1/links", "{}", &reply, err);
    if (r < 0)
        return r;
    const char *path = json_get_text(reply, "link", "");
    if (!str_starts(path, "/open/") || path[strcspn(path, " \"'<>&")])
        return err_set(err, EIO, "%s does not answer as a hone server does", remote_url(remote));
    struct link_page page = {json_get_int(shown, "experiment", 0), trial_number(shown)};
    *ret = link_to(xasprintf("%s%s", remote_url(remote), path), &page);
    return 0;
}

/* ---- a browser ---- */

static bool has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

static int write_page(const char *path, const char *link, struct err *err)
{
    autofree(mem) char *page =
        xasprintf("<!doctype html><meta charset=\"utf-8\"><title>Hone</title>"
                  "<meta name=\"referrer\" content=\"no-referrer\">"
                  "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
                  link);
    return fs_write_atomic(path, page, strlen(page), 0600, err);
}

/* xdg-open ends as soon as the browser has it. */
static int start_browser(char *path)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    char *words[] = {(char *)"xdg-open", path, NULL};
    pid_t pid;
    int status = -1;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(&pid, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (r != 0)
        return -r;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : -EIO;
}

static void show(const struct cmd_call *call, const char *link)
{
    autofree(mem) char *cache = remote_cache();
    const char *dir = call->server ? cache : call->home;
    autofree(mem) char *path = xasprintf("%s/open.html", dir);
    autorelease(err) struct err err = ERR_INIT;

    if (call->json || cmd_flag(call, "print") || !has_display())
        return;
    if (fs_make_dirs(dir, 0700, &err) < 0 || write_page(path, link, &err) < 0)
        fprintf(stderr, "hone: %s\n", err_text(&err));
    else if (start_browser(path) < 0)
        fputs("hone: no browser could be started: open the link yourself\n", stderr);
}

static void say_link(const struct cmd_call *call, const char *link)
{
    autorelease(str) struct str json = STR_INIT;
    struct json_out out = JSON_OUT(&json);

    if (!call->json) {
        puts(link);
        return;
    }
    json_begin_object(&out);
    json_put_text(&out, "link", link);
    json_end_object(&out);
    puts(json.s);
}

static int run(struct cmd_call *call)
{
    autorelease(err) struct err err = ERR_INIT;
    autofree(mem) char *link = NULL;
    int r = (call->server ? link_there : link_here)(call, &link, &err);

    if (r < 0)
        return cmd_fail(call, CMD_FAILED, &err);
    say_link(call, link);
    fflush(stdout);
    show(call, link);
    return CMD_OK;
}

const struct cmd cmd_open = {
    .name = "open",
    .args = "[EXPERIMENT|TRIAL]",
    .help = "open the pages of a running server in a browser",
    .details = "Prints a link and opens it where there is a display: the list, or the page of the "
               "experiment or trial that was named. It works once, within ten "
               "minutes: the browser keeps a session for 30 days ('hone token ls' lists it, "
               "'hone token rm' ends it). 'hone serve' and 'hone run' print one, too.",
    .min_args = 0,
    .max_args = 1,
    .options = options,
    .run = run,
};
