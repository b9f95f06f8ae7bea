"""Readers that tell what they have decoded, in a file of their process."""

import hashlib
import os
import signal

import dataflux.dlio


class Reader(dataflux.dlio.Reader):
    def decoded(self, data, url):
        array = super().decoded(data, url)
        digest = hashlib.sha256(array.tobytes()).hexdigest()
        with open(os.path.join(os.environ["COUNTING"], str(os.getpid())), "a") as file:
            file.write(f"{self.dataset_type} {url} {array.shape} {digest}\n")
        return array


class Killed(dataflux.dlio.Reader):
    """The second rank dies at its third object."""

    count = 0

    def decoded(self, data, url):
        Killed.count += 1
        if self._args.my_rank == 1 and Killed.count == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().decoded(data, url)
