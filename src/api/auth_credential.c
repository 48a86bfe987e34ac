/* SPDX-License-Identifier: MIT */
/*
 * auth_credential.c — secrets as they come: in the forms of our own clients, of InfluxDB's and
 * MLflow's, and of browsers.
 *
 * Stock clients send a name and password of their own even when nobody gave them one (Python's
 * influxdb says root:root): what does not begin as our tokens do is called foreign, and is as good
 * as none.
 */
#include "api/auth.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#define BASIC_MAX 512 /* bytes of a name and password */

/* ---- base64 (RFC 4648), both alphabets ---- */

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* As a text; false: it is not base64, too long, or has a NUL. */
static bool decode(const char *text, char ret[BASIC_MAX + 1])
{
    unsigned bits = 0;
    size_t n = 0, have = 0;

    for (; *text && *text != '='; text++) {
        int digit = digit_of(*text);
        if (digit < 0 || n == BASIC_MAX)
            return false;
        bits = bits << 6 | (unsigned)digit;
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        ret[n] = (char)(bits >> have & 0xff);
        if (!ret[n++])
            return false;
    }
    ret[n] = '\0';
    return text[strspn(text, "= ")] == '\0';
}

/* ---- forms ---- */

/* What is longer than any secret stays empty: it is a wrong one. */
static void take(enum credential_form form, const char *secret, size_t n, struct credential *ret)
{
    ret->form = form;
    if (n < sizeof(ret->secret))
        memcpy(ret->secret, secret, n);
}

static void take_token(const char *secret, struct credential *ret)
{
    if (*secret)
        take(str_starts(secret, AUTH_PREFIX) ? CREDENTIAL_TOKEN : CREDENTIAL_FOREIGN, secret,
             strlen(secret), ret);
}

/* The words behind "Basic ", "Bearer "; NULL: it is of another scheme. */
static const char *behind(const char *text, const char *scheme)
{
    size_t n = strlen(scheme);
    if (strncasecmp(text, scheme, n) != 0 || text[n] != ' ')
        return NULL;
    return text + n + strspn(text + n, " ");
}

static void read_authorization(const char *text, struct credential *ret)
{
    char pair[BASIC_MAX + 1];
    const char *rest = behind(text, "Bearer");

    if (!rest)
        rest = behind(text, "Token"); /* InfluxDB 2; 1.8 takes name:password there */
    if (!rest && (rest = behind(text, "Basic")))
        rest = decode(rest, pair) ? pair : "?";
    if (!rest)
        rest = "?"; /* whatever that is, it is not ours */
    const char *colon = strchr(rest, ':');
    take_token(colon ? colon + 1 : rest, ret);
}

static void read_cookie(const char *text, const char *name, struct credential *ret)
{
    size_t n = strlen(name);

    while (*text) {
        text += strspn(text, "; ");
        size_t len = strcspn(text, ";");
        if (len > n && strncmp(text, name, n) == 0 && text[n] == '=') {
            take(CREDENTIAL_SESSION, text + n + 1, len - n - 1, ret);
            return;
        }
        text += len;
    }
}

void credential_read(const struct asked *asked, const char *cookie_name, struct credential *ret)
{
    *ret = (struct credential){.form = CREDENTIAL_NONE};
    if (asked->authorization)
        read_authorization(asked->authorization, ret);
    if (ret->form == CREDENTIAL_NONE && asked->password)
        take_token(asked->password, ret);
    if (ret->form == CREDENTIAL_NONE && asked->cookie)
        read_cookie(asked->cookie, cookie_name, ret);
}

/* ---- pages of others ---- */

static bool is_reading(const struct asked *asked)
{
    return str_eq(asked->method, "GET") || str_eq(asked->method, "HEAD");
}

static bool origin_is(const char *origin, const char *host)
{
    const char *name = strstr(origin, "://");
    return name && host && *host && strcasecmp(name + 3, host) == 0;
}

int asked_by_us(const struct asked *asked, const char *name, struct err *err)
{
    const char *site = asked->fetch_site, *origin = asked->origin;
    bool same = site && str_eq(site, "same-origin");

    if (site && !same && !(is_reading(asked) && str_eq(site, "none")))
        return err_set(err, EPERM, "pages of other servers may not ask here");
    if (origin && !origin_is(origin, asked->host) && !(name && origin_is(origin, name)))
        return err_set(err, EPERM, "pages of '%.100s' may not ask here", origin);
    if (!is_reading(asked) && !origin && !same)
        return err_set(err, EPERM,
                       "a change with a cookie has to say which page it comes from (Origin)");
    return 0;
}

/* ---- names ---- */

static const char *const roles[] = {
    [ROLE_NONE] = "none",
    [ROLE_VIEWER] = "viewer",
    [ROLE_USER] = "user",
    [ROLE_ADMIN] = "admin",
};

const char *role_name(enum role role)
{
    return roles[role];
}

int role_parse(const char *text, enum role *ret, struct err *err)
{
    for (size_t i = ROLE_VIEWER; i < ARRAY_LEN(roles); i++)
        if (str_eq(text, roles[i])) {
            *ret = (enum role)i;
            return 0;
        }
    return err_set(err, EINVAL, "'%.50s' is no role: viewer, user or admin", text);
}

int user_check(const char *name, struct err *err)
{
    size_t n = strlen(name);

    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.@+-", *c))
            n = 0;
    if (!n || n > AUTH_USER_MAX)
        return err_set(err, EINVAL,
                       "'%.70s' is no name of a user: 1 to %d letters, digits and _ . @ + -", name,
                       AUTH_USER_MAX);
    return 0;
}

char *user_self(void)
{
    char buf[4096];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(geteuid(), &entry, buf, sizeof(buf), &found) == 0 && found &&
        user_check(found->pw_name, NULL) == 0)
        return xstrdup(found->pw_name);
    return xasprintf("%u", (unsigned)geteuid());
}

/* ---- secrets ---- */

int secret_new(char ret[AUTH_SECRET_SIZE], struct err *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[33] = {0}; /* the last makes whole sixes of bits */
    char *to = ret + strlen(AUTH_PREFIX);

    if (getrandom(bytes, 32, 0) != 32)
        return err_errno(err, errno, "the kernel gives no random bytes");
    memcpy(ret, AUTH_PREFIX, sizeof(AUTH_PREFIX));
    for (size_t i = 0; i < 33; i += 3) {
        unsigned bits = (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            if (to < ret + AUTH_SECRET_SIZE - 1)
                *to++ = digits[bits >> shift & 63];
    }
    *to = '\0';
    return 0;
}
