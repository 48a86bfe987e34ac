/* SPDX-License-Identifier: MIT */
/*
 * remaining_track.c — a learning curve made clean: no gaps, no steps back, not too long.
 */
#include "tune/remaining_track.h"

#include <math.h>

#define FAR 1e100 /* values are cut off here, ages left out: their squares must be numbers */

static void track_clean(struct track *track, const struct curve_points *points, double sign)
{
    track->n = 0;
    track->x = xcalloc(2 * points->n + 1, sizeof(double));
    track->y = track->x + points->n;
    for (size_t i = 0; i < points->n; i++) {
        double x = points->ages[i], y = points->values[i];
        if (!(x > 1 / FAR && x < FAR) || !isfinite(y))
            continue;
        while (track->n > 0 && track->x[track->n - 1] >= x)
            track->n--;
        track->x[track->n] = x;
        track->y[track->n++] = sign * fmax(fmin(y, FAR), -FAR);
    }
}

void track_release(struct track *track)
{
    free(track->x);
}

/* Each value becomes the mean of the last k. Sums run within blocks of k from both sides, so that
 * nothing is ever subtracted: one huge value spoils k means and no more. */
static void track_average(struct track *track, size_t k)
{
    size_t n = track->n;
    if (k <= 1)
        return;
    autofree(mem) double *until = xcalloc(2 * n + 1, sizeof(*until));
    double *from = until + n;
    for (size_t i = 0; i < n; i++)
        until[i] = track->y[i] + (i % k ? until[i - 1] : 0);
    for (size_t i = n; i-- > 0;)
        from[i] = track->y[i] + ((i + 1) % k && i + 1 < n ? from[i + 1] : 0);
    for (size_t i = 0; i < n; i++) {
        size_t first = i + 1 > k ? i + 1 - k : 0;
        double sum = first % k == 0 ? until[i] : from[first] + until[i];
        track->y[i] = sum / (double)(i + 1 - first);
    }
}

/* At most TRACK_POINTS: the last one stays, the others are averaged in equal shares. */
static void track_thin(struct track *track)
{
    size_t n = track->n, shares = TRACK_POINTS - 1;
    if (n <= TRACK_POINTS)
        return;
    for (size_t k = 0; k < shares; k++) {
        size_t from = k * (n - 1) / shares, until = (k + 1) * (n - 1) / shares;
        double x = 0, y = 0, m = (double)(until - from);
        for (size_t i = from; i < until; i++) {
            x += track->x[i] / m;
            y += track->y[i] / m;
        }
        track->x[k] = x;
        track->y[k] = y;
    }
    track->x[shares] = track->x[n - 1];
    track->y[shares] = track->y[n - 1];
    track->n = TRACK_POINTS;
}

void track_init(struct track *track, const struct curve_points *points, bool negate, size_t average)
{
    track_clean(track, points, negate ? -1 : 1);
    track_average(track, average);
    track_thin(track);
}

/* Beyond the end it goes on in ln(age) as over the last doubling. */
double track_at(const struct track *track, double x)
{
    size_t n = track->n, low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (track->x[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return track->y[0];
    if (low < n) {
        double w = (x - track->x[low - 1]) / (track->x[low] - track->x[low - 1]);
        return track->y[low - 1] + w * (track->y[low] - track->y[low - 1]);
    }
    double end = track->x[n - 1], fall = track_at(track, end / 2) - track->y[n - 1];
    return track->y[n - 1] - fmax(fall, 0) * log2(x / end);
}

/* Second differences tell noise from a slope at any ages, third ones from a bend, too, where ages
 * are even. The smaller of both. */
double track_noise(const struct track *track)
{
    double second = 0, third = 0;
    size_t n = MIN(track->n, 12);
    if (n < 5)
        return 0;
    for (size_t i = track->n - n + 2; i < track->n; i++) {
        const double *x = track->x + i - 2, *y = track->y + i - 2;
        double w = (x[1] - x[0]) / (x[2] - x[0]), off = y[1] - (1 - w) * y[0] - w * y[2];
        second += off * off / (1 + w * w + (1 - w) * (1 - w)) / (double)(n - 2);
    }
    for (size_t i = track->n - n + 3; i < track->n; i++) {
        const double *y = track->y + i - 3;
        double off = y[3] - 3 * y[2] + 3 * y[1] - y[0];
        third += off * off / 20 / (double)(n - 3);
    }
    return fmin(second, third);
}
