/* SPDX-License-Identifier: MIT */
/*
 * auth.h — who asks over HTTP, and whether they may.
 *
 *     a token        of a program or a person: `hone token add`; roles viewer, user, admin
 *     a session      of a browser: a cookie, given for a link or a token, for 30 days
 *     a link         opens one session, once, within ten minutes: `hone open`, `serve`, `run`
 *     the kernel     says that a stock client on this machine is run by our own user
 *
 * Secrets are 32 random bytes; only their SHA-256 is kept, in the database and here. What the
 * database says is known here from its commit on: a token that was removed is refused with the next
 * request.
 */
#ifndef HONE_AUTH_H
#define HONE_AUTH_H

#include "api/auth_peer.h"
#include "api/web_route.h"

/* Of every page that is served. */
#define AUTH_CSP                                                                                   \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; worker-src 'self'; base-uri 'none'; form-action 'self'; "               \
    "frame-ancestors 'none'"

#define AUTH_PREFIX      "hone_"
#define AUTH_SECRET_SIZE 49                       /* prefix, 43 characters, NUL */
#define AUTH_LINK_US     (10 * 60 * 1000000LL)    /* a link lives so long */
#define AUTH_SESSION_US  (30 * 86400 * 1000000LL) /* a session, at most */
#define AUTH_USER_MAX    64                       /* bytes of a user's name */

/* "viewer", "user", "admin"; "none". */
const char *role_name(enum role role);
/* 0, or -EINVAL with a sentence. */
int role_parse(const char *text, enum role *ret, struct err *err);
/* A name of a user: letters, digits and _ . @ + -, 1 to 64 of them. */
int user_check(const char *name, struct err *err);
/* The user of this process, as the system names it; free it. */
char *user_self(void);

/* A new secret: "hone_" and 43 characters. Its hash is sha256_hex() of the text. */
int secret_new(char ret[AUTH_SECRET_SIZE], struct err *err);

/* ---- what a request says about who sends it; NULL: nothing ---- */
struct asked {
    const char *method, *host, *authorization, *cookie, *origin, *fetch_site;
    const char *password; /* p= of InfluxDB's addresses, only there */
    bool forwarded;       /* it came by way of another server, or says so */
};
enum credential_form {
    CREDENTIAL_NONE,
    CREDENTIAL_TOKEN,   /* looks like one of ours */
    CREDENTIAL_SESSION, /* a cookie of ours */
    CREDENTIAL_FOREIGN, /* a name and password as stock clients send them without being told */
};
struct credential {
    enum credential_form form;
    char secret[AUTH_SECRET_SIZE];
};
/* Authorization (Bearer, Token, Basic) counts before p=, and that before the cookie called
 * `cookie_name`. */
void credential_read(const struct asked *asked, const char *cookie_name, struct credential *ret);
/* A request with a cookie comes from a page of ours: the browser says so. `name` is a further name
 * of this server, or NULL. 0, or -EPERM with a sentence. */
int asked_by_us(const struct asked *asked, const char *name, struct err *err);

/* ---- the one who decides ---- */
struct auth;
struct auth_options {
    const char *home_id;     /* the cookie is named after it: several servers have one host */
    const char *owner;       /* the user of this process */
    uid_t uid;               /* its number; 0: stock clients need a token, but for … */
    bool trust_local;        /* … this */
    bool secure;             /* browsers come by TLS: the cookie says so */
    const char *proxy_name;  /* behind a proxy of this name; NULL: none */
    struct changes *changes; /* tells that tokens have changed; NULL: they do not */
    /* Whose program is at the other end; NULL: the kernel is asked. */
    int (*ends_user)(const struct auth_ends *ends, uid_t *ret, void *arg, struct err *err);
    void *arg;
};
struct auth *auth_new(const struct auth_options *options);
void auth_free(struct auth *auth);
DEFINE_AUTOFREE(auth);

/* Know what the database says now, if that has changed since; from any thread, with its own handle.
 */
int auth_refresh(struct auth *auth, struct store *store, struct err *err);

/* One that is about to be committed is known already. */
int auth_know(struct auth *auth, struct store *store, const struct token_row *row, struct err *err);

struct auth_caller {
    struct caller who; /* first: web.c takes it for that */
    char sha256[65];   /* of the session's secret; "": not a session */
    char shown[65];    /* of whatever it showed; "": nothing */
};
struct auth_refusal {
    unsigned status;  /* 401, 403, 429 */
    unsigned retry_s; /* 429: when to come again */
};
/* May it ask for this route? 0, or < 0 with the status and a sentence to answer. One thread at a
 * time may ask; others may load meanwhile. */
int auth_check(struct auth *auth, const struct asked *asked, const struct auth_ends *ends,
               const struct web_route *route, struct now now, struct auth_caller *ret,
               struct auth_refusal *ret_refusal, struct err *err);

/* What it showed (auth_caller.shown) would let it in now, too: for answers that go on. Of what
 * auth_refresh() knows; from any thread. */
bool auth_still(struct auth *auth, const char *shown, int64_t wall_us);

/* A browser wants in, with a link or a token (`secret`). 0: *ret says who, and `kind` "link" or
 * "token" what it showed, with its id and when it ends. A link works once. -EACCES (401), or
 * -EBUSY (429) with *ret_retry_s. From any thread. */
struct auth_entry {
    struct caller who;
    bool link;
    int64_t token;      /* shown, or with which the link was made; 0: none */
    int64_t expires_us; /* of the session that it may have */
    char sha256[65];    /* of the secret */
};
int auth_enter(struct auth *auth, const char *secret, const struct auth_ends *ends, struct now now,
               struct auth_entry *ret, unsigned *ret_retry_s, struct err *err);

/* The text of Set-Cookie for a session's secret; "" ends it. */
void auth_cookie(const struct auth *auth, const char *secret, struct str *to);

/* ---- rows; the same in the engine and in a command that found none (change.h) ----
 *   {"do":"token_add","kind":"token|link","user":"ann","role":"user","sha256":"…","expires_us":0}
 *   {"do":"token_rm","id":3} or {"do":"token_rm","user":"ann"} */
int auth_add_rows(const json_t *request, struct txn *txn, struct err *err);
int auth_remove_rows(const json_t *request, struct txn *txn, struct err *err);

#endif
