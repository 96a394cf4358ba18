"""A sweep as a folder, a grid on executors, and the examples for schedulers: .ci/lake.py FOLDER

What DuckDB, polars, pandas, pyarrow and `ethbus.read` read of the folder is what the table in CSV has.
"""

import concurrent.futures
import os
import subprocess
import sys

import duckdb
import pandas
import polars
import pyarrow.dataset

import ethbus

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

# The recipes of docs/sweep.md.
page = open(os.path.join(os.path.dirname(__file__), "../docs/sweep.md"), encoding="utf-8").read()
for recipe in [part.split("```")[0] for part in page.split("```sql\n")[1:]]:
    assert duckdb.sql(recipe).fetchall() is not None
for recipe in [part.split("```")[0] for part in page.split("```python\n")[1:] if "polars" in part.split("```")[0]]:
    exec(recipe, {})

with concurrent.futures.ProcessPoolExecutor(2) as pool:
    options = {"seeds": 3, "duration": "10ms", "warmup": "1ms"}
    pandas.testing.assert_frame_equal(ethbus.sweep(grid=grid, executor=pool, rows_per_task=5, **options), expected)
print("    DuckDB, polars, pandas, pyarrow, ethbus.read and an executor agree with CSV")
