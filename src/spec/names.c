/* SPDX-License-Identifier: MIT */
/*
 * names.c — names of experiments: which are valid, and what to call one that was given none.
 */
#include "spec/reader.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

bool spec_name_valid(const char *name)
{
    if (!is_letter(*name) || str_eq(name, "last") || strlen(name) > 200)
        return false;
    for (; *name; name++)
        if (!is_name_char(*name))
            return false;
    return true;
}

char *spec_name_from(const char *text)
{
    struct str name = STR_INIT;

    if (!is_letter(*text))
        str_add_char(&name, '_');
    for (; *text && name.len < 100; text++)
        if (is_name_char(*text))
            str_add_char(&name, *text);
        else if (((unsigned char)*text & 0xc0) != 0x80 && name.s[name.len - 1] != '_')
            str_add_char(&name, '_'); /* one for each foreign character or run of them */
    if (str_eq(name.s, "last"))
        str_add_char(&name, '_');
    return str_take(&name);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "dir/train.v2.yaml" → "train_v2" */
static char *name_from_path(const char *path)
{
    autofree(mem) char *stem = xstrdup(base_name(path));
    char *dot = strrchr(stem, '.');

    if (dot && dot > stem)
        *dot = '\0';
    return spec_name_from(*stem ? stem : "experiment");
}

static bool is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "sh",   "bash", "perl",   "ruby",
                                        "julia",  "node", "java", "Rscript"};
    program = base_name(program);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (str_starts(program, names[i]) &&
            strspn(program + n, "0123456789.") == strlen(program + n))
            return true;
    }
    return false;
}

char *spec_name_default(const struct reader *reader)
{
    const struct spec *spec = reader->spec;

    if (reader->name[0] && !reader->nameless)
        return name_from_path(reader->name);
    if (spec->command.len == 0)
        return xstrdup("experiment");
    bool script = is_interpreter(spec->command.at[0]) && spec->command.len > 1 &&
                  spec->command.at[1][0] != '-';
    return name_from_path(spec->command.at[script ? 1 : 0]);
}
