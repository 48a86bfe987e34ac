/* SPDX-License-Identifier: MIT */
/*
 * migrate.h — homes from before there was a store of series, and imports: what the attempts' files
 * hold is put into it, a little at a time while the engine runs. Until then readers find it in the
 * files.
 */
#ifndef HONE_MIGRATE_H
#define HONE_MIGRATE_H

#include "series/db.h"
#include "store/store.h"

struct migration;
/* NULL: there is nothing to do. `store` and `db` are borrowed. */
struct migration *migration_new(const char *home, struct store *store, struct series_db *db);
/* Of one experiment, which was imported; more may be added while it lasts. */
struct migration *migration_of(const char *home, struct store *store, struct series_db *db,
                               int64_t experiment);
void migration_add(struct migration *migration, int64_t experiment);
void migration_free(struct migration *migration);
DEFINE_AUTOFREE(migration);
/* The next piece. True: that was the last one. A full disk is waited for. */
bool migration_turn(struct migration *migration);

#endif
