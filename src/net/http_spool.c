/* SPDX-License-Identifier: MIT */
/*
 * http_spool.c — large bodies: to an unnamed file as they come, hashed on the way. Who serves the
 * request gives the file a name, or it goes with the request.
 *
 * A share of the file system stays free, for what must be written whatever comes in here.
 */
#include "base/fs.h"
#include "net/http_internal.h"
#include "net/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOOK_BYTES ((uint64_t)16 << 20) /* written between two looks at what is free */

struct spool {
    struct http_spool file;
    struct sha256 *sha;
    uint64_t looked; /* the size at the last look */
};

static unsigned refuse_disk(struct err *err)
{
    err_set(err, ENOSPC, "the disk is almost full: nothing more is taken");
    return MHD_HTTP_INSUFFICIENT_STORAGE;
}

static bool has_room(const struct http_request *request, int fd, uint64_t more)
{
    struct statvfs st;

    if (fstatvfs(fd, &st) < 0)
        return false;
    double all = (double)st.f_blocks * (double)st.f_frsize;
    double left = (double)st.f_bavail * (double)st.f_frsize;
    return left - (double)more >= request->http->options.spool_free * all;
}

unsigned spool_begin(struct http_request *request, struct err *err)
{
    const char *dir = request->http->options.spool_dir;
    const char *length = http_header(request, "Content-Length");
    const char *encoding = http_header(request, "Content-Encoding");
    struct spool *spool = request->spool = xcalloc(1, sizeof(*spool));

    spool->file.fd = -1;
    if (encoding && *encoding && strcasecmp(encoding, "identity") != 0) {
        err_set(err, EINVAL, "Content-Encoding '%.50s' is not known here", encoding);
        return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    }
    spool->file.fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (spool->file.fd < 0) {
        err_errno(err, dir ? errno : ENOENT, "there is no place for files");
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
    if (!has_room(request, spool->file.fd, length ? strtoull(length, NULL, 10) : 0))
        return refuse_disk(err);
    return sha256_new(&spool->sha, err) < 0 ? MHD_HTTP_INTERNAL_SERVER_ERROR : 0;
}

bool spool_add(struct http_request *request, const char *bytes, size_t n)
{
    struct spool *spool = request->spool;

    if (spool->file.size + n - spool->looked > LOOK_BYTES) {
        spool->looked = spool->file.size;
        if (!has_room(request, spool->file.fd, n))
            return false;
    }
    if (fs_write_all(spool->file.fd, bytes, n) < 0)
        return false;
    sha256_add(spool->sha, bytes, n);
    spool->file.size += n;
    return true;
}

uint64_t spool_size(const struct http_request *request)
{
    return request->spool->file.size;
}

unsigned spool_finish(struct http_request *request, struct err *err)
{
    struct spool *spool = request->spool;

    if (request->no_room)
        return refuse_disk(err);
    sha256_finish(spool->sha, spool->file.sha256);
    return 0;
}

void spool_free(struct spool *spool)
{
    if (!spool)
        return;
    sha256_free(spool->sha);
    fd_autoclose(&spool->file.fd);
    free(spool);
}

const struct http_spool *http_spooled(const struct http_request *request)
{
    return request->spool ? &request->spool->file : NULL;
}
