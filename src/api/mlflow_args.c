/* SPDX-License-Identifier: MIT */
/*
 * mlflow_args.c — arguments of MLflow's endpoints. Clients send whole numbers as numbers or as
 * texts, and numbers that JSON does not know as "NaN" and "Infinity". Sentences are MLflow's where
 * programs may look for them.
 */
#include "api/mlflow_internal.h"
#include "api/web_act.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#define SEE       "See the API docs for more information about request parameters."
#define KEY_CHARS 250

static int missing(const char *path, const char *name, struct err *err)
{
    return err_set(err, EINVAL, "Missing value for required parameter '%s%s%s'. " SEE, path,
                   *path ? "." : "", name);
}

static int invalid(const char *path, const char *name, const json_t *value, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;
    struct json_out out = JSON_OUT(&text);

    json_value(&out, value);
    return err_set(err, EINVAL, "Invalid value %.100s for parameter '%s%s%s' supplied. " SEE,
                   text.s, path, *path ? "." : "", name);
}

/* ---- of JSON objects ---- */

int mlflow_json_text(const json_t *object, const char *path, const char *name, const char **ret,
                     struct err *err)
{
    const json_t *value = json_object_get(object, name);

    *ret = NULL;
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return invalid(path, name, value, err);
    *ret = json_string_value(value);
    return 0;
}

static bool text_int(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (errno || end == text || *end || isspace((unsigned char)*text))
        return false;
    *ret = x;
    return true;
}

int mlflow_json_int(const json_t *object, const char *path, const char *name, int64_t otherwise,
                    int64_t *ret, struct err *err)
{
    const json_t *value = json_object_get(object, name);

    *ret = otherwise;
    if (!value || json_is_null(value))
        return 0;
    if (json_is_integer(value)) {
        *ret = json_integer_value(value);
        return 0;
    }
    if (json_is_real(value)) {
        double x = json_real_value(value);
        if (x != floor(x) || fabs(x) >= 9e18)
            return invalid(path, name, value, err);
        *ret = (int64_t)x;
        return 0;
    }
    if (!json_is_string(value) || !text_int(json_string_value(value), ret))
        return invalid(path, name, value, err);
    return 0;
}

static bool text_double(const char *text, double *ret)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", NAN},
                 {"nan", NAN},
                 {"Infinity", INFINITY},
                 {"inf", INFINITY},
                 {"-Infinity", -INFINITY},
                 {"-inf", -INFINITY}};
    char *end;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i].word, text)) {
            *ret = words[i].value;
            return true;
        }
    if (!*text || text[strspn(text, "+-0123456789.eE")])
        return false;
    *ret = strtod(text, &end);
    return !*end;
}

int mlflow_json_double(const json_t *object, const char *path, const char *name, double *ret,
                       struct err *err)
{
    const json_t *value = json_object_get(object, name);

    if (!value || json_is_null(value))
        return missing(path, name, err);
    if (json_is_number(value)) {
        *ret = json_number_value(value);
        return 0;
    }
    if (!json_is_string(value) || !text_double(json_string_value(value), ret))
        return invalid(path, name, value, err);
    return 0;
}

/* ---- of the request ---- */

int mlflow_text(struct mlflow_call *call, const char *name, const char **ret, struct err *err)
{
    if (call->body)
        return mlflow_json_text(call->body, "", name, ret, err);
    *ret = http_param(call->web->request, name);
    return 0;
}

int mlflow_need_text(struct mlflow_call *call, const char *name, const char **ret, struct err *err)
{
    int r = mlflow_text(call, name, ret, err);

    if (r == 0 && (!*ret || !**ret))
        r = missing("", name, err);
    return r;
}

int mlflow_int(struct mlflow_call *call, const char *name, int64_t otherwise, int64_t *ret,
               struct err *err)
{
    if (call->body)
        return mlflow_json_int(call->body, "", name, otherwise, ret, err);
    const char *text = http_param(call->web->request, name);
    *ret = otherwise;
    if (!text || !*text || text_int(text, ret))
        return 0;
    return err_set(err, EINVAL, "Invalid value \"%.100s\" for parameter '%s' supplied. " SEE, text,
                   name);
}

int mlflow_list(struct mlflow_call *call, const char *name, const json_t **ret, struct err *err)
{
    const json_t *value = json_object_get(call->body, name);

    *ret = NULL;
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_array(value))
        return invalid("", name, value, err);
    *ret = value;
    return 0;
}

int mlflow_time(struct mlflow_call *call, const char *name, int64_t otherwise, int64_t *ret,
                struct err *err)
{
    int r = mlflow_int(call, name, otherwise, ret, err);

    if (r == 0 && (*ret < 0 || *ret > TRACKED_MS_MAX))
        r = err_set(err, EINVAL,
                    "Invalid value %lld for parameter '%s' supplied: a time in "
                    "milliseconds since 1970 is wanted",
                    (long long)*ret, name);
    return r;
}

int mlflow_page(struct mlflow_call *call, size_t *ret, struct err *err)
{
    const char *token;
    int64_t at = 0;
    int r = mlflow_text(call, "page_token", &token, err);

    *ret = 0;
    if (r != 0 || !token || !*token)
        return r;
    if (!text_int(token, &at) || at < 0)
        return err_set(err, EINVAL, "Invalid page token '%.100s'", token);
    *ret = (size_t)at;
    return 0;
}

int mlflow_limit(struct mlflow_call *call, int64_t otherwise, int64_t most, int64_t *ret,
                 struct err *err)
{
    int r = mlflow_int(call, "max_results", otherwise, ret, err);

    if (r == 0 && (*ret < 1 || *ret > most))
        r = err_set(err, EINVAL,
                    "Invalid value %lld for parameter 'max_results' supplied. It must be at least "
                    "1 and at most %lld.",
                    (long long)*ret, (long long)most);
    return r;
}

int mlflow_view(struct mlflow_call *call, const char *name, int *ret, struct err *err)
{
    static const struct {
        const char *word;
        int view;
    } views[] = {
        {"ACTIVE_ONLY", MLFLOW_ACTIVE}, {"DELETED_ONLY", MLFLOW_DELETED}, {"ALL", MLFLOW_ALL}};
    const json_t *value = json_object_get(call->body, name);
    const char *text = call->body ? json_string_value(value) : http_param(call->web->request, name);

    *ret = MLFLOW_ACTIVE;
    if (json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= 3)
        text = views[json_integer_value(value) - 1].word;
    else if ((!value || json_is_null(value)) && !text)
        return 0;
    for (size_t i = 0; text && i < ARRAY_LEN(views); i++)
        if (str_eq(views[i].word, text)) {
            *ret = views[i].view;
            return 0;
        }
    return err_set(err, EINVAL,
                   "Invalid value for parameter '%s' supplied: ACTIVE_ONLY, "
                   "DELETED_ONLY or ALL is wanted",
                   name);
}

/* ---- names ---- */

static size_t count_characters(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

char *mlflow_cut(const char *text, size_t characters)
{
    const char *s = text;

    for (size_t n = 0; *s; s++) {
        n += ((unsigned char)*s & 0xc0) != 0x80;
        if (n > characters)
            break;
    }
    return xstrndup(text, (size_t)(s - text));
}

/* Would it be itself as the name of a file? */
static bool is_plain_path(const char *key)
{
    for (const char *s = key;; s++) {
        size_t n = strcspn(s, "/");
        if (!n || (n == 1 && *s == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
            return false;
        s += n;
        if (!*s)
            return true;
    }
}

int mlflow_check_key(const char *path, const char *key, struct err *err)
{
    if (!key || !*key)
        return err_set(err, EINVAL, "Missing value for required parameter '%s'.", path);
    for (const char *s = key; *s; s++)
        if (!isalnum((unsigned char)*s) && (unsigned char)*s < 0x80 && !strchr("/_.- :", *s))
            return err_set(err, EINVAL,
                           "Invalid value \"%.260s\" for parameter '%s' supplied: Names may only "
                           "contain alphanumerics, underscores (_), dashes (-), periods (.), "
                           "spaces ( ), colon(:) and slashes (/).",
                           key, path);
    if (!is_plain_path(key))
        return err_set(err, EINVAL,
                       "Invalid value \"%.260s\" for parameter '%s' supplied: Names may be treated "
                       "as files in certain cases, and must not resolve to other names when "
                       "treated as such.",
                       key, path);
    if (count_characters(key) > KEY_CHARS)
        return err_set(err, EINVAL, "'%s' exceeds the maximum length of %d characters", path,
                       KEY_CHARS);
    return 0;
}

int mlflow_pair(const json_t *object, const char *path, const char **ret_key,
                const char **ret_value, struct err *err)
{
    int r = mlflow_json_text(object, path, "key", ret_key, err);

    if (r == 0)
        r = mlflow_json_text(object, path, "value", ret_value, err);
    if (r == 0)
        r = mlflow_check_key("key", *ret_key, err);
    if (r == 0 && !*ret_value)
        *ret_value = "";
    return r;
}

/* ---- what is named ---- */

int mlflow_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err)
{
    const char *id;
    int r = mlflow_text(call, "run_id", &id, err);

    if (r == 0 && (!id || !*id))
        r = mlflow_text(call, "run_uuid", &id, err);
    if (r != 0)
        return r;
    if (!id || !*id)
        return missing("", "run_id", err);
    *ret = tracked_run(call->tracked, id);
    if (!*ret || !(*ret)->committed)
        return err_set(err, ENOENT, "Run with id=%.260s not found", id);
    return 0;
}

int mlflow_own_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err)
{
    int r = mlflow_run(call, ret, err);

    if (r == 0 && (*ret)->owner)
        r = web_is_owner(call->web, (*ret)->owner, (*ret)->of->experiment.id, (*ret)->number, err);
    return r;
}

int mlflow_active_run(struct mlflow_call *call, struct tracked_run **ret, struct err *err)
{
    int r = mlflow_own_run(call, ret, err);

    if (r == 0 && (*ret)->deleted)
        r = err_set(err, EINVAL,
                    "The run %s must be in the 'active' state. Current state is deleted.",
                    (*ret)->id);
    return r;
}

int mlflow_experiment(struct mlflow_call *call, struct tracked_experiment **ret, struct err *err)
{
    const char *id = NULL;
    char number[24];
    const json_t *value = json_object_get(call->body, "experiment_id");
    int r = 0;

    if (json_is_integer(value)) {
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        id = number;
    } else {
        r = mlflow_need_text(call, "experiment_id", &id, err);
    }
    if (r != 0)
        return r;
    *ret = tracked_experiment(call->tracked, id);
    return *ret ? 0 : err_set(err, ENOENT, "No Experiment with id=%.100s exists", id);
}
