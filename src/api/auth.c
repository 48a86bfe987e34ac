/* SPDX-License-Identifier: MIT */
/*
 * auth.c — the decision: a secret is looked for among those of the database, a role is compared,
 * and without a secret the kernel is asked, for the few routes of stock clients.
 *
 *     no secret, or a stock client's own ──► route for stock clients, loopback, no trace of a proxy
 *                                            or a browser, our own user ──► role user
 *     token ──────────────────────────────► its role
 *     cookie ─────────────────────────────► its role, if the page that asks is ours
 *
 * Hashes are compared in the same time wherever they differ. Nothing here is ever logged.
 */
#include "api/auth.h"
#include "api/auth_limit.h"
#include "base/clock.h"
#include "store/changes.h"
#include "store/object.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define RECENT 16

enum kind { KIND_TOKEN, KIND_SESSION, KIND_LINK };

struct known {
    enum kind kind;
    enum role role;
    int64_t id, parent, expires_us;
    char user[AUTH_USER_MAX + 1];
    char sha256[SHA256_HEX_SIZE];
};

struct auth {
    struct auth_options options; /* its texts are ours */
    char cookie_name[24];
    int netlink;    /* of who checks, and so are all up to the mutex */
    struct recent { /* right secrets that came lately: hashing takes longer than all the rest */
        char secret[AUTH_SECRET_SIZE], sha256[SHA256_HEX_SIZE];
    } recent[RECENT];
    size_t n_recent;       /* that were put there; the oldest makes room */
    pthread_mutex_t mutex; /* guards all below */
    uint64_t seen;         /* of the changes, + 1; 0: nothing is known yet */
    VEC(struct known) known;
    VEC(struct known) spent; /* links that were used; the database may still have them */
    struct limit limit;
};

/* Eight bytes at a time: every request looks at all that are known. */
static bool same_bytes(const char *a, const char *b, size_t n)
{
    uint64_t differ = 0, x, y;
    size_t i = 0;

    for (; i + sizeof(x) <= n; i += sizeof(x)) {
        memcpy(&x, a + i, sizeof(x));
        memcpy(&y, b + i, sizeof(y));
        differ |= x ^ y;
    }
    for (; i < n; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

static bool same_hash(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE])
{
    return same_bytes(a, b, SHA256_HEX_SIZE);
}

/* ---- new, free ---- */

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct auth *auth_new(const struct auth_options *options)
{
    struct auth *auth = xcalloc(1, sizeof(*auth));

    auth->options = *options;
    auth->options.home_id = NULL;
    auth->options.owner = xstrdup(options->owner);
    auth->options.proxy_name = copy_text(options->proxy_name);
    snprintf(auth->cookie_name, sizeof(auth->cookie_name), "hone-%.8s", options->home_id);
    auth->netlink = -1;
    pthread_mutex_init(&auth->mutex, NULL);
    return auth;
}

void auth_free(struct auth *auth)
{
    pthread_mutex_destroy(&auth->mutex);
    fd_autoclose(&auth->netlink);
    vec_release(&auth->known);
    vec_release(&auth->spent);
    explicit_bzero(auth->recent, sizeof(auth->recent));
    free((char *)auth->options.owner);
    free((char *)auth->options.proxy_name);
    free(auth);
}

/* ---- what is known ---- */

struct loaded {
    VEC(struct known) known;
};

/* What this program does not understand lets nobody in. */
static int add_known(const struct token_row *row, void *arg)
{
    static const char *const kinds[] = {
        [KIND_TOKEN] = "token", [KIND_SESSION] = "session", [KIND_LINK] = "link"};
    struct loaded *to = arg;
    struct known known = {.id = row->id, .parent = row->parent, .expires_us = row->expires_us};

    if (role_parse(row->role, &known.role, NULL) < 0 || strlen(row->sha256) != 64 ||
        user_check(row->user, NULL) < 0)
        return 0;
    snprintf(known.user, sizeof(known.user), "%s", row->user);
    snprintf(known.sha256, sizeof(known.sha256), "%s", row->sha256);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i], row->kind)) {
            known.kind = (enum kind)i;
            vec_push(&to->known, known);
        }
    return 0;
}

/* The count is taken before the rows are read: what is committed in between is read again. */
int auth_refresh(struct auth *auth, struct store *store, struct err *err)
{
    uint64_t count = auth->options.changes ? changes_tokens(auth->options.changes) + 1 : 1;
    struct loaded loaded = {{NULL, 0, 0}};

    pthread_mutex_lock(&auth->mutex);
    bool known = auth->seen == count;
    pthread_mutex_unlock(&auth->mutex);
    if (known)
        return 0;
    int r = store_tokens(store, add_known, &loaded, err);
    pthread_mutex_lock(&auth->mutex);
    if (r >= 0 && auth->seen < count) {
        void *before = auth->known.at;
        auth->known.at = loaded.known.at;
        auth->known.len = loaded.known.len;
        auth->known.cap = loaded.known.cap;
        auth->seen = count;
        loaded.known.at = before;
    }
    pthread_mutex_unlock(&auth->mutex);
    vec_release(&loaded.known);
    return r;
}

int auth_know(struct auth *auth, struct store *store, const struct token_row *row, struct err *err)
{
    struct loaded one = {{NULL, 0, 0}};
    int r = auth_refresh(auth, store, err); /* it would be lost with the first */

    if (r < 0)
        return r;
    add_known(row, &one);
    pthread_mutex_lock(&auth->mutex);
    vec_foreach (known, &one.known)
        vec_push(&auth->known, *known);
    pthread_mutex_unlock(&auth->mutex);
    vec_release(&one.known);
    return 0;
}

/* All are looked at, whichever it is. With the mutex held. */
static bool find(const struct auth *auth, enum kind kind, const char *sha256, int64_t wall_us,
                 struct known *ret)
{
    bool found = false;

    vec_foreach (known, &auth->known)
        if (same_hash(known->sha256, sha256) && known->kind == kind) {
            *ret = *known;
            found = true;
        }
    return found && (!ret->expires_us || ret->expires_us > wall_us);
}

/* ---- refusals ---- */

static int refuse(struct auth_refusal *refusal, unsigned status, int r)
{
    refusal->status = status;
    return r;
}

/* A wrong secret came. With the mutex held. 0, or the seconds for which no other is heard. */
static unsigned count_wrong(struct auth *auth, const struct auth_ends *ends, int64_t mono_us)
{
    uint64_t key = limit_key(&ends->peer);
    unsigned wait_s = limit_wait_s(&auth->limit, key, mono_us);

    if (!wait_s)
        limit_failed(&auth->limit, key, mono_us);
    return wait_s;
}

static int say_wait(unsigned wait_s, struct err *err)
{
    return err_set(err, EBUSY, "too many wrong secrets came from this address: wait %u s", wait_s);
}

static int refuse_wrong(enum credential_form form, unsigned wait_s, struct auth_refusal *refusal,
                        struct err *err)
{
    if (wait_s) {
        refusal->retry_s = wait_s;
        return refuse(refusal, 429, say_wait(wait_s, err));
    }
    if (form == CREDENTIAL_SESSION)
        return refuse(refusal, 401,
                      err_set(err, EACCES,
                              "this browser is not known here any more: 'hone open' "
                              "prints a link that lets it in"));
    return refuse(refusal, 401,
                  err_set(err, EACCES,
                          "this token is not known here: it has ended, was removed, or "
                          "is another server's ('hone token add' makes one)"));
}

static int check_role(const struct web_route *route, const struct caller *who,
                      struct auth_refusal *refusal, struct err *err)
{
    if (who->role >= route->role)
        return 0;
    return refuse(refusal, 403,
                  err_set(err, EPERM, "this needs the role %s: %s has the role %s",
                          role_name(route->role), who->user, role_name(who->role)));
}

/* ---- secrets ---- */

static bool same_secret(const char a[AUTH_SECRET_SIZE], const char b[AUTH_SECRET_SIZE])
{
    return same_bytes(a, b, AUTH_SECRET_SIZE);
}

static int hash_of(const struct auth *auth, const struct credential *credential,
                   char ret[SHA256_HEX_SIZE], struct err *err)
{
    for (size_t i = 0; i < MIN(auth->n_recent, (size_t)RECENT); i++)
        if (same_secret(auth->recent[i].secret, credential->secret)) {
            memcpy(ret, auth->recent[i].sha256, SHA256_HEX_SIZE);
            return 0;
        }
    return sha256_hex(credential->secret, strlen(credential->secret), ret, err);
}

/* It was right: the next time it need not be hashed. Whether it still is, is looked up each time.
 */
static void remember(struct auth *auth, const struct credential *credential, const char *sha256)
{
    for (size_t i = 0; i < MIN(auth->n_recent, (size_t)RECENT); i++)
        if (same_secret(auth->recent[i].secret, credential->secret))
            return;
    struct recent *recent = &auth->recent[auth->n_recent++ % RECENT];
    memcpy(recent->secret, credential->secret, sizeof(recent->secret));
    memcpy(recent->sha256, sha256, sizeof(recent->sha256));
}

static int check_secret(struct auth *auth, const struct credential *credential,
                        const struct auth_ends *ends, struct now now, struct auth_caller *ret,
                        struct auth_refusal *refusal, struct err *err)
{
    bool session = credential->form == CREDENTIAL_SESSION;
    char sha256[SHA256_HEX_SIZE];
    struct known known;
    unsigned wait_s = 0;
    int r = hash_of(auth, credential, sha256, err);

    if (r < 0)
        return refuse(refusal, 500, r);
    pthread_mutex_lock(&auth->mutex);
    bool found = find(auth, session ? KIND_SESSION : KIND_TOKEN, sha256, now.wall_us, &known);
    if (!found)
        wait_s = count_wrong(auth, ends, now.mono_us);
    pthread_mutex_unlock(&auth->mutex);
    if (!found)
        return refuse_wrong(credential->form, wait_s, refusal, err);
    remember(auth, credential, sha256);
    ret->who.role = known.role;
    memcpy(ret->who.user, known.user, sizeof(known.user));
    memcpy(ret->shown, sha256, sizeof(sha256));
    if (session)
        memcpy(ret->sha256, sha256, sizeof(sha256));
    return 0;
}

bool auth_still(struct auth *auth, const char *shown, int64_t wall_us)
{
    char sha256[SHA256_HEX_SIZE] = "";
    struct known known;

    if (!*shown)
        return true; /* a program of our own user */
    snprintf(sha256, sizeof(sha256), "%s", shown);
    pthread_mutex_lock(&auth->mutex);
    bool found = find(auth, KIND_TOKEN, sha256, wall_us, &known) ||
                 find(auth, KIND_SESSION, sha256, wall_us, &known);
    pthread_mutex_unlock(&auth->mutex);
    return found;
}

/* ---- stock clients ---- */

/* A socket is the user's who made it, as long as it lives: a connection is asked for once. */
static int ask_user(struct auth *auth, const struct auth_ends *ends, uid_t *ret, struct err *err)
{
    if (ends->known && *ends->known) {
        *ret = (uid_t)(*ends->known - 1);
        return 0;
    }
    int r = auth->options.ends_user ? auth->options.ends_user(ends, ret, auth->options.arg, err)
                                    : ends_user(ends, &auth->netlink, ret, err);
    if (r >= 0 && ends->known)
        *ends->known = (int64_t)*ret + 1;
    return r;
}

/* NULL: it is one of our own user's. Else why not, to be read behind a semicolon. */
static const char *why_not_ours(struct auth *auth, const struct asked *asked,
                                const struct auth_ends *ends)
{
    uid_t user = (uid_t)-1;

    if (auth->options.proxy_name || asked->forwarded)
        return "what comes by way of a proxy always does";
    if (asked->origin || asked->fetch_site)
        return "a browser gets in by the link that 'hone open' prints";
    if (!ends_local(ends))
        return "what comes from another machine always does";
    if (auth->options.uid == 0 && !auth->options.trust_local)
        return "programs of root on this machine do not where the server was started with "
               "--trust-local";
    if (ask_user(auth, ends, &user, NULL) < 0 || user != auth->options.uid)
        return "only programs of the server's own user on this machine do not";
    return NULL;
}

static int check_stock(struct auth *auth, const struct asked *asked, const struct auth_ends *ends,
                       const struct web_route *route, bool foreign, struct auth_caller *ret,
                       struct auth_refusal *refusal, struct err *err)
{
    const char *why = route->flags & WEB_STOCK
                          ? why_not_ours(auth, asked, ends)
                          : "a browser gets in by the link that 'hone open' prints";

    if (why && foreign)
        return refuse(refusal, 401,
                      err_set(err, EACCES,
                              "what was sent as a token is none of Hone's: these begin with "
                              "'" AUTH_PREFIX "' ('hone token add NAME' makes one); %s",
                              why));
    if (why)
        return refuse(refusal, 401,
                      err_set(err, EACCES,
                              "this needs a token ('hone token add NAME' makes one), "
                              "sent as 'Authorization: Bearer TOKEN'; %s",
                              why));
    ret->who.role = ROLE_USER;
    snprintf(ret->who.user, sizeof(ret->who.user), "%s", auth->options.owner);
    return 0;
}

int auth_check(struct auth *auth, const struct asked *asked, const struct auth_ends *ends,
               const struct web_route *route, struct now now, struct auth_caller *ret,
               struct auth_refusal *ret_refusal, struct err *err)
{
    struct credential credential;
    int r;

    *ret = (struct auth_caller){.who = {.role = ROLE_NONE}};
    *ret_refusal = (struct auth_refusal){.status = 401};
    if (route->role == ROLE_NONE)
        return 0;
    credential_read(asked, auth->cookie_name, &credential);
    if (credential.form == CREDENTIAL_SESSION) {
        r = asked_by_us(asked, auth->options.proxy_name, err);
        if (r < 0)
            return refuse(ret_refusal, 403, r);
    }
    if (credential.form == CREDENTIAL_TOKEN || credential.form == CREDENTIAL_SESSION)
        r = check_secret(auth, &credential, ends, now, ret, ret_refusal, err);
    else
        r = check_stock(auth, asked, ends, route, credential.form == CREDENTIAL_FOREIGN, ret,
                        ret_refusal, err);
    return r < 0 ? r : check_role(route, &ret->who, ret_refusal, err);
}

/* ---- a browser wants in ---- */

static bool was_spent(const struct auth *auth, const char *sha256)
{
    bool spent = false;

    vec_foreach (link, &auth->spent)
        spent |= same_hash(link->sha256, sha256);
    return spent;
}

/* What ended meanwhile need not be remembered. */
static void spend(struct auth *auth, const struct known *link, int64_t wall_us)
{
    for (size_t i = auth->spent.len; i-- > 0;)
        if (auth->spent.at[i].expires_us <= wall_us)
            vec_remove(&auth->spent, i);
    vec_push(&auth->spent, *link);
}

/* With the mutex held. */
static bool enter(struct auth *auth, const char *sha256, int64_t wall_us, struct known *ret)
{
    if (find(auth, KIND_TOKEN, sha256, wall_us, ret))
        return true;
    if (!find(auth, KIND_LINK, sha256, wall_us, ret) || was_spent(auth, sha256))
        return false;
    spend(auth, ret, wall_us);
    return true;
}

/* A session ends with the token that opened it, be it by way of a link; 0: never. With the mutex
 * held. */
static int64_t end_of(const struct auth *auth, const struct known *shown)
{
    if (shown->kind != KIND_LINK)
        return shown->expires_us;
    vec_foreach (token, &auth->known)
        if (shown->parent && token->id == shown->parent)
            return token->expires_us;
    return 0;
}

int auth_enter(struct auth *auth, const char *secret, const struct auth_ends *ends, struct now now,
               struct auth_entry *ret, unsigned *ret_retry_s, struct err *err)
{
    struct known known = {.kind = KIND_TOKEN};
    unsigned wait_s = 0;

    *ret = (struct auth_entry){.link = false};
    *ret_retry_s = 0;
    int r = sha256_hex(secret, strlen(secret), ret->sha256, err);
    if (r < 0)
        return r;
    pthread_mutex_lock(&auth->mutex);
    bool found = enter(auth, ret->sha256, now.wall_us, &known);
    int64_t end_us = found ? end_of(auth, &known) : 0;
    if (!found)
        wait_s = count_wrong(auth, ends, now.mono_us);
    pthread_mutex_unlock(&auth->mutex);
    *ret_retry_s = wait_s;
    if (wait_s)
        return say_wait(wait_s, err);
    if (!found)
        return err_set(err, EACCES,
                       "this link or token is not known here: a link works once, "
                       "within ten minutes ('hone open' prints another)");
    ret->link = known.kind == KIND_LINK;
    ret->token = ret->link ? known.parent : known.id;
    ret->expires_us = now.wall_us + AUTH_SESSION_US;
    if (end_us)
        ret->expires_us = MIN(ret->expires_us, end_us);
    ret->who.role = known.role;
    memcpy(ret->who.user, known.user, sizeof(known.user));
    return 0;
}

void auth_cookie(const struct auth *auth, const char *secret, struct str *to)
{
    str_addf(to, "%s=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%lld%s", auth->cookie_name,
             secret, *secret ? AUTH_SESSION_US / US_PER_S : 0LL,
             auth->options.secure ? "; Secure" : "");
}
