/* SPDX-License-Identifier: MIT */
/*
 * svm.c — a linear support vector machine by SGD (Shalev-Shwartz, Singer, Srebro 2007, with a
 * fixed learning rate).
 */
#include "linear.h"

static double hinge(double margin, double *ret_slope)
{
    *ret_slope = margin < 1 ? -1 : 0;
    return margin < 1 ? 1 - margin : 0;
}

int main(int argc, char **argv)
{
    return linear_main(argc, argv, hinge);
}
