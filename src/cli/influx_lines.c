/* SPDX-License-Identifier: MIT */
/*
 * influx_lines.c — names, times and lines of InfluxDB's line protocol.
 *
 * The columns of a table are told as rows: next comes what has the smallest time, then step, among
 * the first values that the columns have left; columns that agree in both share a line. Cutting
 * the columns behind what was told changes nothing of it, so that a batch depends on where it
 * begins and ends alone, and not on what the store got meanwhile.
 */
#include "cli/influx_lines.h"

#include "base/rest.h"
#include "model/trial.h"

#include <assert.h>
#include <math.h>

#define NS_MIN (-9223372036854775806LL) /* what InfluxDB takes as a time */
#define NS_MAX 9223372036854775806LL

/* ---- names ---- */

/* What no backslash can help: control characters, and a backslash at the end, which would take the
 * separator along. */
static void add_escaped(struct str *to, const char *text, size_t n, const char *special)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f || (c == '\\' && i + 1 == n)) {
            str_add_char(to, '_');
            continue;
        }
        if (strchr(special, c))
            str_add_char(to, '\\');
        str_add_char(to, (char)c);
    }
}

/* The slash between both parts; NULL if it has not two. */
static const char *split(const char *metric)
{
    const char *slash = strchr(metric, '/');
    return slash && slash > metric && slash[1] ? slash : NULL;
}

void influx_measurement(const char *metric, struct str *to)
{
    const char *slash = split(metric);

    if (!slash) {
        str_add(to, "hone");
    } else if (*metric == '#') { /* would be a comment */
        str_add_char(to, '_');
        add_escaped(to, metric + 1, (size_t)(slash - metric - 1), ", ");
    } else {
        add_escaped(to, metric, (size_t)(slash - metric), ", ");
    }
}

void influx_field(const char *metric, struct str *to)
{
    const char *slash = split(metric), *name = slash ? slash + 1 : metric;

    add_escaped(to, name, strlen(name), ",= ");
    if (str_eq(name, "time") || str_eq(name, "step"))
        str_add_char(to, '_');
}

void influx_tag(const char *key, const char *value, struct str *to)
{
    if (!*key || !*value)
        return;
    str_add_char(to, ',');
    add_escaped(to, key, strlen(key), ",= ");
    str_add_char(to, '=');
    add_escaped(to, value, strlen(value), ",= ");
}

/* Tags of our own, and those for which InfluxDB refuses a line, 2.x the whole batch. */
static bool is_taken(const char *name, size_t n)
{
    static const char *const taken[] = {"experiment", "trial",        "attempt", "source",
                                        "_field",     "_measurement", "time"};

    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (strlen(taken[i]) == n && memcmp(taken[i], name, n) == 0)
            return true;
    return false;
}

void influx_param_tag(const char *name, const char *value, struct str *to)
{
    size_t n = strlen(name);

    while (n > 1 && name[n - 1] == '_')
        n--;
    autofree(mem) char *key = xasprintf("%s%s", name, is_taken(name, n) ? "_" : "");
    influx_tag(key, value, to);
}

/* ---- times ---- */

static int64_t after(int64_t ns)
{
    return ns >= NS_MAX ? NS_MAX : ns + 1;
}

int64_t influx_stamp(struct influx_stamp *stamp, int64_t raw_ns)
{
    int64_t ns = MIN(MAX(raw_ns, NS_MIN), NS_MAX);

    if (raw_ns == INFLUX_NO_TIME)
        ns = after(stamp->out);
    else if (stamp->raw != INFLUX_NO_TIME && ns >= stamp->raw)
        ns = MAX(ns, after(stamp->out));
    if (raw_ns != INFLUX_NO_TIME)
        stamp->raw = MIN(MAX(raw_ns, NS_MIN), NS_MAX);
    stamp->out = ns;
    return ns;
}

/* Times that went back may meet those of lines before. */
static int64_t unused(struct influx_batch *batch, struct influx_stamp *stamp, int64_t raw_ns)
{
    int64_t ns = influx_stamp(stamp, raw_ns);

    while (map_find(&batch->used, (uint64_t)ns) && ns < NS_MAX)
        ns++;
    map_put(&batch->used, (uint64_t)ns, batch);
    stamp->out = ns;
    return ns;
}

/* What came as a line overwrites what has its time there, too. */
static int64_t stamp_of(struct influx_batch *batch, struct influx_table *table, int64_t raw_ns)
{
    if (!table->exact || raw_ns == INFLUX_NO_TIME)
        return unused(batch, &table->stamp, raw_ns);
    int64_t ns = MIN(MAX(raw_ns, NS_MIN), NS_MAX);
    table->stamp = (struct influx_stamp){ns, ns};
    return ns;
}

/* ---- lines ---- */

struct row {
    int64_t time_ns, step;
};

static struct row row_of(const struct influx_column *column)
{
    assert(column->at < column->n);
    return (struct row){column->times_ns[column->at], column->steps[column->at]};
}

static bool is_before(struct row a, struct row b)
{
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.step < b.step);
}

static bool has_next(const struct influx_column *column, const struct row *row)
{
    if (column->at >= column->n)
        return false;
    struct row own = row_of(column);
    return own.time_ns == row->time_ns && own.step == row->step;
}

/* The row that comes next. INFLUX_DONE: there is none; INFLUX_FULL: there is one. */
static enum influx_filled next_row(const struct influx_table *table, struct row *ret)
{
    bool any = false;

    *ret = (struct row){INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < table->n; i++) {
        const struct influx_column *column = &table->columns[i];
        if (column->at == column->n && column->more)
            return INFLUX_MORE;
        if (column->at == column->n)
            continue;
        struct row row = row_of(column);
        if (!any || is_before(row, *ret))
            *ret = row;
        any = true;
    }
    return any ? INFLUX_FULL : INFLUX_DONE;
}

/* A number that is not whole has no place among integers: InfluxDB will say so. */
static void add_value(const struct influx_column *column, struct str *line)
{
    double value = column->values[column->at];
    uint16_t rest = column->rests ? column->rests[column->at] : 0;

    if (rest)
        str_addf(line, "%lldi", (long long)rest_whole(value, rest));
    else if (column->whole && value == rint(value) && fabs(value) <= 0x1p53)
        str_addf(line, "%lldi", (long long)value);
    else
        str_add_double(line, value);
}

/* The fields of a row without its time; how many. */
static size_t add_fields(const struct influx_table *table, const struct row *row, struct str *line)
{
    size_t fields = 0;

    for (size_t i = 0; i < table->n; i++) {
        const struct influx_column *column = &table->columns[i];
        if (!has_next(column, row) || !isfinite(column->values[column->at]))
            continue;
        str_add_char(line, fields++ ? ',' : ' ');
        str_add(line, column->field);
        str_add_char(line, '=');
        add_value(column, line);
    }
    if (fields && row->step != STEP_NONE)
        str_addf(line, ",step=%lldi", (long long)row->step);
    return fields;
}

static void step_over(struct influx_table *table, const struct row *row, struct influx_batch *batch)
{
    for (size_t i = 0; i < table->n; i++) {
        struct influx_column *column = &table->columns[i];
        if (!has_next(column, row))
            continue;
        batch->left_out += !isfinite(column->values[column->at]);
        column->at++;
    }
}

#define TIME_ROOM 24 /* a space, the time, a newline */

static bool fits(const struct influx_batch *batch, size_t line)
{
    return !batch->lines || (batch->lines < INFLUX_LINES_MAX &&
                             batch->text.len + line + TIME_ROOM <= INFLUX_BYTES_MAX);
}

enum influx_filled influx_batch_add(struct influx_batch *batch, struct influx_table *table,
                                    bool begin)
{
    autorelease(str) struct str line = STR_INIT;
    enum influx_filled found;
    struct row row;

    if (begin)
        map_release(&batch->used);
    while ((found = next_row(table, &row)) == INFLUX_FULL) {
        str_cut(&line, 0);
        str_add(&line, table->head);
        size_t fields = add_fields(table, &row, &line);
        if (fields && !fits(batch, line.len))
            return INFLUX_FULL;
        step_over(table, &row, batch);
        if (!fields)
            continue;
        str_addf(&line, " %lld\n", (long long)stamp_of(batch, table, row.time_ns));
        str_add_n(&batch->text, line.s, line.len);
        batch->lines++;
        batch->points += fields;
    }
    return found;
}

void influx_batch_clear(struct influx_batch *batch)
{
    str_cut(&batch->text, 0);
    batch->lines = batch->points = batch->left_out = 0;
    map_release(&batch->used);
}

void influx_batch_release(struct influx_batch *batch)
{
    str_release(&batch->text);
    map_release(&batch->used);
}
