/* SPDX-License-Identifier: MIT */
/*
 * keeper_image.h — the keeper program that hone carries, as something the kernel can execute.
 */
#ifndef HONE_KEEPER_IMAGE_H
#define HONE_KEEPER_IMAGE_H

#include "base/err.h"

/* *ret_fd is closed at exec, read only; execute "/proc/self/fd/N". */
int keeper_image_in_memory(int *ret_fd, struct err *err);
/* Where executing memory is barred: from a file, unlinked at once, in $XDG_RUNTIME_DIR or /tmp. */
int keeper_image_in_file(int *ret_fd, struct err *err);

#endif
