/* SPDX-License-Identifier: MIT */
/*
 * influx_query.h — /query: InfluxQL over the home. Databases are the observed experiments and, by
 * name, all others: their parameters are tags, and `trial` is one more.
 */
#ifndef HONE_INFLUX_QUERY_H
#define HONE_INFLUX_QUERY_H

#include "engine/observe.h"
#include "net/http.h"

struct query_context {
    struct engine *engine;
    struct store *reader;
    struct series_db *db;
    struct observe *observe;
};

/* GET and POST /query?q=&db=&epoch=. What changes something wants POST and a caller who may, and is
 * answered after the commit. A database is nobody's: to drop one is for few. */
void influx_query(const struct query_context *context, struct http_request *request,
                  bool may_change, bool may_drop);

#endif
