/* SPDX-License-Identifier: MIT */
/*
 * knowledge_home.c — what past workloads taught, out of the home and into it.
 *
 * Changes go through the running engine, or take its lock for a moment. What an engine learns
 * between our reading and our writing of the same workload is lost; it learns it again with the
 * next trial.
 */
#include "api/change.h"
#include "base/fs.h"
#include "cli/knowledge.h"
#include "tune/cluster.h"

#include <errno.h>

#define REQUEST_MOST (4u << 20) /* bytes of one request, about */
#define PREFIX_LEAST 4

void known_list_release(struct known_list *known)
{
    vec_foreach (one, &known->list)
        workload_release(&one->workload);
    vec_release(&known->list);
}

static int keep_row(const struct workload_row *row, void *arg)
{
    struct known_list *known = arg;
    struct known one = {.id = row->id};

    if (workload_decode(row->json, strlen(row->json), &one.workload, NULL) < 0) {
        workload_release(&one.workload);
        workload_init(&one.workload, row->identity, row->name, row->machine);
        one.workload.updated_us = row->updated_us;
        one.unread = true;
    }
    one.workload.cluster = row->cluster;
    vec_push(&known->list, one);
    return 0;
}

int known_load(const struct cmd_call *call, struct known_list *ret, struct err *err)
{
    autofree(store) struct store *store = NULL;
    int r = store_open_read(call->home, &store, err);

    if (r == -ENOENT)
        return 0;
    if (r >= 0)
        r = store_workloads(store, keep_row, ret, err);
    return r;
}

static bool is_named(const struct known *one, const char *ref)
{
    char id[32];

    snprintf(id, sizeof(id), "%lld", (long long)one->id);
    return str_eq(id, ref) || str_eq(one->workload.name, ref) ||
           (strlen(ref) >= PREFIX_LEAST && str_starts(one->workload.identity, ref));
}

int known_find(const struct known_list *known, const char *ref, size_t *ret, struct err *err)
{
    autorelease(str) struct str ids = STR_INIT;
    size_t found = 0;
    char *end;
    long long id = strtoll(ref, &end, 10);
    bool number = *ref && !*end;

    for (size_t i = 0; i < known->list.len; i++) {
        const struct known *one = &known->list.at[i];
        if (number && one->id == id) { /* a number is an id before it is anything else */
            *ret = i;
            return 0;
        }
        if (!is_named(one, ref))
            continue;
        str_addf(&ids, "%s%lld", found ? ", " : "", (long long)one->id);
        *ret = i;
        found++;
    }
    if (found > 1)
        return err_set(err, EINVAL, "'%s' may be one of several workloads: %s", ref, ids.s);
    if (found == 0)
        return err_set(err, ENOENT, "no workload '%s' is known: 'hone knowledge ls' lists them",
                       ref);
    return 0;
}

/* ---- writing ---- */

static int send_request(const struct cmd_call *call, struct json_out *out, struct err *err)
{
    autofree(json) json_t *reply = NULL;

    json_end_object(out);
    return home_change(call->home, out->to->s, &reply, err);
}

/* One request of those that changed, from *at on, as many as fit. */
static int send_changed(const struct cmd_call *call, const struct known_list *known, size_t *at,
                        struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);
    size_t n = 0;

    json_begin_object(&out);
    json_put_text(&out, "do", "knowledge");
    json_key(&out, "put");
    json_begin_array(&out);
    for (; *at < known->list.len && request.len < REQUEST_MOST; ++*at) {
        autorelease(str) struct str one = STR_INIT;
        if (!known->list.at[*at].changed)
            continue;
        workload_encode(&known->list.at[*at].workload, &one);
        json_raw(&out, one.s);
        n++;
    }
    json_end_array(&out);
    return n ? send_request(call, &out, err) : 0;
}

/* Clusters of all that is left: a number each. */
static void put_clusters(struct json_out *out, const struct known_list *known)
{
    size_t n = known->list.len;
    autofree(mem) struct workload *all = xcalloc(n + 1, sizeof(*all));

    for (size_t i = 0; i < n; i++)
        all[i] = known->list.at[i].workload; /* borrowed; only `cluster` of ours changes */
    cluster_workloads(all, n, CLUSTER_SEED);
    json_key(out, "clusters");
    json_begin_object(out);
    for (size_t i = 0; i < n; i++) {
        json_put_int(out, all[i].identity, all[i].cluster);
        known->list.at[i].workload.cluster = all[i].cluster;
    }
    json_end_object(out);
}

int known_save(const struct cmd_call *call, struct known_list *known, char *const *removed,
               size_t n_removed, struct err *err)
{
    autorelease(str) struct str request = STR_INIT;
    struct json_out out = JSON_OUT(&request);
    int r = fs_make_dirs(call->home, 0700, err);

    for (size_t at = 0; r >= 0 && at < known->list.len;)
        r = send_changed(call, known, &at, err);
    if (r < 0)
        return r;
    json_begin_object(&out);
    json_put_text(&out, "do", "knowledge");
    json_key(&out, "remove");
    json_begin_array(&out);
    for (size_t i = 0; i < n_removed; i++)
        json_text(&out, removed[i]);
    json_end_array(&out);
    put_clusters(&out, known);
    return send_request(call, &out, err);
}
