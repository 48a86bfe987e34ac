/* SPDX-License-Identifier: MIT */
/*
 * line_write.c — the way back of line_protocol.c: `NAME value=0.5,step=7i 1700000000000000000`.
 * The metric is the measurement and not the field, since a field `epoch` would be an axis.
 */
#include "metrics/line_write.h"

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
    str_add_double(to, sample->value);
    if (sample->step != STEP_NONE)
        str_addf(to, ",step=%lldi", (long long)sample->step);
    if (sample->time_us > 0 && sample->time_us < INT64_MAX / 1000)
        str_addf(to, " %lld", (long long)sample->time_us * 1000);
    str_add_char(to, '\n');
    return true;
}
