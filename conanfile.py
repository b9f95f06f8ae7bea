"""Conan 2 recipe: `conan create .`. Header-only by default; -o compiled=True builds the library."""

import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import load


class DatafluxConan(ConanFile):
    name = "dataflux"
    description = "Feeds training jobs from Google Cloud Storage and saves their checkpoints to it"
    license = "Apache-2.0"
    topics = ("google-cloud-storage", "machine-learning", "checkpoint")
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False]}
    default_options = {"compiled": False}
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "src/*", "LICENSE", "README.md"

    def set_version(self):
        text = load(self, f"{self.recipe_folder}/include/dataflux/version.hpp")
        self.version = re.search(r'DATAFLUX_VERSION "([0-9.]+)"', text).group(1)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("dataflux supports Linux only")
        check_min_cppstd(self, 20)

    def requirements(self):
        for reference in ("libcurl/[>=7.86 <9]", "openssl/[>=3.0 <4]", "simdjson/[>=3.0 <5]",
                          "pugixml/[>=1.11 <2]", "isa-l/[>=2.30]"):
            self.requires(reference, transitive_headers=True, transitive_libs=True)

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
        cmake.configure(variables={"DATAFLUX_DEVELOPER": False})
        if self.options.compiled:
            cmake.build()

    def package(self):
        cmake = CMake(self)
        cmake.install(component=None if self.options.compiled else "headers")

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "dataflux")
        name = "compiled" if self.options.compiled else "dataflux"
        self.cpp_info.set_property("cmake_target_name", f"dataflux::{name}")
        self.cpp_info.libs = ["dataflux_compiled"] if self.options.compiled else []
        self.cpp_info.defines = ["DATAFLUX_COMPILED=1"] if self.options.compiled else []
        self.cpp_info.system_libs = ["pthread"]
