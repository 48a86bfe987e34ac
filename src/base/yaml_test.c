/* SPDX-License-Identifier: MIT */
/*
 * yaml_test.c — trees with their places, and files that nobody should accept.
 */
#include "base/yaml.h"
#include "base/str.h"
#include "tests/test.h"

#include <errno.h>

static struct arena arena;
static struct err err;
static struct yaml_node *root;

static int parse_n(const char *text, size_t n)
{
    arena_release(&arena);
    err_release(&err);
    root = NULL;
    return yaml_parse(text, n, "f", &arena, &root, &err);
}

static int parse(const char *text)
{
    return parse_n(text, strlen(text));
}

static void done(void)
{
    arena_release(&arena);
    err_release(&err);
}

#define BAD(text, sentence)                                                                        \
    do {                                                                                           \
        assert_int_equal(parse(text), -EINVAL);                                                    \
        assert_string_equal(err_text(&err), sentence);                                             \
        done();                                                                                    \
    } while (0)

static void assert_place(const struct yaml_node *node, int line, int column)
{
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

TEST(every_node_knows_its_place)
{
    assert_ok(parse("a: 1\nb:\n  - x\n  - \"y\"\n  - 'z'\nc: {d: [e, f]}\n"), &err);
    assert_place(root, 1, 1);
    assert_place(root->keys[1], 2, 1);
    const struct yaml_node *b = yaml_find(root, "b");
    assert_place(b->items[0], 3, 5);
    assert_place(b->items[1], 4, 5);
    assert_place(b->items[2], 5, 5);
    assert_false(b->items[0]->quoted);
    assert_true(b->items[1]->quoted && b->items[2]->quoted);
    const struct yaml_node *c = yaml_find(root, "c");
    assert_place(c, 6, 4);
    assert_place(c->keys[0], 6, 5);
    assert_place(c->items[0]->items[1], 6, 12);
    done();
}

TEST(tags_texts_and_nothing_are_told_apart)
{
    assert_ok(parse("t: !!python/tuple [1, 2]\nn:\nq: ''\nb: |\n  one\n  two\n"), &err);
    assert_string_equal(yaml_find(root, "t")->tag, "tag:yaml.org,2002:python/tuple");
    assert_true(yaml_is_null(yaml_find(root, "n")));
    assert_false(yaml_is_null(yaml_find(root, "q")));
    assert_string_equal(yaml_find(root, "b")->text, "one\ntwo\n");
    assert_null(yaml_find(root, "zz"));
    done();
}

TEST(json_is_read_with_tabs_and_escapes)
{
    assert_ok(parse("{\n\t\"a\": [1, 2.5e-3, \"x\\n\\u00e9\\/\"],\n\t\"b\": null\n}\n"), &err);
    assert_string_equal(yaml_find(root, "a")->items[1]->text, "2.5e-3");
    assert_string_equal(yaml_find(root, "a")->items[2]->text, "x\n\xc3\xa9/");
    assert_true(yaml_is_null(yaml_find(root, "b")));
    done();
}

TEST(a_long_line_of_json_is_read)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text, "{\"long\":[");
    for (int i = 0; i < 20000; i++)
        str_addf(&text, "%s%d", i ? "," : "", i);
    str_add(&text, "],\"after\":1}");
    assert_ok(parse(text.s), &err);
    assert_int_equal(yaml_find(root, "long")->n, 20000);
    assert_string_equal(yaml_find(root, "after")->text, "1");
    done();
}

TEST(aliases_are_the_node_they_name)
{
    assert_ok(parse("a: &x {k: [1, 2]}\nb: *x\n"), &err);
    assert_ptr_equal(yaml_find(root, "a"), yaml_find(root, "b"));
    assert_int_equal(root->size, 11 - 2);
    done();
    BAD("a: *x\n", "f:1:4: the alias *x has no anchor &x before it");
    BAD("a: &x [1, *x]\n", "f:1:11: the alias *x stands inside of what it names");
}

TEST(duplicate_keys_name_both_lines)
{
    BAD("a: 1\nb: 2\na: 3\n", "f:3:1: the key 'a' stands here again; it was first on line 1");
    BAD("x: {a: 1, a: 2}\n", "f:1:11: the key 'a' stands here again; it was first on line 1");
}

TEST(what_is_no_single_plain_document_is_refused)
{
    BAD("", "f: the file is empty");
    BAD("# hello\n", "f: the file is empty");
    BAD("---\n", "f: the file is empty");
    BAD("a: 1\n---\nb: 2\n", "f:2:1: a second document begins here; one file is one document");
    BAD("[a, b]: 1\n", "f:1:1: a key must be a single word or text");
    BAD("a: \"x\n", "f:1:4: double-quoted scalar without closing quote");
    BAD("a: b: c\n", "f:1:5: invalid nested block mapping on the same line");
    BAD("a:\n\tb: 1\n", "f:2:1: tab character may not be used as indentation");
    BAD("a: \"x\\0y\"\n", "f:1:4: a text may not hold a NUL character");
    BAD("a: \xff\n", "f:1:4: not valid UTF-8; is this a text file?");
    BAD("b: 1\na: \xed\xa0\x80\n", "f:2:4: not valid UTF-8; is this a text file?");
    assert_int_equal(parse_n("a: 1\n\0b", 7), -EINVAL);
    assert_string_equal(err_text(&err), "f:2:1: a NUL byte; is this a text file?");
    done();
}

TEST(depth_is_capped)
{
    autorelease(str) struct str text = STR_INIT;

    for (int i = 0; i < YAML_DEPTH_MAX - 1; i++)
        str_add_char(&text, '[');
    str_add_char(&text, '1');
    for (int i = 0; i < YAML_DEPTH_MAX - 1; i++)
        str_add_char(&text, ']');
    assert_ok(parse(text.s), &err);
    str_cut(&text, 0);
    for (int i = 0; i < 100000; i++)
        str_add_char(&text, '[');
    assert_int_equal(parse(text.s), -EINVAL);
    assert_string_equal(err_text(&err), "f:1:65: nested deeper than 64 levels");
    done();
}

TEST(depth_through_aliases_is_capped)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text, "a0: &a0 x\n");
    for (int i = 1; i < 100; i++)
        str_addf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_int_equal(parse(text.s), -EINVAL);
    assert_non_null(strstr(err_text(&err), "nested deeper than 64 levels"));
    done();
}

TEST(exploding_aliases_are_refused)
{
    autorelease(str) struct str text = STR_INIT;

    str_add(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++)
        str_addf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1, i - 1);
    assert_int_equal(parse(text.s), -EINVAL);
    assert_non_null(strstr(err_text(&err), "more than 100000 values"));
    done();
}

TEST(trees_can_be_made_and_changed_by_hand)
{
    assert_ok(parse("a: {b: 1}\n"), &err);
    struct yaml_node *copy = yaml_copy(&arena, root), *list = yaml_list(&arena, root);
    for (int i = 0; i < 20; i++)
        yaml_add(&arena, list, yaml_scalar(&arena, root, "x", false));
    yaml_put(&arena, copy, "a", list);
    yaml_put(&arena, copy, "c", list);
    assert_int_equal(copy->n, 2);
    assert_int_equal(yaml_find(copy, "c")->n, 20);
    assert_int_equal(yaml_find(root, "a")->kind, YAML_MAP);
    assert_string_equal(yaml_describe(list, &arena), "a list");
    assert_string_equal(yaml_describe(copy->keys[0], &arena), "'a'");
    done();
}

TEST_MAIN
