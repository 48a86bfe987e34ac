/* SPDX-License-Identifier: MIT */
/*
 * influxql_transform.c — functions that make points of points, as InfluxDB 1.6 has them: each looks
 * at the points in the order in which rows are told, so with ORDER BY time DESC backwards.
 */
#include "api/influxql_rows.h"

#include <assert.h>

static int64_t unit_of(const struct term *call, int64_t interval_ns, int64_t otherwise)
{
    bool inner = call->args[0]->kind == TERM_CALL;

    if (call->n_args > 1)
        return call->args[1]->integer;
    return inner && interval_ns ? interval_ns : otherwise;
}

/* In ns. Times of today are beyond what doubles tell apart, their difference is not. */
static double distance(int64_t from, int64_t to)
{
    return (double)((__int128)to - from);
}

/* Of points with the same time the first counts. */
static void differences(struct points *points, double unit, bool rising)
{
    struct point before = {0};
    size_t n = 0;

    for (size_t i = 0; i < points->len; i++) {
        struct point now = points->at[i];
        if (i && now.time_ns == before.time_ns)
            continue;
        double passed = distance(before.time_ns, now.time_ns);
        double change = now.value - before.value;
        if (unit > 0)
            change /= (passed < 0 ? -passed : passed) / unit;
        if (i && !(rising && change < 0))
            points->at[n++] = (struct point){now.time_ns, change, 0};
        before = now;
    }
    points->len = n;
}

/* In whole units. */
static void elapsed(struct points *points, int64_t unit)
{
    size_t n = points->len;

    assert(unit > 0);
    for (size_t i = 1; i < n; i++) {
        __int128 passed = (__int128)points->at[i].time_ns - points->at[i - 1].time_ns;
        __int128 units = passed / unit;
        points->at[i - 1].value = (double)units;
        points->at[i - 1].rest = 0;
    }
    for (size_t i = 1; i < n; i++)
        points->at[i - 1].time_ns = points->at[i].time_ns;
    points->len -= n > 0;
}

/* The sum goes along with the window; what left it is taken away. */
static void moving_average(struct points *points, size_t window)
{
    autofree(mem) struct point *in = xmemdup(points->at, points->len * sizeof(*in));
    double sum = 0;
    size_t n = 0;

    assert(window > 0);
    for (size_t i = 0; i < points->len; i++) {
        sum += in[i].value;
        if (i >= window)
            sum -= in[i - window].value;
        if (i + 1 >= window)
            points->at[n++] = (struct point){in[i].time_ns, sum / (double)window, 0};
    }
    points->len = n;
}

static void cumulative_sum(struct points *points)
{
    double sum = 0;

    vec_foreach (point, points) {
        point->value = sum += point->value;
        point->rest = 0;
    }
}

void transform_apply(const struct term *call, int64_t interval_ns, struct points *points)
{
    bool rising = call->function == FUNCTION_RISE || call->function == FUNCTION_INCREASE;

    switch (call->function) {
    case FUNCTION_DERIVATIVE:
    case FUNCTION_RISE:
        differences(points, (double)unit_of(call, interval_ns, 1000000000), rising);
        break;
    case FUNCTION_DIFFERENCE:
    case FUNCTION_INCREASE:
        differences(points, 0, rising);
        break;
    case FUNCTION_MOVING_AVERAGE:
        moving_average(points, (size_t)call->args[1]->integer);
        break;
    case FUNCTION_CUMULATIVE_SUM:
        cumulative_sum(points);
        break;
    case FUNCTION_ELAPSED:
        elapsed(points, unit_of(call, 0, 1));
        break;
    default:
        assert(!"a function that transforms");
    }
}

int64_t transform_reach(const struct term *leaf)
{
    int64_t reach = 0;

    for (; leaf->kind == TERM_CALL && function_transforms(leaf->function); leaf = leaf->args[0])
        reach += leaf->function != FUNCTION_CUMULATIVE_SUM;
    return reach;
}
