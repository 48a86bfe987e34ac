/* SPDX-License-Identifier: MIT */
/* doctor.h — the parts of `hone doctor`. */
#ifndef HONE_DOCTOR_H
#define HONE_DOCTOR_H

#include "cli/cmd.h"

/* --store: read all that is kept. */
int doctor_store(struct cmd_call *call);

#endif
