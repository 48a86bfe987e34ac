/* SPDX-License-Identifier: MIT */
/* page_size.ts — how many experiments the list shows first; ahead.ts asks for as many. */
export const pageSize = 50;
