/* SPDX-License-Identifier: MIT */
/*
 * remote.c — the connection to a server.
 *
 * The token never stands on a command line, where every user of the machine could read it, and goes
 * to the address that was named and no other: redirections are not followed. What a server says is
 * not trusted: answers are cut at 80 MB, sentences are made printable.
 */
#include "cli/remote.h"
#include "base/fs.h"
#include "store/library.h"

#include <errno.h>
#include <stdatomic.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPLY_MAX  ((size_t)80 << 20)
#define LINE_MAX_  ((size_t)4 << 20)
#define HEAD_MAX   ((size_t)64 << 10)
#define TOKEN_MAX  4096
#define CONNECT_MS 10000L
#define TIMEOUT_MS 90000L /* a command has 60 s there */
#define SILENCE_S  60L    /* a stream says something every 15 s */
#define AGAIN_US   500000
#define GIVE_UP    120 /* tries */

struct remote {
    const struct libcurl *lib;
    void *curl;
    struct curl_slist *headers;
    char *url;
    const char *ca;         /* NULL: what the system trusts */
    struct str reply, head; /* head: the lines of its headers */
    remote_line_fn *line;   /* NULL: the reply is kept */
    void *arg;
    bool has_token;   /* one is sent */
    bool ended;       /* `line` has had enough */
    atomic_bool quit; /* remote_quit() */
    long status;      /* of the last answer; 0: none */
    char why[CURL_ERROR_SIZE];
};

/* ---- where, and as whom ---- */

/* "http://host:7470", without a slash at its end. */
static int read_url(const char *text, char **ret, struct err *err)
{
    size_t n = strlen(text);
    size_t scheme = strncasecmp(text, "http://", 7) == 0    ? 7
                    : strncasecmp(text, "https://", 8) == 0 ? 8
                                                            : 0;

    while (n > scheme && text[n - 1] == '/')
        n--;
    if (!scheme || n == scheme || strpbrk(text, " ?#\r\n") || strchr(text + scheme, '@'))
        return err_set(err, EINVAL, "server '%s': it should look like http://host:7470", text);
    *ret = xstrndup(text, n);
    return 0;
}

static int read_token_file(const char *path, bool must, char **ret, struct err *err)
{
    autorelease(str) struct str text = STR_INIT;
    int r = fs_read(path, TOKEN_MAX, &text, err);

    if (r == -ENOENT && !must) {
        err_release(err);
        return 0;
    }
    if (r < 0)
        return r;
    str_cut(&text, strcspn(text.s, " \t\r\n"));
    *ret = str_take(&text);
    return 0;
}

static int read_token(const struct cmd_call *call, char **ret, struct err *err)
{
    const char *file = cmd_value(call, "token-file"), *token = getenv("HONE_TOKEN");
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (file)
        return read_token_file(file, true, ret, err);
    if (token && *token) {
        *ret = xstrdup(token);
        return 0;
    }
    autofree(mem) char *usual = config && *config
                                    ? xasprintf("%s/hone/token", config)
                                    : xasprintf("%s/.config/hone/token", home ? home : "");
    return read_token_file(usual, false, ret, err);
}

/* Whose certificates are trusted: a server's own, where nobody else has signed it. */
static const char *find_ca(const struct cmd_call *call)
{
    static const char *const variables[] = {"HONE_CA", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    const char *file = cmd_value(call, "ca");

    for (size_t i = 0; i < ARRAY_LEN(variables) && (!file || !*file); i++)
        file = getenv(variables[i]);
    return file && *file ? file : NULL;
}

static void add_header(struct remote *remote, const char *line)
{
    struct curl_slist *longer = remote->lib->curl_slist_append(remote->headers, line);
    remote->headers = longer ? longer : remote->headers;
}

static int add_token(struct remote *remote, const struct cmd_call *call, struct err *err)
{
    autofree(mem) char *token = NULL;
    int r = read_token(call, &token, err);

    if (r < 0 || !token || !*token)
        return r;
    if (strpbrk(token, "\r\n"))
        return err_set(err, EINVAL, "HONE_TOKEN holds the end of a line");
    autofree(mem) char *line = xasprintf("Authorization: Bearer %s", token);
    add_header(remote, line);
    remote->has_token = true;
    return 0;
}

int remote_open(const struct cmd_call *call, struct remote **ret, struct err *err)
{
    const struct libcurl *lib;
    int r = libcurl_load(&lib, err);

    if (r < 0)
        return r;
    autofree(remote) struct remote *remote = xcalloc(1, sizeof(*remote));
    remote->lib = lib;
    remote->ca = find_ca(call);
    remote->reply = remote->head = (struct str)STR_INIT;
    remote->curl = lib->curl_easy_init();
    if (!remote->curl)
        return err_set(err, ENOMEM, "libcurl could not be started");
    r = read_url(call->server, &remote->url, err);
    if (r < 0)
        return r;
    add_header(remote, "Content-Type: application/json");
    add_header(remote, "Expect:"); /* do not wait for leave to send */
    r = add_token(remote, call, err);
    if (r < 0)
        return r;
    *ret = TAKE(remote);
    return 0;
}

void remote_free(struct remote *remote)
{
    if (!remote)
        return;
    if (remote->curl)
        remote->lib->curl_easy_cleanup(remote->curl);
    remote->lib->curl_slist_free_all(remote->headers);
    str_release(&remote->reply);
    str_release(&remote->head);
    free(remote->url);
    free(remote);
}

const char *remote_url(const struct remote *remote)
{
    return remote->url;
}

char *remote_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && *cache == '/')
        return xasprintf("%s/hone", cache);
    return xasprintf("%s/.cache/hone", home && *home ? home : "/tmp");
}

/* ---- one request ---- */

/* Hand on whole lines; what is left over waits for its end. */
static bool give_lines(struct remote *remote)
{
    char *end;
    size_t used = 0;

    while (!remote->ended &&
           (end = memchr(remote->reply.s + used, '\n', remote->reply.len - used))) {
        const char *line = remote->reply.s + used;
        size_t n = (size_t)(end - line);
        used += n + 1;
        remote->ended = remote->line(line, n && line[n - 1] == '\r' ? n - 1 : n, remote->arg) != 0;
    }
    memmove(remote->reply.s, remote->reply.s + used, remote->reply.len - used);
    str_cut(&remote->reply, remote->reply.len - used);
    return !remote->ended && remote->reply.len <= LINE_MAX_;
}

static size_t on_reply(char *bytes, size_t size, size_t n, void *arg)
{
    struct remote *remote = arg;
    long status = 0;

    if (remote->reply.len + size * n > REPLY_MAX)
        return 0;
    str_add_n(&remote->reply, bytes, size * n);
    remote->lib->curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &status);
    if (remote->line && status == 200 && !give_lines(remote))
        return 0;
    return size * n;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct remote *remote = arg;

    if (remote->head.len + size * n > HEAD_MAX)
        return 0;
    str_add_n(&remote->head, bytes, size * n);
    return size * n;
}

/* Called about once a second while something is under way. */
static int on_progress(void *arg, int64_t a, int64_t b, int64_t c, int64_t d)
{
    struct remote *remote = arg;
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load(&remote->quit);
}

void remote_quit(struct remote *remote)
{
    atomic_store(&remote->quit, true);
}

static void begin(struct remote *remote, const char *method, const char *path)
{
    const struct libcurl *lib = remote->lib;
    autofree(mem) char *url = xasprintf("%s%s", remote->url, path);
    bool head = str_eq(method, "HEAD");

    lib->curl_easy_reset(remote->curl);
    str_cut(&remote->reply, 0);
    str_cut(&remote->head, 0);
    remote->line = NULL;
    remote->ended = false;
    remote->why[0] = '\0';
    lib->curl_easy_setopt(remote->curl, CURLOPT_URL, url); /* copied */
    lib->curl_easy_setopt(remote->curl, CURLOPT_CUSTOMREQUEST, head ? NULL : method);
    lib->curl_easy_setopt(remote->curl, CURLOPT_NOBODY, (long)head);
    lib->curl_easy_setopt(remote->curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    if (remote->ca)
        lib->curl_easy_setopt(remote->curl, CURLOPT_CAINFO, remote->ca);
    lib->curl_easy_setopt(remote->curl, CURLOPT_HTTPHEADER, remote->headers);
    lib->curl_easy_setopt(remote->curl, CURLOPT_USERAGENT, "hone/" HONE_VERSION);
    lib->curl_easy_setopt(remote->curl, CURLOPT_NOSIGNAL, 1L);
    lib->curl_easy_setopt(remote->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    lib->curl_easy_setopt(remote->curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    lib->curl_easy_setopt(remote->curl, CURLOPT_ERRORBUFFER, remote->why);
    lib->curl_easy_setopt(remote->curl, CURLOPT_NOPROGRESS, 0L);
    lib->curl_easy_setopt(remote->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    lib->curl_easy_setopt(remote->curl, CURLOPT_XFERINFODATA, remote);
    lib->curl_easy_setopt(remote->curl, CURLOPT_WRITEFUNCTION, on_reply);
    lib->curl_easy_setopt(remote->curl, CURLOPT_WRITEDATA, remote);
    lib->curl_easy_setopt(remote->curl, CURLOPT_HEADERFUNCTION, on_header);
    lib->curl_easy_setopt(remote->curl, CURLOPT_HEADERDATA, remote);
}

static int error_of(long status)
{
    static const struct {
        long status;
        int error;
    } known[] = {
        {400, EINVAL}, {401, EACCES}, {403, EPERM},  {404, ENOENT},
        {409, EBUSY},  {413, EFBIG},  {429, EAGAIN}, {503, EAGAIN},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].status == status)
            return known[i].error;
    return EIO;
}

/* The sentence of an answer that is none of success. */
static int refused(struct remote *remote, long status, struct err *err)
{
    autofree(json) json_t *reply = NULL;
    autorelease(str) struct str text = STR_INIT;
    const char *sentence = NULL;

    if (json_parse(remote->reply.s, remote->reply.len, &reply, NULL) == 0)
        sentence = json_get_text(reply, "error", NULL);
    if (sentence)
        str_add_printable(&text, sentence, MIN(strlen(sentence), 2000));
    if (status == 401 && remote->has_token)
        return err_set(err, EACCES,
                       "%s does not know the token that was sent: it is mistyped, has ended, was "
                       "removed, or is another server's ('hone token add' there makes one)",
                       remote->url);
    if (status == 401)
        return err_set(err, EACCES,
                       "%s does not know you: put a token ('hone token add' there) into "
                       "HONE_TOKEN or a --token-file",
                       remote->url);
    if (!sentence)
        str_addf(&text, "%s answers with status %ld: is it a hone server?", remote->url, status);
    return err_set(err, error_of(status), "%s", text.s);
}

static int perform(struct remote *remote, long *ret_status, struct err *err)
{
    int r = remote->lib->curl_easy_perform(remote->curl);

    remote->status = 0;
    remote->lib->curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &remote->status);
    *ret_status = remote->status;
    if (r == 0 || remote->ended)
        return 0;
    const char *why = remote->why[0] ? remote->why : remote->lib->curl_easy_strerror(r);
    if (r == CURLE_SSL_CACERT_BADFILE)
        return err_set(err, EPROTO, "%s holds no certificates that can be read: it should be PEM",
                       remote->ca ? remote->ca : "the system's list");
    if (r == CURLE_PEER_FAILED)
        return err_set(err, EPROTO,
                       "the server at %s is not trusted: %s; if it is yours, name its certificate "
                       "with --ca FILE or HONE_CA",
                       remote->url, why);
    return err_set(err, ECONNREFUSED, "cannot reach the server at %s: %s", remote->url, why);
}

int remote_call(struct remote *remote, const char *method, const char *path, const char *body,
                json_t **ret, struct err *err)
{
    long status;

    *ret = NULL;
    begin(remote, method, path);
    if (body) {
        remote->lib->curl_easy_setopt(remote->curl, CURLOPT_POSTFIELDS, body);
        remote->lib->curl_easy_setopt(remote->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    }
    int r = perform(remote, &status, err);
    if (r < 0)
        return r;
    if (status < 200 || status > 299)
        return refused(remote, status, err);
    if (json_parse(remote->reply.s, remote->reply.len, ret, NULL) < 0)
        return err_set(err, EIO, "%s does not answer as a hone server does", remote->url);
    return 0;
}

int remote_has(struct remote *remote, const char *path, struct err *err)
{
    long status;

    begin(remote, "HEAD", path);
    int r = perform(remote, &status, err);
    if (r < 0 || status == 404)
        return r;
    return status == 200 ? 1 : refused(remote, status, err);
}

int remote_read(struct remote *remote, const char *path, const struct str **ret, struct err *err)
{
    long status;

    begin(remote, "GET", path);
    int r = perform(remote, &status, err);
    if (r < 0)
        return r;
    if (status != 200)
        return refused(remote, status, err);
    *ret = &remote->reply;
    return 0;
}

long remote_status(const struct remote *remote)
{
    return remote->status;
}

int64_t remote_header(const struct remote *remote, const char *name, int64_t missing)
{
    size_t n = strlen(name);

    for (const char *line = remote->head.s; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncasecmp(line, name, n) == 0 && line[n] == ':')
            return strtoll(line + n + 1, NULL, 10);
    }
    return missing;
}

bool remote_again(const struct remote *remote, int r, struct err *err, int *tries)
{
    if ((r != -ECONNREFUSED && r != -EAGAIN) || *tries >= GIVE_UP || atomic_load(&remote->quit))
        return false;
    if (++*tries == 2) /* once is no news */
        fprintf(stderr, "hone: %s; it is awaited\n", err_text(err));
    err_release(err);
    usleep(AGAIN_US);
    return true;
}

int remote_put(struct remote *remote, const char *path, const char *file, struct err *err)
{
    FILE *from = fopen(file, "re");
    struct stat st;
    long status;

    if (!from || fstat(fileno(from), &st) < 0) {
        int r = err_errno(err, errno, "cannot read %s", file);
        if (from)
            fclose(from);
        return r;
    }
    begin(remote, "PUT", path);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_UPLOAD, 1L);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_READDATA, from);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_INFILESIZE_LARGE, (int64_t)st.st_size);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_TIMEOUT_MS, 0L); /* as long as it moves */
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    int r = perform(remote, &status, err);
    fclose(from);
    if (r < 0)
        return r;
    return status >= 200 && status <= 299 ? 0 : refused(remote, status, err);
}

int remote_lines(struct remote *remote, const char *path, remote_line_fn *line, void *arg,
                 struct err *err)
{
    long status;

    begin(remote, "GET", path);
    remote->line = line;
    remote->arg = arg;
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_TIMEOUT_MS, 0L);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    remote->lib->curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    int r = perform(remote, &status, err);
    if (r < 0 || remote->ended)
        return r;
    if (status != 200)
        return refused(remote, status, err);
    return err_set(err, ECONNREFUSED, "the server at %s has ended the connection", remote->url);
}
