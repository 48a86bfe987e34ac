/* SPDX-License-Identifier: MIT */
/*
 * checkout.h — recorded code unpacked to run from: HOME/checkouts/NAME, for `rerun` and
 * `code: {isolate: true}`. Made again when it is needed and gone, so `gc` may take it.
 */
#ifndef HONE_CHECKOUT_H
#define HONE_CHECKOUT_H

#include "model/spec.h"

/* Unpack snapshot `sha256`, which is of the spec's code, and let the spec run there: its folder and
 * its code become folders of the checkout that lie to each other as they did. */
int checkout_make(const char *home, const char *sha256, struct spec *spec, struct err *err);
/* The same checkout again, if the spec runs in one and it was removed since. */
int checkout_restore(const char *home, const char *sha256, const struct spec *spec,
                     struct err *err);
/* Does a spec that runs in folder `dir` need the checkout called `name`? */
bool checkout_holds(const char *name, const char *dir);

#endif
