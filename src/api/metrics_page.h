/* SPDX-License-Identifier: MIT */
/* metrics_page.h — what Prometheus scrapes: from the home to prometheus.h. */
#ifndef HONE_METRICS_PAGE_H
#define HONE_METRICS_PAGE_H

#include "api/prometheus.h"
#include "series/db.h"
#include "store/store.h"

/* The newest experiments, what runs in them, the machine's last figures. */
void metrics_page(struct store *store, struct series_db *series, int64_t started_us,
                  const struct prometheus_ingest *ingest, struct str *to);

#endif
