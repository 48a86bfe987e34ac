/* SPDX-License-Identifier: MIT */
/*
 * prepare.c — the records that are made before an experiment begins.
 */
#include "cli/prepare.h"
#include "base/fs.h"
#include "base/log.h"
#include "api/checkout.h"

#include <errno.h>

extern char **environ;

void prepared_release(struct prepared *prepared)
{
    str_release(&prepared->environment);
    free(prepared->owner);
}

static int record_code(const struct cmd_call *call, struct spec *spec, struct prepared *ret,
                       struct err *err)
{
    if (!spec->code)
        return 0;
    int r = snapshot_take(call->home, spec->code, &ret->snapshot, err);
    if (r < 0) {
        ret->snapshot.sha256[0] = '\0';
        if (r == -EROFS || r == -EACCES || r == -ENOSPC || spec->code_isolate)
            return r;
        log_warn("the code is not recorded: %s", err_text(err));
        err_release(err);
        return 0;
    }
    return spec->code_isolate ? checkout_make(call->home, ret->snapshot.sha256, spec, err) : 0;
}

static int make_home(const char *home, struct err *err)
{
    autorelease(err) struct err why = ERR_INIT;
    int r = fs_make_dirs(home, 0700, &why);

    if (r >= 0)
        return r;
    return err_set(err, -r, "%s; choose another home with --home or HONE_HOME", err_text(&why));
}

int prepare(const struct cmd_call *call, struct spec *spec, struct prepared *ret, struct err *err)
{
    autofree(mem) char *folder = xstrdup(spec->code ? spec->code : spec->dir); /* with its git */
    *ret = (struct prepared){.environment = STR_INIT, .owner = cmd_user()};
    int r = make_home(call->home, err);
    if (r >= 0)
        r = record_code(call, spec, ret, err);
    if (r < 0)
        return r;
    autorelease(err) struct err why = ERR_INIT;
    const struct environment_of of = {.folder = folder,
                                      .dir = spec->dir,
                                      .words = (const char *const *)spec->command.at,
                                      .n_words = spec->command.len,
                                      .envp = (const char *const *)environ};
    if (environment_record(call->home, &of, &ret->environment, &why) < 0)
        log_warn("the environment is not recorded: %s", err_text(&why));
    return 0;
}

struct submission prepared_submission(const struct prepared *prepared, struct spec *spec)
{
    bool code = prepared->snapshot.sha256[0] != '\0';
    return (struct submission){
        .spec = spec,
        .code = code ? prepared->snapshot.sha256 : NULL,
        .code_size = code ? prepared->snapshot.size : 0,
        .environment = prepared->environment.len ? prepared->environment.s : NULL,
        .envp = environ,
        .owner = prepared->owner,
    };
}
