"""A sweep as a folder, a grid on executors, and the examples for schedulers: .ci/lake.py FOLDER

What DuckDB, polars, pandas, pyarrow and `ethbus.read` read of the folder is what the table in CSV has.
"""

import concurrent.futures
import os
import shlex
import subprocess
import sys

import duckdb
import pandas
import polars
import pyarrow.dataset

import ethbus

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
os.chdir(sys.argv[1])
grid = {"stations": [2, 3], "medium.topology": ["star:0bt", "star:50bt"]}
sets = [word for key, values in grid.items() for word in ("--set", f"{key}={','.join(map(str, values))}")]
short = ["--seeds", "3", "--duration", "10ms", "--warmup", "1ms"]
for out in (["--rows", "1..5", "--out", "runs/"], ["--out", "runs/"], ["--out", "runs.csv", "--parquet", "runs.parquet"]):
    subprocess.run([ethbus.program(), "sweep", *sets, *short, *out], check=True)
expected = pandas.read_csv("runs.csv")
names = list(expected.columns)
glob = "runs/**/*.parquet"

frame = ethbus.read("runs")
plain = lambda frame: frame[names].sort_values("run", ignore_index=True).astype({"stations": int, "medium.topology": str})
same = lambda frame: pandas.testing.assert_frame_equal(plain(frame), plain(expected), check_dtype=False)
same(frame)
same(pandas.read_parquet("runs"))
same(pyarrow.dataset.dataset("runs", partitioning="hive").to_table().to_pandas())
same(polars.scan_parquet(glob, hive_partitioning=True).collect().to_pandas())
same(duckdb.sql(f"select * from read_parquet('{glob}', hive_partitioning = true)").df())
same(pandas.read_parquet("runs.parquet"))
assert frame.attrs["units"]["mac_delay_mean_bt"] == "BT" and "8L / T" in frame.attrs["definitions"]["utilization_frame"]
types = {path: pyarrow.parquet.read_schema(path).types for path in map(str, ethbus.table.files("runs"))}
assert len(set(map(tuple, types.values()))) == 1, "types differ between files"

# A changed file is refused.
path = ethbus.table.files("runs")[0]
content = path.read_bytes()
path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
try:
    ethbus.read("runs")
    raise SystemExit("a changed file was read")
except ValueError as error:
    assert "was changed" in str(error), error
path.write_bytes(content)
same(ethbus.read("runs.csv"))
with open("runs.csv", "r+b") as table:
    text = table.read()
    table.seek(len(text) - 2)
    table.write(b"7" if text[-2:-1] != b"7" else b"8")
try:
    ethbus.read("runs.csv")
    raise SystemExit("a changed table was read")
except ValueError as error:
    assert "was changed" in str(error), error
with open("runs.csv", "wb") as table:
    table.write(text)

# The recipes of docs/sweep.md, on the folder of the page's own command, beside answers of pandas from CSV.
page = open(os.path.join(SOURCE, "docs/sweep.md"), encoding="utf-8").read()
command = page.split("```sh run by .ci/lake.py\n")[1].split("```")[0]
words = shlex.split(command.replace("\\\n", " "))[1:]
os.mkdir("page")
os.chdir("page")
subprocess.run([ethbus.program(), *words], check=True)
plain = words[: words.index("--tables")]
subprocess.run([ethbus.program(), *plain, "--out", "runs.csv"], check=True)
expected = pandas.read_csv("runs.csv")
delay = expected.groupby(["stations", "traffic.arrivals"]).access_delay_mean_bt
means = delay.agg(mean="mean", half_width=lambda values: 1.96 * values.std() / len(values) ** 0.5).reset_index()
least = means.groupby("traffic.arrivals")["mean"].transform("min")
knees = means[means["mean"] > 2 * least].groupby("traffic.arrivals").stations.min()
knees = sorted((line, int(stations)) for line, stations in knees.items())
stations = ethbus.read("runs", table="stations")
assert len(stations) == int(expected.stations.sum()) and list(stations.columns[:2]) == ["run", "station"]
sent = stations.groupby("run").frames_transmitted_ok.sum()
assert list(sent) == list(expected.frames_transmitted_ok), "stations of a run add up to its row"
even = stations.frames_transmitted_ok * stations.groupby("run").station.transform("count")
starved = stations[even / stations.run.map(sent) < 0.5].sort_values(["run", "station"])
starved = list(zip(starved.run, starved.station))
assert knees and starved, "the page's command shows a knee and stations that starve"

recipes = [part.split("```")[0] for part in page.split("```sql\n")[1:]]
near = lambda one, other: abs(one - other) <= 1e-9 * abs(other)
def same_means(rows):
    assert len(rows) == len(means)
    for (count, line, mean, half), other in zip(rows, means.itertuples()):
        assert (int(count), line) == (other.stations, other[2]) and near(mean, other.mean) and near(half, other.half_width), count
same_means(duckdb.sql(recipes[0]).fetchall())
assert [(line, int(count)) for line, count in duckdb.sql(recipes[1]).fetchall()] == knees
assert [row[:2] for row in duckdb.sql(recipes[2]).fetchall()] == starved
(recipe,) = [part.split("```")[0] for part in page.split("```python\n")[1:] if "import polars" in part.split("```")[0]]
names: dict = {}
exec(recipe, names)
same_means(names["means"].rows())
assert [(line, int(count)) for line, count in names["knee"].rows()] == knees
assert names["starved"].select("run", "station").rows() == starved

# The other tables: frames and events of a run add up to its row, and intervals to its frames.
frames, events, series = (ethbus.read("runs", table=table) for table in ("frames", "events", "series"))
sent = frames[frames.fate == "transmitted"].groupby("run").size()
assert list(sent) == list(expected.frames_transmitted_ok)
assert list(series.groupby("run").frames_transmitted_ok.sum()) == list(expected.frames_transmitted_ok)
assert set(events.run) == set(expected.run) and "collision" in set(events.kind)
for table in ethbus.table.TABLES:
    schemas = {tuple(zip(schema.names, schema.types)) for schema in map(pyarrow.parquet.read_schema, ethbus.table.files("runs", table))}
    assert len(schemas) == 1, f"types of {table} differ between files"
os.chdir("..")
expected = pandas.read_csv("runs.csv")

with concurrent.futures.ProcessPoolExecutor(2) as pool:
    options = {"seeds": 3, "duration": "10ms", "warmup": "1ms"}
    pandas.testing.assert_frame_equal(ethbus.sweep(grid=grid, executor=pool, rows_per_task=5, **options), expected)
print("    DuckDB, polars, pandas, pyarrow, ethbus.read and an executor agree with CSV")
