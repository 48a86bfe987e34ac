/* SPDX-License-Identifier: MIT */
/*
 * nested_run.c — our searchers on the conditional closed form.
 *
 *     nested_run [-a ALGORITHM] [-i 1-30] OUT
 *
 * Writes OUT/nested-ALGORITHM.csv as nested_peers.py does for the peers: instance,trial,regret with
 * 100 trials of each instance, whose number is the seed.
 */
#include "bench/search/driver.h"
#include "bench/search/nested.h"

#include <math.h>
#include <unistd.h>

#define TRIALS 100

static void read_condition(const struct nested_param *from, struct param *ret)
{
    if (from->parent < 0)
        return;
    struct condition *when = xcalloc(1, sizeof(*when));
    when->param = (size_t)from->parent;
    when->values = xcalloc(32, sizeof(*when->values));
    for (unsigned k = 0; k < 32; k++)
        if (from->values >> k & 1)
            when->values[when->n_values++] = k;
    ret->when = when;
    ret->n_when = 1;
}

static void read_choices(const struct nested_param *from, struct param *ret)
{
    ret->type = PARAM_CHOICE;
    ret->n_choices = (size_t)from->high + 1;
    ret->choices = xcalloc(ret->n_choices, sizeof(*ret->choices));
    for (size_t k = 0; k < ret->n_choices; k++) {
        char name[2] = {(char)('a' + (int)k), '\0'};
        ret->choices[k] = value_guess(name, false);
    }
}

static struct space make_space(void)
{
    struct space space = {.params = xcalloc(nested_count(), sizeof(*space.params)),
                          .n = nested_count()};

    for (size_t i = 0; i < space.n; i++) {
        const struct nested_param *from = nested_at(i);
        struct param *param = &space.params[i];
        param->name = xstrdup(from->name);
        param->type = from->kind == NESTED_INT ? PARAM_INT : PARAM_FLOAT;
        param->scale = from->log ? SCALE_LOG : SCALE_LINEAR;
        param->min = from->low;
        param->max = from->high;
        if (from->kind == NESTED_CHOICE)
            read_choices(from, param);
        read_condition(from, param);
    }
    return space;
}

static double run(const char *algorithm, const struct space *space, uint64_t instance, FILE *out)
{
    autofree(mem) double *x = xcalloc(space->n, sizeof(*x));
    struct problem problem = {.space = space, .trials = TRIALS, .seed = instance, .repeats = true};
    autofree(search) struct search *s = must_search(algorithm, &problem);
    double least = INFINITY;

    for (int64_t trial = 0; trial < problem.trials; trial++) {
        struct suggestion next = {.x = x};
        must_ask(s, &next);
        struct result result = {.kind = RESULT_VALUE, .value = nested_value((int)instance, x)};
        search_tell(s, x, &result);
        fprintf(out, "%d,%lld,%.17g\n", (int)instance, (long long)trial, result.value);
        least = fmin(least, result.value);
    }
    return least;
}

int main(int argc, char **argv)
{
    const char *algorithm = "auto";
    struct seeds instances = {1, 30};
    double sum = 0;
    int option;

    while ((option = getopt(argc, argv, "a:i:")) != -1) {
        if (option == 'a')
            algorithm = optarg;
        else if (option == 'i')
            instances = seeds_parse(optarg);
        else
            return 2;
    }
    if (argc - optind != 1)
        die("usage: nested_run [-a ALGORITHM] [-i 1-30] OUT");
    autorelease(space) struct space space = make_space();
    struct output out =
        output_open("instance,trial,regret", "%s/nested-%s.csv", argv[optind], algorithm);
    for (uint64_t i = instances.first; i <= instances.last; i++)
        sum += log10(fmax(run(algorithm, &space, i, out.file), 1e-8));
    output_finish(&out);
    printf("nested %s: mean log10 regret %.2f\n", algorithm,
           sum / (double)(instances.last - instances.first + 1));
    return 0;
}
