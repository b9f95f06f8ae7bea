"""Debian's packages of what the wheel has inside, fetched by an apt of its own: the machine's lists and
settings stay as they are. apt checks the signatures."""

import functools
import subprocess
from pathlib import Path

# Newest first. A mirror may lack the files of a version that its index names: then the next one is
# taken, and that is said.
SUITES = ("trixie", "bookworm")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def mirrors():
    """(address of the archive, address of the security updates or None), as this machine has them."""
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
         "Component: main"], check=True, capture_output=True, text=True).stdout.split()
    archives = [address for address in told if "security" not in address]
    if not archives:
        raise SystemExit("apt knows no mirror of Debian: run apt-get update first")
    return archives[0], next((address for address in told if "security" in address), None)


class Archive:
    """What `folder` holds is apt's; it can be thrown away afterwards."""

    def __init__(self, folder, suites=SUITES):
        self.folder = Path(folder).resolve()
        for name in ("lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        archive, security = mirrors()
        signed = f"[signed-by={KEYRING}]"
        lines = []
        for suite in suites:
            lines += [f"{kind} {signed} {archive} {suite} main" for kind in ("deb", "deb-src")]
            if security:
                lines += [f"{kind} {signed} {security} {suite}-security main"
                          for kind in ("deb", "deb-src")]
        (self.folder / "sources.list").write_text("\n".join(lines) + "\n")
        self._run("apt-get", "-q", "update")

    def _run(self, program, *arguments, where=None, check=True):
        settings = {"Dir::Etc::SourceList": self.folder / "sources.list", "Dir::Etc::SourceParts": "-",
                    "Dir::State::Lists": self.folder / "lists", "Dir::Cache": self.folder / "cache",
                    "Dir::State::Status": "/dev/null", "APT::Sandbox::User": "root",
                    "Acquire::Languages": "none"}
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        done = subprocess.run([program, *options, *arguments], cwd=where, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"{program} {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done

    def _fetch(self, kind, package, versions, command, pattern):
        folder = self.folder / kind / package
        folder.mkdir(parents=True, exist_ok=True)
        for version in versions:
            done = self._run(*command, f"{package}={version}", where=folder, check=False)
            found = sorted(folder.glob(pattern(version)))
            if done.returncode == 0 and found:
                return found[0], version
            print(f"  {package} {version} is not on the mirror, though its index has it", flush=True)
        raise SystemExit(f"no version of {package} could be fetched, of: {', '.join(versions)}")

    def has(self, package):
        """Whether an index names that binary package."""
        return bool(self._run("apt-cache", "show", package, check=False).stdout)

    def source(self, package, minimum, into):
        """Unpacks the newest source of at least `minimum` into the folder, with Debian's patches;
        returns its version."""
        told = self._run("apt-cache", "showsrc", package).stdout
        versions = newest_first({line.split()[1] for line in told.splitlines()
                                 if line.startswith("Version: ")}, minimum)
        described, version = self._fetch("source", package, versions,
                                         ("apt-get", "-q", "source", "--download-only"),
                                         lambda version: f"{package}_{without_epoch(version)}.dsc")
        subprocess.run(["dpkg-source", "--no-check", "-x", described, into], check=True,
                       stdout=subprocess.DEVNULL)
        return version

    def binary(self, package, minimum, into):
        """Lays the files of a binary package, such as headers, below the folder; returns its version."""
        told = self._run("apt-cache", "show", package).stdout
        versions = newest_first({line.split()[1] for line in told.splitlines()
                                 if line.startswith("Version: ")}, minimum)
        package_file, version = self._fetch("binary", package, versions, ("apt-get", "-q", "download"),
                                            lambda version: f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", package_file, into], check=True)
        return version


def without_epoch(version):
    return version.split(":", 1)[-1]


def newest_first(versions, minimum):
    def compare(left, right):
        older = subprocess.run(["dpkg", "--compare-versions", left, "lt", right]).returncode == 0
        return 1 if older else -1

    enough = [v for v in versions
              if subprocess.run(["dpkg", "--compare-versions", v, "ge", minimum]).returncode == 0]
    return sorted(enough, key=functools.cmp_to_key(compare))
