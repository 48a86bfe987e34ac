/* SPDX-License-Identifier: MIT */
/*
 * workload_json.c — a workload as a JSON object: in the database, and in the lines of `hone
 * knowledge export`. What is read may come from anybody, so every member is checked.
 *
 *   {"identity":"ab…","name":"mnist","machine":"…","updated":"2026-11-15T23:15:02.123456Z",
 *    "runs":3,"cluster":1,
 *    "configurations":[{"configuration":{"threads":1},"ln_effect":-0.2,"deviation":0.03,
 *                       "windows":4,"load":0}],
 *    "failed":[{"threads":64}],
 *    "response":{"seconds":0.01,"memory_bytes":null,"cpus":1.9},
 *    "profile":[{"name":"cycles","hardware":true,"value":2e9,"scaled":0.8},
 *               {"name":"branches","hardware":true,"value":null,"scaled":null}]}
 */
#include "base/clock.h"
#include "base/json.h"
#include "tune/workload.h"

#include <errno.h>
#include <math.h>

/* Most have none. */
static void put_failed(const struct workload *workload, struct json_out *out)
{
    if (workload->failed.len == 0)
        return;
    json_key(out, "failed");
    json_begin_array(out);
    vec_foreach (failed, &workload->failed)
        json_raw(out, *failed);
    json_end_array(out);
}

void workload_encode(const struct workload *workload, struct str *to)
{
    struct json_out out = JSON_OUT(to);

    json_begin_object(&out);
    json_put_text(&out, "identity", workload->identity);
    json_put_text(&out, "name", workload->name);
    json_put_text(&out, "machine", workload->machine);
    json_put_time(&out, "updated", workload->updated_us);
    json_put_int(&out, "runs", workload->runs);
    json_put_int(&out, "cluster", workload->cluster);
    json_key(&out, "configurations");
    json_begin_array(&out);
    vec_foreach (configuration, &workload->configurations) {
        json_begin_object(&out);
        json_put_raw(&out, "configuration", configuration->json);
        json_put_double(&out, "ln_effect", configuration->ln_effect);
        json_put_double(&out, "deviation", configuration->deviation);
        json_put_double(&out, "windows", configuration->windows);
        json_put_double(&out, "load", configuration->load);
        json_end_object(&out);
    }
    json_end_array(&out);
    put_failed(workload, &out);
    json_key(&out, "response");
    json_begin_object(&out);
    json_put_known(&out, "seconds", workload->response.seconds);
    json_put_known(&out, "memory_bytes", workload->response.memory_bytes);
    json_put_known(&out, "cpus", workload->response.cpus);
    json_end_object(&out);
    json_key(&out, "profile");
    json_begin_array(&out);
    vec_foreach (counter, &workload->profile) {
        json_begin_object(&out);
        json_put_text(&out, "name", counter->name);
        json_put_bool(&out, "hardware", counter->hardware);
        json_put_known(&out, "value", counter->value);
        json_put_known(&out, "scaled", counter->scaled);
        json_end_object(&out);
    }
    json_end_array(&out);
    json_end_object(&out);
}

/* ---- reading ---- */

/* A text of 1 to WORKLOAD_NAME bytes. */
static int read_text(const json_t *object, const char *key, const char **ret, struct err *err)
{
    const char *text = json_get_text(object, key, "");

    if (!*text || strlen(text) > WORKLOAD_NAME)
        return err_set(err, EINVAL, "'%s' is no text of 1 to %d bytes", key, WORKLOAD_NAME);
    *ret = text;
    return 0;
}

static int read_number(const json_t *object, const char *key, double min, double max, double *ret,
                       struct err *err)
{
    const json_t *value = json_object_get(object, key);
    double x = json_is_number(value) ? json_number_value(value) : NAN;

    if (!(x >= min && x <= max))
        return err_set(err, EINVAL, "'%s' is no number from %g to %g", key, min, max);
    *ret = x;
    return 0;
}

/* Absent or null: NaN. */
static int read_known(const json_t *object, const char *key, double min, double max, double *ret,
                      struct err *err)
{
    const json_t *value = json_object_get(object, key);

    *ret = NAN;
    return value && !json_is_null(value) ? read_number(object, key, min, max, ret, err) : 0;
}

static int read_head(const json_t *object, struct workload *to, struct err *err)
{
    const char *identity = json_get_text(object, "identity", "");
    const char *name, *machine;
    double runs, cluster;

    if (strlen(identity) != WORKLOAD_IDENTITY ||
        strspn(identity, "0123456789abcdef") != WORKLOAD_IDENTITY)
        return err_set(err, EINVAL, "'identity' is no SHA-256 of %d hex digits", WORKLOAD_IDENTITY);
    int r = read_text(object, "name", &name, err);
    if (r >= 0)
        r = read_text(object, "machine", &machine, err);
    if (r >= 0)
        r = read_number(object, "runs", 0, 1e12, &runs, err);
    if (r >= 0)
        r = read_number(object, "cluster", 0, 1e6, &cluster, err);
    if (r < 0)
        return r;
    workload_init(to, identity, name, machine);
    to->runs = (int64_t)runs;
    to->cluster = (int64_t)cluster;
    if (time_parse(json_get_text(object, "updated", ""), &to->updated_us) < 0)
        return err_set(err, EINVAL, "'updated' is no time such as 2026-11-15T23:15:02Z");
    return 0;
}

static int read_configuration(const json_t *object, struct workload *to, struct err *err)
{
    const json_t *configuration = json_object_get(object, "configuration");
    autorelease(str) struct str text = STR_INIT;
    autofree(mem) char *canonical = NULL;
    struct json_out out = JSON_OUT(&text);
    double ln_effect, deviation, windows, load;
    int r = read_number(object, "ln_effect", -50, 50, &ln_effect, err);

    if (r >= 0)
        r = read_number(object, "deviation", 0, 50, &deviation, err);
    if (r >= 0)
        r = read_number(object, "windows", 0, 1e12, &windows, err);
    if (r >= 0)
        r = read_number(object, "load", -1e5, 1e5, &load, err);
    if (r < 0)
        return r;
    if (!json_is_object(configuration))
        return err_set(err, EINVAL, "'configuration' is no object");
    json_value(&out, configuration);
    r = workload_canonical(text.s, &canonical, err);
    if (r < 0)
        return r;
    if (workload_find(to, canonical))
        return err_set(err, EINVAL, "%s comes twice", canonical);
    workload_learn(to, canonical, ln_effect, deviation, windows, load);
    return 0;
}

static int read_failed(const json_t *object, struct workload *to, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;
    autofree(mem) char *canonical = NULL;
    struct json_out out = JSON_OUT(&text);

    if (!json_is_object(object))
        return err_set(err, EINVAL, "it is no object");
    json_value(&out, object);
    int r = workload_canonical(text.s, &canonical, err);
    if (r >= 0)
        workload_fail(to, canonical);
    return r;
}

static int read_counter(const json_t *object, struct workload *to, struct err *err)
{
    const char *name;
    double value, scaled;
    int r = read_text(object, "name", &name, err);

    if (r >= 0)
        r = read_known(object, "value", -1e300, 1e300, &value, err);
    if (r >= 0)
        r = read_known(object, "scaled", -1e6, 1e6, &scaled, err);
    if (r < 0)
        return r;
    workload_count(to, name, value, scaled, json_get_bool(object, "hardware", false));
    return 0;
}

typedef int read_fn(const json_t *object, struct workload *to, struct err *err);

/* Each member of the list; an absent list is empty. */
static int read_list(const json_t *object, const char *key, size_t most, read_fn *read,
                     struct workload *to, struct err *err)
{
    const json_t *list = json_object_get(object, key);

    if (list && !json_is_array(list))
        return err_set(err, EINVAL, "'%s' is no list", key);
    if (json_array_size(list) > most)
        return err_set(err, EINVAL, "'%s' has more than %zu members", key, most);
    for (size_t i = 0; i < json_array_size(list); i++) {
        int r = read(json_array_get(list, i), to, err);
        if (r < 0) {
            err_context(err, "member %zu of '%s'", i + 1, key);
            return r;
        }
    }
    return 0;
}

static int read_response(const json_t *object, struct workload_response *to, struct err *err)
{
    int r = read_known(object, "seconds", 0, 1e12, &to->seconds, err);

    if (r >= 0)
        r = read_known(object, "memory_bytes", 0, 1e18, &to->memory_bytes, err);
    if (r >= 0)
        r = read_known(object, "cpus", 0, 1e6, &to->cpus, err);
    if (r < 0)
        err_context(err, "'response'");
    return r;
}

int workload_decode(const char *json, size_t n, struct workload *ret, struct err *err)
{
    autofree(json) json_t *object = NULL;

    *ret = (struct workload){.response = {NAN, NAN, NAN}};
    int r = json_parse(json, n, &object, err);
    if (r < 0)
        return r;
    if (!json_is_object(object))
        return err_set(err, EINVAL, "a workload is a JSON object");
    r = read_head(object, ret, err);
    if (r >= 0)
        r = read_list(object, "configurations", WORKLOAD_CONFIGURATIONS, read_configuration, ret,
                      err);
    if (r >= 0)
        r = read_list(object, "failed", WORKLOAD_CONFIGURATIONS, read_failed, ret, err);
    if (r >= 0)
        r = read_response(json_object_get(object, "response"), &ret->response, err);
    if (r >= 0)
        r = read_list(object, "profile", WORKLOAD_COUNTERS, read_counter, ret, err);
    return r;
}
