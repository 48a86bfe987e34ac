/* SPDX-License-Identifier: MIT */
/*
 * workload.c — what is known of a workload, and how what is new of it is added.
 *
 * Effects have no zero: only their differences say something. So before two sets of them are
 * averaged, one is moved onto the level of the other by the configurations that both have.
 * Fading: each merge makes the older set a little less sure, up to a bound, so that a machine or a
 * library that changed is believed after a few runs, and what was clearly bad stays bad.
 */
#include "base/json.h"
#include "tune/workload.h"

#include <errno.h>
#include <math.h>

#define FADE        1.25 /* variance of what is older, each time */
#define FADED       0.3  /* deviation: fading goes no further */
#define SURE        0.02 /* deviation: nothing is surer than that */
#define EFFECT_MOST 50   /* |ln_effect|: more is no measurement */
#define LOAD_MOST   1e5  /* cores */
#define UNSURE      5    /* deviation: more says nothing */
#define NEWS        0.3  /* share of the newer response in the average */
#define MEMBERS     64   /* parameters of a configuration */

void workload_init(struct workload *workload, const char *identity, const char *name,
                   const char *machine)
{
    *workload = (struct workload){
        .identity = xstrdup(identity),
        .name = xstrdup(name),
        .machine = xstrdup(machine),
        .response = {NAN, NAN, NAN},
    };
}

static void release_lists(struct workload *workload)
{
    vec_foreach (configuration, &workload->configurations)
        free(configuration->json);
    vec_release(&workload->configurations);
    vec_foreach (failed, &workload->failed)
        free(*failed);
    vec_release(&workload->failed);
    vec_foreach (counter, &workload->profile)
        free(counter->name);
    vec_release(&workload->profile);
}

void workload_release(struct workload *workload)
{
    free(workload->identity);
    free(workload->name);
    free(workload->machine);
    release_lists(workload);
    *workload = (struct workload){0};
}

static void copy_profile(const struct workload *from, struct workload *to)
{
    vec_foreach (counter, &from->profile) {
        struct workload_counter copy = *counter;
        copy.name = xstrdup(counter->name);
        vec_push(&to->profile, copy);
    }
}

void workload_copy(const struct workload *from, struct workload *ret)
{
    workload_init(ret, from->identity, from->name, from->machine);
    ret->updated_us = from->updated_us;
    ret->runs = from->runs;
    ret->cluster = from->cluster;
    ret->response = from->response;
    vec_foreach (configuration, &from->configurations) {
        struct workload_configuration copy = *configuration;
        copy.json = xstrdup(configuration->json);
        vec_push(&ret->configurations, copy);
    }
    vec_foreach (failed, &from->failed)
        vec_push(&ret->failed, xstrdup(*failed));
    copy_profile(from, ret);
}

/* ---- identity ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_list(struct json_out *out, const char *key, const char *const *list, size_t n,
                     bool ordered)
{
    autofree(mem) const char **sorted = xcalloc(n + 1, sizeof(*sorted));

    for (size_t i = 0; i < n; i++)
        sorted[i] = list[i];
    if (!ordered)
        qsort(sorted, n, sizeof(*sorted), by_text);
    json_key(out, key);
    json_begin_array(out);
    for (size_t i = 0; i < n; i++)
        json_text(out, sorted[i]);
    json_end_array(out);
}

void workload_identity_text(const struct workload_program *program, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    put_list(&out, "words", program->words, program->n_words, true);
    put_list(&out, "files", program->files, program->n_files, false);
    put_list(&out, "params", program->params, program->n_params, false);
    put_list(&out, "system", program->system, program->n_system, false);
    json_put_text(&out, "machine", program->machine);
    json_end_object(&out);
}

/* ---- learning ---- */

/* Names sorted into `ret`; how many, or -EINVAL. */
static int sorted_names(const json_t *object, const char *ret[MEMBERS], struct err *err)
{
    const char *name;
    const json_t *value;
    size_t n = 0;

    json_object_foreach((json_t *)object, name, value)
    {
        bool plain = json_is_number(value) || json_is_string(value) || json_is_boolean(value);
        if (!plain)
            return err_set(err, EINVAL, "'%s' is no number, text, true or false", name);
        if (n == MEMBERS)
            return err_set(err, EINVAL, "a configuration has at most %d parameters", MEMBERS);
        ret[n++] = name;
    }
    if (n == 0)
        return err_set(err, EINVAL, "a configuration is an object with a value for each name");
    qsort(ret, n, sizeof(*ret), by_text);
    return (int)n;
}

int workload_canonical(const char *json, char **ret, struct err *err)
{
    autofree(json) json_t *object = NULL;
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);
    const char *names[MEMBERS] = {NULL};
    int r = json_parse(json, strlen(json), &object, err);

    if (r < 0)
        return r;
    int n = sorted_names(object, names, err);
    if (n < 0)
        return n;
    json_begin_object(&out);
    for (int i = 0; i < n; i++) {
        json_key(&out, names[i]);
        json_value(&out, json_object_get(object, names[i]));
    }
    json_end_object(&out);
    *ret = str_take(&text);
    return 0;
}

static bool is_sound(double ln_effect, double deviation, double windows, double load)
{
    return fabs(ln_effect) <= EFFECT_MOST && deviation >= 0 && isfinite(deviation) &&
           windows >= 0 && isfinite(windows) && fabs(load) <= LOAD_MOST;
}

static struct workload_configuration *find(const struct workload *workload, const char *json)
{
    vec_foreach (configuration, &workload->configurations)
        if (str_eq(configuration->json, json))
            return configuration;
    return NULL;
}

const struct workload_configuration *workload_find(const struct workload *workload,
                                                   const char *json)
{
    return find(workload, json);
}

/* Over the cap: what rests on the fewest windows goes. */
static void forget_least(struct workload *workload)
{
    size_t least = 0;

    if (workload->configurations.len <= WORKLOAD_CONFIGURATIONS)
        return;
    for (size_t i = 1; i < workload->configurations.len; i++)
        if (workload->configurations.at[i].windows < workload->configurations.at[least].windows)
            least = i;
    free(workload->configurations.at[least].json);
    vec_remove(&workload->configurations, least);
}

bool workload_learn(struct workload *workload, const char *json, double ln_effect, double deviation,
                    double windows, double load)
{
    autofree(mem) char *canonical = NULL;

    if (!is_sound(ln_effect, deviation, windows, load) ||
        workload_canonical(json, &canonical, NULL) < 0)
        return false;
    struct workload_configuration news = {NULL, ln_effect, fmax(deviation, SURE), windows, load};
    struct workload_configuration *known = find(workload, canonical);
    if (known) {
        news.json = known->json;
        *known = news;
        return true;
    }
    news.json = TAKE(canonical);
    vec_push(&workload->configurations, news);
    forget_least(workload);
    return true;
}

bool workload_failed(const struct workload *workload, const char *json)
{
    vec_foreach (failed, &workload->failed)
        if (str_eq(*failed, json))
            return true;
    return false;
}

bool workload_fail(struct workload *workload, const char *json)
{
    autofree(mem) char *canonical = NULL;

    if (workload->failed.len >= WORKLOAD_CONFIGURATIONS ||
        workload_canonical(json, &canonical, NULL) < 0)
        return false;
    if (!workload_failed(workload, canonical))
        vec_push(&workload->failed, TAKE(canonical));
    return true;
}

void workload_count(struct workload *workload, const char *name, double value, double scaled,
                    bool hardware)
{
    struct workload_counter news = {.value = value, .scaled = scaled, .hardware = hardware};

    news.missing = !isfinite(value) || !isfinite(scaled);
    if (news.missing)
        news.value = news.scaled = NAN;
    vec_foreach (counter, &workload->profile) {
        if (!str_eq(counter->name, name))
            continue;
        news.name = counter->name;
        *counter = news;
        return;
    }
    if (workload->profile.len == WORKLOAD_COUNTERS)
        return;
    news.name = xstrdup(name);
    vec_push(&workload->profile, news);
}

const struct workload_configuration *workload_best(const struct workload *workload)
{
    const struct workload_configuration *best = NULL;

    vec_foreach (configuration, &workload->configurations)
        if (!workload_failed(workload, configuration->json) &&
            (!best || configuration->ln_effect < best->ln_effect))
            best = configuration;
    return best ? best : workload->configurations.len ? workload->configurations.at : NULL;
}

const struct workload_configuration *workload_worst(const struct workload *workload)
{
    const struct workload_configuration *worst = NULL;

    vec_foreach (configuration, &workload->configurations)
        if (!worst || configuration->ln_effect > worst->ln_effect)
            worst = configuration;
    return worst;
}

/* ---- merging ---- */

/* Windows that compare: all but those of the configuration that was seen most. */
static double compared(const struct workload *workload)
{
    double sum = 0, most = 0;

    vec_foreach (configuration, &workload->configurations) {
        sum += configuration->windows;
        most = fmax(most, configuration->windows);
    }
    return sum - most;
}

/* What to add to effects of `from` so that they are on the level of `to`. False: nothing common. */
static bool level_between(const struct workload *from, const struct workload *to, double *ret)
{
    double sum = 0, weights = 0;

    vec_foreach (a, &from->configurations) {
        const struct workload_configuration *b = find(to, a->json);
        if (!b)
            continue;
        double weight =
            1 / fmax(a->deviation * a->deviation + b->deviation * b->deviation, SURE * SURE);
        sum += weight * (b->ln_effect - a->ln_effect);
        weights += weight;
    }
    *ret = weights > 0 ? sum / weights : 0;
    return weights > 0;
}

static void fade(struct workload *workload)
{
    vec_foreach (configuration, &workload->configurations) {
        double faded = configuration->deviation * sqrt(FADE);
        configuration->deviation = fmax(fmin(faded, FADED), configuration->deviation);
        configuration->windows /= FADE;
    }
}

/* Two measurements of one effect, each as sure as it is. */
static void average(struct workload_configuration *a, const struct workload_configuration *b,
                    double level)
{
    double weight_a = 1 / fmax(a->deviation * a->deviation, SURE * SURE);
    double weight_b = 1 / fmax(b->deviation * b->deviation, SURE * SURE);
    double all = weight_a + weight_b;

    a->ln_effect = (weight_a * a->ln_effect + weight_b * (b->ln_effect + level)) / all;
    a->load = (weight_a * a->load + weight_b * b->load) / all;
    a->deviation = fmax(sqrt(1 / all), SURE);
    a->windows += b->windows;
}

/* The level of everything is arbitrary; kept at a mean of 0 it cannot drift. */
static void centre(struct workload *workload)
{
    double sum = 0;

    vec_foreach (configuration, &workload->configurations)
        sum += configuration->ln_effect;
    if (workload->configurations.len == 0)
        return;
    double mean = sum / (double)workload->configurations.len;
    vec_foreach (configuration, &workload->configurations)
        configuration->ln_effect -= mean;
}

static void add_effects(struct workload *into, const struct workload *from)
{
    double level;

    if (!level_between(from, into, &level)) {
        if (compared(from) <= compared(into) && into->configurations.len > 0)
            return;
        vec_foreach (configuration, &into->configurations)
            free(configuration->json);
        into->configurations.len = 0;
    }
    vec_foreach (configuration, &from->configurations) {
        struct workload_configuration *known = find(into, configuration->json);
        if (known)
            average(known, configuration, level);
        else
            workload_learn(into, configuration->json, configuration->ln_effect + level,
                           configuration->deviation, configuration->windows, configuration->load);
    }
    centre(into);
}

static double blend(double older, double newer)
{
    if (isnan(older) || isnan(newer))
        return isnan(newer) ? older : newer;
    return older + NEWS * (newer - older);
}

/* What failed before and was measured since works by now. */
static void add_failures(struct workload *older, const struct workload *newer)
{
    for (size_t i = older->failed.len; i-- > 0;) {
        if (!find(newer, older->failed.at[i]))
            continue;
        free(older->failed.at[i]);
        vec_remove(&older->failed, i);
    }
    vec_foreach (failed, &newer->failed)
        workload_fail(older, *failed);
}

static void add_rest(struct workload *older, const struct workload *newer)
{
    struct workload_response *response = &older->response;

    response->seconds = blend(response->seconds, newer->response.seconds);
    response->memory_bytes = blend(response->memory_bytes, newer->response.memory_bytes);
    response->cpus = blend(response->cpus, newer->response.cpus);
    if (newer->profile.len > 0) {
        vec_foreach (counter, &older->profile)
            free(counter->name);
        older->profile.len = 0;
        copy_profile(newer, older);
    }
    free(older->name);
    older->name = xstrdup(newer->name);
    older->runs += newer->runs;
    older->updated_us = newer->updated_us;
}

void workload_merge(struct workload *into, const struct workload *from)
{
    struct workload older, newer;
    int64_t cluster = into->cluster;

    if (into->updated_us == from->updated_us && into->runs == from->runs)
        return;
    workload_copy(into->updated_us <= from->updated_us ? into : from, &older);
    workload_copy(into->updated_us <= from->updated_us ? from : into, &newer);
    fade(&older);
    add_effects(&older, &newer);
    add_failures(&older, &newer);
    add_rest(&older, &newer);
    workload_release(&newer);
    workload_release(into);
    *into = older;
    into->cluster = cluster;
}

/* ---- as a prior ---- */

#define DOUBT 0.3 /* deviation that a match of certainty 1/2 adds */
/* … and the least of another workload, which may order what is tried, but never rule it out: beyond
 * two deviations nothing is tried any more. */
#define HINT       0.8
#define HINT_SHARE 0.6  /* of the distance from the best */
#define AGE_DOUBT  0.1  /* deviation of what was, of what is */
#define LOAD_DOUBT 0.15 /* deviation of an effect for each core of load between then and now */

bool workload_prior(const struct workload *workload, size_t i, double certainty,
                    double *ret_deviation)
{
    if (i >= workload->configurations.len || !(certainty > 0))
        return false;
    double sure = fmin(certainty, 1);
    double apart = workload->configurations.at[i].ln_effect - workload_best(workload)->ln_effect;
    double hint = fmax(HINT, HINT_SHARE * apart);
    double doubt = sure < 1 ? fmax(DOUBT * (1 - sure) / sure, hint) : 0;
    double deviation = hypot(workload->configurations.at[i].deviation, doubt);
    if (!(deviation < UNSURE))
        return false;
    *ret_deviation = deviation;
    return true;
}

bool workload_prior_here(const struct workload *workload, size_t i, double certainty, double load,
                         double *ret_deviation)
{
    double deviation;

    if (!workload_prior(workload, i, certainty, &deviation))
        return false;
    double doubt = hypot(LOAD_DOUBT * (workload->configurations.at[i].load - load), AGE_DOUBT);
    *ret_deviation = hypot(deviation, doubt);
    return isfinite(*ret_deviation);
}
