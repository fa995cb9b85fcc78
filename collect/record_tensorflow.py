#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record TensorFlow training steps for Orrery with TensorFlow's own profiler.

    python3 record_tensorflow.py --output-dir recording
    orrery trace convert --from tensorflow recording/trace.json.gz -o traces/tf

All devices of this machine train together (tf.distribute.MirroredStrategy). The profiler writes
plugins/profile/RUN/HOST.trace.json.gz (older versions) or HOST.xplane.pb; the latter is turned into the former where the
package tensorboard-plugin-profile (or xprof) is installed. To record a program of your own, copy the marked places.
"""
import argparse
import glob
import gzip
import os
import shutil
import sys

import tensorflow as tf


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--batch-size", type=int, default=128, help="samples a device and step (default: %(default)s)")
    add("--trace-wait", type=int, default=32, help="steps before tracing (default: %(default)s)")
    add("--trace-steps", type=int, default=4, help="steps to trace (default: %(default)s)")
    add("--output-dir", default="recording", help="default: %(default)s")
    return parser.parse_args()


def build(strategy):
    with strategy.scope():
        model = tf.keras.applications.ResNet50(weights=None, input_shape=(32, 32, 3), classes=10)
        optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
        optimizer.build(model.trainable_variables)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(reduction="none")

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(loss_of(y, model(x, training=True)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    @tf.function
    def step(x, y):
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(x, y)), axis=None)

    return step


def trace_file(folder):
    """The recording as JSON, made from the profiler's own format where it wrote only that."""
    found = sorted(glob.glob(os.path.join(folder, "plugins/profile/*/*.trace.json.gz")))
    if found:
        return found[-1]
    planes = sorted(glob.glob(os.path.join(folder, "plugins/profile/*/*.xplane.pb")))
    if not planes:
        sys.exit("the profiler wrote no trace")
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError:
        try:
            from tensorboard_plugin_profile.convert import raw_to_tool_data
        except ImportError:
            sys.exit(f"{planes[-1]} is there, but turning it into JSON needs: pip install xprof")
    data, _ = raw_to_tool_data.xspace_to_tool_data([planes[-1]], "trace_viewer", {})
    path = planes[-1].replace(".xplane.pb", ".trace.json.gz")
    with gzip.open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def main():
    chosen = options()
    strategy = tf.distribute.MirroredStrategy()
    step = build(strategy)
    batch = chosen.batch_size * strategy.num_replicas_in_sync
    x = tf.random.normal((batch, 32, 32, 3))
    y = tf.random.uniform((batch,), maxval=10, dtype=tf.int64)
    data = iter(strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensors((x, y)).repeat().prefetch(2)))
    for _ in range(chosen.trace_wait):
        step(*next(data))
    # (1) Device activity and the host's operators, without Python frames.
    tf.profiler.experimental.start(chosen.output_dir, tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=2, python_tracer_level=0, device_tracer_level=1))
    for i in range(chosen.trace_steps):
        # (2) step_num is what tells the steps apart afterwards.
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            step(*next(data))
    # (3)
    tf.profiler.experimental.stop()
    shutil.copy(trace_file(chosen.output_dir), os.path.join(chosen.output_dir, "trace.json.gz"))
    print(f"recorded {chosen.trace_steps} steps in {chosen.output_dir}/trace.json.gz; next: orrery trace convert --from "
          f"tensorflow {chosen.output_dir}/trace.json.gz -o traces/tf")


if __name__ == "__main__":
    main()
