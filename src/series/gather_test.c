/* SPDX-License-Identifier: MIT */
/* gather_test.c — samples of lines become rows whose ends rise. */
#include "tests/test.h"

#include "base/fs.h"
#include "base/str.h"
#include "series/gather.h"

struct rows {
    struct series_db *db;
    struct str text;
};

static void add_row(const struct series_source *source, const struct series_row *row, void *arg)
{
    struct rows *rows = arg;

    str_addf(&rows->text, "%d@%d/%d:", (int)source->file, (int)row->end, (int)row->step);
    for (size_t i = 0; i < row->n; i++)
        str_addf(&rows->text, "%s=%g ", series_db_name_text(rows->db, row->names[i]),
                 row->values[i]);
}

TEST(a_line_is_one_row_and_a_line_of_several_steps_several)
{
    char home[] = "/tmp/hone-gather-XXXXXX";
    struct series_db *db = NULL;

    assert_non_null(mkdtemp(home));
    assert_ok(series_db_open(home, SERIES_WRITE, &db, NULL), NULL);
    struct rows rows = {db, STR_INIT};
    struct gather gather;
    struct series_source file = {1, 1, 1, SERIES_METRICS}, out = {1, 1, 1, SERIES_STDOUT};

    gather_init(&gather, db, add_row, &rows);
    gather_sample(&gather, &file, 10, &(struct gather_sample){"a", 0, 5000, 1, 0});
    gather_sample(&gather, &file, 10, &(struct gather_sample){"b", 0, 5000, 2, 0});
    gather_sample(&gather, &file, 10, &(struct gather_sample){"hone.generation", 0, 5000, 2, 0});
    gather_sample(&gather, &file, 20, &(struct gather_sample){"a", 1, 5000, 3, 0});
    gather_sample(&gather, &out, 20, &(struct gather_sample){"a", 1, 5000, 4, 0});
    gather_sample(&gather, &out, 20, &(struct gather_sample){"a", 2, 5000, 5, 0});
    gather_sample(&gather, &out, 20, &(struct gather_sample){"b", 7, 5000, 6, 0});
    gather_end(&gather);
    gather_end(&gather);
    assert_string_equal(rows.text.s, "0@10/0:a=1 b=2 0@20/1:a=3 1@18/1:a=4 1@19/2:a=5 1@20/7:b=6 ");
    gather_release(&gather);
    str_release(&rows.text);
    series_db_free(db);
    assert_ok(fs_remove_tree(home, NULL), NULL);
}

TEST_MAIN
