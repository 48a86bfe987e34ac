/* SPDX-License-Identifier: MIT */
/*
 * secret.h — does this look like something that must not be written down?
 */
#ifndef HONE_STORE_SECRET_H
#define HONE_STORE_SECRET_H

#include "base/base.h"

/* By its name (TOKEN, PASSWORD, KEY, …), or by its value: a URL with a password, or a long word
 * that only a machine would make. Rather once too often than once too seldom. */
bool is_secret(const char *name, const char *value);

#endif
