"""Stands for a package of Conan Center: `conan create . --name NAME --version VERSION`.

CMake sees what Conan Center's recipe of that name gives it: file, targets, how it is found. Behind
them are the headers and the library of this system.
"""

from conan import ConanFile

# The file of find_package, how it is found, and each target with its library.
PACKAGES = {
    "libcurl": ("CURL", "both", {"CURL::libcurl": "curl"}),
    "openssl": ("OpenSSL", "both", {"OpenSSL::Crypto": "crypto", "OpenSSL::SSL": "ssl"}),
    "simdjson": ("simdjson", "config", {"simdjson::simdjson": "simdjson"}),
    "pugixml": ("pugixml", "config", {"pugixml::pugixml": "pugixml"}),
    # Its recipe says nothing to CMake.
    "isa-l": ("isa-l", "config", {"isa-l::isa-l": "isal"}),
    "xxhash": ("xxHash", "both", {"xxHash::xxhash": "xxhash"}),
}


class Stub(ConanFile):
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        if self.name == "libcurl":
            self.requires("openssl/[>=3]")

    def package_info(self):
        file_name, mode, targets = PACKAGES[self.name]
        self.cpp_info.set_property("cmake_file_name", file_name)
        self.cpp_info.set_property("cmake_find_mode", mode)
        for target, library in targets.items():
            part = self.cpp_info.components[library] if len(targets) > 1 else self.cpp_info
            part.set_property("cmake_target_name", target)
            part.system_libs = [library]
            part.includedirs = part.libdirs = []
