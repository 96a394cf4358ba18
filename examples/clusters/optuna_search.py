"""Optuna chooses the next point: the slot time of slotted ALOHA's uniform backoff with most throughput.

    python examples/clusters/optuna_search.py

Ran with optuna 5.0.0. ethbus has no search of its own.
"""

import optuna

import ethbus


def throughput(trial):
    window = trial.suggest_int("window", 2, 200, log=True)
    runs = ethbus.sweep(access="slotted-aloha", backoff=f"uniform:{window}", stations=10, seeds=3, duration="200ms", warmup="50ms")
    return runs["throughput"].mean()


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(throughput, n_trials=20)
    print(study.best_params, round(study.best_value, 3))
