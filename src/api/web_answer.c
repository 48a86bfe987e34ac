/* SPDX-License-Identifier: MIT */
/*
 * web_answer.c — what all routes do alike: read a JSON body, numbers and names out of the address,
 * and answer.
 */
#include "api/web_route.h"
#include "base/json.h"

#include <errno.h>

static unsigned status_of(int r)
{
    static const struct {
        int error;
        unsigned status;
    } known[] = {
        {ENOENT, 404}, {ESRCH, 404},  {EINVAL, 400}, {ERANGE, 400}, {EACCES, 401},
        {EPERM, 403},  {EEXIST, 409}, {EBUSY, 409},  {EFBIG, 413},  {EAGAIN, 503},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].error == -r)
            return known[i].status;
    return 500;
}

void web_fail(struct web_call *call, int r, const struct err *err)
{
    http_reply_error(call->request, status_of(r), err_text(err));
}

void web_json(struct web_call *call, unsigned status, struct str *body)
{
    const char *const headers[] = {"Cache-Control", "no-cache", *call->cursor ? WEB_CURSOR : NULL,
                                   call->cursor, NULL};

    str_add_char(body, '\n');
    http_reply(call->request, status, "application/json", body, headers);
}

int web_body(struct web_call *call, json_t **ret, struct err *err)
{
    struct str *body = http_body(call->request);
    int r;

    *ret = NULL;
    if (!body->len) {
        *ret = json_object();
        return 0;
    }
    r = json_parse(body->s, body->len, ret, err);
    if (r < 0) {
        err_context(err, "the body is not JSON");
        return -EINVAL;
    }
    if (!json_is_object(*ret)) {
        json_decref(*ret);
        *ret = NULL;
        return err_set(err, EINVAL, "the body is not a JSON object");
    }
    return 0;
}

int web_keys(struct web_call *call, const struct web_key *keys, json_t **ret, struct err *err)
{
    int r = web_body(call, ret, err);

    return r < 0 ? r : web_keys_check(*ret, keys, err);
}

/* Digits, maybe behind a '-'. */
static bool is_whole(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

int web_number(struct web_call *call, const char *name, int64_t min, int64_t max, int64_t missing,
               int64_t *ret, struct err *err)
{
    const char *text = http_param(call->request, name);

    *ret = missing;
    if (!text)
        return 0;
    errno = 0;
    long long x = strtoll(text, NULL, 10);
    if (errno || !is_whole(text) || x < min || x > max)
        return err_set(err, EINVAL, "%s=%.40s: a whole number from %lld to %lld is wanted", name,
                       text, (long long)min, (long long)max);
    *ret = x;
    return 0;
}

int web_trial_ref(struct web_call *call, size_t i, int64_t *ret_experiment, int64_t *ret_trial,
                  struct err *err)
{
    const char *text = http_segment(call->request, i);
    autofree(mem) char *name = NULL;
    int r = ref_parse(text ? text : "", &name, ret_trial, err);

    if (r == 0 && !*ret_trial)
        r = err_set(err, ENOENT, "'%.100s' names no trial: 3.7 would", text ? text : "");
    if (r < 0)
        return -ENOENT; /* what can name nothing is not there */
    return store_find_id(call->store, name, ret_experiment, err);
}

int web_experiment_ref(struct web_call *call, size_t i, int64_t *ret_experiment, struct err *err)
{
    const char *text = http_segment(call->request, i);
    return store_find_id(call->store, text ? text : "", ret_experiment, err);
}
