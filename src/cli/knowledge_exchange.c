/* SPDX-License-Identifier: MIT */
/*
 * knowledge_exchange.c — hone knowledge export and import: JSON lines, a workload each.
 *
 * A file is read to its end before anything is changed. What is known here already is merged with
 * what comes, by the rules of a workload that ran again.
 */
#include "base/fs.h"
#include "cli/knowledge.h"
#include "cli/output.h"

#include <errno.h>

#define FILE_MOST (256u << 20)

/* ---- export ---- */

int known_export(struct cmd_call *call, struct known_list *known, struct err *err)
{
    const char *path = call->n_args > 1 ? call->args[1] : NULL;
    autorelease(str) struct str text = STR_INIT;
    size_t n = 0;

    vec_foreach (one, &known->list) {
        if (one->unread)
            continue;
        workload_encode(&one->workload, &text);
        str_add_char(&text, '\n');
        n++;
    }
    if (!path) {
        fwrite(text.s, 1, text.len, stdout);
        return CMD_OK;
    }
    if (fs_write_atomic(path, text.s, text.len, 0666, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    if (call->json)
        printf("{\"exported\":%zu}\n", n);
    else
        printf("%zu workload%s written to %s\n", n, n == 1 ? "" : "s", path);
    return CMD_OK;
}

/* ---- import ---- */

struct imported {
    size_t new, merged, same;
};

static struct known *find_identity(const struct known_list *known, const char *identity)
{
    vec_foreach (one, &known->list)
        if (str_eq(one->workload.identity, identity))
            return one;
    return NULL;
}

static bool is_same(const struct workload *a, const struct workload *b)
{
    return a->updated_us == b->updated_us && a->runs == b->runs;
}

/* Takes the workload over. */
static void add_workload(struct known_list *known, struct workload *workload,
                         struct imported *counts)
{
    struct known *one = find_identity(known, workload->identity);

    if (!one) {
        workload->cluster = 0;
        vec_push(&known->list, ((struct known){.workload = *workload, .changed = true}));
        *workload = (struct workload){0};
        counts->new ++;
        return;
    }
    if (!one->unread && is_same(&one->workload, workload)) {
        counts->same++;
        return;
    }
    workload_merge(&one->workload, workload);
    one->unread = false;
    one->changed = true;
    counts->merged++;
}

static int read_lines(const char *path, const char *text, struct known_list *known,
                      struct imported *counts, struct err *err)
{
    for (size_t line = 1; *text; line++) {
        size_t n = strcspn(text, "\n");
        if (n > strspn(text, " \t\r")) {
            autorelease(workload) struct workload workload;
            int r = workload_decode(text, n, &workload, err);
            if (r < 0) {
                err_context(err, "%s:%zu", path, line);
                return r;
            }
            add_workload(known, &workload, counts);
        }
        text += n + (text[n] == '\n');
    }
    return 0;
}

static void say_imported(const struct cmd_call *call, const struct imported *counts)
{
    if (call->json)
        printf("{\"new\":%zu,\"merged\":%zu,\"same\":%zu}\n", counts->new, counts->merged,
               counts->same);
    else
        printf("%zu new, %zu merged with what was known, %zu known already\n", counts->new,
               counts->merged, counts->same);
}

int known_import(struct cmd_call *call, struct known_list *known, struct err *err)
{
    const char *path = call->args[1];
    autorelease(str) struct str text = STR_INIT;
    struct imported counts = {0};

    if (fs_read(path, FILE_MOST, &text, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    if (strlen(text.s) != text.len) {
        err_set(err, EINVAL, "%s is no text of JSON lines", path);
        return cmd_fail(call, CMD_USAGE, err);
    }
    if (read_lines(path, text.s, known, &counts, err) < 0)
        return cmd_fail(call, CMD_USAGE, err);
    if (counts.new + counts.merged + counts.same == 0) {
        err_set(err, EINVAL, "%s has no workload in it", path);
        return cmd_fail(call, CMD_USAGE, err);
    }
    if (counts.new + counts.merged > 0 && known_save(call, known, NULL, 0, err) < 0)
        return cmd_fail(call, CMD_FAILED, err);
    say_imported(call, &counts);
    return CMD_OK;
}
