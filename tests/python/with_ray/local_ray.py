"""A local Ray of two processors."""

import ray


def begin():
    """Ray gives its first process 30 s to begin, which a machine with much else to do may need more than once."""
    for again in (True, True, False):
        try:
            # With less memory for objects than this Ray holds its tasks back.
            ray.init(num_cpus=2, include_dashboard=False, object_store_memory=4 << 30, configure_logging=False,
                     log_to_driver=False)
            return
        except Exception:
            ray.shutdown()
            if not again:
                raise
