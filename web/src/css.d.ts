/* SPDX-License-Identifier: MIT */
/* css.d.ts — style sheets are imported for their effect; the bundler puts them into app.css. */
declare module "*.css";
