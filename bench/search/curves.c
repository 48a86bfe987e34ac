/* SPDX-License-Identifier: MIT */
/*
 * curves.c — does early stopping keep its promise, and does it pay? Replays on LCBench.
 *
 *     curves FOLDER kill [REPLAYS [RISK…]]     how often the winner is stopped, and what is saved
 *     curves FOLDER kill-model [REPLAYS [RISK…]]   the same, only of settings by the model without
 *                                              noise, and all replays of them
 *     curves FOLDER regret [SEEDS [RULE…]]     the same budget with and without a rule
 *
 * Both print tables in Markdown. REPLAYS are shared among the tables of the folder; each setting of
 * `kill` (noise, slots, who chooses) has so many. The budget is that of 30 whole runs.
 */
#include "bench/search/curves.h"

#include <err.h>
#include <glob.h>
#include <math.h>

#define TABLES_MAX  64
#define WHOLE_RUNS  30
#define NOISE       0.7 /* points of accuracy */
#define MODEL_SHARE 10  /* replays with a model are dear: one in so many */

static struct curve_table tables[TABLES_MAX];
static size_t n_tables;

static void load_tables(const char *folder)
{
    autofree(mem) char *pattern = xasprintf("%s/*.csv.gz", folder);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        errx(1, "no *.csv.gz in %s", folder);
    for (size_t i = 0; i < found.gl_pathc && n_tables < TABLES_MAX; i++)
        curve_table_load(&tables[n_tables++], found.gl_pathv[i]);
    globfree(&found);
    if (n_tables == 0)
        errx(1, "no tables in %s", folder);
}

static double budget_of(const struct curve_table *table, bool in_seconds)
{
    double mean = 0;
    for (size_t i = 0; i < table->n; i++)
        mean += table->seconds[i] / (double)table->n;
    return WHOLE_RUNS * (in_seconds ? mean : EPOCHS);
}

/* P(X ≤ k) of a binomial. */
static double binomial_below(size_t k, size_t n, double p)
{
    double sum = 0;
    for (size_t i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                   (double)i * log(p) + (double)(n - i) * log1p(-p));
    return sum;
}

/* The upper end of the exact 95 % interval of a share (Clopper, Pearson 1934). */
static double upper_end(size_t k, size_t n)
{
    double low = (double)k / (double)n, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (binomial_below(k, n, middle) > 0.025)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- how often the winner is stopped ---- */

struct setting {
    const char *what;
    double noise;
    size_t slots;
    bool model;
};
static const struct setting kill_settings[] = {
    {"random, 1 at a time", 0, 1, false},
    {"random, 4 side by side", 0, 4, false},
    {"random, 1 at a time, noise", NOISE, 1, false},
    {"random, 4 side by side, noise", NOISE, 4, false},
    {"model, 1 at a time", 0, 1, true},
    {"model, 1 at a time, noise", NOISE, 1, true},
};

static void kill_row(const struct setting *setting, double risk, size_t replays)
{
    size_t all = 0, each = 0, killed = 0, most_killed = 0;
    double saved = 0, started = 0, worst_saved = 1, lost = 0;

    printf("| %s | %g %% |", setting->what, 100 * risk);
    for (size_t i = 0; i < n_tables; i++) {
        size_t n = (replays + n_tables - 1) / n_tables, here = 0;
        double saved_here = 0;
        for (size_t seed = 1; seed <= n; seed++) {
            struct replay replay = {.table = &tables[i],
                                    .rule = "curve",
                                    .settings = {.chance = risk},
                                    .model = setting->model,
                                    .slots = setting->slots,
                                    .noise = setting->noise,
                                    .budget = budget_of(&tables[i], false),
                                    .seed = seed};
            struct outcome outcome = replay_run(&replay);
            here += outcome.killed;
            lost += outcome.killed ? outcome.lost : 0;
            saved_here += 1 - outcome.epochs / outcome.whole_epochs;
            started += (double)outcome.started;
        }
        killed += here;
        most_killed = MAX(most_killed, here);
        saved += saved_here;
        worst_saved = fmin(worst_saved, saved_here / (double)n);
        all += n;
        each = n;
        printf(" %zu", here);
        fflush(stdout);
    }
    double n = (double)all;
    printf(" of %zu | %.2f %% | %.2f %% | %s | %.0f %% (%.0f %%) | %.0f | %.2f |\n", each,
           100 * (double)killed / n, 100 * upper_end(killed, all),
           upper_end(killed, all) <= risk + 0.01 ? "yes" : "no", 100 * saved / n, 100 * worst_saved,
           started / n, killed ? lost / (double)killed : 0);
    fflush(stdout);
}

/* As users have it. */
static bool is_plain_model(const struct setting *setting)
{
    return setting->model && setting->noise == 0;
}

static void report_kills(size_t replays, const double *risks, size_t n_risks, bool only_model)
{
    printf("Winner stopped, by table (");
    for (size_t i = 0; i < n_tables; i++)
        printf("%s%s", i ? ", " : "", tables[i].name);
    printf(
        "):\n\n| settings by | asked | stopped | share | upper end | kept | epochs saved (least) "
        "| trials | points lost then |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t s = 0; s < ARRAY_LEN(kill_settings); s++)
        for (size_t k = 0; k < n_risks && (!only_model || is_plain_model(&kill_settings[s])); k++)
            kill_row(&kill_settings[s], risks[k],
                     kill_settings[s].model && !only_model ? replays / MODEL_SHARE : replays);
}

/* ---- the same budget with and without a rule ---- */

static double regret_of(const struct curve_table *table, const char *rule, bool model, double noise,
                        bool in_seconds, uint64_t seed)
{
    struct replay replay = {.table = table,
                            .rule = rule,
                            .settings = {.chance = NAN},
                            .model = model,
                            .slots = 1,
                            .noise = noise,
                            .budget = budget_of(table, in_seconds),
                            .in_seconds = in_seconds,
                            .seed = seed};
    return replay_run(&replay).regret;
}

struct sums {
    double without, with, difference, squares;
};

static void regret_rows(const char *rule, bool model, double noise, bool in_seconds, size_t seeds)
{
    double without = 0, with = 0, n = (double)seeds;

    printf("\n`%s`, %s, budget in %s%s\n\n| table | none | %s | difference | 95 %% |\n"
           "|---|---|---|---|---|\n",
           rule, model ? "settings by the model" : "settings at random",
           in_seconds ? "seconds" : "epochs", noise > 0 ? ", noise" : "", rule);
    for (size_t i = 0; i < n_tables; i++) {
        struct sums sums = {0};
        for (size_t seed = 1; seed <= seeds; seed++) {
            double a = regret_of(&tables[i], "none", model, noise, in_seconds, seed);
            double b = regret_of(&tables[i], rule, model, noise, in_seconds, seed);
            sums.without += a / n;
            sums.with += b / n;
            sums.difference += (b - a) / n;
            sums.squares += (b - a) * (b - a) / n;
        }
        double variance = fmax(sums.squares - sums.difference * sums.difference, 0);
        double half = 1.96 * sqrt(variance / fmax(n - 1, 1));
        printf("| %s | %.2f | %.2f | %+.2f | %+.2f … %+.2f%s |\n", tables[i].name, sums.without,
               sums.with, sums.difference, sums.difference - half, sums.difference + half,
               sums.difference - half > 0 && sums.difference > 0.3 ? " worse" : "");
        fflush(stdout);
        without += sums.without;
        with += sums.with;
    }
    printf("| mean | %.2f | %.2f | ratio %.2f | |\n", without / (double)n_tables,
           with / (double)n_tables, with / without);
    fflush(stdout);
}

static void report_regrets(size_t seeds, const char *const *rules, size_t n_rules)
{
    for (size_t k = 0; k < n_rules; k++)
        for (int model = 1; model >= 0; model--) {
            regret_rows(rules[k], model, 0, false, seeds);
            regret_rows(rules[k], model, 0, true, seeds);
            regret_rows(rules[k], model, NOISE, false, seeds);
        }
}

int main(int argc, char **argv)
{
    static const char *const rule[] = {"curve"};
    double risks[32] = {0.01, 0.02, 0.05, 0.1};
    size_t n_risks = 4;

    if (argc < 3)
        errx(2, "usage: curves FOLDER kill|kill-model [REPLAYS [RISK…]] | regret [SEEDS [RULE…]]");
    load_tables(argv[1]);
    size_t n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    bool only_model = str_eq(argv[2], "kill-model");
    if (only_model || str_eq(argv[2], "kill")) {
        if (argc > 4)
            n_risks = 0;
        for (int i = 4; i < argc && n_risks < ARRAY_LEN(risks); i++)
            risks[n_risks++] = strtod(argv[i], NULL);
        report_kills(n ? n : 1020, risks, n_risks, only_model);
    } else if (str_eq(argv[2], "regret")) {
        for (int i = 4; i < argc; i++)
            if (!stop_find(argv[i]))
                errx(2, "there is no rule '%s'", argv[i]);
        report_regrets(n ? n : 20, argc > 4 ? (const char *const *)argv + 4 : rule,
                       argc > 4 ? (size_t)argc - 4 : 1);
    } else
        errx(2, "'%s' is none of kill, kill-model, regret", argv[2]);
    for (size_t i = 0; i < n_tables; i++)
        curve_table_release(&tables[i]);
    return 0;
}
