/* SPDX-License-Identifier: MIT */
/*
 * cmd.c — from the words of a command line to a call, by the tables of the commands.
 *
 * --home, --server, --json and --help may stand before or after the command; its own options only
 * after.
 * --version instead of a command is another spelling of `version`.
 * A word with a dash that no table knows is an error with a guess, never an argument, so that a
 * typing mistake cannot start anything. Nothing here touches the home: `hone version` is instant.
 */
#include "cli/cmd.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/remote.h"
#include "cli/served.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

const struct cmd_option cmd_common_options[] = {
    {"home", 0, "DIR", "the folder that holds it all (else HONE_HOME, .hone here, XDG)"},
    {"server", 0, "URL", "do it at the server there instead of in a home (else HONE_SERVER)"},
    {"token-file", 0, "FILE", "the token for it (else HONE_TOKEN, ~/.config/hone/token)"},
    {"ca", 0, "FILE", "certificates to trust there (else HONE_CA, CURL_CA_BUNDLE, SSL_CERT_FILE)"},
    {"json", 0, NULL, "answer in JSON, for scripts"},
    {"help", 'h', NULL, "what this command does, and its options"},
    {NULL, 0, NULL, NULL},
};

const struct cmd *cmd_find(const struct cmd *const *list, const char *name)
{
    for (; *list; list++)
        if (str_eq((*list)->name, name))
            return *list;
    return NULL;
}

static const struct cmd_option *find_in(const struct cmd_option *options, const char *name,
                                        size_t len)
{
    for (; options && options->name; options++)
        if (strlen(options->name) == len && memcmp(options->name, name, len) == 0)
            return options;
    return NULL;
}

static const struct cmd_option *find_long(const struct cmd *cmd, const char *name, size_t len)
{
    const struct cmd_option *option = cmd ? find_in(cmd->options, name, len) : NULL;
    return option ? option : find_in(cmd_common_options, name, len);
}

static const struct cmd_option *find_letter(const struct cmd *cmd, char letter)
{
    for (const struct cmd_option *o = cmd ? cmd->options : NULL; o && o->name; o++)
        if (o->letter == letter)
            return o;
    for (const struct cmd_option *o = cmd_common_options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* The option of that command that looks most like the mistyped one. */
static const char *closest_option(const struct cmd *cmd, const char *name)
{
    VEC(const char *) names = {0};
    for (const struct cmd_option *o = cmd ? cmd->options : NULL; o && o->name; o++)
        vec_push(&names, o->name);
    for (const struct cmd_option *o = cmd_common_options; o->name; o++)
        vec_push(&names, o->name);
    const char *closest = suggest(name, names.at, names.len);
    vec_release(&names);
    return closest;
}

static const char *closest_command(const struct cmd *const *list, const char *name)
{
    VEC(const char *) names = {0};
    for (; *list; list++)
        vec_push(&names, (*list)->name);
    const char *closest = suggest(name, names.at, names.len);
    vec_release(&names);
    return closest;
}

static int unknown_option(const struct cmd_call *call, const char *word, const char *name,
                          struct err *err)
{
    const char *closest = closest_option(call->cmd, name);
    if (closest)
        return err_set(err, EINVAL, "unknown option '%s', did you mean '--%s'?", word, closest);
    return err_set(err, EINVAL, "unknown option '%s'", word);
}

/* The words still to be read. */
struct line {
    int n;
    char **at;
};

static const char *next_word(struct line *words)
{
    if (words->n == 0)
        return NULL;
    words->n--;
    return *words->at++;
}

/* `value` is what stands in the same word, or NULL: then it is the next one. A second one that
 * looks like an option is one, and the value was forgotten. */
static int give(struct cmd_call *call, const struct cmd_option *option, const char *spelling,
                const char *value, struct line *words, struct err *err)
{
    bool two = option->arg && strchr(option->arg, ' ');
    struct cmd_given given = {.option = option, .value = value};

    if (option->arg && !value)
        given.value = next_word(words);
    if (two)
        given.second = next_word(words);
    if ((option->arg && !given.value) || (two && (!given.second || str_starts(given.second, "--"))))
        return err_set(err, EINVAL, "option '%s' needs %s: %s %s", spelling,
                       two ? "two values" : "a value", spelling, option->arg);
    call->given = xrealloc(call->given, (call->n_given + 1) * sizeof(*call->given));
    call->given[call->n_given++] = given;
    return 0;
}

/* --name, --name=value, --name value. */
static int parse_long(struct cmd_call *call, const char *word, struct line *words, struct err *err)
{
    const char *name = word + 2, *equal = strchr(name, '=');
    size_t len = equal ? (size_t)(equal - name) : strlen(name);
    const struct cmd_option *option = find_long(call->cmd, name, len);
    autofree(mem) char *plain = xstrndup(word, len + 2);

    if (!option)
        return unknown_option(call, word, plain + 2, err);
    if (!option->arg && equal)
        return err_set(err, EINVAL, "option '%s' takes no value", plain);
    return give(call, option, plain, equal ? equal + 1 : NULL, words, err);
}

/* -p value, -pvalue, -f. */
static int parse_letter(struct cmd_call *call, const char *word, struct line *words,
                        struct err *err)
{
    const struct cmd_option *option = find_letter(call->cmd, word[1]);
    const char *value = word[2] ? word + 2 : NULL;
    char plain[] = {'-', word[1], '\0'};

    if (!option || (!option->arg && value))
        return unknown_option(call, word, word + 1, err);
    return give(call, option, plain, value, words, err);
}

static int parse_command(const struct cmd *const *list, struct cmd_call *call, const char *word,
                         struct err *err)
{
    call->cmd = cmd_find(list, word);
    if (call->cmd)
        return 0;
    const char *closest = closest_command(list, word);
    if (closest)
        return err_set(err, EINVAL, "there is no command '%s', did you mean '%s'?", word, closest);
    return err_set(err, EINVAL, "there is no command '%s': 'hone help' lists them", word);
}

static void add_arg(struct cmd_call *call, char *word)
{
    call->args = xrealloc(call->args, (size_t)(call->n_args + 1) * sizeof(*call->args));
    call->args[call->n_args++] = word;
}

static void parse_rest(struct cmd_call *call, struct line *words)
{
    if (call->cmd && strstr(call->cmd->args, "--")) {
        call->rest = words->at;
        call->n_rest = words->n;
        return;
    }
    for (; words->n > 0; words->n--)
        add_arg(call, *words->at++);
}

static int check_count(const struct cmd_call *call, struct err *err)
{
    const struct cmd *cmd = call->cmd;
    if (!cmd || cmd_flag(call, "help"))
        return 0;
    if (call->n_args < cmd->min_args)
        return err_set(err, EINVAL, "%s is missing: hone %s %s",
                       cmd->min_args - call->n_args > 1 ? "something" : "an argument", cmd->name,
                       cmd->args);
    if (cmd->max_args >= 0 && call->n_args > cmd->max_args)
        return err_set(err, EINVAL, "'%s' is one too many: hone %s%s%s", call->args[cmd->max_args],
                       cmd->name, *cmd->args ? " " : "", cmd->args);
    return 0;
}

int cmd_parse(const struct cmd *const *list, int argc, char **argv, struct cmd_call *ret,
              struct err *err)
{
    struct line words = {argc - 1, argv + 1};
    *ret = (struct cmd_call){0};

    while (words.n > 0) {
        char *word = *words.at++;
        words.n--;
        int r = 0;
        if (str_eq(word, "--")) {
            parse_rest(ret, &words);
            break;
        }
        if (!ret->cmd && str_eq(word, "--version"))
            r = parse_command(list, ret, "version", err);
        else if (str_starts(word, "--"))
            r = parse_long(ret, word, &words, err);
        else if (word[0] == '-' && word[1])
            r = parse_letter(ret, word, &words, err);
        else if (!ret->cmd)
            r = parse_command(list, ret, word, err);
        else
            add_arg(ret, word);
        if (r < 0)
            return r;
    }
    ret->json = cmd_flag(ret, "json");
    return check_count(ret, err);
}

void cmd_call_release(struct cmd_call *call)
{
    free(call->args);
    free(call->given);
    free(call->home);
    *call = (struct cmd_call){0};
}

static const struct cmd_given *last_given(const struct cmd_call *call, const char *name)
{
    for (size_t i = call->n_given; i-- > 0;)
        if (str_eq(call->given[i].option->name, name))
            return &call->given[i];
    return NULL;
}

bool cmd_flag(const struct cmd_call *call, const char *name)
{
    return last_given(call, name) != NULL;
}

const char *cmd_value(const struct cmd_call *call, const char *name)
{
    const struct cmd_given *given = last_given(call, name);
    return given ? given->value : NULL;
}

const char *cmd_second(const struct cmd_call *call, const char *name)
{
    const struct cmd_given *given = last_given(call, name);
    return given ? given->second : NULL;
}

int cmd_number(const struct cmd_call *call, const char *name, int64_t min, int64_t max,
               int64_t *ret)
{
    const char *text = cmd_value(call, name);
    char *end;

    if (!text)
        return 0;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (errno || end == text || *end || x < min || x > max)
        return cmd_usage(call, "--%s wants a whole number from %lld to %lld, not '%s'", name,
                         (long long)min, (long long)max, text);
    *ret = x;
    return 0;
}

int cmd_fail(const struct cmd_call *call UNUSED, int code, const struct err *err)
{
    fflush(stdout);
    fprintf(stderr, "hone: %s\n", *err_text(err) ? err_text(err) : strerror(err->code));
    return code;
}

int cmd_usage(const struct cmd_call *call, const char *fmt, ...)
{
    const char *name = call->cmd ? call->cmd->name : NULL;
    autorelease(str) struct str text = STR_INIT;
    va_list ap;

    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "hone%s%s: %s\n", name ? " " : "", name ? name : "", text.s);
    if (name && str_eq(name, "help"))
        fputs("'hone help' lists the commands\n", stderr);
    else if (name)
        fprintf(stderr, "'hone help %s' tells more\n", name);
    return CMD_USAGE;
}

char *cmd_user(void)
{
    const struct passwd *user = getpwuid(getuid());
    return user ? xstrdup(user->pw_name) : xasprintf("uid %u", (unsigned)getuid());
}

char *cmd_home(const char *given)
{
    const char *env = getenv("HONE_HOME"), *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (given)
        return fs_absolute(given);
    if (env && *env)
        return fs_absolute(env);
    if (fs_is_dir(".hone"))
        return fs_absolute(".hone");
    if (xdg && *xdg == '/')
        return xasprintf("%s/hone", xdg);
    const struct passwd *user = home && *home ? NULL : getpwuid(getuid());
    return xasprintf("%s/.local/share/hone", user ? user->pw_dir : home ? home : "");
}

/* HONE_LOG=debug and the like: an unknown word changes nothing. */
static void set_log_level(void)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    const char *level = getenv("HONE_LOG");
    for (size_t i = 0; level && i < ARRAY_LEN(names); i++)
        if (str_eq(level, names[i]))
            log_set_level((enum log_level)i);
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    if (served())
        return getenv("HONE_COLOUR") != NULL;
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && str_eq(term, "dumb"));
}

/* `hone --help` and `hone COMMAND --help` are help's. */
static int run_call(const struct cmd *const *list, struct cmd_call *call)
{
    const struct cmd *help = cmd_find(list, "help");
    char *name = call->cmd ? (char *)call->cmd->name : NULL;

    if (call->cmd && !cmd_flag(call, "help"))
        return call->server ? remote_command(call) : call->cmd->run(call);
    struct cmd_call ask = *call;
    ask.cmd = help;
    ask.n_args = name ? 1 : 0;
    ask.args = &name;
    return help->run(&ask);
}

/* 'hone run … | head', or a terminal that was closed. The write that failed may be long ago, so the
 * descriptor is asked, not errno. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

/* What could not be written must not look like success, unless nobody wanted to read on. */
static int flush_out(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || reader_left())
        return code;
    fprintf(stderr, "hone: cannot write to standard output: %s\n", strerror(errno));
    return code ? code : CMD_FAILED;
}

/* A home that was typed goes before a server that was only set. */
static const char *find_server(const struct cmd_call *call)
{
    const char *typed = cmd_value(call, "server"), *variable = getenv("HONE_SERVER");

    if (typed || cmd_value(call, "home") || served())
        return typed;
    return variable && *variable ? variable : NULL;
}

int cmd_main(const struct cmd *const *list, int argc, char **argv)
{
    struct cmd_call call;
    autorelease(err) struct err err = ERR_INIT;
    int code;

    set_log_level();
    if (cmd_parse(list, argc, argv, &call, &err) < 0) {
        code = cmd_usage(&call, "%s", err_text(&err));
    } else if (served() && served_check(&call, &err) < 0) {
        code = cmd_fail(&call, CMD_USAGE, &err);
    } else if (cmd_value(&call, "home") && !*cmd_value(&call, "home")) {
        code = cmd_usage(&call, "--home is empty: name a folder, or leave it out");
    } else if (cmd_value(&call, "home") && cmd_value(&call, "server")) {
        code = cmd_usage(&call, "--home and --server: which of the two?");
    } else {
        call.home = cmd_home(cmd_value(&call, "home"));
        call.server = find_server(&call);
        call.colour = wants_colour();
        code = flush_out(run_call(list, &call));
    }
    cmd_call_release(&call);
    return code;
}
