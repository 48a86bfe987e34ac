/* SPDX-License-Identifier: MIT */
/*
 * export_influx.c — hone export --influx: the series of an experiment to an InfluxDB, once or for
 * as long as it runs.
 *
 *     samples ──► a table for each measurement ──► batch ──► cursor's file ──► server
 *                 (source)                                      ▲                │ it has it
 *                                                               └────────────────┘
 *
 * The store, at home or at a hone server, is the spool: what InfluxDB does not take now is read
 * again later. The cursor says
 * before a batch is sent where that ends, so that after a kill the same batch is made again: the
 * same times in the same series, which InfluxDB keeps once.
 */
#include "api/v1_samples.h"
#include "base/clock.h"
#include "base/fs.h"
#include "cli/cmd.h"
#include "cli/export.h"
#include "cli/influx_cursor.h"
#include "cli/influx_send.h"
#include "cli/influx_sheet.h"
#include "cli/output.h"
#include "metrics/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define LOOK_MS    500   /* between looks at the store */
#define WAIT_MS    1000  /* for a server that is away: doubled … */
#define WAIT_MAX   30000 /* … up to this */
#define CURSOR_MAX (1 << 30)

struct sending {
    const struct cmd_call *call;
    const struct export *export;
    int64_t experiment;
    bool follow, tags;
    struct influx_address address;
    char *target;      /* for people: URL and database */
    char *path, *lock; /* of the cursor */
    int lock_fd;
    struct influx_link *link;
    struct influx_cursor cursor;
    struct influx_batch batch;
    struct map params; /* trial → ",lr=0.1" */
    bool dirty;        /* the cursor's file does not yet say what is done */
    uint64_t batches, points, left_out, partly;
};

/* ---- what there is ---- */

static void on_series(const struct samples_series *series, void *arg)
{
    struct sending *sending = arg;

    if (metric_is_word(series->metric))
        return;
    struct influx_metric *metric =
        influx_cursor_metric(&sending->cursor, &series->source, series->metric);
    metric->id = series->id;
    metric->total = series->count;
    metric->whole = series->whole;
    metric->lines = series->lines;
}

/* ---- tags ---- */

static void on_param(const char *name, const char *text, void *arg)
{
    influx_param_tag(name, text, arg);
}

static int find_params(struct sending *sending, int64_t trial, const char **ret)
{
    struct samples *samples = sending->export->samples;
    autorelease(str) struct str tags = STR_INIT;

    *ret = map_find(&sending->params, (uint64_t)trial);
    if (!*ret && sending->tags && trial > 0) {
        int r = samples->ops->params(samples, trial, on_param, &tags, sending->export->err);
        if (r < 0)
            return r;
        map_put(&sending->params, (uint64_t)trial, str_take(&tags));
        *ret = map_find(&sending->params, (uint64_t)trial);
    }
    *ret = *ret ? *ret : "";
    return 0;
}

static int make_head(struct sending *sending, const struct influx_unit *unit, struct str *head)
{
    const char *params;
    int r = find_params(sending, unit->source.trial, &params);

    if (r < 0)
        return r;
    str_cut(head, 0);
    influx_measurement(unit->metrics.at[0].name, head);
    str_addf(head, ",experiment=%lld,trial=%lld,attempt=%lld,source=%s",
             (long long)sending->experiment, (long long)unit->source.trial,
             (long long)unit->source.attempt, samples_files[unit->source.file]);
    str_add(head, params);
    return 0;
}

/* ---- the cursor's file ---- */

static int save(struct sending *sending)
{
    autorelease(str) struct str text = STR_INIT;
    influx_cursor_format(&sending->cursor, sending->target, &text);
    str_add_char(&text, '\n');
    return fs_write_atomic(sending->path, text.s, text.len, 0600, sending->export->err);
}

static int load(struct sending *sending)
{
    struct err *err = sending->export->err;
    autorelease(str) struct str text = STR_INIT;

    if (!fs_exists(sending->path))
        return 0;
    int r = fs_read(sending->path, CURSOR_MAX, &text, err);
    if (r == 0)
        r = influx_cursor_parse(text.s, text.len, sending->experiment, &sending->cursor, err);
    if (r < 0)
        return err_context(err, "%s (remove it to send everything again)", sending->path);
    return 0;
}

static int lock_cursor(struct sending *sending)
{
    struct err *err = sending->export->err;
    autofree(mem) char *dir = xasprintf("%s/export", sending->export->home);
    autofree(mem) char *name = influx_cursor_name(sending->experiment, sending->target);
    int r = fs_make_dirs(dir, 0700, err);

    if (r < 0)
        return r;
    sending->path = xasprintf("%s/%s", dir, name);
    sending->lock = xasprintf("%s.lock", sending->path);
    sending->lock_fd = open(sending->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (sending->lock_fd < 0)
        return err_errno(err, errno, "cannot open %s", sending->lock);
    if (fs_lock(sending->lock_fd) < 0)
        return err_set(err, EBUSY, "another hone sends experiment %lld to %s already",
                       (long long)sending->experiment, sending->target);
    return 0;
}

/* ---- sending ---- */

static int give_up(struct sending *sending, enum influx_verdict verdict, const char *why)
{
    struct err *err = sending->export->err;

    if (verdict == INFLUX_LATER)
        return err_set(err, EAGAIN,
                       "%s: %s; %llu points were sent, and the same command goes on from there "
                       "(--follow waits for the server)",
                       sending->target, why, (unsigned long long)sending->points);
    return err_set(err, EIO, "%s: %s", sending->target, why);
}

/* Say it once, not with every try. */
static void say(struct str *said, const char *sentence, const char *target)
{
    if (str_eq(said->s, sentence))
        return;
    str_cut(said, 0);
    str_add(said, sentence);
    fprintf(stderr, "hone: %s: %s; trying again\n", target, sentence);
}

/* Until the server has it. */
static int post(struct sending *sending)
{
    autorelease(str) struct str why = STR_INIT;
    autorelease(str) struct str said = STR_INIT;
    const struct str *text = &sending->batch.text;
    int wait_ms = WAIT_MS;

    for (;;) {
        enum influx_verdict verdict =
            text->len ? influx_link_post(sending->link, text->s, text->len, &why) : INFLUX_TAKEN;
        if (verdict == INFLUX_PARTLY) {
            fprintf(stderr, "hone: %s: %s\n", sending->target, why.s);
            sending->partly++;
        }
        if (verdict == INFLUX_TAKEN || verdict == INFLUX_PARTLY)
            return 0;
        if (verdict == INFLUX_REFUSED || !sending->follow)
            return give_up(sending, verdict, why.s);
        say(&said, why.s, sending->target);
        poll(NULL, 0, wait_ms);
        wait_ms = MIN(wait_ms * 2, WAIT_MAX);
    }
}

/* Write down where the batch ends, send it, and count it as done. */
static int deliver(struct sending *sending)
{
    if (!sending->cursor.sending.len)
        return 0;
    int r = save(sending);
    if (r == 0)
        r = post(sending);
    if (r < 0)
        return r;
    sending->batches += sending->batch.lines > 0;
    sending->points += sending->batch.points;
    sending->left_out += sending->batch.left_out;
    influx_cursor_done(&sending->cursor, &sending->batch);
    influx_batch_clear(&sending->batch);
    sending->dirty = true;
    return 0;
}

/* Load what follows `at` (again: what follows `done`, up to `at`). 1; 0: nothing does; or an error.
 */
static int load_unit(struct sending *sending, const struct influx_unit *unit, bool again,
                     struct influx_sheet *sheet)
{
    const struct export *export = sending->export;
    int r = make_head(sending, unit, &sheet->head);

    return r < 0 ? r : influx_sheet_load(sheet, export->samples, unit, again, export->err);
}

/* All that a unit has, in as many batches as it takes; the last stays open for others. */
static int send_unit(struct sending *sending, struct influx_unit *unit)
{
    autorelease(influx_sheet) struct influx_sheet sheet = {.head = STR_INIT};
    enum influx_filled filled = INFLUX_MORE;

    while (filled != INFLUX_DONE) {
        int r = filled == INFLUX_MORE ? load_unit(sending, unit, false, &sheet) : 1;
        if (r <= 0)
            return r;
        filled = influx_batch_add(&sending->batch, &sheet.table, !unit->sending);
        influx_cursor_send(&sending->cursor, unit);
        influx_sheet_told(&sheet, unit);
        r = filled == INFLUX_FULL ? deliver(sending) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* The batch that was under way when we were killed. */
static int send_again(struct sending *sending)
{
    for (size_t i = 0; i < sending->cursor.sending.len; i++) {
        struct influx_unit *unit = sending->cursor.sending.at[i];
        autorelease(influx_sheet) struct influx_sheet sheet = {.head = STR_INIT};
        int r = load_unit(sending, unit, true, &sheet);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        influx_batch_add(&sending->batch, &sheet.table, true);
        unit->stamp = sheet.table.stamp;
    }
    return deliver(sending);
}

/* All that there is now. */
static int send_all(struct sending *sending, bool last)
{
    struct samples *samples = sending->export->samples;
    int r = samples->ops->look(samples, last, on_series, sending, sending->export->err);

    influx_cursor_settle(&sending->cursor);
    if (r >= 0 && sending->cursor.sending.len)
        r = send_again(sending);
    for (size_t i = 0; r == 0 && i < sending->cursor.units.len; i++)
        r = send_unit(sending, sending->cursor.units.at[i]);
    if (r == 0)
        r = deliver(sending);
    if (r == 0 && sending->dirty) {
        r = save(sending);
        sending->dirty = false;
    }
    return r;
}

/* ---- the whole ---- */

static int send_until_end(struct sending *sending)
{
    struct samples *samples = sending->export->samples;
    int r = influx_link_new(&sending->address, &sending->link, sending->export->err);

    if (r == 0)
        r = lock_cursor(sending);
    if (r == 0)
        r = load(sending);
    while (r == 0) {
        bool last = !sending->follow || !samples->ops->goes_on(samples);
        r = send_all(sending, last);
        if (last || r < 0)
            break;
        poll(NULL, 0, LOOK_MS);
    }
    return r;
}

static void sum_up_json(const struct sending *sending)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_begin_object(&out);
    json_put_int(&out, "experiment", sending->experiment);
    json_put_text(&out, "to", sending->target);
    json_put_int(&out, "points", (int64_t)sending->points);
    json_put_int(&out, "points_in_all", (int64_t)sending->cursor.points);
    json_put_int(&out, "batches", (int64_t)sending->batches);
    json_put_int(&out, "left_out", (int64_t)sending->left_out);
    json_put_int(&out, "partly_refused", (int64_t)sending->partly);
    json_end_object(&out);
    output_line(&text);
}

static void sum_up(const struct sending *sending)
{
    if (sending->call->json) {
        sum_up_json(sending);
        return;
    }
    printf("experiment %lld: %llu points sent to %s", (long long)sending->experiment,
           (unsigned long long)sending->points, sending->target);
    if (sending->cursor.points > sending->points)
        printf(", %llu in all", (unsigned long long)sending->cursor.points);
    if (sending->left_out)
        printf("; %llu NaN or infinite left out: InfluxDB takes none",
               (unsigned long long)sending->left_out);
    if (sending->partly)
        printf("; %llu batches were refused in part", (unsigned long long)sending->partly);
    puts("");
}

static void sending_release(struct sending *sending)
{
    uint64_t key;
    size_t at = 0;
    void *tags;

    while ((tags = map_next(&sending->params, &at, &key)))
        free(tags);
    map_release(&sending->params);
    influx_link_free(sending->link);
    influx_batch_release(&sending->batch);
    influx_cursor_release(&sending->cursor);
    influx_address_release(&sending->address);
    if (sending->lock_fd >= 0)
        close(sending->lock_fd);
    free(sending->target);
    free(sending->path);
    free(sending->lock);
}

static int check_options(const struct cmd_call *call)
{
    static const char *const others[] = {"csv",     "jsonl", "metrics", "iterations",
                                         "summary", "where", "output"};
    bool db = cmd_value(call, "db");
    bool org = cmd_value(call, "org"), bucket = cmd_value(call, "bucket");

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (cmd_flag(call, others[i]))
            return cmd_usage(call, "--influx and --%s do not go together", others[i]);
    if (db ? org || bucket : !org || !bucket)
        return cmd_usage(call, "--influx needs --db NAME (InfluxDB 1.x), or --org NAME and "
                               "--bucket NAME (2.x)");
    return CMD_OK;
}

int export_influx(const struct cmd_call *call, const struct export *export)
{
    struct influx_target target = {.url = cmd_value(call, "influx"),
                                   .db = cmd_value(call, "db"),
                                   .org = cmd_value(call, "org"),
                                   .bucket = cmd_value(call, "bucket"),
                                   .user = cmd_value(call, "user"),
                                   .token = getenv("HONE_INFLUX_TOKEN")};
    int code = check_options(call);
    autorelease(sending) struct sending sending = {.call = call,
                                                   .export = export,
                                                   .experiment = export->samples->experiment,
                                                   .follow = cmd_flag(call, "follow"),
                                                   .tags = cmd_flag(call, "tags"),
                                                   .lock_fd = -1,
                                                   .batch = INFLUX_BATCH_INIT};

    if (code != CMD_OK)
        return code;
    influx_cursor_init(&sending.cursor, export->samples->created_us * 1000);
    int r = influx_address_make(&target, &sending.address, export->err);
    if (r < 0)
        return cmd_fail(call, CMD_USAGE, export->err);
    sending.target =
        xasprintf("%s %s %s%s%s%s", sending.address.shown, target.db ? "database" : "bucket",
                  target.db ? target.db : target.org, target.db ? "" : "/",
                  target.db ? "" : target.bucket, sending.tags ? " with tags" : "");
    r = send_until_end(&sending);
    if (r < 0)
        return cmd_fail(call, CMD_FAILED, export->err);
    sum_up(&sending);
    return CMD_OK;
}
