/* SPDX-License-Identifier: MIT */
/*
 * lines.c — what training programs log, as line protocol: the bodies that the bench of ingest sends
 * to every server.
 *
 *     lines STYLE RUNS STEPS runs|steps > bodies
 *
 * A line is one step of one run with 20 fields and a time in ns: `ml,run=r7 train/loss=2.3,…`.
 * `runs`: one run after the other, as programs send that gather their own lines; `steps`: one step
 * of every run, then the next, as a relay sends. Doubles are printed with as few digits as bring
 * them back, as Python does.
 */
#include "base/str.h"
#include "values.h"

#include <stdio.h>

static const char *const styles[VALUES_STYLES] = {"f32", "6g", "f64"};
static const char *const last_names[] = {"lr", "epoch", "gpu_mem_bytes"};

static int find_style(const char *name)
{
    for (int i = 0; i < VALUES_STYLES; i++)
        if (str_eq(styles[i], name))
            return i;
    return -1;
}

static void print_number(double value)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, stdout);
}

static void print_line(struct values *values, unsigned run)
{
    int64_t step, time_ns;
    double row[VALUES_FIELDS];

    values_next(values, &step, &time_ns, row);
    printf("ml,run=r%u ", run);
    for (size_t i = 0; i < VALUES_FIELDS; i++) {
        size_t n = VALUES_FIELDS - 3;
        printf("%s%s=", i ? "," : "", i < n ? values_fields[i].name : last_names[i - n]);
        print_number(row[i]);
    }
    printf(" %lld\n", (long long)time_ns);
}

static void print_all(struct values *values, unsigned runs, unsigned steps, bool by_step)
{
    for (unsigned i = 0; i < (by_step ? steps : runs); i++)
        for (unsigned k = 0; k < (by_step ? runs : steps); k++) {
            unsigned run = by_step ? k : i;
            print_line(&values[run], run);
        }
}

int main(int argc, char **argv)
{
    int style = argc == 5 ? find_style(argv[1]) : -1;
    unsigned runs = style < 0 ? 0 : (unsigned)strtoul(argv[2], NULL, 10);
    unsigned steps = style < 0 ? 0 : (unsigned)strtoul(argv[3], NULL, 10);

    if (!runs || !steps || (!str_eq(argv[4], "runs") && !str_eq(argv[4], "steps"))) {
        fprintf(stderr, "lines: f32|6g|f64 RUNS STEPS runs|steps\n");
        return 2;
    }
    autofree(mem) struct values *values = xcalloc(runs, sizeof(*values));
    for (unsigned i = 0; i < runs; i++)
        values_init(&values[i], (enum values_style)style, 1 + i);
    print_all(values, runs, steps, str_eq(argv[4], "steps"));
    if (fflush(stdout) || ferror(stdout)) {
        perror("lines");
        return 1;
    }
    return 0;
}
