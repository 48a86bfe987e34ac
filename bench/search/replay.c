/* SPDX-License-Identifier: MIT */
/*
 * replay.c — our searchers on the tables.
 *
 *     replay [-a ALGORITHM] [-n TRIALS] [-s 1-30] [-p IN_FLIGHT] [-k KNOWN] DATA OUT [TABLE…]
 *
 * Writes OUT/TABLE-ALGORITHM-TRIALS[-by8][-KNOWN].csv (records.h); prints the mean regrets. The
 * budget is told to the search, as a user tells it, so every budget has runs of its own.
 *
 * KNOWN is what earlier experiments are there:
 *     siblings   on the other tables with the same parameters, each as our own cold run of 100
 *                trials with the same seed left it in OUT
 *     reversed   on this table upside down: what was best there is worst here
 *     unrelated  on this table with the values dealt out anew among the settings
 */
#include "base/clock.h"
#include "bench/search/driver.h"
#include "bench/search/records.h"
#include "bench/search/tables.h"

#include <math.h>
#include <unistd.h>

#define TASK_TRIALS 100
#define MOST_PARAMS 32

struct plan {
    const char *algorithm;
    int64_t trials;
    struct seeds seeds;
    size_t in_flight;
    const char *known; /* NULL: nothing */
    const char *data, *out;
};

/* ---- one run ---- */

static void launch(struct search *s, const struct table *table, struct record *ret)
{
    double x[MOST_PARAMS];
    struct suggestion next = {.x = x};

    must_ask(s, &next);
    ret->row = table_row(table, x);
    ret->value = table_feedback(table, ret->row, ret->seed, ret->trial, &ret->repeat);
    ret->rerun = next.why == WHY_REPEAT;
}

static void land(struct search *s, const struct table *table, const double *x,
                 struct record *record)
{
    struct result result = {.kind = RESULT_VALUE, .value = record->value};
    struct best best;

    search_tell(s, x, &result);
    record->reported = search_best(s, &best) == 0 ? table_row(table, best.x) : SIZE_MAX;
    record->value *= table->maximize ? -1 : 1;
}

/* Trials end in the order in which they began. ret: problem->trials of them. */
static void run(const char *algorithm, const struct problem *problem, size_t in_flight,
                const struct table *table, struct record *ret)
{
    autofree(search) struct search *s = must_search(algorithm, problem);
    size_t trials = (size_t)problem->trials, asked = 0;

    for (size_t told = 0; told < trials; told++) {
        for (; asked < trials && asked < told + in_flight; asked++) {
            ret[asked] = (struct record){.seed = problem->seed, .trial = asked};
            launch(s, table, &ret[asked]);
        }
        land(s, table, table_point(table, ret[told].row), &ret[told]);
    }
}

/* ---- what is known ---- */

/* Room for what a task points to. */
struct lesson {
    struct task task;
    double *x, *y;
};

static struct lesson lesson_from(const struct table *table, const struct record *records, size_t n)
{
    size_t d = table->space.n;
    struct lesson lesson = {.x = xcalloc(n * d, sizeof(double)), .y = xcalloc(n, sizeof(double))};

    for (size_t i = 0; i < n; i++) {
        memcpy(lesson.x + i * d, table_point(table, records[i].row), d * sizeof(double));
        lesson.y[i] = (table->maximize ? -1 : 1) * records[i].value;
    }
    lesson.task = (struct task){lesson.x, lesson.y, n};
    return lesson;
}

static bool alike(const struct space *a, const struct space *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->params[i].name, b->params[i].name))
            return false;
    return true;
}

static struct lesson lesson_of_sibling(const struct plan *plan, const struct table *table,
                                       uint64_t seed)
{
    autofree(mem) char *path =
        xasprintf("%s/%s-%s-%d.csv", plan->out, table->name, plan->algorithm, TASK_TRIALS);
    autorelease(records) struct records records;
    size_t n;

    records_load(&records, path, table->n);
    const struct record *found = records_of(&records, seed, &n);
    if (n < TASK_TRIALS)
        die("%s lacks seed %llu", path, (unsigned long long)seed);
    return lesson_from(table, found, n);
}

/* A cold run on a table that misleads. */
static struct lesson lesson_of_run(const struct plan *plan, const struct table *table,
                                   uint64_t seed)
{
    struct record records[TASK_TRIALS];
    struct problem problem = {
        .space = &table->space, .trials = TASK_TRIALS, .seed = seed, .repeats = true};

    run(plan->algorithm, &problem, 1, table, records);
    return lesson_from(table, records, TASK_TRIALS);
}

static struct lesson mislead(const struct plan *plan, const struct table *table, uint64_t seed)
{
    struct table other = *table;
    autofree(mem) double *dealt = NULL;

    if (str_eq(plan->known, "reversed"))
        other.maximize = !table->maximize;
    else
        other.values = dealt = table_deal(table, seed);
    return lesson_of_run(plan, &other, seed);
}

/* Fills in the lessons for a table; how many there are. */
static size_t learn(const struct plan *plan, const struct table *tables, const struct table *mine,
                    uint64_t seed, struct lesson *ret)
{
    size_t n = 0;

    if (!plan->known)
        return 0;
    if (!str_eq(plan->known, "siblings")) {
        ret[0] = mislead(plan, mine, seed);
        return 1;
    }
    for (size_t t = 0; t < n_tables; t++)
        if (&tables[t] != mine && alike(&tables[t].space, &mine->space))
            ret[n++] = lesson_of_sibling(plan, &tables[t], seed);
    return n;
}

/* ---- all runs of a table ---- */

struct sums { /* over seeds, of the regret at the end */
    double observed, reported;
};

static void count(const struct table *table, const struct record *records, size_t n,
                  struct sums *sums)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (table->maximize ? records[i].value > records[best].value
                            : records[i].value < records[best].value)
            best = i;
    size_t named = records[n - 1].reported;
    sums->observed += table_regret(table, records[best].row);
    sums->reported += table_regret(table, named == SIZE_MAX ? records[best].row : named);
}

static void run_seed(const struct plan *plan, const struct table *tables, const struct table *mine,
                     uint64_t seed, FILE *out, struct sums *sums)
{
    struct lesson *lessons = xcalloc(n_tables, sizeof(*lessons));
    struct task *tasks = xcalloc(n_tables, sizeof(*tasks));
    struct record *records = xcalloc((size_t)plan->trials, sizeof(*records));
    size_t n = learn(plan, tables, mine, seed, lessons);

    for (size_t i = 0; i < n; i++)
        tasks[i] = lessons[i].task;
    struct problem problem = {.space = &mine->space,
                              .trials = plan->trials,
                              .seed = seed,
                              .repeats = true,
                              .tasks = tasks,
                              .n_tasks = n};
    run(plan->algorithm, &problem, plan->in_flight, mine, records);
    for (int64_t i = 0; i < plan->trials; i++)
        record_write(&records[i], out);
    count(mine, records, (size_t)plan->trials, sums);
    for (size_t i = 0; i < n; i++) {
        free(lessons[i].x);
        free(lessons[i].y);
    }
    free(lessons);
    free(tasks);
    free(records);
}

static void run_table(const struct plan *plan, const struct table *tables, const struct table *mine)
{
    autofree(mem) char *by =
        plan->in_flight > 1 ? xasprintf("-by%zu", plan->in_flight) : xstrdup("");
    struct output out =
        output_open(RECORD_HEAD, "%s/%s-%s-%lld%s%s%s.csv", plan->out, mine->name, plan->algorithm,
                    (long long)plan->trials, by, plan->known ? "-" : "", plan->known ?: "");
    int64_t start = clock_mono_us();
    struct sums sums = {0};
    double seeds = (double)(plan->seeds.last - plan->seeds.first + 1);

    for (uint64_t seed = plan->seeds.first; seed <= plan->seeds.last; seed++)
        run_seed(plan, tables, mine, seed, out.file, &sums);
    output_finish(&out);
    printf("%-25s %s %lld%s %s: regret %.4f observed, %.4f reported; %.2f s a run\n", mine->name,
           plan->algorithm, (long long)plan->trials, by, plan->known ?: "cold",
           sums.observed / seeds, sums.reported / seeds,
           (double)(clock_mono_us() - start) / 1e6 / seeds);
    fflush(stdout);
}

/* ---- the command line ---- */

static bool wanted(const char *table, char *const *names)
{
    if (!*names)
        return true;
    for (; *names; names++)
        if (strstr(table, *names))
            return true;
    return false;
}

/* Siblings are those that have another table with the same parameters. */
static bool has_lesson(const struct plan *plan, const struct table *tables, size_t mine)
{
    if (!plan->known || !str_eq(plan->known, "siblings"))
        return true;
    for (size_t t = 0; t < n_tables; t++)
        if (t != mine && alike(&tables[t].space, &tables[mine].space))
            return true;
    return false;
}

static struct plan read_plan(int argc, char **argv)
{
    struct plan plan = {"auto", 100, {1, 30}, 1, NULL, NULL, NULL};
    int option;

    while ((option = getopt(argc, argv, "a:n:s:p:k:")) != -1) {
        if (option == 'a')
            plan.algorithm = optarg;
        else if (option == 'n')
            plan.trials = strtoll(optarg, NULL, 10);
        else if (option == 's')
            plan.seeds = seeds_parse(optarg);
        else if (option == 'p')
            plan.in_flight = strtoul(optarg, NULL, 10);
        else if (option == 'k')
            plan.known = optarg;
        else
            exit(2);
    }
    if (argc - optind < 2 || plan.trials < 1 || plan.in_flight < 1)
        die("usage: replay [-a ALGORITHM] [-n TRIALS] [-s 1-30] [-p IN_FLIGHT] "
            "[-k siblings|reversed|unrelated] DATA OUT [TABLE…]");
    if (plan.known && !str_eq(plan.known, "siblings") && !str_eq(plan.known, "reversed") &&
        !str_eq(plan.known, "unrelated"))
        die("'%s' is not one of siblings, reversed, unrelated", plan.known);
    plan.data = argv[optind];
    plan.out = argv[optind + 1];
    return plan;
}

int main(int argc, char **argv)
{
    struct plan plan = read_plan(argc, argv);
    struct table *tables = xcalloc(n_tables, sizeof(*tables));
    char *const *names = argv + optind + 2;
    bool all = plan.known && str_eq(plan.known, "siblings");

    for (size_t t = 0; t < n_tables; t++)
        if (all || wanted(table_names[t], names))
            table_load(&tables[t], plan.data, table_names[t]);
    for (size_t t = 0; t < n_tables; t++)
        if (wanted(table_names[t], names) && has_lesson(&plan, tables, t))
            run_table(&plan, tables, &tables[t]);
    for (size_t t = 0; t < n_tables; t++)
        table_release(&tables[t]);
    free(tables);
    return 0;
}
