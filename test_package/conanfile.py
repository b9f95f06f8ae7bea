"""What `conan create` runs against the package that it has made: builds a program and runs it."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class DatafluxTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        compiled = self.dependencies["dataflux"].options.compiled
        cmake = CMake(self)
        cmake.configure(variables={"DATAFLUX_TARGET": "compiled" if compiled else "dataflux"})
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(str(Path(self.build_folder, "test_package")), env="conanrun")
