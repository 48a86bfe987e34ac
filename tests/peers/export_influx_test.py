#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hone export --influx to a real InfluxDB 1.x, killed and started again in the middle: afterwards it has
what the store has, value for value. Prints TAP."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "support"), os.path.join(HERE, "..", "bad")]
from harness import Place, Skip, main
from influx_peer import Server, check_both_die_in_the_middle, free_port


class Influx(Server):
    def __init__(self, place):
        super().__init__(place)
        if not shutil.which("influxd"):
            raise Skip("there is no influxd here: tools/setup peers")
        folder = place.path("influx")
        config = place.write("influxdb.conf", f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_port()}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
query-log-enabled = false
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{self.port}"
log-enabled = false
max-row-limit = 0
[continuous_queries]
enabled = false
[subscriber]
enabled = false
""")
        self.command = ["influxd", "-config", config]
        self.to = ["--influx", self.url, "--db", "hone"]


def a_real_influxdb_that_dies_in_the_middle_has_every_value_once(place: Place):
    server = Influx(place)
    server.start()
    server.query("CREATE DATABASE hone")
    check_both_die_in_the_middle(place, server)
    place.hone("export", "1", *server.to, "--tags")
    _, err = place.hone("export", "1", "--influx", server.url, "--db", "none", code=1)
    assert 'database not found: "none"' in err, err


def whole_numbers_arrive_with_all_their_digits_and_nanoseconds(place: Place):
    numbers = [5, 9007199254740993, -9223372036854775808, 9223372036854775807, 0, 1152921504606846977]
    place.write("lines", "".join(f"train n={n}i,loss={i},step={i}i {1700000000123456789 + i}\n"
                                 for i, n in enumerate(numbers)))
    place.hone("run", "--minimize", "loss", "--", "sh", "-c", "cat lines >> $HONE_METRICS")
    server = Influx(place)
    server.start()
    server.query("CREATE DATABASE hone")
    place.hone("export", "1", *server.to)
    values = server.query("SELECT n, loss FROM hone")["series"][0]["values"]
    assert values == [[1700000000123456789 + i, n, i] for i, n in enumerate(numbers)], values
    kinds = dict(server.query("SHOW FIELD KEYS FROM hone")["series"][0]["values"])
    assert kinds["n"] == "integer" and kinds["loss"] == "float", kinds


main(a_real_influxdb_that_dies_in_the_middle_has_every_value_once,
     whole_numbers_arrive_with_all_their_digits_and_nanoseconds)
