/* SPDX-License-Identifier: MIT */
/*
 * fashion.c — a small network on Fashion-MNIST, in C on OpenBLAS: one hidden layer, softmax, SGD
 * with momentum. Its hyperparameters come from Hone, its results go to Hone, and it can be asked to
 * stop and to write a checkpoint. Alone it trains with the defaults below and prints.
 *
 * A part of the training images is used, so that a trial takes seconds; the validation images
 * follow them in the same file. All the numbers of the network are one block, and so are its
 * gradients and its velocities: a step is one loop, a checkpoint one write.
 */
#include "hone.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIXELS  784
#define CLASSES 10
#define TRAIN   20000
#define VALID   4000
#define FOLDER  "/usr/share/datasets/fashion-mnist"

struct data {
    float *x;         /* (TRAIN + VALID, PIXELS), 0 to 1 */
    unsigned char *y; /* (TRAIN + VALID) */
};

enum activation { RELU, TANH, SIGMOID };

struct settings {
    double lr, momentum, weight_decay;
    int hidden, batch, epochs;
    enum activation activation;
    uint64_t seed;
};

struct net { /* D = PIXELS inputs, H hidden, C = CLASSES outputs */
    int H;
    float *w1, *b1;   /* (D, H), (H) */
    float *w2, *b2;   /* (H, C), (C) */
    float *block;     /* all of the above */
    float *grad;      /* the same, of the loss */
    float *velocity;  /* the same, of SGD */
    size_t n;         /* floats in each */
    float *h, *p, *d; /* (batch, H) activations, (batch, C) probabilities, (batch, H) deltas */
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) {
        fprintf(stderr, "fashion: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- data ---- */

/* The first `n` bytes behind the header of an idx file, unpacked. */
static unsigned char *read_idx(const char *name, size_t header, size_t n)
{
    char path[4096];
    const char *folder = getenv("FASHION_DATA");
    unsigned char *bytes = allocate(header + n, 1);

    snprintf(path, sizeof(path), "%s/%s", folder ? folder : FOLDER, name);
    gzFile file = gzopen(path, "rb");
    if (!file || gzread(file, bytes, (unsigned)(header + n)) != (int)(header + n)) {
        fprintf(stderr, "fashion: cannot read %s (Debian: apt install dataset-fashion-mnist)\n",
                path);
        exit(1);
    }
    gzclose(file);
    memmove(bytes, bytes + header, n);
    return bytes;
}

static struct data load_data(void)
{
    size_t n = TRAIN + VALID;
    unsigned char *pixels = read_idx("train-images-idx3-ubyte.gz", 16, n * PIXELS);
    struct data data = {
        .x = allocate(n * PIXELS, sizeof(float)),
        .y = read_idx("train-labels-idx1-ubyte.gz", 8, n),
    };
    for (size_t i = 0; i < n * PIXELS; i++)
        data.x[i] = (float)pixels[i] / 255.0f;
    free(pixels);
    return data;
}

/* ---- randomness: splitmix64 ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static float uniform(uint64_t *state) /* -1 to 1 */
{
    return (float)((double)(next_random(state) >> 11) * 0x1p-52 - 1.0);
}

static void shuffle(int *order, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next_random(state) % (uint64_t)(i + 1));
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* ---- the network ---- */

static struct net net_new(const struct settings *s, uint64_t *random)
{
    size_t H = (size_t)s->hidden, rows = (size_t)(s->batch > VALID ? s->batch : VALID);
    struct net net = {.H = s->hidden, .n = PIXELS * H + H + H * CLASSES + CLASSES};

    net.block = allocate(3 * net.n, sizeof(float));
    net.grad = net.block + net.n;
    net.velocity = net.grad + net.n;
    net.w1 = net.block;
    net.b1 = net.w1 + PIXELS * H;
    net.w2 = net.b1 + H;
    net.b2 = net.w2 + H * CLASSES;
    net.h = allocate(rows * (2 * H + CLASSES), sizeof(float));
    net.d = net.h + rows * H;
    net.p = net.d + rows * H;
    for (size_t i = 0; i < PIXELS * H; i++) /* Glorot, Bengio 2010 */
        net.w1[i] = uniform(random) * sqrtf(6.0f / (float)(PIXELS + H));
    for (size_t i = 0; i < H * CLASSES; i++)
        net.w2[i] = uniform(random) * sqrtf(6.0f / (float)(H + CLASSES));
    return net;
}

static void net_release(struct net *net)
{
    free(net->block);
    free(net->h);
}

static float activate(enum activation f, float x)
{
    return f == RELU ? fmaxf(x, 0) : f == TANH ? tanhf(x) : 1.0f / (1.0f + expf(-x));
}

/* By the activation's value, which is what is at hand. */
static float slope(enum activation f, float y)
{
    return f == RELU ? (float)(y > 0) : f == TANH ? 1 - y * y : y * (1 - y);
}

static void softmax(float *row)
{
    float top = row[0], sum = 0;
    for (int c = 1; c < CLASSES; c++)
        top = fmaxf(top, row[c]);
    for (int c = 0; c < CLASSES; c++)
        sum += row[c] = expf(row[c] - top);
    for (int c = 0; c < CLASSES; c++)
        row[c] /= sum;
}

/* x (n, D) → net->h, net->p */
static void forward(struct net *net, enum activation f, const float *x, int n)
{
    int H = net->H;
    for (int i = 0; i < n; i++) {
        memcpy(net->h + i * H, net->b1, (size_t)H * sizeof(float));
        memcpy(net->p + i * CLASSES, net->b2, CLASSES * sizeof(float));
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, H, PIXELS, 1, x, PIXELS, net->w1, H,
                1, net->h, H);
    for (int i = 0; i < n * H; i++)
        net->h[i] = activate(f, net->h[i]);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, CLASSES, H, 1, net->h, H, net->w2,
                CLASSES, 1, net->p, CLASSES);
    for (int i = 0; i < n; i++)
        softmax(net->p + i * CLASSES);
}

/* After forward of the same x. Turns net->p into its delta; gradients are of the mean loss. */
static void backward(struct net *net, enum activation f, const float *x, const unsigned char *y,
                     int n)
{
    int H = net->H;
    float *g1 = net->grad, *gb1 = g1 + PIXELS * H, *g2 = gb1 + H, *gb2 = g2 + H * CLASSES;
    float mean = 1.0f / (float)n;

    for (int i = 0; i < n; i++)
        net->p[i * CLASSES + y[i]] -= 1;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, H, CLASSES, n, mean, net->h, H, net->p,
                CLASSES, 0, g2, CLASSES);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, H, CLASSES, 1, net->p, CLASSES, net->w2,
                CLASSES, 0, net->d, H);
    for (int i = 0; i < n * H; i++)
        net->d[i] *= slope(f, net->h[i]);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, PIXELS, H, n, mean, x, PIXELS, net->d, H,
                0, g1, H);
    memset(gb1, 0, (size_t)H * sizeof(float));
    memset(gb2, 0, CLASSES * sizeof(float));
    for (int i = 0; i < n; i++) {
        cblas_saxpy(H, mean, net->d + i * H, 1, gb1, 1);
        cblas_saxpy(CLASSES, mean, net->p + i * CLASSES, 1, gb2, 1);
    }
}

static void update(struct net *net, const struct settings *s, float lr)
{
    float momentum = (float)s->momentum, decay = (float)s->weight_decay;
    for (size_t i = 0; i < net->n; i++) {
        net->velocity[i] =
            momentum * net->velocity[i] - lr * (net->grad[i] + decay * net->block[i]);
        net->block[i] += net->velocity[i];
    }
}

/* ---- training ---- */

static double batch_loss(const struct net *net, const unsigned char *y, int n)
{
    double loss = 0;
    for (int i = 0; i < n; i++)
        loss -= log((double)net->p[i * CLASSES + y[i]] + 1e-30);
    return loss;
}

/* One pass over the training images in a new order; returns the mean loss. */
static double train_epoch(struct net *net, const struct settings *s, const struct data *data,
                          int epoch)
{
    static int order[TRAIN];
    float *x = allocate((size_t)s->batch * PIXELS, sizeof(float));
    unsigned char *y = allocate((size_t)s->batch, 1);
    float lr = (float)(s->lr * (1.0 - (double)epoch / s->epochs));    /* falls to zero, linearly */
    uint64_t random = s->seed + (uint64_t)epoch * 0x2545f4914f6cdd1d; /* the same after a restart */
    double loss = 0;

    for (int i = 0; i < TRAIN; i++)
        order[i] = i;
    shuffle(order, TRAIN, &random);
    for (int at = 0; at < TRAIN; at += s->batch) {
        int n = TRAIN - at < s->batch ? TRAIN - at : s->batch;
        for (int i = 0; i < n; i++) {
            memcpy(x + i * PIXELS, data->x + (size_t)order[at + i] * PIXELS,
                   PIXELS * sizeof(float));
            y[i] = data->y[order[at + i]];
        }
        forward(net, s->activation, x, n);
        loss += batch_loss(net, y, n);
        backward(net, s->activation, x, y, n);
        update(net, s, lr);
    }
    free(x);
    free(y);
    return loss / TRAIN;
}

static void validate(struct net *net, const struct settings *s, const struct data *data,
                     double *ret_loss, double *ret_acc)
{
    const unsigned char *y = data->y + TRAIN;
    int right = 0;

    forward(net, s->activation, data->x + (size_t)TRAIN * PIXELS, VALID);
    for (int i = 0; i < VALID; i++) {
        const float *p = net->p + i * CLASSES;
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            best = p[c] > p[best] ? c : best;
        right += best == y[i];
    }
    *ret_loss = batch_loss(net, y, VALID) / VALID;
    *ret_acc = (double)right / VALID;
}

/* ---- checkpoints: the epoch to go on with, then weights and velocities ---- */

static void save(const struct net *net, int64_t next_epoch)
{
    const char *path = hone_checkpoint_begin(next_epoch);
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return;
    size_t n = fwrite(&next_epoch, sizeof(next_epoch), 1, file);
    n += fwrite(net->block, sizeof(float), 3 * net->n, file);
    if (fclose(file) == 0 && n == 1 + 3 * net->n)
        hone_checkpoint_commit();
}

/* The epoch to begin with: 0 without a checkpoint that fits. */
static int64_t load(struct net *net)
{
    const char *path = hone_checkpoint();
    FILE *file = path ? fopen(path, "rb") : NULL;
    int64_t epoch = 0;
    if (!file)
        return 0;
    if (fread(&epoch, sizeof(epoch), 1, file) != 1 ||
        fread(net->block, sizeof(float), 3 * net->n, file) != 3 * net->n) {
        fprintf(stderr, "fashion: the checkpoint %s is not of this network\n", path);
        exit(1);
    }
    fclose(file);
    return epoch;
}

static struct settings read_settings(void)
{
    const char *name = hone_param_text("activation", "relu");
    return (struct settings){
        .lr = hone_param_double("lr", 0.1),
        .momentum = hone_param_double("momentum", 0.9),
        .weight_decay = hone_param_double("weight_decay", 1e-4),
        .hidden = (int)hone_param_int("hidden", 128),
        .batch = (int)hone_param_int("batch", 64),
        .epochs = (int)hone_param_int("epochs", 12),
        .activation = strcmp(name, "tanh") == 0      ? TANH
                      : strcmp(name, "sigmoid") == 0 ? SIGMOID
                                                     : RELU,
        .seed = (uint64_t)hone_param_int("seed", 1),
    };
}

int main(void)
{
    struct settings s = read_settings();
    struct data data = load_data();
    uint64_t random = s.seed;
    struct net net = net_new(&s, &random);

    int64_t epoch = load(&net);
    for (; epoch < s.epochs && hone_step(epoch); epoch++) {
        double loss = train_epoch(&net, &s, &data, (int)epoch), val_loss, val_acc;
        validate(&net, &s, &data, &val_loss, &val_acc);
        hone_log(epoch, {"loss", loss}, {"val_loss", val_loss}, {"val_acc", val_acc});
        if (hone_checkpoint_asked())
            save(&net, epoch + 1);
    }
    if (hone_checkpoint_asked())
        save(&net, epoch);
    net_release(&net);
    free(data.x);
    free(data.y);
    return 0;
}
