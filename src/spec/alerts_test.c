/* SPDX-License-Identifier: MIT */
/*
 * alerts_test.c — alerts as people write them, and what is said about mistakes.
 */
#include "base/json.h"
#include "spec/alert_columns.h"
#include "spec/parse.h"
#include "tests/test.h"

#include <errno.h>
#include <math.h>

static struct spec spec; /* of the test that runs */
static struct err err;

static void clean(void)
{
    spec_release(&spec);
    err_release(&err);
    spec_init(&spec);
}

static int parse(const char *alerts)
{
    autofree(mem) char *text =
        xasprintf("command: x\nparams: {lr: {min: 0, max: 1}, opt: [sgd, adam]}\n"
                  "objective: {metric: val_loss}\nalerts:\n%s",
                  alerts);
    clean();
    return spec_parse(text, strlen(text), "t.yaml", "/w", NULL, &spec, NULL, &err);
}

#define GOOD(text) assert_ok(parse(text), &err)
#define BAD(text, sentence)                                                                        \
    do {                                                                                           \
        assert_int_equal(parse(text), -EINVAL);                                                    \
        assert_string_equal(err_text(&err), sentence);                                             \
        clean();                                                                                   \
    } while (0)

TEST(every_form_of_an_alert_is_read)
{
    GOOD("- {when: 'min(val_loss, step > 1000) > 2', do: stop}\n"
         "- when: diverged\n  do: [notify, stop]\n"
         "- when: {plateau: 50 steps}\n  do: notify\n"
         "- when: {stall: 2.5}\n  do: requeue\n  command: ./page 'a b'\n"
         "- when: lr > 0.1 and opt = 'adam' and any_other > 3\n  webhook: https://x/y\n");
    assert_int_equal(spec.alerts.len, 5);
    const struct alert *a = spec.alerts.at;
    assert_int_equal(a[0].kind, ALERT_CONDITION);
    assert_string_equal(a[0].condition, "min(val_loss, step > 1000) > 2");
    assert_int_equal(a[0].actions, ALERT_STOP);
    assert_int_equal(a[1].kind, ALERT_DIVERGED);
    assert_int_equal(a[1].actions, ALERT_STOP | ALERT_NOTIFY);
    assert_int_equal(a[2].kind, ALERT_PLATEAU);
    assert_true(a[2].number == 50);
    assert_int_equal(a[3].kind, ALERT_STALL);
    assert_true(a[3].number == 2.5);
    assert_int_equal(a[3].actions, ALERT_REQUEUE | ALERT_NOTIFY);
    assert_string_equal(a[3].command.at[1], "a b");
    assert_string_equal(a[4].webhook, "https://x/y");
    assert_int_equal(a[4].actions, ALERT_NOTIFY);
    clean();
}

TEST(alerts_are_stored_and_read_back_as_the_same)
{
    autorelease(str) struct str once = STR_INIT, twice = STR_INIT;
    GOOD("- {when: 'loss > 2', do: stop}\n- {when: {plateau: 50}, do: notify}\n"
         "- {when: {stall: 2.5}, do: requeue, command: [a, 'b c'], webhook: 'http://h'}\n"
         "- {when: diverged, do: [stop, notify]}\n");
    spec_json(&spec, &once);
    assert_non_null(strstr(once.s, "{\"when\":\"loss > 2\",\"do\":[\"stop\"]}"));
    clean();
    assert_ok(spec_parse(once.s, once.len, "t", "/", NULL, &spec, NULL, &err), &err);
    assert_int_equal(spec.alerts.len, 4);
    spec_json(&spec, &twice);
    assert_string_equal(once.s, twice.s);
    clean();
}

TEST(a_spec_without_alerts_is_stored_as_before)
{
    autorelease(str) struct str json = STR_INIT;
    GOOD("");
    spec_json(&spec, &json);
    assert_null(strstr(json.s, "alerts"));
    clean();
}

TEST(one_alert_need_not_be_a_list)
{
    GOOD("  when: stall\n  do: notify\n");
    assert_int_equal(spec.alerts.len, 1);
    clean();
}

TEST(mistakes_are_told_with_their_place)
{
    BAD("- {when: platau, do: stop}\n",
        "t.yaml:5:10: 'alerts': 'platau' is neither diverged, plateau or stall nor a condition "
        "like loss > 2, did you mean 'plateau'?");
    BAD("- {when: stall, do: sotp}\n", "t.yaml:5:21: 'alerts': do is notify, stop or requeue, not "
                                       "'sotp', did you mean 'stop'?");
    BAD("- {when: stall, do: [notify, {a: b}]}\n",
        "t.yaml:5:30: 'alerts': do is notify, stop or requeue, not a mapping");
    BAD("- {whn: stall, do: stop}\n",
        "t.yaml:5:4: 'alerts': unknown key 'whn', did you mean 'when'?");
    BAD("- {do: stop}\n", "t.yaml:5:3: 'alerts': an alert needs 'when': diverged, plateau, stall, "
                          "or a condition like loss > 2");
    BAD("- {when: stall}\n", "t.yaml:5:3: 'alerts': an alert needs 'do': notify, stop or requeue");
    BAD("- {when: stall, do: [stop, requeue]}\n",
        "t.yaml:5:3: 'alerts': stop and requeue do not go together: one ends the trial, the other "
        "starts it again");
    BAD("- {when: {stall: 1}, do: stop}\n",
        "t.yaml:5:18: 'alerts': stall takes how many times the usual interval, more than 1, like "
        "10, not '1'");
    BAD("- {when: {stall: 5 min}, do: stop}\n",
        "t.yaml:5:18: 'alerts': stall takes how many times the usual interval, more than 1, like "
        "10, not '5 min'");
    BAD("- {when: {plateau: [3]}, do: stop}\n",
        "t.yaml:5:20: 'alerts': plateau takes a number of steps, like 50 steps, not a list");
    BAD("- {when: {diverged: 3}, do: stop}\n", "t.yaml:5:21: 'alerts': diverged takes no number");
    BAD("- {when: stall, webhook: ftp://x}\n",
        "t.yaml:5:26: 'alerts': webhook is an address that begins with http:// or https://, not "
        "'ftp://x'");
    BAD("- {when: stall, command: []}\n",
        "t.yaml:5:26: 'alerts': command is a program and its words, not a list; write [sh, -c, …] "
        "for a shell");
    BAD("- {when: stall, command: \"a 'b\"}\n",
        "t.yaml:5:26: 'alerts': command: a quote ' is opened and never closed");
    BAD("- stall\n",
        "t.yaml:5:3: 'alerts' takes mappings like {when: plateau, do: notify}, not 'stall'");
    BAD("- {when: [stall], do: stop}\n",
        "t.yaml:5:10: 'alerts': when is one condition, not a list");
}

TEST(a_wrong_condition_is_told_with_its_place)
{
    BAD("- {when: 'loss >', do: stop}\n",
        "t.yaml:5:10: 'alerts': when: a value is missing before the end");
    BAD("- {when: 'min(val_loss', do: stop}\n",
        "t.yaml:5:10: 'alerts': when: a , or ) is missing in min() before the end");
    BAD("- {when: 'opt = 3', do: stop}\n",
        "t.yaml:5:10: 'alerts': when: 'opt' is text, '3' is a number: a text is written in quotes");
    BAD("- {when: 'val_loss + 1', do: stop}\n",
        "t.yaml:5:10: 'alerts': when: 'val_loss + 1' is a number, not a condition: compare it, as "
        "in val_loss + 1 > 0");
}

TEST(a_plateau_needs_an_objective)
{
    const char *text = "command: x\nalerts: [{when: plateau, do: stop}]\n";
    clean();
    assert_int_equal(spec_parse(text, strlen(text), "t", "/", NULL, &spec, NULL, &err), -EINVAL);
    assert_non_null(strstr(err_text(&err), "plateau looks at the objective"));
    clean();
}

TEST(too_many_alerts_are_refused)
{
    autorelease(str) struct str text = STR_INIT;
    for (int i = 0; i < 33; i++)
        str_add(&text, "- {when: stall, do: stop}\n");
    assert_int_equal(parse(text.s), -EINVAL);
    assert_non_null(strstr(err_text(&err), "at most 32 alerts, not 33"));
    clean();
}

TEST(columns_have_the_values_of_the_trial)
{
    struct arena arena = {0};
    double point[] = {0.25, 1};
    struct trial trial = {.number = 3,
                          .value = NAN,
                          .best = 0.5,
                          .last_step = 7,
                          .first_nan_step = STEP_NONE,
                          .point = point};
    size_t n;
    GOOD("");
    const struct expr_column *columns = alert_columns(&spec, &arena, &n);
    for (size_t i = 0; i < n; i++) {
        struct expr_value value = alert_field(&spec, &trial, 90000000, i);
        if (str_eq(columns[i].name, "lr"))
            assert_true(value.number == 0.25);
        else if (str_eq(columns[i].name, "opt"))
            assert_string_equal(value.text, "adam");
        else if (str_eq(columns[i].name, "duration"))
            assert_true(value.number == 90);
        else if (str_eq(columns[i].name, "step"))
            assert_true(value.number == 7);
        else if (str_eq(columns[i].name, "value") || str_eq(columns[i].name, "first_nan"))
            assert_int_equal(value.type, EXPR_NULL);
    }
    assert_string_equal(columns[n - 1].name, "val_loss");
    assert_int_equal(columns[n - 1].better, -1);
    arena_release(&arena);
    clean();
}

TEST_MAIN
