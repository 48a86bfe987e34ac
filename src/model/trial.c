/* SPDX-License-Identifier: MIT */
/*
 * trial.c — rows are released here; how people name trials, and where their files are.
 */
#include "model/trial.h"

#include <errno.h>

void experiment_release(struct experiment *experiment)
{
    free(experiment->name);
    free(experiment->owner);
    free(experiment->spec_json);
    free(experiment->error);
    free(experiment->code);
    free(experiment->environment);
    free(experiment->search_state);
    free(experiment->kernel);
    *experiment = (struct experiment){0};
}

void trial_release(struct trial *trial)
{
    free(trial->point);
    free(trial->why);
    free(trial->verdict);
    free(trial->extra);
    *trial = (struct trial){0};
}

void attempt_release(struct attempt *attempt)
{
    free(attempt->error);
    free(attempt->gpus);
    free(attempt->host);
    free(attempt->code);
    free(attempt->system);
    *attempt = (struct attempt){0};
}

void summary_release(struct summary *summary)
{
    free(summary->metric);
    *summary = (struct summary){0};
}

/* A whole number from 1 up, nothing else around it; 0 if it is not one. */
static int64_t parse_number(const char *text)
{
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    return errno || *end ? 0 : n;
}

static bool is_name(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return n > 0;
}

int ref_parse(const char *text, char **ret_name, int64_t *ret_trial, struct err *err)
{
    const char *dot = strchr(text, '.');
    size_t n = dot ? (size_t)(dot - text) : strlen(text);
    int64_t trial = dot ? parse_number(dot + 1) : 0;

    autofree(mem) char *name = xstrndup(text, n);
    if (!is_name(text, n) && parse_number(name) < 1)
        return err_set(err, EINVAL, "'%s' names no experiment; write a name, a number, or 'last'",
                       text);
    if (dot && trial < 1)
        return err_set(err, EINVAL, "'%s' names no trial; write EXPERIMENT.NUMBER, as in %s.1",
                       text, name);
    *ret_name = TAKE(name);
    *ret_trial = trial;
    return 0;
}

char *attempt_dir(const char *home, int64_t experiment, int64_t trial, int64_t number)
{
    return xasprintf("%s/experiments/%lld/%lld.%lld", home, (long long)experiment, (long long)trial,
                     (long long)number);
}

char *checkpoint_dir(const char *home, int64_t experiment, int64_t trial)
{
    return xasprintf("%s/experiments/%lld/%lld.checkpoints", home, (long long)experiment,
                     (long long)trial);
}
