/* SPDX-License-Identifier: MIT */
/*
 * secret.c — the guess is by name first; by value only where the name says nothing.
 */
#include "store/secret.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

#define TOKEN_LEN  24  /* shorter words are not tokens */
#define TOKEN_BITS 3.6 /* a character; words have fewer, random base64 about 5 */
#define PATH_BITS  4.5 /* with a slash it is a path, unless it is very random */

static const char *const words[] = {"TOKEN", "SECRET",     "PASSWORD", "PASSWD",
                                    "KEY",   "CREDENTIAL", "AUTH",     "COOKIE"};

static bool name_is_secret(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

/* scheme://user:password@host anywhere in the value. */
static bool has_password_url(const char *value)
{
    for (const char *p = value; (p = strstr(p, "://")); p += 3) {
        size_t n = strcspn(p + 3, "/?# \t\n");
        const char *at = memrchr(p + 3, '@', n);
        if (at && memchr(p + 3, ':', (size_t)(at - p - 3)))
            return true;
    }
    return false;
}

/* Shannon's entropy of the characters, in bits a character. */
static double entropy(const char *value, size_t n)
{
    size_t counts[256] = {0};
    double bits = 0;
    for (size_t i = 0; i < n; i++)
        counts[(unsigned char)value[i]]++;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (counts[i])
            bits -= (double)counts[i] / (double)n * log2((double)counts[i] / (double)n);
    return bits;
}

static bool is_token(const char *value)
{
    size_t n = strlen(value), digits = 0, letters = 0;
    if (n < TOKEN_LEN || value[0] == '/' || value[0] == '.' || value[0] == '~')
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)value[i];
        if (!isalnum(c) && !strchr("_-+/=.", c))
            return false;
        digits += isdigit(c) != 0;
        letters += isalpha(c) != 0;
    }
    double enough = strchr(value, '/') ? PATH_BITS : TOKEN_BITS;
    return digits > 0 && letters > 0 && entropy(value, n) >= enough;
}

bool is_secret(const char *name, const char *value)
{
    return name_is_secret(name) || has_password_url(value) || is_token(value);
}
