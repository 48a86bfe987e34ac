/* SPDX-License-Identifier: MIT */
/*
 * ending.c — how an attempt ended, in a reason for the engine and a sentence for the user.
 *
 * The order of the questions matters: what the keeper did by order or by limit comes before what
 * the program's status says, since a killed program always shows a signal too. An out-of-memory
 * kill counts only if the program failed: one that lost a helper and still exited with 0 has
 * succeeded.
 */
#include "agent/internal.h"

#include "base/clock.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>

#define TAIL_BYTES 2000 /* of stderr, behind the sentence */

bool spawn_error_passes(int code)
{
    static const int passing[] = {EAGAIN, ENOMEM,  ENOSPC, EDQUOT, EMFILE, ENFILE,
                                  EINTR,  ETXTBSY, EIO,    EBUSY,  ESTALE, ETIMEDOUT};
    for (size_t i = 0; i < ARRAY_LEN(passing); i++)
        if (code == passing[i])
            return true;
    return false;
}

static const char *spawn_hint(int code, const char *program)
{
    bool path = program && strchr(program, '/');
    switch (code) {
    case ENOENT:
        return path ? " (is the path right, and the interpreter in its first line?)"
                    : " (is it installed and in PATH?)";
    case EACCES:
        return " (is it executable? chmod +x makes it so)";
    case ENOEXEC:
        return " (does its first line name an interpreter, as #!/bin/sh?)";
    case E2BIG:
        return " (arguments and environment are too long)";
    default:
        return "";
    }
}

/* "No such file" → "no such file": it stands inside a sentence. */
static void add_lower(struct str *to, const char *text)
{
    if (!text[0])
        return;
    str_add_char(to, (char)tolower((unsigned char)text[0]));
    str_add(to, text + 1);
}

static void say_spawn(struct str *to, const struct exit_record *record, const struct asked *asked)
{
    if (asked->program)
        str_addf(to, "cannot start '%s': ", asked->program);
    else
        str_add(to, "cannot start the program: ");
    add_lower(to, strerror(record->status));
    str_add(to, spawn_hint(record->status, asked->program));
}

static void say_memory(struct str *to, const struct asked *asked)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)asked->memory_bytes;
    size_t unit = 0;

    str_add(to, "over its memory limit");
    if (!asked->memory_bytes)
        return;
    for (; size >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
        size /= 1024;
    str_addf(to, " of %.4g %s", size, units[unit]);
}

static void say_time(struct str *to, const struct asked *asked)
{
    str_add(to, "over its time limit");
    if (!asked->time_limit_us)
        return;
    str_add(to, " of ");
    str_add_duration(to, asked->time_limit_us);
}

static void say_signal(struct str *to, const struct exit_record *record)
{
    const char *name = sigdescr_np(record->signal);

    str_addf(to, "killed by signal %d", record->signal);
    if (name) {
        str_add(to, " (");
        add_lower(to, name);
        str_add(to, record->core ? ", core dumped)" : ")");
    }
}

static enum reason reason_of(const struct exit_record *record)
{
    bool failed = record->signal != 0 || record->status != 0;

    switch (record->cause) {
    case CAUSE_SPAWN:
        return REASON_SPAWN;
    case CAUSE_STOP:
    case CAUSE_KILL:
        return REASON_CANCELLED;
    case CAUSE_TIME:
        return REASON_TIMEOUT;
    case CAUSE_MEMORY:
        return failed ? REASON_OOM : REASON_NONE;
    case CAUSE_SIGNAL_TO_KEEPER:
        return REASON_LOST;
    default:
        break;
    }
    if (failed && record->oom > 0)
        return REASON_OOM;
    if (record->signal)
        return REASON_SIGNAL;
    return failed ? REASON_EXIT : REASON_NONE;
}

/* Returns whether the program's last words belong behind the sentence. */
static bool say(struct str *to, enum reason reason, const struct exit_record *record,
                const struct asked *asked)
{
    switch (reason) {
    case REASON_SPAWN:
        say_spawn(to, record, asked);
        return false;
    case REASON_OOM:
        say_memory(to, asked);
        return true;
    case REASON_TIMEOUT:
        say_time(to, asked);
        return true;
    case REASON_LOST:
        str_add(to, "its keeper was told to end by somebody else");
        return false;
    case REASON_SIGNAL:
        say_signal(to, record);
        return true;
    case REASON_EXIT:
        str_addf(to, "exit status %d", record->status);
        return true;
    default:
        return false;
    }
}

void ending_from_record(const struct exit_record *record, const struct asked *asked, struct str *to,
                        struct ending *ret)
{
    enum reason reason = reason_of(record);

    if (say(to, reason, record, asked)) {
        size_t sentence = to->len;
        str_add_char(to, '\n');
        exec_tail(asked->dir, TAIL_BYTES, to);
        if (to->len == sentence + 1)
            str_cut(to, sentence);
    }
    *ret = (struct ending){
        .reason = reason,
        .transient =
            reason == REASON_LOST || (reason == REASON_SPAWN && spawn_error_passes(record->status)),
        .exit_status = record->signal || reason == REASON_SPAWN ? -1 : record->status,
        .signal = record->signal,
        .ended_us = record->ended_wall_us,
        .run_us = record->run_us,
        .cpu_us = record->user_us + record->system_us,
        .max_rss_bytes = record->max_rss_bytes,
        .dropped_bytes = record->dropped_stdout + record->dropped_stderr,
        .error = to->len ? to->s : NULL,
        .energy = ENERGY_UNKNOWN,
    };
}

void ending_from_start(const struct err *err, struct ending *ret)
{
    *ret = (struct ending){
        .reason = REASON_SPAWN,
        .transient = spawn_error_passes(err->code),
        .exit_status = -1,
        .error = err_text(err),
        .energy = ENERGY_UNKNOWN,
    };
}

void ending_lost(const char *why, struct ending *ret)
{
    *ret = (struct ending){
        .reason = REASON_LOST,
        .transient = true,
        .exit_status = -1,
        .error = why ? why : "its keeper is gone and left no exit record",
        .energy = ENERGY_UNKNOWN,
    };
}
