/* SPDX-License-Identifier: MIT */
/*
 * events_test.c — event files of torch, tensorboardX and TensorFlow give the numbers that
 * TensorBoard's own reader gives (tests/tfevents/expected.tsv); damaged ones what can be saved.
 */
#include "tests/test.h"

#include "base/crc32c.h"
#include "base/fs.h"
#include "metrics/events.h"
#include "metrics/proto.h"
#include "metrics/test_samples.h"

#include <math.h>

/* ---- records made by hand ---- */

static void put_number(struct str *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_add_char(to, (char)(value >> (8 * i)));
}

static uint32_t masked(const char *bytes, size_t n)
{
    uint32_t crc = crc32c(0, bytes, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static void put_frame(struct str *to, const char *payload, size_t n)
{
    size_t head = to->len;

    put_number(to, n, 8);
    put_number(to, masked(to->s + head, 8), 4);
    str_add_n(to, payload, n);
    put_number(to, masked(payload, n), 4);
}

static void put_head(struct str *to, unsigned field, size_t n)
{
    str_add_char(to, (char)(field << 3 | 2));
    for (; n >= 128; n >>= 7)
        str_add_char(to, (char)(n | 128));
    str_add_char(to, (char)n);
}

static void put_message(struct str *to, unsigned field, const struct str *message)
{
    put_head(to, field, message->len);
    str_add_n(to, message->s, message->len);
}

static void put_text(struct str *to, unsigned field, const char *text)
{
    put_head(to, field, strlen(text));
    str_add(to, text);
}

/* Event{wall_time: 2.5, step, summary{value{tag, simple_value}}} */
static void put_event(struct str *to, const char *tag, uint8_t step, float value)
{
    autorelease(str) struct str event = STR_INIT, summary = STR_INIT, item = STR_INIT;
    uint64_t wall;
    uint32_t bits;
    double wall_s = 2.5;

    memcpy(&wall, &wall_s, 8);
    memcpy(&bits, &value, 4);
    put_text(&item, 1, tag);
    str_add_char(&item, 2 << 3 | 5);
    put_number(&item, bits, 4);
    put_message(&summary, 1, &item);
    str_add_char(&event, 1 << 3 | 1);
    put_number(&event, wall, 8);
    str_add_char(&event, 2 << 3);
    str_add_char(&event, (char)step);
    put_message(&event, 5, &summary);
    put_frame(to, event.s, event.len);
}

struct reading {
    struct str samples, params;
    struct events_counts counts;
    uint64_t end;
};

static void collect(const struct sample *sample, void *arg)
{
    collect_sample(sample, &((struct reading *)arg)->samples);
}

static void collect_param(const struct events_param *param, void *arg)
{
    struct str *to = &((struct reading *)arg)->params;

    str_addf(to, "%s=", param->name);
    if (param->kind == EVENTS_TEXT)
        str_addf(to, "'%s' ", param->text);
    else
        str_addf(to, "%s%g ", param->kind == EVENTS_BOOL ? "bool " : "", param->number);
}

static void reading_release(struct reading *reading)
{
    str_release(&reading->samples);
    str_release(&reading->params);
}

static struct reading read_pieces(const char *prefix, const char *bytes, size_t n, size_t piece)
{
    struct reading reading = {.samples = STR_INIT, .params = STR_INIT};
    struct events_sink sink = {collect, collect_param, &reading};
    autofree(events) struct events *events = events_new(prefix, &sink);

    for (size_t at = 0; at < n; at += piece)
        events_feed(events, bytes + at, MIN(piece, n - at));
    reading.counts = *events_counts(events);
    reading.end = events_end(events);
    return reading;
}

TEST(a_record_gives_its_value_step_and_time)
{
    autorelease(str) struct str file = STR_INIT;

    put_event(&file, "loss", 7, 0.25f);
    put_event(&file, "top 1\tacc", 8, -INFINITY);
    autorelease(reading) struct reading plain = read_pieces("", file.s, file.len, file.len);
    assert_string_equal(plain.samples.s, "loss=0.25@7#2500000 top_1_acc=-inf@8#2500000");
    assert_int_equal(plain.end, file.len);
    autorelease(reading) struct reading run = read_pieces("a/b", file.s, file.len, file.len);
    assert_string_equal(run.samples.s, "a/b/loss=0.25@7#2500000 a/b/top_1_acc=-inf@8#2500000");
}

TEST(a_float_comes_exactly)
{
    autorelease(str) struct str file = STR_INIT;

    put_event(&file, "x", 0, 0.1f);
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, file.len);
    assert_string_equal(got.samples.s, "x=0.10000000149011612@0#2500000");
}

TEST(halves_of_all_kinds_are_read)
{
    assert_true(proto_half(0x3c00) == 1 && proto_half(0xc000) == -2);
    assert_true(proto_half(0x7bff) == 65504 && proto_half(1) == ldexp(1, -24));
    assert_true(isinf(proto_half(0x7c00)) && isnan(proto_half(0x7e00)));
    assert_true(signbit(proto_half(0x8000)) && proto_half(0x8000) == 0);
    assert_true(proto_bfloat16(0x3f80) == 1 && proto_bfloat16(0xc120) == -10);
}

TEST(a_record_that_is_not_whole_yet_is_kept_for_later)
{
    autorelease(str) struct str file = STR_INIT;

    put_event(&file, "a", 1, 1);
    size_t first = file.len;
    put_event(&file, "b", 2, 2);
    for (size_t n = first; n < file.len; n++) {
        autorelease(reading) struct reading part = read_pieces("", file.s, n, n);
        assert_string_equal(part.samples.s, "a=1@1#2500000");
        assert_int_equal(part.end, first);
        assert_false(part.counts.stopped);
    }
}

TEST(a_damaged_payload_costs_its_record_only)
{
    autorelease(str) struct str file = STR_INIT;

    put_event(&file, "a", 1, 1);
    size_t second = file.len;
    put_event(&file, "b", 2, 2);
    put_event(&file, "c", 3, 3);
    file.s[second + 14] ^= 1;
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, 5);
    assert_string_equal(got.samples.s, "a=1@1#2500000 c=3@3#2500000");
    assert_int_equal(got.counts.bad_records, 1);
    assert_int_equal(got.counts.records, 3);
}

TEST(a_damaged_length_ends_the_reading)
{
    autorelease(str) struct str file = STR_INIT;

    put_event(&file, "a", 1, 1);
    size_t second = file.len;
    put_event(&file, "b", 2, 2);
    put_event(&file, "c", 3, 3);
    file.s[second + 1] ^= 1;
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, 3);
    assert_string_equal(got.samples.s, "a=1@1#2500000");
    assert_true(got.counts.stopped);
    assert_int_equal(got.end, second);
}

TEST(a_record_that_is_no_event_gives_nothing)
{
    autorelease(str) struct str file = STR_INIT;

    put_frame(&file,
              "\x2a\x7f"
              "abc",
              5); /* a summary longer than its record */
    put_frame(&file, "", 0);
    put_event(&file, "a", 1, 1);
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, 7);
    assert_string_equal(got.samples.s, "a=1@1#2500000");
    assert_int_equal(got.counts.bad_records, 1);
}

TEST(names_that_cannot_be_are_left_out)
{
    autorelease(str) struct str file = STR_INIT;
    char longer[EVENTS_NAME_MAX + 2];

    memset(longer, 'x', sizeof(longer));
    longer[EVENTS_NAME_MAX + 1] = '\0';
    put_event(&file, longer, 1, 1);
    put_event(&file, "", 1, 1);
    put_event(&file, "hone.generation", 1, 1);
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, file.len);
    assert_string_equal(got.samples.s, "");
    assert_int_equal(got.counts.left_out, 3);
}

TEST(a_record_that_is_too_long_is_passed_over_without_being_held)
{
    autorelease(str) struct str file = STR_INIT, next = STR_INIT;
    static char block[1 << 20];
    struct reading got = {.samples = STR_INIT, .params = STR_INIT};
    struct events_sink sink = {collect, collect_param, &got};
    autofree(events) struct events *events = events_new("", &sink);
    uint64_t size = EVENTS_RECORD_MAX + 1000ull;

    put_number(&file, size, 8);
    put_number(&file, masked(file.s, 8), 4);
    events_feed(events, file.s, 5);
    events_feed(events, file.s + 5, 7);
    for (uint64_t left = size + 4, n; left; left -= n) {
        n = MIN(left, sizeof(block));
        events_feed(events, block, (size_t)n);
    }
    put_event(&next, "a", 1, 1);
    events_feed(events, next.s, next.len);
    assert_string_equal(got.samples.s, "a=1@1#2500000");
    assert_int_equal(events_counts(events)->long_records, 1);
    assert_int_equal(events_end(events), size + 16 + next.len);
    reading_release(&got);
}

static void put_varint(struct str *to, unsigned field, uint8_t value)
{
    str_add_char(to, (char)(field << 3));
    str_add_char(to, (char)value);
}

/* `inner` in messages of one field each, the outermost last. */
static void wrap(struct str *inner, const unsigned *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str outer = STR_INIT;
        put_message(&outer, fields[i], inner);
        str_release(inner);
        *inner = outer;
    }
}

TEST(the_hparams_plugin_tells_settings_and_the_outcome)
{
    autorelease(str) struct str file = STR_INIT, flag = STR_INIT, content = STR_INIT,
                                end = STR_INIT, plugin = STR_INIT, entry = STR_INIT;

    put_varint(&flag, 4, 1); /* a Value that is true */
    put_text(&entry, 1, "flag");
    put_message(&entry, 2, &flag);
    wrap(&entry, (const unsigned[]){1}, 1);
    put_message(&content, 3, &entry);
    put_varint(&end, 1, 2);
    put_message(&content, 4, &end);
    put_text(&plugin, 1, "hparams");
    put_message(&plugin, 2, &content);
    wrap(&plugin, (const unsigned[]){1, 9, 1, 5}, 4);
    put_frame(&file, plugin.s, plugin.len);
    autorelease(reading) struct reading got = read_pieces("", file.s, file.len, file.len);
    assert_string_equal(got.params.s, "flag=bool 1 ");
    assert_int_equal(got.counts.outcome, EVENTS_FAILURE);
    assert_int_equal(got.counts.bad_records, 0);
}

/* ---- files of real writers ---- */

static void read_fixture(const char *name, struct str *to)
{
    autofree(mem) char *path = xasprintf("tests/tfevents/%s", name);
    autorelease(err) struct err err = ERR_INIT;

    assert_ok(fs_read(path, 1 << 20, to, &err), &err);
}

/* A line of expected.tsv in the words of collect_sample(). */
static void expect_line(char *line, struct str *names, struct str *to)
{
    char *file = strtok(line, "\t"), *tag = strtok(NULL, "\t"), *step = strtok(NULL, "\t"),
         *time = strtok(NULL, "\t"), *value = strtok(NULL, "\t");

    assert_non_null(value);
    for (char *c = tag; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    str_addf(names, "%s ", file);
    str_addf(to, "%s %s=", file, tag);
    str_add_double(to, strtod(value, NULL));
    str_addf(to, "@%s#%lld\n", step, llround(strtod(time, NULL) * 1e6));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct str *text)
{
    VEC(char *) lines = {NULL, 0, 0};
    autorelease(str) struct str sorted = STR_INIT;

    for (char *line = strtok(text->s, "\n"); line; line = strtok(NULL, "\n"))
        vec_push(&lines, line);
    qsort(lines.at, lines.len, sizeof(char *), by_text);
    vec_foreach (line, &lines)
        str_addf(&sorted, "%s\n", *line);
    vec_release(&lines);
    str_cut(text, 0);
    str_add(text, sorted.s);
}

/* All samples of the files named in `names` (which repeat), a line each. */
static void read_all(struct str *names, size_t piece, struct str *to, struct str *params)
{
    char *save = NULL, *last = NULL;

    for (char *name = strtok_r(names->s, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        if (last && str_eq(last, name))
            continue;
        autorelease(str) struct str bytes = STR_INIT;
        last = name;
        read_fixture(name, &bytes);
        autorelease(reading) struct reading got = read_pieces("", bytes.s, bytes.len, piece);
        assert_int_equal(got.counts.bad_records, 0);
        assert_int_equal(got.end, bytes.len);
        for (char *sample = strtok(got.samples.s, " "); sample; sample = strtok(NULL, " "))
            str_addf(to, "%s %s\n", name, sample);
        str_add(params, got.params.s);
    }
}

static void check_fixtures(size_t piece)
{
    autorelease(str) struct str table = STR_INIT, names = STR_INIT, wanted = STR_INIT,
                                got = STR_INIT, params = STR_INIT;
    char *save = NULL;

    read_fixture("expected.tsv", &table);
    for (char *line = strtok_r(table.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        expect_line(line, &names, &wanted);
    read_all(&names, piece, &got, &params);
    sort_lines(&wanted);
    sort_lines(&got);
    assert_string_equal(got.s, wanted.s);
    assert_non_null(strstr(params.s, "lr=0.01 "));
    assert_non_null(strstr(params.s, "optimizer='adam' "));
    assert_non_null(strstr(params.s, "nesterov=1 "));
}

TEST(files_of_real_writers_give_what_tensorboard_reads)
{
    check_fixtures(1 << 20);
}

TEST(the_samples_do_not_depend_on_the_pieces)
{
    check_fixtures(1);
    check_fixtures(13);
    check_fixtures(4096);
}

TEST(any_flipped_bit_leaves_a_reader_that_goes_on_or_stops)
{
    autorelease(str) struct str file = STR_INIT;

    for (uint8_t i = 0; i < 4; i++)
        put_event(&file, "loss", i, 1);
    for (size_t bit = 0; bit < file.len * 8; bit++) {
        file.s[bit / 8] ^= (char)(1 << bit % 8);
        autorelease(reading) struct reading got = read_pieces("", file.s, file.len, 11);
        assert_true(got.counts.stopped || got.counts.bad_records == 1);
        file.s[bit / 8] ^= (char)(1 << bit % 8);
    }
}

/* ---- names ---- */

TEST(the_name_of_a_file_tells_when_and_by_whom)
{
    int64_t s, pid;

    events_file_origin("events.out.tfevents.1700000001.box.lan.4711.0", &s, &pid);
    assert_true(s == 1700000001 && pid == 4711);
    events_file_origin("events.out.tfevents.1700000001.box.4711.3.v2", &s, &pid);
    assert_true(s == 1700000001 && pid == 4711);
    events_file_origin("events.out.tfevents.1700000001.10.0.0.7", &s, &pid);
    assert_true(s == 1700000001);
    events_file_origin("events.out.tfevents.1700000001.box", &s, &pid);
    assert_true(s == 1700000001 && pid == 0);
    events_file_origin("my.tfevents", &s, &pid);
    assert_true(s == 0 && pid == 0);
    assert_true(events_file_name("my.tfevents") && !events_file_name("events.txt"));
}

TEST_MAIN
