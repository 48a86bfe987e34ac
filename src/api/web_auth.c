/* SPDX-License-Identifier: MIT */
/*
 * web_auth.c — by which names and how safely a server is reached, and the links that it gives out.
 */
#include "api/auth.h"
#include "api/web_internal.h"
#include "base/fs.h"
#include "store/object.h"

#include <errno.h>
#include <unistd.h>

static int check_options(const struct web_options *options, struct err *err)
{
    if (!options->tls_cert != !options->tls_key)
        return err_set(err, EINVAL, "TLS needs both a certificate and its key");
    int r = http_check_address(options->address, err);
    if (r < 0)
        return r;
    if (!http_loopback(options->address) && !options->tls_cert && !options->behind_proxy)
        return err_set(err, EACCES,
                       "address %s is not of this machine alone (127.0.0.1, ::1, localhost): that "
                       "needs --tls CERT KEY, or --behind-proxy NAME where a proxy speaks "
                       "TLS",
                       options->address);
    return 0;
}

int web_auth_open(struct web *web, const struct web_options *options, struct err *err)
{
    autofree(mem) char *owner = user_self();
    char host[256] = "";
    int r = check_options(options, err);

    if (r < 0)
        return r;
    web->auth = auth_new(&(struct auth_options){
        .home_id = store_home_id(web->readers[DESK_HTTP].store),
        .owner = owner,
        .uid = geteuid(),
        .trust_local = options->trust_local,
        .secure = options->tls_cert || options->behind_proxy,
        .proxy_name = options->behind_proxy ? options->name : NULL,
        .changes = runtime_changes(web->runtime),
    });
    if (options->name)
        web->names[0] = xstrdup(options->name);
    else if (!http_loopback(options->address) && gethostname(host, sizeof(host) - 1) == 0)
        web->names[0] = xstrdup(host);
    return 0;
}

void web_auth_http(const struct web *web, const struct web_options *options,
                   struct http_options *ret)
{
    ret->tls_cert = options->tls_cert;
    ret->tls_key = options->tls_key;
    ret->names = (const char *const *)web->names;
    ret->any_address = options->tls_cert || options->behind_proxy;
}

const char *web_auth_udp(const struct web_options *options)
{
    return http_loopback(options->address) ? options->address : "127.0.0.1";
}

/* A server of all addresses is called by its name. */
static char *outside(const struct web *web, const struct web_options *options)
{
    const char *address = http_address(web->http), *scheme = options->tls_cert ? "https" : "http";
    const char *port = strrchr(address, ':');

    if (options->behind_proxy)
        return xasprintf("https://%s", web->names[0]);
    if (web->names[0] && port)
        return xasprintf("%s://%s%s", scheme, web->names[0], port);
    return xasprintf("%s://%s", scheme, address);
}

int web_auth_address(struct web *web, const struct web_options *options, struct err *err)
{
    const char *address = http_address(web->http);
    autorelease(str) struct str text = STR_INIT;

    web->outside = outside(web, options);
    str_addf(&text, "%s\n", address);
    if (!str_starts(web->outside, "http://"))
        str_addf(&text, "%s\n", web->outside);
    web->address_file = xasprintf("%s/address", runtime_home(web->runtime));
    return fs_write_atomic(web->address_file, text.s, text.len, 0600, err);
}

void web_auth_close(struct web *web)
{
    if (web->auth)
        auth_free(web->auth);
    free(web->names[0]);
    free(web->outside);
}

/* ---- links ---- */

/* Known at once, and kept with the next commit. */
static int keep_link(struct web *web, const char *secret, struct err *err)
{
    autofree(mem) char *user = user_self();
    char sha256[SHA256_HEX_SIZE];
    int64_t now_us = runtime_now().wall_us;
    int r = sha256_hex(secret, strlen(secret), sha256, err);
    struct token_row row = {
        .kind = "link",
        .user = user,
        .role = role_name(ROLE_ADMIN),
        .sha256 = sha256,
        .created_us = now_us,
        .expires_us = now_us + AUTH_LINK_US,
    };

    if (r < 0)
        return r;
    r = auth_know(web->auth, runtime_reader(web->runtime), &row, err);
    if (r == 0)
        txn_put_token(engine_txn(runtime_engine(web->runtime)), &row);
    return r;
}

char *web_link(struct web *web)
{
    char secret[AUTH_SECRET_SIZE];

    if (secret_new(secret, NULL) < 0 || keep_link(web, secret, NULL) < 0)
        return xasprintf("%s/", web->outside);
    return xasprintf("%s/open/%s", web->outside, secret);
}
