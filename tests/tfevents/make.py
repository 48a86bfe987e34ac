#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Event files as the writers of others make them, small, kept beside this script.

Needs tensorboard and tensorboardX from PyPI and Debian's python3-torch (tests/peers/venv makes such
a place). Written once: the files hold times and process ids. What is to be read out of them is
told by TensorBoard's own reader, in expected.tsv: file, tag, step, time, value as a hex float.

    make.py FOLDER       writes torch/, tensorboardx/, tf2/ and expected.tsv there
"""
import math
import os
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util import tensor_util
from tensorboardX import SummaryWriter as SummaryWriterX
from torch.utils.tensorboard import SummaryWriter
import numpy as np

ODD = [float("nan"), float("inf"), float("-inf"), -0.0, 1e-45, 3.4028234663852886e38, 0.1]


def write_scalars(writer, steps):
    for step in range(steps):
        writer.add_scalar("loss", 1 / (step + 1), step)
        writer.add_scalar("val/acc top 1", math.tanh(step / 7), step)
        if step % 10 == 0:
            writer.add_text("note", "step %d" % step, step)
            if isinstance(writer, SummaryWriterX):  # torch 1.13 does not work with numpy 1.24 here
                writer.add_histogram("weights", np.arange(20) / 20, step)
    for step, value in enumerate(ODD):
        writer.add_scalar("odd", value, step)
    writer.add_scalars("both", {"a": 1.5, "b": 2.5}, 3)


def write_torch(folder, steps=30):
    with SummaryWriter(folder) as writer:
        write_scalars(writer, steps)
        writer.add_hparams(
            {"lr": 0.01, "optimizer": "adam", "nesterov": True}, {"hparam/acc": 0.93}, run_name="hp"
        )


def write_tensorboardx(folder, steps=30):
    with SummaryWriterX(folder) as writer:
        write_scalars(writer, steps)


TYPES = [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, np.int8, np.int16]
TYPES += [np.uint16, np.bool_]


def tensors():
    """Numbers without a dimension in all types, as a list and as bytes; and some that are none."""
    for kind in TYPES:
        value = kind(1 if kind == np.bool_ else 100 if kind in (np.uint8, np.int8) else 1000)
        yield np.dtype(kind).name, tensor_util.make_tensor_proto(value)
        content = tensor_pb2.TensorProto(dtype=tensor_util.make_tensor_proto(value).dtype)
        content.tensor_content = np.asarray(value).tobytes()
        yield np.dtype(kind).name + "_bytes", content
    yield "negative", tensor_util.make_tensor_proto(np.int32(-5))
    yield "vector", tensor_util.make_tensor_proto(np.float32([1, 2]))
    yield "words", tensor_util.make_tensor_proto("text")


def write_tf2(folder, steps=30):
    writer = EventFileWriter(folder)
    metadata = summary_pb2.SummaryMetadata()
    metadata.plugin_data.plugin_name = "scalars"
    metadata.data_class = summary_pb2.DATA_CLASS_SCALAR

    def put(step, tag, tensor, meta=metadata):
        value = summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=meta)
        event = event_pb2.Event(wall_time=1700000000.25 + step, step=step)
        event.summary.value.append(value)
        writer.add_event(event)

    for step in range(steps):
        put(step, "epoch_loss", tensor_util.make_tensor_proto(np.float32(math.exp(-step / 5))))
    for tag, tensor in tensors():
        put(7, tag, tensor)
    put(-3, "before", tensor_util.make_tensor_proto(np.float32(0.5)))
    writer.close()


def expected(path):
    """(tag, step, wall time, value) of all scalars, as TensorBoard's own reader has them."""
    reader = event_accumulator.EventAccumulator(
        path, {kind: 0 for kind in event_accumulator.DEFAULT_SIZE_GUIDANCE}, purge_orphaned_data=False
    )
    reader.Reload()
    tags = reader.Tags()
    for tag in tags["scalars"]:
        for event in reader.Scalars(tag):
            yield tag, event.step, event.wall_time, float(event.value)
    for tag in tags["tensors"]:
        for event in reader.Tensors(tag):
            array = tensor_util.make_ndarray(event.tensor_proto)
            if array.ndim == 0 and array.dtype.kind in "fiub":
                yield tag, event.step, event.wall_time, float(array)


def event_files(folder):
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if "tfevents" in name:
                yield os.path.join(base, name)


def main():
    folder = sys.argv[1]
    write_torch(os.path.join(folder, "torch"))
    write_tensorboardx(os.path.join(folder, "tensorboardx"))
    write_tf2(os.path.join(folder, "tf2"))
    with open(os.path.join(folder, "expected.tsv"), "w") as out:
        for path in event_files(folder):
            for tag, step, time, value in expected(path):
                row = [os.path.relpath(path, folder), tag, str(step), repr(time), value.hex()]
                out.write("\t".join(row) + "\n")


if __name__ == "__main__":
    main()
