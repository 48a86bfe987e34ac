/* SPDX-License-Identifier: MIT */
/*
 * prometheus_test.c — the page against the grammar of Prometheus' text format 0.0.4, whatever names
 * come in. With PROMETHEUS_PAGE=FILE the fullest page is left there, for promtool.
 */
#include "tests/test.h"

#include "api/prometheus.h"
#include "base/fs.h"

#include <ctype.h>
#include <math.h>

/* ---- the grammar ---- */

static bool name_char(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' || c == ':' ||
           (!first && isdigit((unsigned char)c));
}

static const char *skip_name(const char *at)
{
    assert_true(name_char(*at, true));
    while (name_char(*at, false))
        at++;
    return at;
}

/* {a="x",b="y"}: only \\ \" and \n after a backslash. */
static const char *skip_labels(const char *at)
{
    do {
        at = skip_name(at + 1);
        assert_true(at[0] == '=' && at[1] == '"');
        for (at += 2; *at != '"'; at++) {
            assert_true((unsigned char)*at >= ' ');
            if (*at == '\\')
                assert_non_null(strchr("\\\"n", *++at));
        }
        at++;
    } while (*at == ',');
    assert_true(*at == '}');
    return at + 1;
}

static const char *skip_value(const char *at)
{
    char *end;

    if (str_starts(at, "NaN"))
        return at + 3;
    if (str_starts(at, "+Inf") || str_starts(at, "-Inf"))
        return at + 4;
    assert_true(isdigit((unsigned char)*at) || *at == '-');
    strtod(at, &end);
    assert_true(end > at);
    return end;
}

static size_t name_size(const char *line)
{
    return strcspn(line, " {");
}

/* One line; `family` becomes the one that it opens. Returns 1 for a sample. */
static int check_line(const char *line, struct str *family, struct str *opened)
{
    static const char help[] = "# HELP ", type[] = "# TYPE ";

    if (str_starts(line, help)) {
        str_cut(family, 0);
        str_add_n(family, line + strlen(help), name_size(line + strlen(help)));
        autofree(mem) char *mark = xasprintf(" %s ", family->s);
        assert_null(strstr(opened->s, mark)); /* all of a family stands together */
        str_add(opened, mark);
        return 0;
    }
    if (str_starts(line, type)) {
        const char *kind = line + strlen(type) + family->len;
        assert_true(str_starts(line + strlen(type), family->s));
        bool total = family->len > 6 && str_eq(family->s + family->len - 6, "_total");
        assert_string_equal(kind, total ? " counter" : " gauge");
        return 0;
    }
    assert_int_equal(name_size(line), family->len);
    assert_true(str_starts(line, family->s));
    const char *at = skip_name(line);
    if (*at == '{')
        at = skip_labels(at);
    assert_true(*at == ' ');
    assert_true(*skip_value(at + 1) == '\0');
    return 1;
}

/* How many samples there are. */
static int check_page(const char *text)
{
    autofree(mem) char *copy = xstrdup(text);
    autorelease(str) struct str family = STR_INIT;
    autorelease(str) struct str opened = STR_INIT;
    size_t n = strlen(text);
    int samples = 0;

    assert_true(n > 0 && text[n - 1] == '\n');
    copy[n - 1] = '\0';
    for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
        samples += check_line(line, &family, &opened);
    return samples;
}

/* ---- pages ---- */

#define HAS(text, line) assert_non_null(strstr((text).s, line "\n"))

static const struct prometheus_value metrics[] = {
    {"train/loss", 0.25},    {"nan", NAN},    {"inf", INFINITY}, {"-inf", -INFINITY},
    {"a \"b\"\\c\nd", -0.0}, {"", 1e-300},    {"train/loss", 9}, {"größe", 5e22},
    {"\xff\x01", 1},         {"\xfe\x02", 2},
};
static const struct prometheus_value figures[] = {{"system/cpu", 12.5}, {"odd", 1}};
static const struct prometheus_trial running[] = {{3, metrics, ARRAY_LEN(metrics)}, {4, NULL, 0}};
static const struct prometheus_experiment experiments[] = {
    {.id = 17,
     .name = "mnist",
     .state = EXPERIMENT_RUNNING,
     .trials = {[TRIAL_RUNNING] = 2, [TRIAL_COMPLETED] = 40},
     .objective = "val_loss",
     .best = 0.125,
     .running = running,
     .n_running = ARRAY_LEN(running)},
    {.id = 18, .name = "mnist", .state = EXPERIMENT_FAILED, .objective = "x", .best = NAN},
    {.id = 19, .name = "only-runs", .state = EXPERIMENT_FINISHED, .best = 1},
};
static const struct prometheus_ingest ingest = {1, 2, 3, 4, 5, 6, 7, 1ULL << 53};

static void full_page(struct str *to)
{
    struct prometheus_view view = {
        .version = "0.1.0",
        .started_us = 1700000000500000,
        .experiments = experiments,
        .n_experiments = ARRAY_LEN(experiments),
        .figures = figures,
        .n_figures = ARRAY_LEN(figures),
        .ingest = &ingest,
    };
    prometheus_text(&view, to);
}

TEST(every_family_is_told)
{
    autorelease(str) struct str text = STR_INIT;
    full_page(&text);
    HAS(text, "hone_up 1");
    HAS(text, "hone_info{version=\"0.1.0\"} 1");
    HAS(text, "hone_start_time_seconds 1700000000.5");
    HAS(text, "hone_experiment_state{experiment=\"mnist\",id=\"17\",state=\"running\"} 1");
    HAS(text, "hone_experiment_state{experiment=\"mnist\",id=\"18\",state=\"failed\"} 1");
    HAS(text, "hone_trials{experiment=\"mnist\",id=\"17\",state=\"completed\"} 40");
    HAS(text, "hone_trials{experiment=\"mnist\",id=\"18\",state=\"queued\"} 0");
    HAS(text, "hone_best_value{experiment=\"mnist\",id=\"17\",metric=\"val_loss\"} 0.125");
    HAS(text, "hone_metric{experiment=\"mnist\",id=\"17\",trial=\"3\",metric=\"train/loss\"} 0.25");
    HAS(text, "hone_system{figure=\"cpu\"} 12.5");
    HAS(text, "hone_system{figure=\"odd\"} 1");
    HAS(text, "# TYPE hone_ingest_lines_total counter\nhone_ingest_lines_total 2");
    HAS(text, "hone_ingest_rejected_lines_total 5");
    HAS(text, "hone_udp_dropped_datagrams_total 7");
    HAS(text, "hone_udp_cut_datagrams_total 9007199254740992");
    assert_null(strstr(text.s, "hone_best_value{experiment=\"only-runs\""));
    assert_null(strstr(text.s, "hone_best_value{experiment=\"mnist\",id=\"18\""));
}

TEST(any_name_makes_a_page_that_can_be_read)
{
    autorelease(str) struct str text = STR_INIT;
    full_page(&text);
    HAS(text, "trial=\"3\",metric=\"a \\\"b\\\"\\\\c\\nd\"} -0");
    HAS(text, "trial=\"3\",metric=\"nan\"} NaN");
    HAS(text, "trial=\"3\",metric=\"inf\"} +Inf");
    HAS(text, "trial=\"3\",metric=\"-inf\"} -Inf");
    HAS(text, "trial=\"3\",metric=\"größe\"} 5e+22");
    HAS(text, "trial=\"3\",metric=\"??\"} 1");
    assert_null(strstr(text.s, "metric=\"??\"} 2")); /* the same labels are said once */
    assert_null(strstr(text.s, "metric=\"train/loss\"} 9"));
    /* 3 of the engine, 3 states, 3 × 6 trials, a best, 8 of 10 metrics, 2 figures, 8 counters */
    assert_int_equal(check_page(text.s), 3 + 3 + 18 + 1 + 8 + 2 + 8);
    const char *path = getenv("PROMETHEUS_PAGE");
    if (path)
        assert_int_equal(fs_write_atomic(path, text.s, text.len, 0644, NULL), 0);
}

TEST(an_engine_with_nothing_to_do_tells_that_it_is_there)
{
    autorelease(str) struct str text = STR_INIT;
    struct prometheus_view view = {.version = "1"};
    prometheus_text(&view, &text);
    assert_int_equal(check_page(text.s), 3);
    assert_null(strstr(text.s, "hone_metric"));
    assert_null(strstr(text.s, "hone_ingest"));
}

TEST_MAIN
