/* SPDX-License-Identifier: MIT */
/*
 * held_view.h — a view of the database that is held from one question to the next, for who asks for
 * single rows thousands of times a second: to begin and to end a view takes longer than to read
 * such a row.
 *
 *     begin ── questions ── end     begin ── questions ── end     begin ── questions ── end
 *     └──────────────────── one view ───────────────────────┘  ↑  └─────── another ───────┘
 *                                                            commit
 *
 * Whatever is written ends it, on the writer's thread, before changes.h tells of it: no view is
 * older than what was told, and none is in the way of the log, which cannot begin anew while an old
 * view is held.
 */
#ifndef HONE_HELD_VIEW_H
#define HONE_HELD_VIEW_H

#include "store/changes.h"
#include "store/store.h"

struct held_view;
/* `store` is for reading, and used through the view alone; both are borrowed. */
struct held_view *held_view_new(struct store *store, struct changes *changes);
void held_view_free(struct held_view *view);

/* The handle, for the caller alone until held_view_end(); who writes waits meanwhile. */
struct store *held_view_begin(struct held_view *view);
void held_view_end(struct held_view *view);

#endif
