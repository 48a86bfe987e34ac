/* SPDX-License-Identifier: MIT */
/*
 * width.c — the rules of `parallel: auto`: learn from each window, keep to what fits, try what may
 * gain more than it costs, go back from what was no better.
 *
 * Invariants: rows of a trial follow each other; 1 <= asked <= WIDTH_MOST; a width is on trial
 * exactly while asked != held. Every number in a row is finite.
 */
#include "linalg/normal.h"
#include "tune/width_internal.h"

#include <assert.h>
#include <math.h>

#define MARGIN    1.1  /* on the largest peak */
#define GROWN     1.02 /* a peak that rises by less has not */
#define STEADY    2    /* windows without growth before a slot is added */
#define UNSEEN    10   /* windows, then the memory is not watched */
#define SMALL     0.05 /* less is not worth a change */
#define ERRORS    2.0
#define FACTOR    4 /* a change is at most by this */
#define PROBE     2 /* windows on trial, at least and … */
#define PROBE_MAX 8
#define WINDOW_S  2.0   /* about */
#define LONG_S    3600  /* where the end is not known */
#define TRIAL_S   60    /* … nor how long a trial takes */
#define MEMORY    8     /* windows */
#define FLOOR     4e-4  /* variance: no window is surer than 2 % */
#define CEILING   25    /* … and none less sure than this */
#define ROWS      2048  /* the oldest of the width with the most are dropped */
#define EXTREME   50    /* |ln seconds|: more is no measurement */
#define TOLD      0.75  /* share of the trials */
#define SAME      0.125 /* share of cores: free ones that share a row */

struct width {
    struct width_limits limits;
    size_t asked, held;
    size_t running, windows; /* of the last call; told with `asked` running */
    bool blind;              /* one alone: nobody knows how much memory a trial takes */
    double peak_bytes;
    size_t steady; /* windows since that grew */
    size_t unseen; /* … in which nothing told it */
    struct belief_ln predicted;
    VEC(struct width_row) rows;
};

/* A call of width_next(), and what its rules share. */
struct question {
    struct width *w;
    const struct width_input *input;
    struct width_model model;
    double free_cores, left_s, trial_s, startup_s;
    size_t fits, most;
    struct width_decision *ret;
};

static double positive_or(double x, double otherwise)
{
    return x > 0 && isfinite(x) ? x : otherwise;
}

double width_efficiency(double loss, size_t width, size_t trials_left)
{
    double left = (double)MAX(trials_left, 1), beyond = (double)MAX(MIN(width, trials_left), 1) - 1;
    return left / (left + loss * beyond);
}

static size_t places(const struct width_limits *limits, double cores)
{
    double least = positive_or(limits->cores_least, 1);
    double n = floor(fmin(positive_or(cores, 1) / least * (1 + 1e-9), WIDTH_MOST));

    return MAX((size_t)n, 1);
}

static size_t memory_fits(const struct width_limits *limits, double peak_bytes)
{
    double each = fmax(limits->trial_bytes, MARGIN * peak_bytes);

    if (!(limits->memory_bytes > 0))
        return SIZE_MAX;
    if (!(each > 0))
        return 1;
    return MAX((size_t)fmin(limits->memory_bytes / each, WIDTH_MOST), 1);
}

static size_t allowed(const struct width_limits *limits, double cores, size_t fits)
{
    size_t most = MIN(places(limits, cores), fits);
    return limits->most > 0 ? MIN(most, limits->most) : most;
}

double width_cores(const struct width_limits *limits, double cores, size_t width)
{
    return fmax(floor(positive_or(cores, 1) / (double)MAX(width, 1)),
                positive_or(limits->cores_least, 1));
}

/* The next width above that wastes no core: one more would have fewer cores each. */
static size_t next_width(const struct width_limits *limits, double cores, size_t width)
{
    double each = width_cores(limits, cores, width + 1);
    double n = floor(positive_or(cores, 1) / each * (1 + 1e-9));

    return MAX((size_t)fmin(n, WIDTH_MOST), width + 1);
}

static bool wastes_none(const struct width_limits *limits, double cores, size_t width)
{
    return width > 0 && next_width(limits, cores, width - 1) == width;
}

size_t width_start(const struct width_limits *limits, double cores)
{
    return allowed(limits, cores, memory_fits(limits, 0));
}

struct width *width_new(const struct width_limits *limits, size_t start)
{
    struct width *w = xcalloc(1, sizeof(*w));

    w->limits = *limits;
    w->asked = w->held = MIN(MAX(start, 1), WIDTH_MOST);
    w->blind = limits->memory_bytes > 0 && !(limits->trial_bytes > 0);
    return w;
}

void width_free(struct width *w)
{
    if (!w)
        return;
    vec_release(&w->rows);
    free(w);
}

/* ---- what a window tells ---- */

static void watch_memory(struct width *w, const struct width_input *input)
{
    bool known = w->peak_bytes > 0;
    double peak = w->peak_bytes;

    for (size_t i = 0; i < input->n; i++)
        peak = fmax(peak, positive_or(input->trials[i].peak_bytes, 0));
    w->steady = known && peak <= GROWN * w->peak_bytes ? w->steady + 1 : 0;
    w->peak_bytes = peak;
}

/* The row of the trial at this width and load; a new one goes after the others of its trial. */
static struct width_row *row_for(struct width *w, uint64_t trial, size_t width, double free_cores)
{
    size_t end = w->rows.len;

    while (end > 0 && w->rows.at[end - 1].trial != trial)
        end--;
    end = end > 0 ? end : w->rows.len;
    for (size_t i = end; i > 0 && w->rows.at[i - 1].trial == trial; i--) {
        struct width_row *row = &w->rows.at[i - 1];
        if (row->width == width && fabs(row->free - free_cores) <= SAME * free_cores)
            return row;
    }
    vec_push(&w->rows, (struct width_row){0});
    memmove(&w->rows.at[end + 1], &w->rows.at[end], (w->rows.len - 1 - end) * sizeof(*w->rows.at));
    w->rows.at[end] = (struct width_row){.trial = trial, .width = width, .free = free_cores};
    return &w->rows.at[end];
}

/* Forget one row of the width of which there are most. */
static void forget(struct width *w)
{
    size_t counts[WIDTH_MOST + 1] = {0}, most = 0, i = 0;

    vec_foreach (row, &w->rows) {
        counts[row->width]++;
        if (counts[row->width] > counts[most])
            most = row->width;
    }
    while (w->rows.at[i].width != most)
        i++;
    vec_remove(&w->rows, i);
}

static void tell(struct width *w, const struct width_trial *trial, size_t width, double free_cores)
{
    struct width_row *row = row_for(w, trial->id, width, free_cores);

    row->windows++;
    double share = 1 / (double)MIN(row->windows, MEMORY);
    row->mean += share * (trial->ln_seconds - row->mean);
    row->variance += share * (fmin(fmax(trial->variance, FLOOR), CEILING) - row->variance);
    if (w->rows.len > ROWS)
        forget(w);
}

static bool is_sound(const struct width_trial *trial)
{
    return fabs(trial->ln_seconds) < EXTREME && trial->variance >= 0;
}

/* A window tells the rate of its width if as many ran in the one before, and most of them have
 * told theirs: where many run, there is always one that is starting up. */
static void learn(struct width *w, const struct width_input *input, double free_cores)
{
    size_t told = 0;
    bool same = input->n > 0 && input->n == w->running && input->n <= WIDTH_MOST;

    for (size_t i = 0; i < input->n; i++)
        told += is_sound(&input->trials[i]);
    w->running = input->n;
    if (!same || (double)told < TOLD * (double)input->n ||
        (input->n != w->asked && !wastes_none(&w->limits, input->cores, input->n)))
        return;
    for (size_t i = 0; i < input->n; i++)
        if (is_sound(&input->trials[i]))
            tell(w, &input->trials[i], input->n, free_cores);
    w->windows += input->n == w->asked;
}

/* ---- what a width is worth ---- */

/* Share of its time that a slot trains: the faster its trials, the more often one starts up. */
static double training(const struct question *q, size_t width)
{
    double slower = (double)width / (double)q->w->asked;
    double run_s =
        q->trial_s * slower * exp(-width_model_compare(&q->model, width, q->w->asked).mean);

    return run_s / (run_s + q->startup_s);
}

static struct belief_ln gain_of(const struct question *q, size_t a, size_t b)
{
    size_t left = MAX(q->input->trials_left, 1);
    double loss = fmax(q->w->limits.loss, 0);
    struct belief_ln gain = width_model_compare(&q->model, MIN(a, left), MIN(b, left));

    gain.mean += log(width_efficiency(loss, a, left) / width_efficiency(loss, b, left));
    gain.mean += log(training(q, a) / training(q, b));
    return gain;
}

/* E[(e^g − 1)⁺], or with the sign turned E[(1 − e^g)⁺]. */
static double expected_share(struct belief_ln gain, double sign)
{
    double m = gain.mean, s = gain.deviation;

    if (s < 1e-9)
        return fmax(0, sign * expm1(m));
    return sign * (exp(m + s * s / 2) * normal_cdf(sign * (m / s + s)) - normal_cdf(sign * m / s));
}

static bool enough(struct belief_ln gain)
{
    return gain.mean >= fmax(log1p(SMALL), ERRORS * gain.deviation);
}

/* Seconds of progress that going there takes: new slots start up. */
static double going_s(const struct question *q, size_t from, size_t to)
{
    return to > from ? q->startup_s * (double)(to - from) / (double)to : 0;
}

/* … and that coming back takes, if it is worse by that share: slots go when their trials end. */
static double coming_s(const struct question *q, size_t from, size_t to, double worse)
{
    return going_s(q, to, from) + (to > from ? worse * q->trial_s / 2 : 0);
}

static double cost_of(const struct question *q, size_t to, struct belief_ln gain)
{
    size_t from = q->w->asked;
    double worse = expected_share(gain, -1);
    double back = gain.deviation > 0 ? normal_cdf(-gain.mean / gain.deviation) : gain.mean < 0;

    return going_s(q, from, to) + back * coming_s(q, from, to, worse) +
           (PROBE + 1) * WINDOW_S * worse;
}

static bool was_seen(const struct question *q, size_t width)
{
    return width_windows(q->w->rows.at, q->w->rows.len, width, q->free_cores) >= PROBE;
}

/* What going to this width is worth in seconds of progress; 0 or less: nothing. */
static double worth(const struct question *q, size_t to)
{
    const struct width *w = q->w;
    struct belief_ln gain = gain_of(q, to, w->asked);
    bool growing = w->limits.memory_bytes > 0 && w->steady < STEADY;
    bool hopeless = gain.mean + ERRORS * gain.deviation < log1p(SMALL);

    if ((to > w->asked && growing) || hopeless || (was_seen(q, to) && !enough(gain)))
        return 0;
    return q->left_s * expected_share(gain, 1) - cost_of(q, to, gain);
}

/* The width that is worth most to go to, 0: none. */
static size_t find_better(const struct question *q)
{
    const struct width *w = q->w;
    size_t most = MIN(q->most, MAX(q->input->trials_left, w->asked)), to = 0, found = 0;
    double best = 0;

    while (to < most) {
        to = MIN(next_width(&w->limits, q->input->cores, to), most);
        bool near = to <= FACTOR * w->asked && w->asked <= FACTOR * to;
        double value = near && to != w->asked ? worth(q, to) : 0;
        if (value > best) {
            best = value;
            found = to;
        }
    }
    return found;
}

/* ---- the rules ---- */

static void answer(const struct question *q, size_t to, struct belief_ln gain, double measured,
                   const char *why)
{
    struct width *w = q->w;

    *q->ret = (struct width_decision){
        .from = w->asked,
        .to = to,
        .cores = width_cores(&w->limits, q->input->cores, to),
        .why = why,
        .gain = gain,
        .measured = measured,
        .cost_s = to == w->asked ? 0 : cost_of(q, to, gain),
        .fits = q->fits,
    };
    if (to != w->asked)
        w->windows = 0;
    w->asked = to;
}

static void keep(const struct question *q, const char *why)
{
    answer(q, q->w->asked, (struct belief_ln){0, 0}, NAN, why);
}

static void on_settled(const struct question *q)
{
    size_t to = find_better(q);

    if (to == 0) {
        keep(q, "no other width is worth its cost");
        return;
    }
    q->w->predicted = gain_of(q, to, q->w->asked);
    answer(q, to, q->w->predicted, NAN, "may gain more than it costs");
}

static void on_trial(const struct question *q)
{
    struct width *w = q->w;
    struct belief_ln gain = gain_of(q, w->asked, w->held);
    bool sure = fabs(gain.mean) >= ERRORS * gain.deviation || ERRORS * gain.deviation < SMALL;

    if (!sure && w->windows < PROBE_MAX) {
        keep(q, "one more window to be sure");
        return;
    }
    double lost = q->left_s * (1 - exp(fmin(gain.mean, 0)));
    if (!enough(gain) && gain.mean < 0 && lost > going_s(q, w->asked, w->held)) {
        struct belief_ln back = {-gain.mean, gain.deviation};
        answer(q, w->held, back, -gain.mean, "what was tried is no better");
        return;
    }
    w->held = w->asked;
    answer(q, w->asked, w->predicted, gain.mean,
           enough(gain) ? "better by enough" : "no worse, and going back would cost");
}

/* It is not known yet what a trial takes: as soon as it is, as many as fit. */
static void on_blind(const struct question *q)
{
    struct width *w = q->w;

    w->unseen += !(w->peak_bytes > 0) && q->input->n > 0;
    if (w->unseen >= UNSEEN) {
        w->blind = false;
        w->limits.memory_bytes = 0;
        w->held = MAX(MIN(width_start(&w->limits, q->input->cores), q->input->trials_left), 1);
        answer(q, w->held, gain_of(q, w->held, w->asked), NAN,
               "nothing tells the memory of a trial");
        return;
    }
    if (!(w->peak_bytes > 0) || w->steady < STEADY) {
        keep(q, "how much memory a trial takes is not known yet");
        return;
    }
    size_t to = MAX(MIN(q->most, q->input->trials_left), 1);
    while (!wastes_none(&w->limits, q->input->cores, to) && to > 1)
        to--;
    w->blind = false;
    w->held = to;
    answer(q, to, gain_of(q, to, w->asked), NAN, "how much memory a trial takes is known now");
}

static void decide(const struct question *q)
{
    struct width *w = q->w;

    if (w->asked > q->most) {
        const char *why =
            q->fits <= q->most ? "the memory allows no more" : "fewer places are left";
        w->held = q->most;
        answer(q, q->most, gain_of(q, q->most, w->asked), NAN, why);
        return;
    }
    w->held = MIN(w->held, q->most);
    if (w->blind)
        on_blind(q);
    else if (w->windows < PROBE)
        keep(q, w->running > w->asked ? "waits for the end of a trial" : "is being measured");
    else if (w->asked == w->held)
        on_settled(q);
    else
        on_trial(q);
}

void width_next(struct width *w, const struct width_input *input, struct width_decision *ret)
{
    double cores = positive_or(input->cores, 1), load = positive_or(input->load, 0);
    struct question q = {.w = w, .input = input, .ret = ret};

    q.free_cores = fmax(cores - load, 0.5);
    q.trial_s = positive_or(input->trial_s, TRIAL_S);
    q.startup_s = positive_or(input->startup_s, 0);
    q.left_s = LONG_S;
    if (isfinite(input->trial_s) && input->trials_left != SIZE_MAX)
        q.left_s = q.trial_s * (double)input->trials_left / (double)w->asked;
    watch_memory(w, input);
    learn(w, input, q.free_cores);
    q.fits = memory_fits(&w->limits, w->peak_bytes);
    q.most = allowed(&w->limits, cores, q.fits);
    width_model_init(&q.model, w->rows.at, w->rows.len, q.free_cores, places(&w->limits, cores));
    decide(&q);
    width_model_release(&q.model);
}
