/* SPDX-License-Identifier: MIT */
/*
 * logreg.c — logistic regression by SGD. As svm.c, with an exponential and a logarithm a row.
 */
#include "linear.h"

static double logistic(double margin, double *ret_slope)
{
    double e = exp(-fabs(margin)); /* in this form it never overflows */
    *ret_slope = margin > 0 ? -e / (1 + e) : -1 / (1 + e);
    return log1p(e) + (margin > 0 ? 0 : -margin);
}

int main(int argc, char **argv)
{
    return linear_main(argc, argv, logistic);
}
