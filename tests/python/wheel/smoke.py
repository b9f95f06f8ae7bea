"""What an installed package must do by itself: the emulator inside is served, written, listed and read.
Ends with "all is well". Nothing but the standard library and dataflux is needed. With --portable no
library of the system is used that a portable wheel has inside."""

import os
import subprocess
import sys

import dataflux

CONTENT = bytes(range(256)) * 4096


def listed(service):
    """By the command inside."""
    told = subprocess.run([sys.executable, "-I", "-m", "dataflux", "ls", "gs://smoke/"], check=True,
                          capture_output=True, text=True, env=os.environ | service.environment,
                          timeout=60)
    return told.stdout.split()


def main():
    assert not any(name.startswith("DATAFLUX_") for name in os.environ)
    folder = os.path.dirname(dataflux.__file__)
    with dataflux.Emulator("smoke") as service, service.client() as client:
        client.put("gs://smoke/folder/a", CONTENT)
        client.put("gs://smoke/folder/b", b"")
        assert client.stat("gs://smoke/folder/a").size == len(CONTENT)
        assert bytes(client.get("gs://smoke/folder/a")) == CONTENT
        with client.open("gs://smoke/folder/a", "rb") as file:
            assert file.read() == CONTENT
        rows = client.list("gs://smoke/folder/")
        assert [(row.name, row.size) for row in rows] == [("folder/a", len(CONTENT)), ("folder/b", 0)]
        assert listed(service) == ["gs://smoke/folder/"], listed(service)
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if ".so" in line}
    ours = [path for path in loaded if "libdataflux" in path]
    assert ours == [os.path.join(folder, "lib", "libdataflux.so.0")], ours
    if "--portable" in sys.argv[1:]:
        strangers = [path for path in loaded if "libcurl" in path or "libstdc++" in path]
        assert not strangers, strangers
    print("all is well")


if __name__ == "__main__":
    main()
