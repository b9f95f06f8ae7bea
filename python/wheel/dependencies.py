"""The libraries that the wheel has inside: static, position independent, for an old glibc.

A recipe is what is built, how, and by which compiler. Its digest names the folder in the user's cache,
so that a machine builds each recipe once. What Debian has newer since then does not change the digest:
`build.py --fresh` builds anew, as it must be done before a release.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sources import Archive

HERE = Path(__file__).resolve().parent
# The oldest glibc: what manylinux_2_28 stands for (RHEL 8, Debian 10, Ubuntu 18.10).
TARGET = "x86_64-linux-gnu.2.28"
HARDENED = "-fPIC -fstack-protector-strong -ffunction-sections -fdata-sections"
FLAGS = "-O2 " + HARDENED

# Package, the oldest version that we take.
SOURCES = (("openssl", "3.5"), ("curl", "8.0"), ("simdjson", "3.0"), ("pugixml", "1.11"),
           ("libisal", "2.30"))
# Headers alone; the first one that is there.
HEADERS = ((("libboost1.83-dev", "libboost1.74-dev"), "1.74"), (("libcli11-dev",), "2.1"),
           (("libxxhash-dev",), "0.8"))

# What nobody asks of this copy: no program, no provider or engine to be loaded from a file, no
# protocol but TLS over streams. The configuration file is read from a place that is an
# administrator's, and empty unless one fills it: that of the system's OpenSSL may be for another
# version. Authorities are looked for by dataflux at run time, never in this folder.
OPENSSL = ("linux-x86_64", "no-shared", "no-tests", "no-apps", "no-docs", "no-module", "no-legacy",
           "no-engine", "no-dtls", "no-quic", "no-srp", "no-comp", "no-zlib", "no-cms", "no-ts", "no-cmp",
           "no-ocsp", "no-ct", "no-idea", "no-seed", "no-camellia", "no-aria", "no-sm2", "no-sm3",
           "no-sm4", "no-whirlpool", "no-rmd160", "no-mdc2", "no-bf", "no-cast", "no-rc2", "no-gost",
           "no-ssl3", "no-tls1", "no-tls1_1", "no-uplink", "no-ui-console", "no-slh-dsa", "no-http",
           "--prefix=/usr", "--libdir=lib", "--openssldir=/etc/dataflux/ssl")

CURL = {"BUILD_CURL_EXE": "OFF", "BUILD_SHARED_LIBS": "OFF", "BUILD_STATIC_LIBS": "ON",
        "BUILD_TESTING": "OFF", "BUILD_LIBCURL_DOCS": "OFF", "BUILD_MISC_DOCS": "OFF",
        "ENABLE_CURL_MANUAL": "OFF", "HTTP_ONLY": "ON", "ENABLE_THREADED_RESOLVER": "ON",
        "CURL_USE_OPENSSL": "ON", "CURL_USE_LIBPSL": "OFF", "CURL_USE_LIBSSH2": "OFF",
        "CURL_USE_GSSAPI": "OFF", "USE_NGHTTP2": "OFF", "USE_LIBIDN2": "OFF", "CURL_ZLIB": "OFF",
        "CURL_BROTLI": "OFF", "CURL_ZSTD": "OFF", "CURL_CA_BUNDLE": "none", "CURL_CA_PATH": "none",
        "CURL_CA_FALLBACK": "OFF", "CURL_DISABLE_ALTSVC": "ON", "CURL_DISABLE_HSTS": "ON",
        "CURL_DISABLE_COOKIES": "ON", "CURL_DISABLE_NETRC": "ON", "CURL_DISABLE_NTLM": "ON",
        "CURL_DISABLE_AWS": "ON", "CURL_DISABLE_DOH": "ON", "CURL_DISABLE_WEBSOCKETS": "ON",
        "CURL_DISABLE_OPENSSL_AUTO_LOAD_CONFIG": "OFF"}

ISAL_CONFIG = """\
get_filename_component(prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
if(NOT TARGET ISAL::isal)
  add_library(ISAL::isal STATIC IMPORTED)
  set_target_properties(ISAL::isal PROPERTIES IMPORTED_LOCATION ${prefix}/lib/libisal.a
    INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)
endif()
"""

# What a wheel names: the texts that come with it, by the library's own file.
LICENCES = {"openssl": "LICENSE.txt", "curl": "COPYING", "simdjson": "LICENSE",
            "pugixml": "LICENSE.md", "libisal": "LICENSE"}


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dataflux"


class Tools:
    """zig as a C and a C++ compiler, with the names that build systems ask for."""

    def __init__(self, venv, jobs):
        self.bin = Path(venv) / "bin"
        self.jobs = jobs
        zig = next(Path(venv).glob("lib/python*/site-packages/ziglang/zig"))
        # What zig adds of its own: the C++ library, and the compiler's.
        self.licences = {"zig": zig.parent / "LICENSE",
                         "libc++": zig.parent / "lib/libcxx/LICENSE.TXT"}
        self.folder = cache() / "zig"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/"),
            "LC_ALL": "C", "ZIG_GLOBAL_CACHE_DIR": str(self.folder / "global"),
            "ZIG_LOCAL_CACHE_DIR": str(self.folder / "local")}
        for name in ("CCACHE_DIR", "CCACHE_MAXSIZE", "PIP_CERT", "http_proxy", "https_proxy"):
            if os.environ.get(name):
                self.environment[name] = os.environ[name]
        self.programs = {}
        for name, words in (("cc", f"cc -target {TARGET}"), ("c++", f"c++ -target {TARGET}"),
                            ("ar", "ar"), ("ranlib", "ranlib")):
            program = self.folder / f"zig-{name}"
            text = f'#!/bin/sh\nexec "{zig}" {words} "$@"\n'
            if not program.exists() or program.read_text() != text:
                fresh = program.with_suffix(f".{os.getpid()}")
                fresh.write_text(text)
                fresh.chmod(0o755)
                fresh.replace(program)
            self.programs[name] = program

    def run(self, *command, where, **environment):
        done = subprocess.run([str(word) for word in command], cwd=where, text=True,
                              env=self.environment | environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\nin {where}:\n{done.stdout[-6000:]}")
        return done.stdout

    def cmake_options(self, prefix):
        names = {"C_COMPILER": "cc", "CXX_COMPILER": "c++", "AR": "ar", "RANLIB": "ranlib"}
        options = {f"CMAKE_{name}": self.programs[program] for name, program in names.items()}
        options |= {"CMAKE_BUILD_TYPE": "Release", "CMAKE_C_FLAGS_RELEASE": f"{FLAGS} -DNDEBUG",
                    "CMAKE_CXX_FLAGS_RELEASE": f"{FLAGS} -DNDEBUG",
                    "CMAKE_POSITION_INDEPENDENT_CODE": "ON", "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
                    "CMAKE_FIND_ROOT_PATH": prefix, "CMAKE_PREFIX_PATH": "/usr",
                    "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
                    "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
                    "CMAKE_FIND_ROOT_PATH_MODE_PACKAGE": "ONLY"}
        return [f"-D{name}={value}" for name, value in options.items()]

    def cmake(self, source, prefix, **options):
        build = source / "build-wheel"
        self.run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}",
                 "-DCMAKE_INSTALL_LIBDIR=lib", *self.cmake_options(prefix),
                 *(f"-D{name}={value}" for name, value in options.items()), where=source)
        self.run("cmake", "--build", build, "-j", self.jobs, where=source)
        self.run("cmake", "--install", build, where=source)


def build_openssl(tools, source, prefix):
    programs = tools.programs
    tools.run("perl", "Configure", *OPENSSL, *FLAGS.split(), where=source, CC=str(programs["cc"]),
              AR=str(programs["ar"]), RANLIB=str(programs["ranlib"]))
    tools.run("make", f"-j{tools.jobs}", "build_libs", where=source)
    (prefix / "lib").mkdir(exist_ok=True)
    for name in ("libcrypto.a", "libssl.a"):
        shutil.copy(source / name, prefix / "lib" / name)
    shutil.copytree(source / "include/openssl", prefix / "include/openssl",
                    ignore=shutil.ignore_patterns("*.in"))


def build_isal(tools, source, prefix):
    programs = tools.programs
    # The library's own Makefile asks the compiler for things that only gcc answers.
    tools.run("make", "-f", "Makefile.unx", f"-j{tools.jobs}", "lib", "units=crc igzip", "arch=",
              f"CC={programs['cc']}", f"AR={programs['ar']}", "AS=nasm", "host_cpu=x86_64",
              f"CFLAGS_={FLAGS}", where=source)
    shutil.copy(source / "bin/isa-l.a", prefix / "lib/libisal.a")
    (prefix / "include/isa-l").mkdir(parents=True)
    for name in ("crc.h", "crc64.h", "igzip_lib.h", "types.h"):
        if (source / "include" / name).exists():
            shutil.copy(source / "include" / name, prefix / "include/isa-l" / name)
    config = prefix / "lib/cmake/isal/isal-config.cmake"
    config.parent.mkdir(parents=True)
    config.write_text(ISAL_CONFIG)


def build_all(tools, prefix, work):
    """Builds everything into the prefix; returns the versions by name."""
    archive = Archive(work / "apt")
    versions = {}
    (prefix / "licences").mkdir(parents=True)
    builders = {
        "openssl": build_openssl,
        "curl": lambda tools, source, prefix: tools.cmake(source, prefix, **CURL),
        "simdjson": lambda tools, source, prefix: tools.cmake(
            source, prefix, BUILD_SHARED_LIBS="OFF", SIMDJSON_DEVELOPER_MODE="OFF"),
        "pugixml": lambda tools, source, prefix: tools.cmake(source, prefix, BUILD_SHARED_LIBS="OFF"),
        "libisal": build_isal,
    }
    for names, minimum in HEADERS:
        package = next((n for n in names if archive.has(n)), names[0])
        versions[package] = archive.binary(package, minimum, prefix)
        shutil.copy(prefix / f"usr/share/doc/{package}/copyright",
                    prefix / f"licences/{package.removeprefix('lib').removesuffix('-dev')}.txt")
    for package, minimum in SOURCES:
        source = work / package
        versions[package] = archive.source(package, minimum, source)
        print(f"  {package} {versions[package]}", flush=True)
        builders[package](tools, source, prefix)
        shutil.copy(source / LICENCES[package], prefix / f"licences/{package}.txt")
    return versions


def digest():
    told = hashlib.sha256()
    for name in ("dependencies.py", "sources.py", "requirements.txt"):
        told.update((HERE / name).read_bytes())
    return told.hexdigest()[:16]


def dependencies(tools, fresh=False):
    """The prefix that has the libraries; builds them when this machine has not yet."""
    prefix = cache() / f"wheel-libraries-{digest()}"
    if prefix.exists() and not fresh:
        return prefix
    with tempfile.TemporaryDirectory(prefix="libraries-", dir=cache()) as folder:
        folder = Path(folder)
        made = folder / "prefix"
        made.mkdir()
        versions = build_all(tools, made, folder)
        (made / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
        if prefix.exists():
            prefix.rename(folder / "before")
        made.rename(prefix)
    return prefix
