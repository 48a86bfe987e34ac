/* SPDX-License-Identifier: MIT */
/*
 * line_write.c — the way back of line_protocol.c: `NAME value=0.5,step=7i 1700000000000000000`.
 * The metric is the measurement and not the field, since a field `epoch` would be an axis.
 */
#include "metrics/line_write.h"

#include "base/rest.h"
#include "metrics/line.h"

void line_write_name(struct str *to, const char *name)
{
    for (const char *c = name; *c; c++) {
        bool odd = (unsigned char)*c <= ' ' || *c == 0x7f || *c == '\\' || (c == name && *c == '#');
        str_add_char(to, odd ? '_' : *c);
    }
}

static void put_escaped(struct str *to, const char *name)
{
    size_t at = to->len;

    line_write_name(to, name);
    if (!strpbrk(to->s + at, ",="))
        return;
    autofree(mem) char *clean = xstrdup(to->s + at);
    str_cut(to, at);
    for (const char *c = clean; *c; c++) {
        if (*c == ',' || *c == '=')
            str_add_char(to, '\\');
        str_add_char(to, *c);
    }
}

bool line_write(struct str *to, const struct sample *sample)
{
    size_t n = strlen(sample->metric);

    if (!n || n > FILE_NAME_LIMIT)
        return false;
    put_escaped(to, sample->metric);
    str_add(to, " value=");
    if (sample->rest)
        str_addf(to, "%lldi", (long long)rest_whole(sample->value, sample->rest));
    else
        str_add_double(to, sample->value);
    if (sample->step != STEP_NONE)
        str_addf(to, ",step=%lldi", (long long)sample->step);
    if (sample->time_us > 0 && sample->time_us < INT64_MAX / 1000)
        str_addf(to, " %lld", (long long)sample_time_ns(sample->time_us, sample->ns));
    str_add_char(to, '\n');
    return true;
}
