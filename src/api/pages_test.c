/* SPDX-License-Identifier: MIT */
/*
 * pages_test.c — the pages are in the program.
 */
#include "api/pages.h"
#include "tests/test.h"

TEST(the_first_page_names_its_parts_and_they_are_there)
{
    autorelease(str) struct str text = STR_INIT;
    const struct page *page = page_find("/index.html");

    assert_non_null(page);
    page_text(page, &text);
    assert_int_equal(text.len, page->plain);
    assert_non_null(page_find("/assets/app.js"));
    assert_non_null(page_find("/assets/app.css"));
    assert_null(page_find("/assets/other.js"));
}

/* So that a browser asks for them once. */
TEST(the_first_page_names_its_parts_by_their_content)
{
    static const char *const parts[] = {"/assets/app.css", "/assets/ahead.js", "/assets/app.js"};
    autorelease(str) struct str text = STR_INIT;

    page_text(page_find("/index.html"), &text);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        autofree(mem) char *name = xasprintf("%s?v=%s\"", parts[i], page_find(parts[i])->tag);
        assert_non_null(strstr(text.s, name));
    }
}

TEST(all_pages_together_are_small)
{
    static const char *const paths[] = {"/index.html", "/assets/app.js", "/assets/app.css",
                                        "/assets/worker.js"};
    uint64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        assert_non_null(page_find(paths[i]));
        n += page_find(paths[i])->n;
    }
    assert_in_range(n, 1000, 200 * 1024);
}

TEST_MAIN
