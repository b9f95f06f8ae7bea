"""Conan 2 recipe: `conan create . -s compiler.cppstd=20`.

Header-only by default; -o "dataflux/*:compiled=True" builds the library.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class DatafluxConan(ConanFile):
    name = "dataflux"
    description = "Feeds training jobs from Google Cloud Storage and saves their checkpoints to it"
    license = "Apache-2.0"
    topics = ("google-cloud-storage", "machine-learning", "checkpoint")
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False]}
    default_options = {"compiled": False}
    implements = ["auto_header_only"]
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "src/*", "LICENSE", "README.md"

    def set_version(self):
        text = load(self, Path(self.recipe_folder, "include/dataflux/version.hpp"))
        self.version = re.search(r'DATAFLUX_VERSION "([0-9.]+)"', text).group(1)

    def configure(self):
        # By this Conan knows what a user of the package needs of what it stands on.
        self.package_type = "static-library" if self.options.compiled else "header-library"

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("dataflux supports Linux only")
        check_min_cppstd(self, 20)

    def requirements(self):
        for reference in ("libcurl/[>=7.86 <9]", "openssl/[>=3.0 <4]", "simdjson/[>=3.0 <5]",
                          "pugixml/[>=1.11 <2]", "isa-l/[>=2.30 <3]", "xxhash/[>=0.8 <1]"):
            self.requires(reference)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeToolchain(self).generate()
        dependencies = CMakeDeps(self)
        # The name that ISA-L's own CMake files use.
        dependencies.set_property("isa-l", "cmake_file_name", "isal")
        dependencies.set_property("isa-l", "cmake_target_name", "ISAL::isal")
        dependencies.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"DATAFLUX_DEVELOPER": False, "DATAFLUX_C_API": False,
                                   "DATAFLUX_ZSTD": False})
        if self.options.compiled:
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install(component=None if self.options.compiled else "headers")
        # CMakeDeps and PkgConfigDeps make these anew for each user.
        for unused in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, Path(self.package_folder, unused))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "dataflux")
        name = "compiled" if self.options.compiled else "dataflux"
        self.cpp_info.set_property("cmake_target_name", f"dataflux::{name}")
        self.cpp_info.libs = ["dataflux_compiled"] if self.options.compiled else []
        self.cpp_info.defines = ["DATAFLUX_COMPILED=1"] if self.options.compiled else []
        self.cpp_info.system_libs = ["pthread"]
