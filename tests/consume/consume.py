#!/usr/bin/env python3
"""Builds and runs a user's program in one of the ways in which dataflux can be used.

    consume.py WAY --source DIR --build DIR --compiler CXX [--launcher CCACHE]

WAY: find_package (an installed tree, moved after installing), pkg_config (the same, plain compiler
calls, and with -fno-exceptions), c (the C ABI, from C, in both of these ways), bindings (the C ABI
from Go by cgo and from Rust by bindgen; under --full only, for the compilers that it needs), headers
(only include/ copied), subdirectory (add_subdirectory), examples (every numbered one with nothing but
dataflux.hpp, optimised and without a warning), cxx17 (one error for each header), vcpkg (its port, run
by vcpkg.cmake; under --full only, since it builds the library anew), mixing (header-only and compiled
objects in one program must not link), pip (`pip install ./python`, and the sdist; under --full only,
since it builds the library anew). All in a folder outside the source tree. Exit status 77: not asked
for.

A whole program takes a minute where it is header-only. `headers` compiles it; where another way is on
trial and not the code, small.cpp shows that it finds the headers and links every library; that an
installed tree has all headers is compared.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "cli"))
from service import Emulator  # noqa: E402

DEPENDENCIES = ["libcurl", "libssl", "libcrypto", "simdjson", "pugixml", "libisal"]
# What users compile with; a warning that starts in our headers is ours.
STRICT = ["-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SAID = "consumed dataflux "


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def required(build):
    """What the library of this build links, by the names of pkg-config: libzstd is optional."""
    line = next(l for l in (build / "dataflux.pc").read_text().splitlines() if l.startswith("Requires: "))
    return [library.split()[0] for library in line.removeprefix("Requires: ").split(", ")]


class Consumer:
    def __init__(self, options, folder):
        self.source, self.build, self.folder = options.source, options.build, folder
        self.emulator = options.emulator
        self.compiler = ([options.launcher] if options.launcher else []) + [options.compiler]
        self.environment = dict(os.environ, CXX=options.compiler)
        if options.launcher:
            self.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = options.launcher

    def call(self, *command, **more):
        """Its standard output; prints everything and exits when it fails."""
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=self.environment,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        if done.returncode != 0:
            sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}")
        return done.stdout

    def run(self, program, *arguments):
        said = self.call(program, *arguments)
        if not said.startswith(SAID):
            sys.exit(f"{program} printed: {said}")
        return said

    def strict(self):
        """clang's warnings are those of its syntax, at any -O; g++ 14 takes what it has inlined of a
        whole library in one source for uninitialised."""
        return STRICT[1:] if "clang" in self.compiler[-1] else []

    def compile(self, *arguments):
        self.call(*self.compiler, "-std=c++20", "-O0", *arguments)

    def install(self):
        self.call("cmake", "--install", self.build, "--prefix", self.folder / "staged")
        return self.moved(self.folder / "staged")

    def moved(self, staged):
        """Installed in one place and used from another: nothing may remember where it was."""
        prefix = staged.rename(self.folder / "prefix")
        for file in prefix.rglob("*"):
            if file.suffix in (".cmake", ".pc") and str(self.source) in file.read_text():
                sys.exit(f"{file.name} names the source tree")
        if files_below(prefix / "include/dataflux") != files_below(self.source / "include/dataflux"):
            sys.exit("the headers that were installed are not those of the source tree")
        return prefix

    def cmake(self, project, *options, target="all"):
        shutil.copytree(HERE / project, self.folder / "project")
        for program in ("program.cpp", "small.cpp"):
            shutil.copy(HERE / program, self.folder / "project")
        self.call("cmake", "-S", "project", "-B", "out", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *options)
        self.call("cmake", "--build", "out", "-j", "2", "--target", target)
        return self.folder / "out"

    def find_package(self):
        out = self.cmake("find_package", f"-DCMAKE_PREFIX_PATH={self.install()}")
        self.run(out / "consumer_dataflux")
        self.run(out / "consumer_compiled")

    def c(self):
        """Of an installed tree, by a project without C++ and by a plain call of a C compiler."""
        prefix = self.install()
        self.call("cmake", "-S", HERE / "c", "-B", "out", "-G", "Ninja",
                  f"-DCMAKE_PREFIX_PATH={prefix}")
        self.call("cmake", "--build", "out")
        self.run(self.folder / "out/consumer")
        folders = [str(p.parent) for p in prefix.rglob("*.pc")]
        self.environment["PKG_CONFIG_PATH"] = ":".join(folders)
        flags = self.call("pkg-config", "--cflags", "--libs", "dataflux-c").split()
        libraries = next(p.parent for p in prefix.rglob("libdataflux.so"))
        self.call("cc", "-std=c89", "-pedantic", "-Werror", HERE / "c/consumer.c", "-o", "plain",
                  *flags, f"-Wl,-rpath,{libraries}")
        self.run(self.folder / "plain")

    def only_in_full(self):
        if os.environ.get("DATAFLUX_TEST_FULL") != "1":
            print("skipped: run under --full only")
            sys.exit(77)

    def bindings(self):
        """Go's cgo and Rust's bindgen take the header as it is, with their defaults."""
        self.only_in_full()
        prefix = self.install()
        self.environment["PKG_CONFIG_PATH"] = ":".join(str(p.parent) for p in prefix.rglob("*.pc"))
        libraries = next(p.parent for p in prefix.rglob("libdataflux.so"))
        self.environment.update(LD_LIBRARY_PATH=str(libraries), GO111MODULE="off",
                                GOCACHE=str(self.folder / "go-cache"))
        self.call("go", "build", "-o", "in_go", HERE / "go/main.go")
        header = next(prefix.rglob("dataflux.h"))
        self.environment["BINDINGS"] = str(self.folder)
        self.call("bindgen", "--allowlist-function", "dataflux_.*", "--allowlist-type", "dataflux_.*",
                  "--allowlist-var", "DATAFLUX_.*", header, "-o", "dataflux.rs")
        self.call("rustc", "--edition", "2021", HERE / "rust/main.rs", "-o", "in_rust",
                  "-L", libraries, "-l", "dylib=dataflux")
        emulator = Emulator(self.emulator, "bucket")
        try:
            self.environment["STORAGE_EMULATOR_HOST"] = emulator.endpoint
            emulator.put("one", b"1")
            for program in ("in_go", "in_rust"):
                said = self.run(self.folder / program, "bucket")
                if not said.endswith(": 1 objects\n"):
                    sys.exit(f"{program} listed: {said}")
        finally:
            emulator.close()

    def vcpkg(self):
        self.only_in_full()
        self.call("cmake", f"-DPORT_DIR={self.source}/cmake/vcpkg/ports/dataflux",
                  f"-DFOLDER={self.folder}", "-P", HERE / "vcpkg.cmake")
        prefix = self.moved(self.folder / "packages")
        if (prefix / "share/dataflux/copyright").read_text() != (
                self.source / "LICENSE").read_text():
            sys.exit("the port's copyright is not the licence")
        # Where vcpkg's toolchain looks, and nowhere else.
        out = self.cmake("find_package", f"-Ddataflux_DIR={prefix}/share/dataflux",
                         target="consumer_compiled")
        self.run(out / "consumer_compiled")

    def subdirectory(self):
        out = self.cmake("subdirectory", f"-DDATAFLUX_SOURCE={self.source}")
        self.run(out / "consumer_dataflux")
        if list(out.rglob("libdataflux_compiled.a")):
            sys.exit("the compiled library was built, though nothing links it")

    def pkg_config(self):
        prefix = self.install()
        folders = [str(p.parent) for p in prefix.rglob("*.pc")]
        self.environment["PKG_CONFIG_PATH"] = ":".join(
            folders + [self.environment.get("PKG_CONFIG_PATH", "")])
        for package, program in {"dataflux": "small.cpp", "dataflux-compiled": "program.cpp"}.items():
            flags = self.call("pkg-config", "--cflags", "--libs", package).split()
            self.compile(HERE / program, "-o", package, *flags)
            self.run(self.folder / package)
        # Without exceptions (mend 16) the last one, compiled, works, and header-only says so.
        self.compile(HERE / "program.cpp", "-o", "without", "-fno-exceptions", *flags)
        self.run(self.folder / "without")
        flags = self.call("pkg-config", "--cflags", "dataflux").split()
        refused = subprocess.run([*self.compiler[-1:], "-std=c++20", "-fsyntax-only",
                                  "-fno-exceptions", *flags, HERE / "small.cpp"],
                                 cwd=self.folder, text=True, capture_output=True)
        if refused.returncode == 0 or "link dataflux::compiled" not in refused.stderr:
            sys.exit(f"header-only with -fno-exceptions: {refused.stderr[:500]}")

    def examples(self):
        """All numbered examples in one source that includes the front page and no other header."""
        found = sorted((self.source / "examples").glob("[0-9][0-9]_*.cpp"))
        standard, bodies = set(), []
        for path in found:
            lines = path.read_text().splitlines()
            includes = [line for line in lines if line.startswith("#include")]
            standard.update(line for line in includes if "<dataflux/" not in line)
            body = "\n".join(line for line in lines if line not in includes)
            bodies.append(f"namespace example_{path.stem} {{\n{body}\n}}\n")
        if len(bodies) < 10:
            sys.exit(f"only {len(bodies)} numbered examples were found")
        text = "\n".join(["#include <dataflux/dataflux.hpp>", *sorted(standard), *bodies])
        (self.folder / "all.cpp").write_text(text)
        self.compile("-c", "-o", "all.o", *STRICT, "-Wno-main", "-Wno-return-type", "-DDATAFLUX_COMPILED",
                     f"-I{self.source}/include", "all.cpp")

    def cxx17(self):
        """What is wrong is said once, and nothing hides it; in each header that users include."""
        public = [p for p in (self.source / "include").rglob("*.hpp")
                  if "detail" not in p.parts and p.name != "version.hpp"]
        for header in public:
            done = subprocess.run([*self.compiler[-1:], "-std=c++17", "-fsyntax-only", "-x", "c++",
                                   f"-I{self.source}/include", "-DDATAFLUX_COMPILED", header],
                                  cwd=self.folder, text=True, capture_output=True)
            errors = [line for line in done.stderr.splitlines() if "error: " in line]
            # The second one is the file that is missing so that the compiler ends.
            if len(errors) != 2 or "needs C++20" not in errors[0] or "needs-c++20" not in errors[1]:
                sys.exit(f"{header} by -std=c++17:\n{done.stderr[:2000]}")

    def pip(self):
        """`pip install ./python`, without the programs and not optimised; and whether the sdist has all
        that the build of the whole package asks for."""
        self.only_in_full()
        self.call(sys.executable, "-m", "venv", "environment")
        python = self.folder / "environment/bin/python"
        self.call(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "build",
                  "scikit-build-core", "cmake", "ninja")
        self.call(python, "-m", "build", "-q", "--sdist", "--no-isolation", "-o", "dist",
                  self.source / "python")
        with tarfile.open(next((self.folder / "dist").glob("*.tar.gz"))) as packed:
            packed.extractall(self.folder / "unpacked")
        unpacked = next((self.folder / "unpacked").iterdir())
        self.call("cmake", "-G", "Ninja", "-S", unpacked, "-B", "whole")
        # Ninja ends where a source is missing.
        self.call("ninja", "-C", "whole", "-n", "dataflux_package")
        self.environment["PATH"] = f"{python.parent}{os.pathsep}{self.environment['PATH']}"
        self.call(python, "-m", "pip", "-q", "--disable-pip-version-check", "install",
                  "--no-build-isolation", "--config-settings=cmake.build-type=None",
                  "--config-settings=cmake.define.DATAFLUX_PROGRAMS=OFF", self.source / "python")
        emulator = Emulator(self.emulator, "bucket")
        try:
            self.environment["STORAGE_EMULATOR_HOST"] = emulator.endpoint
            emulator.put("one", b"1")
            said = self.call(python, "-I", "-c",
                             "import dataflux; print([row.name for row in dataflux.list('gs://bucket/')])")
            if said != "['one']\n":
                sys.exit(f"the installed package listed: {said}")
        finally:
            emulator.close()

    def headers(self):
        shutil.copytree(self.source / "include", self.folder / "include")
        flags = self.call("pkg-config", "--cflags", "--libs", *DEPENDENCIES).split()
        self.compile(HERE / "program.cpp", "-o", "consumer", "-Iinclude", "-pthread", *self.strict(),
                     *flags)
        self.run(self.folder / "consumer")

    def mixing(self):
        modes = {"headers": [], "compiled": ["-DDATAFLUX_COMPILED=1"]}
        for mode, flags in modes.items():
            for name in ("main", "library"):
                self.compile("-c", HERE / f"mixing/{name}.cpp", f"-I{self.source}/include", *flags,
                             "-o", f"{name}.{mode}.o")
        archive = next(self.build.rglob("libdataflux_compiled.a"))
        libraries = self.call("pkg-config", "--libs", *required(self.build)).split() + ["-pthread"]
        for main in modes:
            for library in modes:
                link = [*self.compiler[-1:], f"main.{main}.o", f"library.{library}.o", archive,
                        *libraries, "-o", f"{main}.{library}"]
                done = subprocess.run([str(c) for c in link], cwd=self.folder, text=True,
                                      capture_output=True)
                if main == library:
                    if done.returncode != 0:
                        sys.exit(f"{main} alone does not link:\n{done.stderr}")
                    self.call(self.folder / f"{main}.{library}")
                elif done.returncode == 0:
                    sys.exit(f"main in mode {main} linked with a library in mode {library}")
                elif "describe" not in done.stderr:
                    sys.exit(f"the link failed for another reason:\n{done.stderr}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("way", choices=["find_package", "pkg_config", "c", "bindings", "headers",
                                           "subdirectory", "examples", "cxx17", "vcpkg", "mixing",
                                           "pip"])
    arguments.add_argument("--source", type=Path, required=True)
    arguments.add_argument("--build", type=Path, required=True)
    arguments.add_argument("--compiler", required=True)
    arguments.add_argument("--launcher", default="")
    arguments.add_argument("--emulator", help="dataflux-emulator, for `bindings` and `pip`")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="dataflux-consume-") as folder:
        getattr(Consumer(options, Path(folder)), options.way)()


if __name__ == "__main__":
    main()
