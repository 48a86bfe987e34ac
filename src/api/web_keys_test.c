/* SPDX-License-Identifier: MIT */
/*
 * web_keys_test.c — bodies against tables of keys.
 */
#include "api/web_keys.h"
#include "tests/test.h"

#include <errno.h>

static const struct web_key inner[] = {
    {.name = "add", .type = KEY_INT, .min = 1, .max = 9},
    {0},
};
static const struct web_key keys[] = {
    {.name = "name", .type = KEY_TEXT, .flags = KEY_NEEDED, .min = 1, .max = 3},
    {.name = "note", .type = KEY_TEXT, .flags = KEY_NULL},
    {.name = "mode", .type = KEY_WORD, .words = "now drain"},
    {.name = "on", .type = KEY_BOOL},
    {.name = "trials", .type = KEY_OBJECT, .keys = inner},
    {.name = "spec", .type = KEY_OBJECT},
    {.name = "args", .type = KEY_TEXTS, .max = 2},
    {.name = "any", .type = KEY_ANY},
    {0},
};

static int check(const char *text, struct err *err)
{
    autofree(json) json_t *body = NULL;

    assert_int_equal(json_parse(text, strlen(text), &body, NULL), 0);
    return web_keys_check(body, keys, err);
}

TEST(a_body_of_known_keys_and_fitting_values_is_taken)
{
    static const char *const good[] = {
        "{\"name\":\"x\"}",
        "{\"name\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\",\"note\":null}",
        "{\"name\":\"x\",\"note\":\"as long as one likes\",\"mode\":\"drain\",\"on\":false}",
        "{\"name\":\"x\",\"trials\":{\"add\":9},\"spec\":{\"what\":[1]},\"args\":[\"a\",\"\"]}",
        "{\"name\":\"x\",\"trials\":{},\"args\":[],\"any\":[{}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        autorelease(err) struct err err = ERR_INIT;
        if (check(good[i], &err) < 0)
            fail_msg("%s: %s", good[i], err_text(&err));
    }
}

TEST(any_other_body_is_refused_with_a_sentence)
{
    static const struct {
        const char *body, *sentence;
    } bad[] = {
        {"[]", "an object is wanted"},
        {"{}", "'name' is missing"},
        {"{\"name\":\"x\",\"nam\":1}", "there is no key 'nam' here"},
        {"{\"name\":null}", "name: null is not taken"},
        {"{\"name\":7}", "name: a text is wanted"},
        {"{\"name\":\"\"}", "name: 1 to 3 characters are wanted"},
        {"{\"name\":\"wxyz\"}", "name: 1 to 3 characters are wanted"},
        {"{\"name\":\"x\",\"note\":[]}", "note: a text is wanted"},
        {"{\"name\":\"x\",\"mode\":\"\"}", "mode: one of now drain is wanted"},
        {"{\"name\":\"x\",\"mode\":\"no\"}", "mode: one of now drain is wanted"},
        {"{\"name\":\"x\",\"mode\":\"now drain\"}", "mode: one of now drain is wanted"},
        {"{\"name\":\"x\",\"mode\":1}", "mode: one of now drain is wanted"},
        {"{\"name\":\"x\",\"on\":1}", "on: true or false is wanted"},
        {"{\"name\":\"x\",\"trials\":[]}", "trials: an object is wanted"},
        {"{\"name\":\"x\",\"trials\":{\"add\":0}}",
         "trials: add: a whole number from 1 to 9 is wanted"},
        {"{\"name\":\"x\",\"trials\":{\"add\":1.5}}",
         "trials: add: a whole number from 1 to 9 is wanted"},
        {"{\"name\":\"x\",\"trials\":{\"set\":1}}", "trials: there is no key 'set' here"},
        {"{\"name\":\"x\",\"args\":{}}", "args: a list of at most 2 texts is wanted"},
        {"{\"name\":\"x\",\"args\":[\"\",\"\",\"\"]}", "args: a list of at most 2 texts is wanted"},
        {"{\"name\":\"x\",\"args\":[1]}", "args: a list of texts is wanted"},
        {"{\"name\":\"x\",\"any\":null}", "any: null is not taken"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autorelease(err) struct err err = ERR_INIT;
        assert_int_equal(check(bad[i].body, &err), -EINVAL);
        if (!str_eq(err_text(&err), bad[i].sentence))
            fail_msg("%s: %s", bad[i].body, err_text(&err));
    }
}

TEST_MAIN
