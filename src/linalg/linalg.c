/* SPDX-License-Identifier: MIT */
/*
 * linalg.c — OpenBLAS by dlopen: the Fortran names of BLAS and LAPACK in libopenblas, called in
 * column-major order without copies.
 *
 * One thread: our matrices are small, the cores belong to the trials, and sums keep their order.
 * The library makes its threads while it is loaded, so it must be told by the environment before.
 */
#include "linalg/linalg.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static struct blas {
    void (*dpotrf)(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
    void (*dpotri)(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
    void (*dsyev)(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
                  double *w, double *work, const int *lwork, int *info, size_t, size_t);
    void (*dtrsm)(const char *side, const char *uplo, const char *trans, const char *diag,
                  const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                  double *b, const int *ldb, size_t, size_t, size_t, size_t);
    void (*dgemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                  const double *alpha, const double *a, const int *lda, const double *b,
                  const int *ldb, const double *beta, double *c, const int *ldc, size_t, size_t);
    void (*dgemv)(const char *t, const int *m, const int *n, const double *alpha, const double *a,
                  const int *lda, const double *x, const int *incx, const double *beta, double *y,
                  const int *incy, size_t);
    void (*dsyrk)(const char *uplo, const char *t, const int *n, const int *k, const double *alpha,
                  const double *a, const int *lda, const double *beta, double *c, const int *ldc,
                  size_t, size_t);
    void (*set_num_threads)(int n);
    char *(*get_corename)(void);
} blas;

static const struct symbol {
    const char *name;
    size_t offset;
} symbols[] = {
    {"dpotrf_", offsetof(struct blas, dpotrf)},
    {"dpotri_", offsetof(struct blas, dpotri)},
    {"dsyev_", offsetof(struct blas, dsyev)},
    {"dtrsm_", offsetof(struct blas, dtrsm)},
    {"dgemm_", offsetof(struct blas, dgemm)},
    {"dgemv_", offsetof(struct blas, dgemv)},
    {"dsyrk_", offsetof(struct blas, dsyrk)},
    {"openblas_set_num_threads", offsetof(struct blas, set_num_threads)},
    {"openblas_get_corename", offsetof(struct blas, get_corename)},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *failure; /* why it could not be loaded; NULL: it was */

/* RTLD_LOCAL: a BLAS that the process already has stays its own. */
static void *open_library(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    autofree(mem) char *before = threads ? xstrdup(threads) : NULL;
    void *library = NULL;

    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (before)
        setenv("OPENBLAS_NUM_THREADS", before, 1);
    else
        unsetenv("OPENBLAS_NUM_THREADS");
    return library;
}

static void load(void)
{
    void *library = open_library();

    if (!library) {
        failure = xstrdup("the search needs OpenBLAS, and it cannot be loaded; install it "
                          "(Debian: libopenblas0)");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            failure = xasprintf("libopenblas has no %s: this build of it cannot be used",
                                symbols[i].name);
            return;
        }
        memcpy((char *)&blas + symbols[i].offset, &address, sizeof(address));
    }
    blas.set_num_threads(1);
}

int linalg_open(struct err *err)
{
    pthread_once(&once, load);
    return failure ? err_set(err, ENOENT, "%s", failure) : 0;
}

const char *linalg_kernel(void)
{
    return blas.get_corename ? blas.get_corename() : "";
}

bool chol(double *a, size_t n, size_t ld)
{
    int in = (int)n, ild = (int)ld, info = 0;
    if (n)
        blas.dpotrf("L", &in, a, &ild, &info, 1);
    for (size_t i = 0; i < n && info == 0; i++)
        info = !(a[i + i * ld] > 0); /* it lets NaN pass */
    return info == 0;
}

static void solve(const char *trans, const double *l, size_t n, size_t ld, double *b, size_t m,
                  size_t ldb)
{
    int in = (int)n, im = (int)m, ild = (int)ld, ildb = (int)ldb;
    double one = 1;
    if (n && m)
        blas.dtrsm("L", "L", trans, "N", &in, &im, &one, l, &ild, b, &ildb, 1, 1, 1, 1);
}

void chol_solve_lower(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb)
{
    solve("N", l, n, ld, b, m, ldb);
}

void chol_solve_upper(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb)
{
    solve("T", l, n, ld, b, m, ldb);
}

void chol_inverse(double *l, size_t n, size_t ld)
{
    int in = (int)n, ild = (int)ld, info = 0;
    if (n)
        blas.dpotri("L", &in, l, &ild, &info, 1);
}

void mat_mul(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *a,
             size_t lda, const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    int im = (int)m, in = (int)n, ik = (int)k, ilda = (int)lda, ildb = (int)ldb, ildc = (int)ldc;
    if (m && n)
        blas.dgemm(ta ? "T" : "N", tb ? "T" : "N", &im, &in, &ik, &alpha, a, &ilda, b, &ildb, &beta,
                   c, &ildc, 1, 1);
}

void mat_vec(bool ta, size_t m, size_t n, double alpha, const double *a, size_t lda,
             const double *x, double beta, double *y)
{
    int im = (int)m, in = (int)n, ilda = (int)lda, one = 1;
    if (m && n)
        blas.dgemv(ta ? "T" : "N", &im, &in, &alpha, a, &ilda, x, &one, &beta, y, &one, 1);
}

void mat_rank(size_t n, size_t k, double alpha, const double *a, size_t lda, double beta, double *c,
              size_t ldc)
{
    int in = (int)n, ik = (int)k, ilda = (int)lda, ildc = (int)ldc;
    if (n)
        blas.dsyrk("L", "N", &in, &ik, &alpha, a, &ilda, &beta, c, &ildc, 1, 1);
}

double vec_dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

bool sym_eigen(double *a, size_t n, size_t ld, double *ret_w)
{
    int in = (int)n, ild = (int)ld, info = 0, lwork = (int)(34 * n + 1);
    autofree(mem) double *work = xcalloc((size_t)lwork, sizeof(*work));
    if (n)
        blas.dsyev("V", "L", &in, a, &ild, ret_w, work, &lwork, &info, 1, 1);
    return info == 0;
}
