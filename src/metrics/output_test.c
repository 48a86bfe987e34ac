/* SPDX-License-Identifier: MIT */
/*
 * output_test.c — what the built-in recognition makes of lines that real programs print. A row is
 * a text and the samples in it; a wrong reading found in the wild becomes a row.
 */
#include "tests/test.h"

#include "base/rng.h"
#include "metrics/test_samples.h"

struct row {
    const char *text, *samples;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        autofree(mem) char *got =
            samples_of(NULL, METRICS_OUTPUT, rows[i].text, strlen(rows[i].text));
        if (!str_eq(got, rows[i].samples))
            fail_msg("%s\n  gives    %s\n  expected %s", rows[i].text, got, rows[i].samples);
    }
}

static const struct row axis_rows[] = {
    {"Epoch 3/10, step 120: loss 0.41, acc=0.87 | lr: 1e-3",
     "loss=0.41@120 acc=0.87@120 lr=0.001@120"},
    {"Epoch 3 loss 0.41 acc 0.87", "loss=0.41@3 acc=0.87@3"},
    {"epoch: 3, loss: 0.41", "loss=0.41@3"},
    {"epoch=3 step=120 loss=0.4", "loss=0.4@120"},
    {"[epoch 3] loss: 0.5", "loss=0.5@3"},
    {"(Epoch 3) loss=0.5", "loss=0.5@3"},
    {"Epoch3: loss=0.5", "loss=0.5@3"},
    {"Epoch #3: loss=0.5", "loss=0.5@3"},
    {"iter 40: loss 0.4, lr 1e-3", "loss=0.4@40 lr=0.001@40"},
    {"Iteration 1, loss = 2.30258509", "loss=2.30258509@1"},
    {"batch 10 of 100 loss 0.5", "loss=0.5@10"},
    {"global_step: 100, loss: 0.5", "loss=0.5@100"},
    {"Global step 100 loss 0.5", "loss=0.5@100"},
    {"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.3", "Loss=2.3@1"},
    {"Epoch: [0][ 10/5005]\tTime  0.524 ( 0.612)\tLoss 6.91e+00 (6.95e+00)\tAcc@1   0.00 (  0.14)",
     "Time=0.524@0 Loss=6.91@0 Acc@1=0@0"},
    {"Epoch [1/5], Step [100/600], Loss: 0.4105", "Loss=0.4105@1"},
    {"Epoch: 3, Train Loss: 0.4, Val Acc: 91.2%, Time: 3.2s",
     "Train_Loss=0.4@3 Val_Acc=91.2@3 Time=3.2@3"},
    {"step 120 | loss 3.21 | lr 1.2e-4 | 123 ms | tok/s 4567",
     "loss=3.21@120 lr=0.00012@120 tok/s=4567@120"},
    {"step    1/74: train loss 4.367631 (acc 0.1) (80.639952 ms, 50 tok/s)",
     "train_loss=4.367631@1 acc=0.1@1"},
    {"2026-01-01 10:00:00 | INFO | train | epoch 001 | loss 9.1 | ppl 559", "loss=9.1@1 ppl=559@1"},
    {" iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration "
     "(ms): 500.1 | learning rate: 1.5E-04 | lm loss: 6.1E+00 |",
     "consumed_samples=25600@100 learning_rate=0.00015@100 lm_loss=6.1@100"},
    {"2026-11-15 10:22:33,123 INFO Epoch 5 loss=0.4", "loss=0.4@5"},
    {"Step: 5 Loss: 0.3 Time: 0.2 Timestamp: 1700000000.5", "Loss=0.3@5 Time=0.2@5"},
    {"loss 0.4 val/loss 0.5 epoch 3", "loss=0.4@3 val/loss=0.5@3"},
    {"Epoch 3 loss tensor(0.4105, device='cuda:0')", "loss=0.4105@3"},
    {"Epoch 2 - loss: -inf - kl=-0.3", "loss=-inf@2 kl=-0.3@2"},
    {"Epoch 2 loss NaN", "loss=nan@2"},
    {"epoch 0.32 loss 0.4", "epoch=0.32 loss=0.4"},
    {"Epoch -1: loss=0.4", "loss=0.4@-1"},
    {"\033[32mEpoch 3\033[0m \033[1mloss\033[0m: 0.4", "loss=0.4@3"},
    {"Starting epoch 3 with learning rate 0.1", "learning_rate=0.1@3"},
};

TEST(a_line_that_says_where_it_is_gives_all_its_pairs)
{
    check_rows(axis_rows, ARRAY_LEN(axis_rows));
}

static const struct row pair_rows[] = {
    {"accuracy: 0.93", "accuracy=0.93"},
    {"accuracy:0.93", "accuracy=0.93"},
    {"  accuracy   =   0.93  ", "accuracy=0.93"},
    {"accuracy: 0.93.", "accuracy=0.93"},
    {"acc: 93.1%", "acc=93.1"},
    {"acc: 54 %", "acc=54"},
    {"time: 3.2s", "time=3.2"},
    {"Time: 3.2 seconds", "Time=3.2"},
    {"latency: 3.5\xc2\xb5s", "latency=3.5"},
    {"loss: nan", "loss=nan"},
    {"loss=-Infinity", "loss=-inf"},
    {"val loss: 0.3", "val_loss=0.3"},
    {"Test accuracy: 0.9", "Test_accuracy=0.9"},
    {"loss: 0.4, acc: 0.9; f1=0.5 | auc = .7", "loss=0.4 acc=0.9 f1=0.5 auc=0.7"},
    {"val_loss=0.3 optimizer=adam lr=1e-3", "val_loss=0.3 lr=0.001"},
    {"Test set: Average loss: 0.0521, Accuracy: 9830/10000 (98%)",
     "Average_loss=0.0521 Accuracy=0.983"},
    {"[1,  2000] loss: 2.173", "loss=2.173"},
    {"INFO:root:accuracy: 0.93", "accuracy=0.93"},
    {"[INFO] accuracy: 0.93", "accuracy=0.93"},
    {"2026-11-15 10:22:33,123 - root - INFO - accuracy: 0.93", "accuracy=0.93"},
    {"[0]\ttrain-rmse:0.4\teval-rmse:0.5", "train-rmse=0.4@0 eval-rmse=0.5@0"},
    {"[10]\tvalid_0's l2: 0.45\tvalid_0's auc: 0.9", "valid_0's_l2=0.45@10 valid_0's_auc=0.9@10"},
    {"7:\tlearn: 0.6\ttest: 0.5\tbest: 0.5 (0)\ttotal: 50ms",
     "learn=0.6@7 test=0.5@7 best=0.5@7 total=50@7"},
    {"loss: tensor(0.4105, grad_fn=<NllLossBackward0>)", "loss=0.4105"},
    {"acc: np.float64(0.5)", "acc=0.5"},
    {"Accuracy: 0.93 \xc2\xb1 0.01", "Accuracy=0.93"},
    {"Accuracy: 0.93 (+/- 0.02)", "Accuracy=0.93"},
    {"accuracy: 0.93 (best so far)", "accuracy=0.93"},
    {"pr\xc3\xa9"
     "cision: 0.9",
     "pr\xc3\xa9"
     "cision=0.9"},
    {"mAP@0.5=0.31", "mAP@0.5=0.31"},
    {"val/loss: 0.3", "val/loss=0.3"},
    {"top-1: 0.7, top-5: 0.9", "top-1=0.7 top-5=0.9"},
    {"Steps per epoch: 938", "Steps_per_epoch=938"},
    {"Best epoch: 5", "Best_epoch=5"},
    {"time: 10:22:33, loss: 0.4", "loss=0.4"},
    {"loss: 0.1, loss: 0.2", "loss=0.1"},
};

TEST(a_line_of_nothing_but_pairs_gives_them)
{
    check_rows(pair_rows, ARRAY_LEN(pair_rows));
}

static const struct row bar_rows[] = {
    {" 45%|████▌     | 45/100 [00:12<00:15,  3.6it/s, loss=0.41]", "loss=0.41"},
    {"Epoch 3:  45%|████▌     | 45/100 [00:12<00:15,  3.60it/s, loss=0.41, v_num=12]",
     "loss=0.41@3 v_num=12@3"},
    {"train loss 0.41:  45%|####5     | 45/100 [00:12<00:15,  3.6it/s]", "train_loss=0.41"},
    {"Training:  45%|████▌     | 45/100 [00:12<00:15,  3.60it/s]", ""},
    {"  0%|          | 0/100 [00:00<?, ?it/s]", ""},
    {"Downloading: 100%|██████████| 9.91M/9.91M [00:00<00:00, 32.0MB/s]", ""},
    {"  0%| | 0/2 [00:00<?, ?it/s, loss=0.5]\r 50%|█ | 1/2 [00:01<00:01, 1it/s, loss=0.4]\r",
     "loss=0.5 loss=0.4"},
    {"Epoch 4/10\n938/938 [==============================] - 3s 3ms/step - loss: 0.41 - "
     "accuracy: 0.87 - val_loss: 0.3 - val_accuracy: 0.9\n",
     "loss=0.41@4 accuracy=0.87@4 val_loss=0.3@4 val_accuracy=0.9@4"},
    {" 12/938 [..............................] - ETA: 3s - loss: 0.41", "loss=0.41"},
    {"Epoch 2/3\n\033[1m938/938\033[0m \033[32m━━━━━━━━━━━━━━━━━━━━\033[0m\033[37m\033[0m "
     "\033[1m3s\033[0m 3ms/step - accuracy: 0.8712 - loss: 0.4105\n",
     "accuracy=0.8712@2 loss=0.4105@2"},
    {"Epoch 9/9 ━━━━━━━━━━━━━━━━ 938/938 0:00:12 • 0:00:00 75.00it/s v_num: 0.000 train_loss: "
     "0.412",
     "v_num=0@9 train_loss=0.412@9"},
};

TEST(progress_bars_give_what_is_written_beside_them)
{
    check_rows(bar_rows, ARRAY_LEN(bar_rows));
}

static const struct row json_rows[] = {
    {"{\"epoch\": 3, \"loss\": 0.4}", "loss=0.4@3"},
    {"{\"step\": 9007199254740993, \"loss\": 0.4}", "loss=0.4@9007199254740993"},
    {"{\"step\": 7, \"epoch\": 3, \"val\": {\"loss\": 0.5, \"acc\": {\"top1\": 0.9}}}",
     "val.loss=0.5@7 val.acc.top1=0.9@7"},
    {"{\"global_step\": 7, \"loss\": NaN, \"x\": -Infinity, \"y\": \"nan\"}",
     "loss=nan@7 x=-inf@7 y=nan@7"},
    {"{'loss': 0.41, 'learning_rate': 5e-05, 'epoch': 1.0}",
     "loss=0.41 learning_rate=5e-05 epoch=1"},
    {"{'eval_loss': '0.41', 'name': 'x', 'best': None, 'done': True}", "eval_loss=0.41 done=1"},
    {"{'loss': tensor(0.41), 'acc': 0.9}", "loss=0.41 acc=0.9"},
    {"{\"loss\": 0.4, \"layers\": [1, [2, 3]], \"tags\": []}", "loss=0.4"},
    {"{\"ts\": 1700000000.5, \"loss\": 0.4}", "loss=0.4"},
    {"INFO trainer.py:12 >> {\"loss\": 0.4, \"iteration\": 2}", "loss=0.4@2"},
    {" 50%|█████     | 5/10 [01:00<01:00, 8.3it/s]{'loss': 0.41, 'epoch': 0.5}",
     "loss=0.41 epoch=0.5"},
    {"{\"val loss\": 0.4}", "val_loss=0.4"},
    {"{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": {\"g\": {\"h\": {\"i\": 1}}}}}}}}}", "i=1"},
    {"{\"loss\": 0.4", "loss=0.4"},
    {"{}", ""},
};

TEST(json_lines_and_python_dictionaries_are_flattened)
{
    check_rows(json_rows, ARRAY_LEN(json_rows));
}

static const char *const silent_lines[] = {
    "2026-11-15 10:22:33 starting",
    "server: 192.168.0.1",
    "server: 192.168.0.1:8080",
    "version: 1.2.3",
    "torch==2.1.0",
    "addr: 0x1f",
    "commit: 7abcdef",
    "date: 2026-11-15",
    "clock: 10:22:33",
    "eval_runtime = 0:00:05.12",
    "range: 3-5",
    "tokens: 1,234,567",
    "Namespace(batch_size=64, epochs=10, lr=0.01)",
    "/usr/lib/python3/x.py:30: UserWarning: something 3",
    "  File \"train.py\", line 30, in main",
    "python train.py --lr=0.1 --epochs 3",
    "--lr=0.1",
    "Found 3 files, size: 10",
    "loss 0.5",
    "Accuracy of the network on the 10000 test images: 54 %",
    "Loaded 50000 samples with batch size 64",
    "This is a long sentence that ends with: 5",
    "Epoch 3/10",
    "Epoch 3 finished in 12.3s",
    "Epoch 3 took 4.2 s",
    "Epoch 00003: val_loss improved from 0.42 to 0.41, saving model to x.h5",
    "step 3: no nan found",
    "train.py:30: hello",
    "epoch 3 train.py:30",
    "http://localhost:6006/ (step 3)",
    "information",
    "nan",
    "",
    "   ",
    "::::====",
    "[[[[((((",
    "]]]] ))))",
    "loss: ",
    "= 0.5",
    ": 0.5",
    "- 0.5",
    "loss: 0.5e",
    "loss: 1e+",
    "loss: .",
    "loss: --5",
    "hone.generation: 5",
    "{\"hone.generation\": 5}",
};

TEST(what_is_no_metric_gives_nothing)
{
    for (size_t i = 0; i < ARRAY_LEN(silent_lines); i++)
        check_rows(&(struct row){silent_lines[i], ""}, 1);
}

TEST(a_heading_gives_its_epoch_to_the_lines_below_it)
{
    static const struct row rows[] = {
        {"Epoch 1/2\nloss: 0.5\nEpoch 2/2\nloss: 0.4\n", "loss=0.5@1 loss=0.4@2"},
        {"Epoch 1/2\nbatch 7 loss 0.5\n", "loss=0.5@1"},
        {"Epoch 1/2\nstep 7/9 loss 0.5\n", "loss=0.5@1"},
        {"Epoch 1/2\nstep 7 loss 0.5\n", "loss=0.5@7"},
        {"Epoch 1 loss: 0.5\nacc: 0.4\n", "loss=0.5@1 acc=0.4"},
        {"----- Epoch 4 -----\r\nloss: 0.5\r\n", "loss=0.5@4"},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

TEST(names_have_at_most_three_words_and_64_bytes)
{
    static const struct row rows[] = {
        {"one two three: 1", "one_two_three=1"},
        {"one two three four: 1", ""},
        {"a234567890123456789012345678901234567890123456789012345678901234: 1",
         "a234567890123456789012345678901234567890123456789012345678901234=1"},
        {"a2345678901234567890123456789012345678901234567890123456789012345: 1", ""},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void add_row(struct str *text, const struct row *rows, size_t n, struct rng *rng)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n", "\0"};
    size_t end = rng_below(rng, ARRAY_LEN(ends));
    str_add(text, rows[rng_below(rng, n)].text);
    str_add_n(text, ends[end], end == 4 ? 1 : strlen(ends[end]));
}

static char *samples_in_pieces(const struct str *text, struct rng *rng)
{
    struct str all = STR_INIT;
    autofree(metrics_parser) struct metrics_parser *parser =
        metrics_parser_new(NULL, METRICS_OUTPUT, collect_sample, &all);
    for (size_t at = 0; at < text->len;) {
        size_t n = 1 + rng_below(rng, rng_chance(rng, 0.5) ? 4 : 200);
        n = MIN(n, text->len - at);
        autofree(mem) char *piece = xmemdup(text->s + at, n); /* so that ASan sees its end */
        metrics_parser_feed(parser, piece, n, 0);
        at += n;
    }
    metrics_parser_finish(parser, 0);
    return str_take(&all);
}

TEST(the_pieces_in_which_bytes_arrive_do_not_matter)
{
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (int round = 0; round < 50; round++) {
        autorelease(str) struct str text = STR_INIT;
        for (int i = 0; i < 40; i++) {
            add_row(&text, axis_rows, ARRAY_LEN(axis_rows), &rng);
            add_row(&text, pair_rows, ARRAY_LEN(pair_rows), &rng);
            add_row(&text, bar_rows, ARRAY_LEN(bar_rows), &rng);
            add_row(&text, json_rows, ARRAY_LEN(json_rows), &rng);
        }
        autofree(mem) char *whole = samples_of(NULL, METRICS_OUTPUT, text.s, text.len);
        autofree(mem) char *pieces = samples_in_pieces(&text, &rng);
        assert_string_equal(whole, pieces);
    }
}

TEST_MAIN
