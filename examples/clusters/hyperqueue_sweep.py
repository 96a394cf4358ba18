"""A sweep in HyperQueue: each task is a few rows of the grid, and all tasks write to one folder of Parquet files.

    python examples/clusters/hyperqueue_sweep.py runs/ --set stations=2..64*2 --seeds 20 --duration 10s

The arguments after the folder are those of `ethbus sweep`. Ran with the package hyperqueue 0.27.0, which starts a server and
a worker on this machine. On a cluster with `hq` the same is
`hq submit --array 1-100 ethbus sweep … --rows auto --out runs/`, which was not run.
"""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig

ethbus = os.environ.get("ETHBUS", "ethbus")
out, arguments = os.path.join(os.path.abspath(sys.argv[1]), ""), sys.argv[2:]

if __name__ == "__main__":
    listed = subprocess.run([ethbus, "sweep", *arguments, "--list"], check=True, capture_output=True, text=True)
    count, step = len(listed.stdout.splitlines()) - 1, 4
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=multiprocessing.cpu_count()))
        client, job = cluster.client(), Job(default_workdir=Path.cwd(), max_fails=count)
        for first in range(1, count + 1, step):
            rows = f"{first}..{min(first + step - 1, count)}"
            job.program([ethbus, "sweep", *arguments, "--jobs", "1", "--rows", rows, "--out", out], stdout=None, stderr=None)
        client.wait_for_jobs([client.submit(job)])
    subprocess.run([ethbus, "sweep", "status", out], check=True)
