/* SPDX-License-Identifier: MIT */
/*
 * remaining.c — how well the steps to a target are foretold, on real learning curves: LCBench, 6
 * tasks with 2,000 settings of 52 epochs each.
 *
 *     remaining FOLDER [fit|report] [ENDED [NOISE]]   e.g. remaining ../shared/data/curves report
 * 30
 *
 * A case is a curve seen until a random epoch, and ENDED others of its task that have ended. Its
 * target lies between the best value so far and the best one later, so it is reached; the truth is
 * when, between epochs in a straight line. Constants of src/tune/remaining.c may be fitted on every
 * other task (`fit`) only; the figures come from the others (`report`, the default).
 *
 * Two ways to draw a target: evenly in value, and as the value of a later epoch that is a new best.
 * The guesses beside ours, each cut off at the last epoch, since all know it:
 *   task    one number for a task: the median steps left over the ended curves, at any epoch
 *   epoch   the median steps left of the ended curves at the same epoch, targets drawn alike
 *   target  when the ended curves reached this very target: the median
 *   line    a straight line by least squares through the last five values
 *
 * The tables are smooth; NOISE, a share of each curve's range, is added to every value.
 * Whether the chance is right is seen with targets that may be out of reach.
 */
#include "base/rng.h"
#include "bench/search/curves.h"
#include "tune/remaining.h"

#include <err.h>
#include <math.h>
#include <time.h>

#define CASES     2000 /* a task */
#define LEAST     0.01 /* ten units in the table's last digit: a smaller gain is rounding */
#define ENDED_MAX 48
#define LAST      5

static const char *const tasks[2][3] = {
    {"lcbench_126025", "lcbench_167168", "lcbench_3945"},  /* fit */
    {"lcbench_167104", "lcbench_189873", "lcbench_7593"}}; /* report */

enum guess { OURS, TASK, EPOCH, TARGET, LINE, GUESSES };
static const char *const guess_names[] = {"ours", "task", "epoch", "target", "line"};

struct draw {          /* a case */
    const double *acc; /* (EPOCHS) */
    size_t seen;       /* epochs */
    double target, truth;
    const double *ended[ENDED_MAX];
    size_t n;
};

struct tally {
    VEC(double) errors[GUESSES]; /* |ln(guess / truth)| */
    VEC(double) sure[GUESSES];   /* of those in which we dared to say a time */
    size_t n, held, n_sure, held_sure;
    size_t early, late; /* truths before and after the interval, where a time was said */
    VEC(double) widths; /* ln(high / low) */
    double seconds;
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *x, size_t n, double p)
{
    if (n == 0)
        return NAN;
    qsort(x, n, sizeof(*x), compare_doubles);
    return x[(size_t)(p * (double)(n - 1) + 0.5)];
}

static double best_of(const double *acc, size_t from, size_t until)
{
    double best = -INFINITY;
    for (size_t i = from; i < until; i++)
        best = fmax(best, acc[i]);
    return best;
}

/* Epochs from `seen` until `target`; INFINITY: never. */
static double steps_until(const double *acc, size_t seen, double target)
{
    for (size_t i = seen; i < EPOCHS; i++) {
        if (acc[i] < target)
            continue;
        double before = acc[i - 1];
        double part = before < target ? (target - before) / (acc[i] - before) : 0;
        return (double)(i - seen) + part;
    }
    return INFINITY;
}

/* A target that is reached later; NaN if there is none. Drawn by u evenly in value or in time. */
static double draw_target(const double *acc, size_t seen, bool in_time, double u)
{
    double so_far = best_of(acc, 0, seen), later = best_of(acc, seen, EPOCHS);
    if (!(later >= so_far + LEAST))
        return NAN;
    if (!in_time)
        return so_far + u * (later - so_far);
    double news[EPOCHS] = {0}, best = so_far;
    size_t n = 0;
    for (size_t i = seen; i < EPOCHS; i++)
        if (acc[i] > best)
            news[n++] = best = acc[i];
    return news[(size_t)(u * (double)n)];
}

static double cut(double steps, size_t seen)
{
    return fmax(fmin(steps, (double)(EPOCHS - seen)), 0.01);
}

static double guess_line(const struct draw *d)
{
    size_t n = MIN(d->seen, LAST);
    double mx = (double)(n - 1) / 2, my = 0, xx = 0, xy = 0;
    const double *y = d->acc + d->seen - n;
    for (size_t i = 0; i < n; i++)
        my += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        xx += ((double)i - mx) * ((double)i - mx);
        xy += ((double)i - mx) * (y[i] - my);
    }
    double slope = xy / xx;
    return slope > 0 ? (d->target - y[n - 1]) / slope : INFINITY;
}

/* The median over the ended curves of what is left to targets drawn alike, at this epoch or all. */
static double guess_constant(const struct draw *d, bool in_time, bool any_epoch, struct rng *rng)
{
    VEC(double) steps = {0};
    for (size_t i = 0; i < d->n; i++) {
        for (size_t k = 0; k < 5; k++) {
            size_t seen = any_epoch ? 3 + rng_below(rng, 40) : d->seen;
            double target = draw_target(d->ended[i], seen, in_time, rng_unit(rng));
            if (!isnan(target))
                vec_push(&steps, steps_until(d->ended[i], seen, target));
        }
    }
    double median = steps.len ? quantile(steps.at, steps.len, 0.5) : (EPOCHS - d->seen) / 2.0;
    vec_release(&steps);
    return median;
}

static double guess_target(const struct draw *d)
{
    double steps[ENDED_MAX];
    for (size_t i = 0; i < d->n; i++)
        steps[i] = steps_until(d->ended[i], 1, d->target) + 1 - (double)d->seen;
    return d->n ? quantile(steps, d->n, 0.5) : (EPOCHS - d->seen) / 2.0;
}

static bool estimate(const struct draw *d, struct remaining *ret)
{
    double ages[EPOCHS];
    struct curve_points ended[ENDED_MAX], mine = {ages, d->acc, d->seen};
    for (size_t i = 0; i < EPOCHS; i++)
        ages[i] = (double)(i + 1);
    for (size_t i = 0; i < d->n; i++)
        ended[i] = (struct curve_points){ages, d->ended[i], EPOCHS};
    struct target target = {.value = d->target, .above = true};
    autofree(remaining_model) struct remaining_model *model =
        remaining_model_new(ended, d->n, &target, EPOCHS);
    return remaining_to_target(model, &mine, ret);
}

static void draw_curves(struct draw *d, const struct curve_table *table, size_t ended,
                        struct rng *rng)
{
    d->acc = table->accuracy[rng_below(rng, table->n)];
    d->seen = 3 + rng_below(rng, 40);
    d->n = ended;
    for (size_t i = 0; i < ended; i++)
        do
            d->ended[i] = table->accuracy[rng_below(rng, table->n)];
        while (d->ended[i] == d->acc);
}

static void score(struct tally *tally, const struct draw *d, bool in_time, struct rng *rng)
{
    struct remaining left;
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    if (!estimate(d, &left) || !(left.chance > 0))
        left = (struct remaining){0, (EPOCHS - d->seen) / 2.0, INFINITY, -INFINITY};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    tally->seconds += (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    double guesses[GUESSES] = {left.middle, guess_constant(d, in_time, true, rng),
                               guess_constant(d, in_time, false, rng), guess_target(d),
                               guess_line(d)};
    bool sure = remaining_is_sure(&left), held = d->truth >= left.low && d->truth <= left.high;
    for (size_t g = 0; g < GUESSES; g++) {
        double e = fabs(log(cut(guesses[g], d->seen) / d->truth));
        vec_push(&tally->errors[g], e);
        if (sure)
            vec_push(&tally->sure[g], e);
    }
    tally->n++;
    tally->held += held;
    tally->n_sure += sure;
    tally->held_sure += sure && held;
    tally->early += sure && d->truth < left.low;
    tally->late += sure && d->truth > left.high;
    if (sure)
        vec_push(&tally->widths, log(left.high / fmax(left.low, 1e-3)));
}

static void report(struct tally *tally, const char *name, const char *kind)
{
    printf("%-15s %-6s", name, kind);
    for (size_t g = 0; g < GUESSES; g++)
        printf("  %5.3f", quantile(tally->errors[g].at, tally->errors[g].len, 0.5));
    printf("  %5.1f%% | %5.1f%%", 100.0 * (double)tally->held / (double)tally->n,
           100.0 * (double)tally->n_sure / (double)tally->n);
    for (size_t g = 0; g < GUESSES; g++)
        printf("  %5.3f", quantile(tally->sure[g].at, tally->sure[g].len, 0.5));
    printf("  %5.1f%%  %4.1f%% %4.1f%%  %5.2f  %4.0f\n",
           100.0 * (double)tally->held_sure / fmax((double)tally->n_sure, 1),
           100.0 * (double)tally->early / fmax((double)tally->n_sure, 1),
           100.0 * (double)tally->late / fmax((double)tally->n_sure, 1),
           quantile(tally->widths.at, tally->widths.len, 0.5),
           1e6 * tally->seconds / (double)tally->n);
}

#define ADD_ALL(to, from)                                                                          \
    vec_foreach (x, from)                                                                          \
    vec_push(to, *x)

static void tally_add(struct tally *to, const struct tally *from)
{
    for (size_t g = 0; g < GUESSES; g++) {
        ADD_ALL(&to->errors[g], &from->errors[g]);
        ADD_ALL(&to->sure[g], &from->sure[g]);
    }
    ADD_ALL(&to->widths, &from->widths);
    to->n += from->n;
    to->held += from->held;
    to->n_sure += from->n_sure;
    to->held_sure += from->held_sure;
    to->early += from->early;
    to->late += from->late;
    to->seconds += from->seconds;
}

static void tally_release(struct tally *tally)
{
    for (size_t g = 0; g < GUESSES; g++) {
        vec_release(&tally->errors[g]);
        vec_release(&tally->sure[g]);
    }
    vec_release(&tally->widths);
}

static void measure_steps(const struct curve_table *table, bool in_time, size_t ended,
                          struct tally *all)
{
    struct tally own = {0};
    struct rng rng;
    rng_init(&rng, 1, in_time);
    while (own.n < CASES) {
        struct draw d;
        draw_curves(&d, table, ended, &rng);
        d.target = draw_target(d.acc, d.seen, in_time, 0.02 + 0.96 * rng_unit(&rng));
        if (isnan(d.target))
            continue;
        d.truth = steps_until(d.acc, d.seen, d.target);
        score(&own, &d, in_time, &rng);
    }
    report(&own, table->name, in_time ? "time" : "value");
    tally_add(all, &own);
    tally_release(&own);
}

/* Targets up to twice the gain that some ended curve still made. */
static void measure_chance(const struct curve_table *table, size_t ended, size_t (*bins)[2],
                           double *brier)
{
    struct rng rng;
    rng_init(&rng, 1, 2);
    for (size_t n = 0; n < CASES;) {
        struct draw d;
        struct remaining left;
        draw_curves(&d, table, MAX(ended, 1), &rng);
        double so_far = best_of(d.acc, 0, d.seen);
        double gain = best_of(d.ended[0], d.seen, EPOCHS) - best_of(d.ended[0], 0, d.seen);
        if (gain < LEAST)
            continue;
        d.target = so_far + 2 * gain * rng_unit(&rng) + 1e-6;
        d.n = ended;
        bool reached = isfinite(steps_until(d.acc, d.seen, d.target));
        if (!estimate(&d, &left))
            left.chance = 0;
        size_t bin = MIN((size_t)(left.chance * 5), 4);
        bins[bin][0]++;
        bins[bin][1] += reached;
        *brier += (left.chance - reached) * (left.chance - reached);
        n++;
    }
}

static void add_noise(struct curve_table *table, double share)
{
    struct rng rng;
    rng_init(&rng, 1, 3);
    for (size_t i = 0; i < table->n; i++) {
        double *acc = table->accuracy[i], low = INFINITY;
        for (size_t k = 0; k < EPOCHS; k++)
            low = fmin(low, acc[k]);
        double range = best_of(acc, 0, EPOCHS) - low;
        for (size_t k = 0; k < EPOCHS; k++)
            acc[k] += share * range * rng_normal(&rng);
    }
}

static void print_goals(const struct tally *tally, const char *kind)
{
    double median[GUESSES], held = 100.0 * (double)tally->held / (double)tally->n;

    for (size_t g = 0; g < GUESSES; g++)
        median[g] = quantile(tally->errors[g].at, tally->errors[g].len, 0.5);
    double guess = fmin(fmin(median[TASK], median[EPOCH]), median[TARGET]);
    bool met = median[OURS] <= 0.85 * fmin(guess, median[LINE]) && held >= 75 && held <= 85;
    printf("goals, targets drawn by %s: error over the best constant guess %.2f, over a line %.2f "
           "(both at most 0.85), intervals hold %.1f%% of %zu (75 to 85%%): %s\n",
           kind, median[OURS] / guess, median[OURS] / median[LINE], held, tally->n,
           met ? "yes" : "no");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        errx(1, "usage: remaining FOLDER [fit|report] [ENDED [NOISE]]");
    bool fit = argc > 2 && str_eq(argv[2], "fit");
    size_t ended = argc > 3 ? MIN(strtoul(argv[3], NULL, 10), ENDED_MAX) : 30;
    double noise = argc > 4 ? strtod(argv[4], NULL) : 0;
    struct tally all[2] = {0};
    size_t bins[5][2] = {0};
    double brier = 0;
    printf(
        "median |ln(guess/truth)| and 80 %% intervals that hold | cases in which a time is said: "
        "the same, truths before and after the interval, ln(high/low), us an estimate\n%-22s",
        "");
    for (size_t k = 0; k < 2 * GUESSES; k++)
        printf("%s%7s", k == GUESSES ? "   held |   said" : "", guess_names[k % GUESSES]);
    printf("    held early  late  width    us\n");
    for (size_t t = 0; t < 3; t++) {
        autofree(mem) char *path = xasprintf("%s/%s.csv.gz", argv[1], tasks[!fit][t]);
        struct curve_table table;
        curve_table_load(&table, path);
        if (noise > 0)
            add_noise(&table, noise);
        for (size_t k = 0; k < 2; k++)
            measure_steps(&table, k, ended, &all[k]);
        measure_chance(&table, ended, bins, &brier);
        curve_table_release(&table);
    }
    report(&all[0], "all", "value");
    report(&all[1], "all", "time");
    printf("chance said:reached ");
    for (size_t k = 0; k < 5; k++)
        printf(" %zu-%zu%%: %zu of %zu (%.0f%%)", 20 * k, 20 * k + 20, bins[k][1], bins[k][0],
               100.0 * (double)bins[k][1] / fmax((double)bins[k][0], 1));
    printf("  Brier %.4f\n", brier / (3 * CASES));
    print_goals(&all[0], "value");
    print_goals(&all[1], "time");
    tally_release(&all[0]);
    tally_release(&all[1]);
    return 0;
}
