/* SPDX-License-Identifier: MIT */
/*
 * width.c — columns of characters: a short table of what is not one column wide.
 */
#include "cli/width.h"

struct range {
    uint32_t first, last;
};

static const struct range zero[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26aa, 0x26ab},
    {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool in(const struct range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n && c >= ranges[i].first; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

int char_width(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (in(zero, ARRAY_LEN(zero), c))
        return 0;
    return in(wide, ARRAY_LEN(wide), c) ? 2 : 1;
}

/* The character at p and its bytes; a broken byte counts as one character. */
static uint32_t decode(const char *text, size_t *ret_bytes)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = p[0] < 0xc0 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *ret_bytes = 1;
            return '?';
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    *ret_bytes = n;
    return c;
}

size_t text_fit(const char *text, size_t columns, size_t *ret_width)
{
    size_t at = 0, width = 0;
    while (text[at]) {
        size_t bytes, w = (size_t)char_width(decode(text + at, &bytes));
        if (width + w > columns)
            break;
        width += w;
        at += bytes;
    }
    if (ret_width)
        *ret_width = width;
    return at;
}

size_t text_width(const char *text)
{
    size_t width;
    text_fit(text, SIZE_MAX, &width);
    return width;
}

size_t str_add_fitted(struct str *str, const char *text, size_t columns)
{
    size_t width, bytes = text_fit(text, columns, &width);
    if (!text[bytes]) {
        str_add_n(str, text, bytes);
        return width;
    }
    if (columns == 0)
        return 0;
    bytes = text_fit(text, columns - 1, &width);
    str_add_n(str, text, bytes);
    str_add(str, "…");
    return width + 1;
}
