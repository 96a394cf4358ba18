"""A sweep on an executor of Python: python examples/clusters/executors.py processes|dask|submitit|ray

On MPI: mpiexec -n 3 python -m mpi4py.futures examples/clusters/executors.py mpi

Ran with Python 3.11 and, on one machine, dask 2026.8.0, submitit 1.5.4 (its local executor; on a cluster it takes Slurm's),
ray 2.60.0, and mpi4py 4.1.2 with Open MPI 4.1.4.
"""

import concurrent.futures
import sys

import ethbus

GRID = {"stations": [2, 4, 8, 16]}
OPTIONS = {"seeds": 5, "duration": "100ms", "warmup": "10ms"}


class RayExecutor:
    """What `ethbus.sweep` wants of an executor, in terms of Ray."""

    def submit(self, function, *arguments):
        import ray

        return ray.remote(function).remote(*arguments).future()


def table(kind):
    if kind == "dask":
        from dask.distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            return ethbus.sweep(grid=GRID, executor=client.get_executor(), **OPTIONS)
    if kind == "submitit":
        import submitit

        executor = submitit.AutoExecutor(folder="submitit-logs", cluster="local")
        executor.update_parameters(timeout_min=5)
        return ethbus.sweep(grid=GRID, executor=executor, rows_per_task=5, **OPTIONS)
    if kind == "ray":
        import ray

        with ray.init(include_dashboard=False):
            return ethbus.sweep(grid=GRID, executor=RayExecutor(), **OPTIONS)
    if kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor() as pool:
            return ethbus.sweep(grid=GRID, executor=pool, **OPTIONS)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        return ethbus.sweep(grid=GRID, executor=pool, **OPTIONS)


if __name__ == "__main__":
    runs = table(sys.argv[1] if len(sys.argv) > 1 else "processes")
    print(runs.groupby("stations")["utilization_total"].agg(["mean", "count"]))
