"""How many cores and threads a process may use.

Frameworks read these numbers when they start, so they are set for a *new* process. Two kernels that each
take every core slow one another down far more than by half: kernels that run together get disjoint cores.
"""

import os


def environment(count):
    """Environment variables that make a new process use `count` threads, whatever the backend.

    Args:
        count: number of threads, at least 1.

    Returns:
        A dictionary to merge into the environment of a new process. `XLA_FLAGS` keeps the flags already set.

    Raises:
        ValueError: `count` is smaller than 1.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    number = str(count)
    flags = [os.environ.get("XLA_FLAGS", ""), f"--xla_cpu_multi_thread_eigen={str(count > 1).lower()}"]
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
    names += ("TF_NUM_INTEROP_THREADS", "NPROC", "ABH_THREADS")  # NPROC: the size of XLA's own thread pool
    return {**dict.fromkeys(names, number), "XLA_FLAGS": " ".join(flag for flag in flags if flag)}


def available():
    """The cores this process may use, as a sorted list of numbers."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def shares(jobs, cores=None):
    """Divide the cores between `jobs` kernels: `shares(2, [0, 1, 2, 3])` is `[[0, 1], [2, 3]]`.

    With more jobs than cores a core is shared; no kernel is left without one.
    """
    cores = available() if cores is None else list(cores)
    if jobs >= len(cores):
        return [[cores[job % len(cores)]] for job in range(jobs)]
    size, rest = divmod(len(cores), jobs)
    starts = [job * size + min(job, rest) for job in range(jobs + 1)]
    return [cores[start:end] for start, end in zip(starts, starts[1:], strict=False)]


def pin(cores):
    """Bind this process and its future children to `cores`, where the system can (macOS and Windows cannot)."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
