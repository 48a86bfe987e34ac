/* SPDX-License-Identifier: MIT */
/*
 * library.h — libcrypto, libarchive and libcurl, opened on first use, so that `hone ls` need not
 * load them.
 * The functions have their own names, behind a pointer: crypto->EVP_sha256().
 */
#ifndef HONE_STORE_LIBRARY_H
#define HONE_STORE_LIBRARY_H

#include "base/err.h"
#include <sys/types.h>
#include <time.h>

struct archive;
struct archive_entry;
typedef int archive_open_fn(struct archive *, void *);
typedef ssize_t archive_write_fn(struct archive *, void *, const void *, size_t);

#define ARCHIVE_OK   0
#define ARCHIVE_EOF  1
#define ARCHIVE_WARN (-20)

/* Numbers of curl/curl.h: they never change. */
struct curl_slist;
#define CURLOPT_WRITEDATA          10001
#define CURLOPT_READDATA           10009
#define CURLOPT_LOW_SPEED_LIMIT    19
#define CURLOPT_LOW_SPEED_TIME     20
#define CURLOPT_CUSTOMREQUEST      10036
#define CURLOPT_NOPROGRESS         43
#define CURLOPT_NOBODY             44
#define CURLOPT_XFERINFODATA       10057
#define CURLOPT_XFERINFOFUNCTION   20219
#define CURLOPT_UPLOAD             46
#define CURLOPT_INFILESIZE_LARGE   30115
#define CURLOPT_URL                10002
#define CURLOPT_USERPWD            10005
#define CURLOPT_ERRORBUFFER        10010
#define CURLOPT_POSTFIELDS         10015
#define CURLOPT_USERAGENT          10018
#define CURLOPT_HTTPHEADER         10023
#define CURLOPT_HEADERDATA         10029
#define CURLOPT_WRITEFUNCTION      20011
#define CURLOPT_HEADERFUNCTION     20079
#define CURLOPT_POSTFIELDSIZE      60
#define CURLOPT_NOSIGNAL           99
#define CURLOPT_TIMEOUT_MS         155
#define CURLOPT_CONNECTTIMEOUT_MS  156
#define CURLOPT_CAINFO             10065
#define CURLOPT_PROTOCOLS          181
#define CURLPROTO_HTTP             1L
#define CURLPROTO_HTTPS            2L
#define CURLINFO_RESPONSE_CODE     0x200002
#define CURL_ERROR_SIZE            256
#define CURLE_UNSUPPORTED_PROTOCOL 1
#define CURLE_URL_MALFORMAT        3
#define CURLE_PEER_FAILED          60 /* CURLE_PEER_FAILED_VERIFICATION */
#define CURLE_SSL_CACERT_BADFILE   77

/* X(result, name, arguments) */
#define LIBCRYPTO(X)                                                                               \
    X(void *, EVP_MD_CTX_new, (void))                                                              \
    X(void, EVP_MD_CTX_free, (void *))                                                             \
    X(const void *, EVP_sha256, (void))                                                            \
    X(int, EVP_DigestInit_ex, (void *, const void *, void *))                                      \
    X(int, EVP_DigestUpdate, (void *, const void *, size_t))                                       \
    X(int, EVP_DigestFinal_ex, (void *, unsigned char *, unsigned *))

#define LIBARCHIVE(X)                                                                              \
    X(const char *, archive_error_string, (struct archive *))                                      \
    X(struct archive *, archive_write_new, (void))                                                 \
    X(int, archive_write_add_filter_zstd, (struct archive *))                                      \
    X(int, archive_write_set_format_gnutar, (struct archive *))                                    \
    X(int, archive_write_set_bytes_in_last_block, (struct archive *, int))                         \
    X(int, archive_write_open,                                                                     \
      (struct archive *, void *, archive_open_fn *, archive_write_fn *, archive_open_fn *))        \
    X(int, archive_write_header, (struct archive *, struct archive_entry *))                       \
    X(ssize_t, archive_write_data, (struct archive *, const void *, size_t))                       \
    X(int, archive_write_close, (struct archive *))                                                \
    X(int, archive_write_free, (struct archive *))                                                 \
    X(struct archive *, archive_read_new, (void))                                                  \
    X(int, archive_read_support_filter_zstd, (struct archive *))                                   \
    X(int, archive_read_support_format_tar, (struct archive *))                                    \
    X(int, archive_read_open_fd, (struct archive *, int, size_t))                                  \
    X(int, archive_read_next_header, (struct archive *, struct archive_entry **))                  \
    X(ssize_t, archive_read_data, (struct archive *, void *, size_t))                              \
    X(int, archive_read_free, (struct archive *))                                                  \
    X(struct archive_entry *, archive_entry_new, (void))                                           \
    X(struct archive_entry *, archive_entry_clear, (struct archive_entry *))                       \
    X(void, archive_entry_free, (struct archive_entry *))                                          \
    X(void, archive_entry_set_pathname, (struct archive_entry *, const char *))                    \
    X(void, archive_entry_set_symlink, (struct archive_entry *, const char *))                     \
    X(void, archive_entry_set_filetype, (struct archive_entry *, unsigned))                        \
    X(void, archive_entry_set_perm, (struct archive_entry *, mode_t))                              \
    X(void, archive_entry_set_size, (struct archive_entry *, int64_t))                             \
    X(void, archive_entry_set_mtime, (struct archive_entry *, time_t, long))                       \
    X(const char *, archive_entry_pathname, (struct archive_entry *))                              \
    X(const char *, archive_entry_symlink, (struct archive_entry *))                               \
    X(mode_t, archive_entry_filetype, (struct archive_entry *))                                    \
    X(mode_t, archive_entry_perm, (struct archive_entry *))                                        \
    X(int64_t, archive_entry_size, (struct archive_entry *))

#define LIBCURL(X)                                                                                 \
    X(void *, curl_easy_init, (void))                                                              \
    X(void, curl_easy_cleanup, (void *))                                                           \
    X(void, curl_easy_reset, (void *))                                                             \
    X(int, curl_easy_setopt, (void *, int, ...))                                                   \
    X(int, curl_easy_perform, (void *))                                                            \
    X(int, curl_easy_getinfo, (void *, int, ...))                                                  \
    X(const char *, curl_easy_strerror, (int))                                                     \
    X(struct curl_slist *, curl_slist_append, (struct curl_slist *, const char *))                 \
    X(void, curl_slist_free_all, (struct curl_slist *))

#define MEMBER(result, name, arguments) result(*name) arguments;
struct libcrypto {
    LIBCRYPTO(MEMBER)
};
struct libarchive {
    LIBARCHIVE(MEMBER)
};
struct libcurl {
    LIBCURL(MEMBER)
};
#undef MEMBER

/* From any thread. 0, or -ENOTSUP with a sentence that names the package to install. libcrypto
 * and libcurl stay open until the program ends. libarchive goes with its last user: with what it
 * brings along (XML, Unicode, compressors) it is a fifth of an idle engine's memory. */
int libcrypto_load(const struct libcrypto **ret, struct err *err);
int libcurl_load(const struct libcurl **ret, struct err *err);
int libarchive_load(const struct libarchive **ret, struct err *err);
/* Sets *lib to NULL; does nothing if it is. */
void libarchive_unload(const struct libarchive **lib);

#endif
