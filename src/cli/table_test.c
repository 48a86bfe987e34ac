/* SPDX-License-Identifier: MIT */
/*
 * table_test.c — tables for people, lists of facts joined, and words for numbers.
 */
#include "cli/facts.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/table.h"
#include "tests/test.h"

#include <math.h>

/* help.c lists the commands of the program; here there are none. */
const struct cmd *const cmd_list[] = {NULL};

static char *printed(const struct table *table, bool colour, int width)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    table_print(table, to, colour, width);
    fclose(to);
    return text;
}

static void fill(struct table *table)
{
    table_column(table, "id", COLUMN_RIGHT);
    table_column(table, "name", COLUMN_SHRINK);
    table_column(table, "", COLUMN_LEFT);
    table_add(table, BOLD, "7");
    table_add(table, PLAIN, "größe und länge der dinge");
    table_add(table, PLAIN, "");
    table_number(table, PLAIN, 0.1234567);
    table_add(table, PLAIN, "日本\tx\033[31m");
    table_add(table, RED, "★");
}

TEST(columns_are_aligned_by_what_a_terminal_shows)
{
    struct table table = TABLE_INIT;
    fill(&table);
    autofree(mem) char *text = printed(&table, false, 0);
    assert_string_equal(text, "      id  name\n"
                              "       7  größe und länge der dinge\n"
                              "0.123457  日本 x?[31m                ★\n");
    assert_int_equal(table_rows(&table), 2);
    table_release(&table);
}

TEST(a_narrow_terminal_cuts_the_columns_that_may_be_cut)
{
    struct table table = TABLE_INIT;
    fill(&table);
    autofree(mem) char *text = printed(&table, false, 26);
    assert_non_null(strstr(text, "       7  größe und lä…\n"));
    table_release(&table);
}

TEST(a_column_that_is_shown_if_any_cell_has_something_is_left_out_else)
{
    struct table table = TABLE_INIT;
    table_column(&table, "id", COLUMN_LEFT);
    table_column(&table, "left", COLUMN_RIGHT | COLUMN_IF_ANY);
    table_column(&table, "name", COLUMN_LEFT);
    for (int i = 0; i < 3; i++)
        table_add(&table, PLAIN, i == 1 ? "" : "x");
    autofree(mem) char *without = printed(&table, false, 0);
    assert_string_equal(without, "id  name\nx   x\n");
    for (int i = 0; i < 3; i++)
        table_add(&table, PLAIN, i == 1 ? "3s" : "y");
    autofree(mem) char *with = printed(&table, false, 0);
    assert_string_equal(with, "id  left  name\nx         x\ny     3s  y\n");
    table_release(&table);
}

/* 10 + 2 + 8 + 2 + 16 columns */
static void fill_optional(struct table *table)
{
    table_column(table, "experiment", COLUMN_RIGHT);
    table_column(table, "done", COLUMN_RIGHT);
    table_column(table, "started", COLUMN_OPTIONAL);
    table_add(table, PLAIN, "7");
    table_add(table, PLAIN, "12345678");
    table_add(table, PLAIN, "2026-11-15 23:15");
}

TEST(a_narrow_terminal_leaves_out_what_is_optional_then_cuts_titles)
{
    struct table table = TABLE_INIT;
    fill_optional(&table);
    autofree(mem) char *whole = printed(&table, false, 38);
    autofree(mem) char *narrow = printed(&table, false, 37);
    autofree(mem) char *narrower = printed(&table, false, 16);
    assert_string_equal(whole, "experiment      done  started\n"
                               "         7  12345678  2026-11-15 23:15\n");
    assert_string_equal(narrow, "experiment      done\n"
                                "         7  12345678\n");
    assert_string_equal(narrower, "exper…      done\n"
                                  "     7  12345678\n");
    table_release(&table);
}

TEST(colours_are_there_only_when_wanted)
{
    struct table table = TABLE_INIT;
    fill(&table);
    autofree(mem) char *with = printed(&table, true, 0), *without = printed(&table, false, 0);
    assert_non_null(strstr(with, "\033[31m★\033[0m"));
    assert_null(strchr(without, '\033'));
    table_release(&table);
}

static const char *said(struct str *text, void (*add)(struct str *, uint64_t), uint64_t x)
{
    str_cut(text, 0);
    add(text, x);
    return text->s;
}

TEST(sizes_read_as_people_write_them)
{
    autorelease(str) struct str text = STR_INIT;
    assert_string_equal(said(&text, str_add_size, 0), "0 bytes");
    assert_string_equal(said(&text, str_add_size, 999), "999 bytes");
    assert_string_equal(said(&text, str_add_size, 1500), "1.5 kB");
    assert_string_equal(said(&text, str_add_size, 999600), "1.0 MB");
    assert_string_equal(said(&text, str_add_size, 32000000000ULL), "32 GB");
    assert_string_equal(said(&text, str_add_size, UINT64_MAX), "18 EB");
}

TEST(a_trial_without_a_value_has_null_not_nan)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    struct trial_row row = {.trial = {.experiment = 3,
                                      .number = 7,
                                      .state = TRIAL_FAILED,
                                      .reason = REASON_OOM,
                                      .value = NAN,
                                      .best = NAN,
                                      .last_step = STEP_NONE,
                                      .first_nan_step = STEP_NONE},
                            .params_json = (char *)"{\"lr\":0.1}"};

    rows_put_trial(&out, "x", &row, false);
    assert_string_equal(
        text.s, "{\"experiment\":3,\"name\":\"x\",\"trial\":\"3.7\",\"state\":\"failed\","
                "\"reason\":\"oom\",\"value\":null,\"best\":null,\"params\":{\"lr\":0.1},"
                "\"attempts\":0,\"step\":null,\"first_nan_step\":null,\"seconds\":0,"
                "\"created\":null,\"started\":null,\"ended\":null,\"starred\":false,"
                "\"tags\":[],\"note\":null,\"repeat_of\":null,\"why\":null,\"verdict\":null}");
}

TEST(running_without_an_engine_is_interrupted)
{
    struct experiment experiment = {.state = EXPERIMENT_RUNNING};
    assert_int_equal(shown_state(&experiment, true), EXPERIMENT_RUNNING);
    assert_int_equal(shown_state(&experiment, false), EXPERIMENT_INTERRUPTED);
    experiment.state = EXPERIMENT_FINISHED;
    assert_int_equal(shown_state(&experiment, false), EXPERIMENT_FINISHED);
}

static void read_setting(struct facts *facts, const char *spec)
{
    struct target target = {.experiment = {.experiment = {.spec_json = (char *)spec}}};
    autorelease(err) struct err err = ERR_INIT;
    assert_ok(facts_setting(facts, &target, &err), &err);
}

TEST(facts_are_joined_by_their_path)
{
    struct facts lists[2] = {{{0}}, {{0}}};
    struct sheet sheet;

    read_setting(&lists[0], "{\"name\":\"x\",\"search\":{\"seed\":1,\"trials\":5}}");
    read_setting(&lists[1], "{\"name\":\"x\",\"search\":{\"seed\":2},\"tags\":[\"a\"]}");
    sheet_init(&sheet, lists, 2);
    assert_int_equal(sheet.rows.len, 4);
    assert_true(sheet.rows.at[0].equal);
    assert_string_equal(sheet.rows.at[1].key, "search.seed");
    assert_false(sheet.rows.at[1].equal);
    assert_string_equal(sheet.rows.at[1].cells[1]->text, "2");
    assert_null(sheet.rows.at[2].cells[1]);
    assert_string_equal(sheet.rows.at[3].key, "tags");
    sheet_release(&sheet);
    facts_release(&lists[0]);
    facts_release(&lists[1]);
}

TEST(text_is_wrapped_at_words)
{
    autorelease(str) struct str text = STR_INIT;
    str_add_wrapped(&text, "one two three\n\nfour", 2, 9);
    assert_string_equal(text.s, "  one two\n  three\n\n  four\n");
}

TEST_MAIN
