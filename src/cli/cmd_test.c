/* SPDX-License-Identifier: MIT */
/*
 * cmd_test.c — command lines read by the tables of commands.
 */
#include "cli/cmd.h"
#include "tests/test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int never(struct cmd_call *call UNUSED)
{
    return CMD_FAILED;
}

static const struct cmd_option paint_options[] = {
    {"colour", 'c', "NAME", "which"},
    {"wet", 'w', NULL, "still"},
    {"between", 0, "LOW HIGH", "these"},
    {NULL, 0, NULL, NULL},
};
static const struct cmd paint = {
    .name = "paint",
    .args = "WALL…",
    .help = "",
    .min_args = 1,
    .max_args = 2,
    .options = paint_options,
    .run = never,
};
static const struct cmd carry = {
    .name = "carry",
    .args = "[FILE] [-- COMMAND]",
    .help = "",
    .max_args = 1,
    .run = never,
};
static const struct cmd *const list[] = {&paint, &carry, NULL};

/* Parse words up to NULL. */
static int parse(struct cmd_call *call, struct err *err, const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return cmd_parse(list, n, (char **)words, call, err);
}
#define PARSE(call, err, ...) parse(call, err, (const char *const[]){"hone", __VA_ARGS__, NULL})

static void refuse(const char *sentence, const char *const *words)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;
    assert_int_equal(parse(&call, &err, words), -EINVAL);
    assert_string_equal(err_text(&err), sentence);
    cmd_call_release(&call);
}
#define REFUSE(sentence, ...) refuse(sentence, (const char *const[]){"hone", __VA_ARGS__, NULL})

TEST(options_are_read_in_every_spelling)
{
    static const char *const spellings[][3] = {
        {"--colour", "red", NULL}, {"--colour=red", NULL}, {"-c", "red", NULL}, {"-cred", NULL}};

    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        autorelease(err) struct err err = ERR_INIT;
        struct cmd_call call;
        const char *words[] = {"hone", "paint", "north", spellings[i][0], spellings[i][1], NULL};
        assert_ok(parse(&call, &err, words), &err);
        assert_string_equal(cmd_value(&call, "colour"), "red");
        assert_false(cmd_flag(&call, "wet"));
        assert_int_equal(call.n_args, 1);
        cmd_call_release(&call);
    }
}

TEST(an_option_may_have_two_values)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;

    assert_ok(PARSE(&call, &err, "paint", "--between", "1", "2", "north"), &err);
    assert_string_equal(cmd_value(&call, "between"), "1");
    assert_string_equal(cmd_second(&call, "between"), "2");
    assert_null(cmd_second(&call, "colour"));
    assert_int_equal(call.n_args, 1);
    cmd_call_release(&call);
    REFUSE("option '--between' needs two values: --between LOW HIGH", "paint", "x", "--between");
    REFUSE("option '--between' needs two values: --between LOW HIGH", "paint", "--between", "1");
    REFUSE("option '--between' needs two values: --between LOW HIGH", "paint", "x", "--between",
           "1", "--wet");
}

TEST(everybodys_options_may_stand_before_the_command)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;

    assert_ok(PARSE(&call, &err, "--json", "--home", "/x", "paint", "north", "-w"), &err);
    assert_ptr_equal(call.cmd, &paint);
    assert_true(call.json);
    assert_string_equal(cmd_value(&call, "home"), "/x");
    assert_true(cmd_flag(&call, "wet"));
    cmd_call_release(&call);
}

TEST(the_last_value_wins_and_all_are_kept)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;

    assert_ok(PARSE(&call, &err, "paint", "x", "-c", "red", "-c", "blue"), &err);
    assert_string_equal(cmd_value(&call, "colour"), "blue");
    assert_int_equal(call.n_given, 2);
    cmd_call_release(&call);
}

TEST(words_after_two_dashes_are_the_command_where_one_is_taken)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;

    const char *words[] = {"hone", "carry", "a.yaml", "--", "sh", "-c", "--json", NULL};
    assert_ok(parse(&call, &err, words), &err);
    assert_int_equal(call.n_args, 1);
    assert_int_equal(call.n_rest, 3);
    assert_string_equal(call.rest[2], "--json");
    assert_false(call.json);
    cmd_call_release(&call);
}

TEST(words_after_two_dashes_are_arguments_elsewhere)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;

    assert_ok(PARSE(&call, &err, "paint", "--", "-north", "--json"), &err);
    assert_int_equal(call.n_args, 2);
    assert_string_equal(call.args[0], "-north");
    assert_false(call.json);
    cmd_call_release(&call);
}

TEST(mistakes_are_answered_with_the_remedy)
{
    REFUSE("unknown option '--color=red', did you mean '--colour'?", "paint", "--color=red");
    REFUSE("unknown option '-z'", "paint", "x", "-z");
    REFUSE("unknown option '-wc'", "paint", "x", "-wc");
    REFUSE("option '--colour' needs a value: --colour NAME", "paint", "x", "--colour");
    REFUSE("option '-c' needs a value: -c NAME", "paint", "x", "-c");
    REFUSE("option '--wet' takes no value", "paint", "x", "--wet=1");
    REFUSE("there is no command 'paimt', did you mean 'paint'?", "paimt");
    REFUSE("there is no command 'zzzzzz': 'hone help' lists them", "zzzzzz");
    REFUSE("an argument is missing: hone paint WALL…", "paint");
    REFUSE("'c' is one too many: hone paint WALL…", "paint", "a", "b", "c");
}

TEST(help_needs_no_arguments)
{
    autorelease(err) struct err err = ERR_INIT;
    struct cmd_call call;
    assert_ok(PARSE(&call, &err, "paint", "--help"), &err);
    cmd_call_release(&call);
}

TEST(the_home_is_found_in_the_promised_order)
{
    char folder[] = "/tmp/hone-cmd-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    autofree(mem) char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    setenv("HOME", "/h", 1);
    unsetenv("HONE_HOME");
    unsetenv("XDG_DATA_HOME");

    autofree(mem) char *plain = cmd_home(NULL);
    setenv("XDG_DATA_HOME", "/x", 1);
    autofree(mem) char *xdg = cmd_home(NULL);
    assert_int_equal(access(".hone", F_OK), -1);
    autofree(mem) char *dot = xasprintf("%s/.hone", folder);
    assert_int_equal(mkdir(dot, 0700), 0);
    autofree(mem) char *here = cmd_home(NULL);
    setenv("HONE_HOME", "/v", 1);
    autofree(mem) char *variable = cmd_home(NULL);
    autofree(mem) char *given = cmd_home("/g");

    assert_string_equal(plain, "/h/.local/share/hone");
    assert_string_equal(xdg, "/x/hone");
    assert_string_equal(here, dot);
    assert_string_equal(variable, "/v");
    assert_string_equal(given, "/g");
    assert_int_equal(rmdir(dot), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST_MAIN
