/* SPDX-License-Identifier: MIT */
/*
 * save.h — what the fuzzer needs of the saved form: a body with its magic, version and checksum.
 */
#ifndef HONE_LIB_SAVE_H
#define HONE_LIB_SAVE_H

#include "lib/internal.h"

/* Append the sealed form of `body` to `to`. */
void state_seal(struct str *body, struct str *to);

#endif
