"""What pyarrow, DuckDB and polars read of run.parquet and run.arrow is what run.csv has: .ci/typed.py FOLDER"""

import csv
import sys

import duckdb
import polars
import pyarrow.feather
import pyarrow.parquet

folder = sys.argv[1]
table = pyarrow.parquet.read_table(f"{folder}/run.parquet")
assert table.equals(pyarrow.feather.read_table(f"{folder}/run.arrow")), "Parquet and Arrow differ"
rows = list(csv.DictReader(open(f"{folder}/run.csv")))
text = lambda value: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
assert [{name: text(value) for name, value in row.items()} for row in table.to_pylist()] == rows
units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in table.schema}
assert units["t"] == units["access_delay"] == "BT" and units["size"] == "octet" and units["slots"] == "", units
collisions = sum(row["kind"] == "collision" for row in rows)
assert collisions > 0 and duckdb.sql(f"select count(*) from '{folder}/run.parquet' where kind = 'collision'").fetchall() == [(collisions,)]
for frame in (polars.read_parquet(f"{folder}/run.parquet"), polars.read_ipc(f"{folder}/run.arrow")):
    assert frame.filter(polars.col("kind") == "collision").height == collisions, frame
    assert frame["t"].dtype == polars.Int64 and frame["late"].dtype == polars.Boolean
print(f"    {len(rows)} rows, {collisions} collisions, in CSV, Parquet and Arrow alike; {units}")
