/* SPDX-License-Identifier: MIT */
/*
 * energy.c — what can be said of joules without touching a device: figures and their labels, power
 * samples, a power meter's JSON, and the model for machines that measure nothing.
 *
 * The model is a straight line in two things that every machine can tell: time and CPU time. It is
 * fitted to relative errors, since a trial of ten seconds is to be as right as one of ten minutes.
 */
#include "agent/energy.h"

#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

/* ---- a figure ---- */

static const char *source_of_both(const char *a, const char *b)
{
    if (str_eq(a, b))
        return a;
    if ((str_eq(a, "rapl") && str_eq(b, "nvml")) || (str_eq(a, "nvml") && str_eq(b, "rapl")))
        return "rapl+nvml";
    if ((str_eq(a, "model") && str_eq(b, "nvml")) || (str_eq(a, "nvml") && str_eq(b, "model")))
        return "model+nvml";
    return "several";
}

struct energy energy_add(struct energy a, struct energy b)
{
    return (struct energy){
        .joules = a.joules + b.joules,
        .measured = a.measured && b.measured,
        .apportioned = a.apportioned || b.apportioned,
        .source = source_of_both(a.source, b.source),
    };
}

struct energy energy_since(struct energy after, struct energy before)
{
    struct energy energy = energy_add(after, before);

    energy.joules = after.joules >= before.joules ? after.joules - before.joules : NAN;
    return energy;
}

struct energy energy_share(struct energy all, double cpu_s, double all_cpu_s)
{
    bool known = cpu_s >= 0 && all_cpu_s > 0 && isfinite(cpu_s) && isfinite(all_cpu_s);

    /* The two times are read one after the other: a part may seem larger than the whole. */
    all.joules = known ? all.joules * MIN(1.0, cpu_s / all_cpu_s) : NAN;
    all.apportioned = true;
    return all;
}

void energy_format(struct energy energy, struct str *to)
{
    static const char *const units[] = {"J", "kJ", "MJ", "GJ"};
    double x = energy.joules;
    size_t unit = 0;

    if (!isfinite(x)) {
        str_add(to, "not known");
        return;
    }
    while (fabs(x) >= 999.5 && unit + 1 < ARRAY_LEN(units)) {
        x /= 1000;
        unit++;
    }
    str_addf(to, "%.3g %s %s (%s%s)", x, units[unit], energy.measured ? "measured" : "estimated",
             energy.source, energy.apportioned ? ", apportioned by CPU time" : "");
}

/* ---- power samples ---- */

void power_log_release(struct power_log *log)
{
    vec_release(&log->samples);
}

int power_log_add(struct power_log *log, int64_t at_us, double watts)
{
    struct power_sample sample = {at_us, watts};

    if (!isfinite(watts) || watts < 0)
        return -EINVAL;
    if (log->samples.len && at_us <= vec_last(&log->samples)->at_us)
        return -EINVAL;
    vec_push(&log->samples, sample);
    return 0;
}

static double watts_at(const struct power_sample *a, const struct power_sample *b, int64_t at_us)
{
    double part = (double)(at_us - a->at_us) / (double)(b->at_us - a->at_us);

    return a->watts + part * (b->watts - a->watts);
}

/* Of the part of one piece of the line that lies in the window. */
static double piece(const struct power_sample *a, const struct power_sample *b, int64_t from_us,
                    int64_t to_us)
{
    int64_t from = MAX(from_us, a->at_us), to = MIN(to_us, b->at_us);

    if (from >= to)
        return 0;
    return (watts_at(a, b, from) + watts_at(a, b, to)) / 2 * ((double)(to - from) / 1e6);
}

double power_log_joules(const struct power_log *log, int64_t from_us, int64_t to_us)
{
    size_t n = log->samples.len;
    double joules = 0;

    if (n == 0 || from_us > to_us || from_us < log->samples.at[0].at_us ||
        to_us > log->samples.at[n - 1].at_us)
        return NAN;
    for (size_t i = n - 1; i > 0 && log->samples.at[i].at_us > from_us; i--)
        joules += piece(&log->samples.at[i - 1], &log->samples.at[i], from_us, to_us);
    return joules;
}

void power_log_trim(struct power_log *log, int64_t from_us)
{
    size_t drop = 0;

    while (drop + 1 < log->samples.len && log->samples.at[drop + 1].at_us <= from_us)
        drop++;
    if (drop == 0)
        return;
    log->samples.len -= drop;
    memmove(log->samples.at, log->samples.at + drop, log->samples.len * sizeof(*log->samples.at));
}

struct energy power_log_energy(const struct power_log *log, int64_t from_us, int64_t to_us)
{
    return (struct energy){power_log_joules(log, from_us, to_us), true, false, "pdu"};
}

/* ---- a power meter's JSON ---- */

/* One step into `at`: a name of an object, an index of an array. NULL: not there. */
static const json_t *step(const json_t *at, const char *name)
{
    char *end;
    unsigned long index;

    if (json_is_object(at))
        return json_object_get(at, name);
    if (!json_is_array(at) || !isdigit((unsigned char)*name))
        return NULL;
    index = strtoul(name, &end, 10);
    return *end == '\0' ? json_array_get(at, index) : NULL;
}

static double number_of(const json_t *value)
{
    const char *text = json_string_value(value);
    char *end;
    double x;

    if (json_is_number(value))
        return json_number_value(value);
    if (!text)
        return NAN;
    x = strtod(text, &end);
    return end != text && *end == '\0' ? x : NAN;
}

int energy_pdu_watts(const char *text, size_t n, const char *path, double *ret_watts,
                     struct err *err)
{
    __attribute__((cleanup(json_autofree))) json_t *root = NULL;
    autofree(mem) char *copy = xstrdup(path);
    const json_t *at;
    double watts;
    int r = json_parse(text, n, &root, err);

    if (r < 0)
        return err_context(err, "power meter");
    at = root;
    for (char *rest = copy, *name; *path && (name = strsep(&rest, "."));) {
        at = step(at, name);
        if (!at)
            return err_set(err, EINVAL, "power meter: no '%s' on the way along '%s' in its answer",
                           name, path);
    }
    watts = number_of(at);
    if (!isfinite(watts) || watts < 0)
        return err_set(err, EINVAL, "power meter: what stands at '%s' is not a number of watts",
                       path);
    *ret_watts = watts;
    return 0;
}

/* ---- the model ---- */

#define IDLE_WATTS_PER_CPU 0.74
#define BUSY_WATTS_PER_CPU 3.5

struct energy_model energy_model_default(double cpus)
{
    return (struct energy_model){
        .idle_watts = IDLE_WATTS_PER_CPU * cpus,
        .joules_per_cpu_s = BUSY_WATTS_PER_CPU - IDLE_WATTS_PER_CPU,
    };
}

/* Sums over rows of s = seconds / joules and c = CPU seconds / joules, whose model is 1. */
struct sums {
    double s, c, ss, sc, cc;
};

static int add_row(struct sums *sums, const struct energy_row *row, struct err *err)
{
    double s = row->seconds / row->joules, c = row->cpu_s / row->joules;

    if (!(row->joules > 0 && row->seconds > 0 && row->cpu_s >= 0) || !isfinite(s) || !isfinite(c) ||
        !isfinite(row->joules))
        return err_set(err, EINVAL, "energy model: %g J in %g s with %g CPU seconds is no row",
                       row->joules, row->seconds, row->cpu_s);
    sums->s += s;
    sums->c += c;
    sums->ss += s * s;
    sums->sc += s * c;
    sums->cc += c * c;
    return 0;
}

/* Least squares with both terms; where one comes out below 0 the other alone is the best fit. */
static struct energy_model solve(const struct sums *m)
{
    double det = m->ss * m->cc - m->sc * m->sc;
    struct energy_model model = {m->s / m->ss, 0};

    if (det <= 1e-9 * m->ss * m->cc)
        return model;
    if (m->s * m->cc - m->c * m->sc < 0)
        return (struct energy_model){0, m->c / m->cc};
    if (m->ss * m->c - m->sc * m->s < 0)
        return model;
    return (struct energy_model){(m->s * m->cc - m->c * m->sc) / det,
                                 (m->ss * m->c - m->sc * m->s) / det};
}

int energy_model_fit(const struct energy_row *rows, size_t n, struct energy_model *ret,
                     struct err *err)
{
    struct sums sums = {0};

    if (n < 2)
        return err_set(err, EINVAL, "energy model: two measurements are needed, there are %zu", n);
    for (size_t i = 0; i < n; i++) {
        int r = add_row(&sums, &rows[i], err);
        if (r < 0)
            return r;
    }
    *ret = solve(&sums);
    return 0;
}

struct energy energy_model_predict(const struct energy_model *model, double seconds, double cpu_s,
                                   double share)
{
    double idle = model->idle_watts * seconds * MAX(0.0, MIN(1.0, share));

    return (struct energy){idle + model->joules_per_cpu_s * cpu_s, false, false, "model"};
}
