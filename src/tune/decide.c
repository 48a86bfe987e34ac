/* SPDX-License-Identifier: MIT */
/*
 * decide.c — the rules by which a trial's configuration is changed. decide_worth.c reckons what
 * each is worth, decision.c says it in words.
 *
 * All comparisons are of ln seconds per unit of progress between two configurations (δ < 0: the
 * first is faster), all worth is in seconds of the time that is left. The window that was just told
 * is in the speed model before any rule looks.
 *
 * Invariant: `current` is `held`, or it is `rival`. A closed configuration has been judged against
 * what was held and is not tried again before something changes.
 */
#include "tune/decide.h"
#include "tune/decide_internal.h"

#include <assert.h>
#include <math.h>

#define BIG          0.25 /* share of time saved that needs no pairs */
#define BIG_WINDOWS  2
#define IDLE_CORES   0.5
#define IDLE_WINDOWS 2
#define LOAD_CORES   0.5
#define LOAD_WINDOWS 4     /* after the load has opened all, it does not again for so many */
#define LOAD_CALM    8     /* … times quiet: that is over */
#define FREE         0.002 /* share of what is left: going back for less costs nothing */
#define LONG_S       3600  /* counted as left where the end is not known */

struct decide *decide_new(struct speed *speed, const double *configurations, size_t n,
                          const struct decide_limits *limits)
{
    struct decide *d = xcalloc(1, sizeof(*d));

    d->speed = speed;
    d->knobs = speed_knobs(speed, &d->width);
    d->limits = limits ? *limits : DECIDE_LIMITS;
    for (size_t i = 0; i < n * d->width; i++)
        vec_push(&d->configurations, configurations[i]);
    for (size_t i = 0; i < n; i++) {
        vec_push(&d->closed, false);
        vec_push(&d->spent, 0);
    }
    d->held = d->rival = d->current = d->previous = NONE;
    return d;
}

void decide_learning(struct decide *d, struct learning *learning)
{
    d->learning = learning;
}

void decide_free(struct decide *d)
{
    if (!d)
        return;
    vec_release(&d->configurations);
    vec_release(&d->closed);
    vec_release(&d->spent);
    free(d);
}

static size_t find(const struct decide *d, const double *configuration)
{
    for (size_t c = 0; c < d->closed.len; c++)
        if (knobs_change(d->knobs, d->width, decide_at(d, c), configuration) == CHANGE_NONE)
            return c;
    return NONE;
}

static void open_all(struct decide *d)
{
    for (size_t c = 0; c < d->closed.len; c++)
        d->closed.at[c] = false;
    for (size_t c = 0; c < d->spent.len; c++)
        d->spent.at[c] = 0;
}

void decide_begin(struct decide *d, uint64_t trial, const double *configuration)
{
    size_t c = find(d, configuration);

    if (c == NONE) {
        c = d->closed.len;
        for (size_t j = 0; j < d->width; j++)
            vec_push(&d->configurations, configuration[j]);
        vec_push(&d->closed, false);
        vec_push(&d->spent, 0);
    }
    open_all(d);
    d->trial = trial;
    d->held = d->current = c;
    d->rival = d->previous = NONE;
    d->windows = d->idle_windows = 0;
    d->idle_wait = IDLE_WINDOWS;
    d->load_windows = d->load_wait = 0;
    d->marked = false;
}

const double *decide_held(const struct decide *d)
{
    return decide_at(d, d->held);
}

double decide_bar(struct decide *d, double load)
{
    if (d->current == d->held ||
        speed_windows(d->speed, d->trial, decide_at(d, d->held), load) == 0)
        return INFINITY;
    if (d->learning &&
        learning_compare(d->learning, decide_at(d, d->current), decide_at(d, d->held)).deviation >
            0)
        return INFINITY; /* slower steps may teach more */
    return speed_predict(d->speed, d->trial, decide_at(d, d->held), load).mean;
}

static double measured(const struct question *q, size_t a, size_t b)
{
    const struct decide *d = q->d;
    double delta = speed_measured(d->speed, d->trial, decide_at(d, a), q->load) -
                   speed_measured(d->speed, d->trial, decide_at(d, b), q->load);

    return decide_by_learning(d, (struct belief_ln){delta, 0}, decide_at(d, a), decide_at(d, b))
        .mean;
}

/* The answer: go from what runs to `to`, for what the comparison of a to b says. */
static void answer(const struct question *q, enum advice advice, size_t to, size_t a, size_t b,
                   const char *why)
{
    struct decide *d = q->d;
    bool of_rival = a == d->rival && b == d->held;

    *q->ret = (struct decision){
        .advice = advice,
        .why = why,
        .from = decide_at(d, d->current),
        .to = decide_at(d, to),
        .kind = knobs_change(d->knobs, d->width, decide_at(d, d->current), decide_at(d, to)),
        .against = decide_at(d, a),
        .over = decide_at(d, b),
        .predicted = of_rival && d->windows > 0 ? d->predicted : decide_compare(q, a, b),
        .measured = a == b ? NAN : measured(q, a, b),
        .cost_s = decide_cost(d, d->current, to),
        .saving_s = q->left_s - decide_left(q, to),
        .remaining_s = q->left_s,
    };
    d->current = to;
}

static void keep(const struct question *q, const char *why)
{
    answer(q, ADVICE_KEEP, q->d->current, q->d->current, q->d->held, why);
}

static void try_probe(const struct question *q, const struct probe *probe)
{
    struct decide *d = q->d;

    d->rival = probe->configuration;
    d->windows = 0;
    d->predicted = probe->delta;
    answer(q, ADVICE_TRY, d->rival, d->rival, d->held, "may save more than it costs");
}

static bool try_next(const struct question *q)
{
    struct probe probe = decide_probe(q, /* fresh= */ false);

    if (probe.configuration == NONE)
        return false;
    try_probe(q, &probe);
    return true;
}

static void hold(struct decide *d, size_t c)
{
    if (c != d->held)
        d->previous = d->held;
    d->held = c;
    d->rival = NONE;
    d->closed.at[c] = false;
}

/* What is held runs and nothing is on trial. */
static void on_settled(const struct question *q)
{
    struct decide *d = q->d;
    size_t better = decide_better(q);

    if (better == NONE) {
        if (!try_next(q))
            keep(q, "nothing else is worth its cost");
        return;
    }
    if (better == d->previous) {
        answer(q, ADVICE_REVERT, better, better, d->held, "the change turned out worse");
        d->closed.at[d->held] = true;
        hold(d, better);
    } else {
        d->rival = better;
        d->windows = 0;
        d->predicted = decide_compare(q, better, d->held);
        answer(q, ADVICE_TRY, better, better, d->held, "was measured better");
    }
    /* Perhaps all have become slower since: what is fresh decides, not the memory of it. */
    speed_doubt(d->speed, d->trial, q->ret->from);
}

static void adopt_rival(const struct question *q, const char *why)
{
    struct decide *d = q->d;
    size_t rival = d->rival;

    d->closed.at[d->held] = true;
    answer(q, ADVICE_ADOPT, rival, rival, d->held, why);
    hold(d, rival);
}

/* The rival is no improvement: another one from here, or back to what is held. */
static void drop_rival(const struct question *q, struct belief_ln delta)
{
    struct decide *d = q->d;
    size_t rival = d->rival;
    double back = decide_cost(d, d->current, d->held);
    double lost = q->left_s * (1 - exp(-delta.mean));

    d->closed.at[rival] = true;
    if (d->current != d->held && lost <= back && back > FREE * q->left_s) {
        adopt_rival(q, "going back would cost more than it saves");
        return;
    }
    if (try_next(q))
        return;
    if (d->current == d->held) {
        d->rival = NONE;
        keep(q, "what was tried is no better");
        return;
    }
    answer(q, ADVICE_REVERT, d->held, rival, d->held, "what was tried is no better");
    d->rival = NONE;
}

/* Held and rival are near each other. One that was not tried yet and promises more than this
 * question comes first; the rival stays open for later. */
static void take_turns(const struct question *q, struct belief_ln delta)
{
    struct decide *d = q->d;
    struct probe fresh = decide_probe(q, /* fresh= */ true);

    if (fresh.configuration != NONE && fresh.worth > decide_loss(q, delta)) {
        try_probe(q, &fresh);
        return;
    }
    answer(q, ADVICE_TRY, d->current == d->held ? d->rival : d->held, d->rival, d->held,
           "one more pair to be sure");
}

static void on_trial(const struct question *q)
{
    struct decide *d = q->d;
    struct belief_ln delta = decide_compare(q, d->rival, d->held);
    bool big = 1 - exp(delta.mean) > BIG;

    if (d->current == d->rival && delta.mean < 0 && d->windows < BIG_WINDOWS) {
        keep(q, "looks better: one more window");
        return;
    }
    if (big && d->windows >= BIG_WINDOWS && decide_enough(delta)) {
        adopt_rival(q, "much better in two windows");
        return;
    }
    if (!q->input->cut && decide_pair_pays(q, delta)) {
        take_turns(q, delta);
        return;
    }
    if (decide_enough(delta))
        adopt_rival(q, "better by enough");
    else
        drop_rival(q, delta);
}

/* A neighbour that came or went, or cores that idle: what was judged may be wrong now. */
static void watch(struct decide *d, const struct decide_input *input, double load)
{
    d->load_windows++;
    if (!d->marked) {
        d->load_mark = load;
        d->marked = true;
    } else if (fabs(load - d->load_mark) >= LOAD_CORES && d->load_windows > d->load_wait) {
        open_all(d);
        /* A load that comes and goes is asked about less and less often. */
        d->load_wait = d->load_windows > LOAD_CALM * d->load_wait ? LOAD_WINDOWS : 2 * d->load_wait;
        d->load_windows = 0;
        d->load_mark = load;
    }
    if (!(input->idle >= IDLE_CORES)) {
        d->idle_windows = 0;
        d->idle_wait = IDLE_WINDOWS;
        return;
    }
    if (++d->idle_windows >= d->idle_wait && d->rival == NONE) {
        open_all(d);
        speed_doubt(d->speed, d->trial, decide_at(d, d->current));
        d->idle_windows = 0;
        d->idle_wait *= 2; /* where probing did not help, ask less often */
    }
}

static struct question ask(struct decide *d, const struct decide_input *input, struct decision *ret)
{
    double passed = fmax(0, input->now_s - input->remaining_at_s);
    double left = input->remaining_s - (isnan(passed) ? 0 : passed);

    assert(d->held != NONE);
    if (isnan(left) || isinf(left))
        left = LONG_S;
    return (struct question){.d = d,
                             .input = input,
                             .load = isfinite(input->load) ? input->load : 0,
                             .left_s = fmax(left, 0),
                             .ret = ret};
}

/* After the window is told: what the rules need of the configuration held. */
static void look_at_held(struct question *q)
{
    struct decide *d = q->d;

    q->held_left_s = decide_left(q, d->held);
    q->held_unit_s = exp(speed_predict(d->speed, d->trial, decide_at(d, d->held), q->load).mean);
}

void decide_on_window(struct decide *d, const struct decide_input *input, struct decision *ret)
{
    struct question q = ask(d, input, ret);
    bool told = speed_tell(d->speed, d->trial, decide_at(d, d->current), q.load, input->ln_seconds,
                           input->variance);

    watch(d, input, q.load);
    if (!told) {
        keep(&q, "the window told nothing");
        return;
    }
    look_at_held(&q);
    if (d->rival == NONE) {
        on_settled(&q);
        return;
    }
    if (d->current == d->rival) {
        d->windows++;
        d->spent.at[d->rival]++;
    }
    on_trial(&q);
}

/* The feasible one that is predicted fastest, NONE without. */
static size_t find_refuge(const struct question *q)
{
    const struct decide *d = q->d;
    double best = INFINITY;
    size_t found = NONE;

    for (size_t c = 0; c < d->closed.len; c++) {
        double mean = speed_predict(d->speed, d->trial, decide_at(d, c), q->load).mean;
        bool proven = speed_windows(d->speed, d->trial, decide_at(d, c), q->load) > 0;
        if (speed_feasible(d->speed, decide_at(d, c)) && mean - (proven ? 100 : 0) < best) {
            best = mean - (proven ? 100 : 0);
            found = c;
        }
    }
    return found;
}

void decide_on_failure(struct decide *d, const struct decide_input *input, struct decision *ret)
{
    struct question q = ask(d, input, ret);
    size_t refuge = d->held;

    speed_infeasible(d->speed, decide_at(d, d->current));
    if (d->current == d->held)
        refuge = find_refuge(&q);
    if (refuge == NONE) {
        keep(&q, "no other configuration is left");
        return;
    }
    answer(&q, ADVICE_REVERT, refuge, d->current, refuge, "it failed under this configuration");
    hold(d, refuge);
    d->previous = NONE;
}

void decide_on_refusal(struct decide *d, const struct decide_input *input, struct decision *ret)
{
    struct question q = ask(d, input, ret);
    size_t held = d->held;

    if (d->current == held) {
        keep(&q, "it cannot be had here");
        return;
    }
    d->closed.at[d->current] = true;
    answer(&q, ADVICE_REVERT, held, d->current, held, "it cannot be had here");
    hold(d, held);
}
