# What the library links; HACKING.md says why each was chosen.
find_package(Threads REQUIRED)
find_package(CURL 7.86 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(simdjson 3.0 REQUIRED)
find_package(pugixml 1.11 REQUIRED)
# ISA-L has a package of another name in each world: its own CMake files and conanfile.py, vcpkg, and
# pkg-config (Debian).
find_package(isal QUIET CONFIG)
find_package(unofficial-isal QUIET CONFIG)
if(TARGET ISAL::isal)
  set(DATAFLUX_ISAL ISAL::isal)
elseif(TARGET unofficial::isal::isal)
  set(DATAFLUX_ISAL unofficial::isal::isal)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal>=2.30)
  set(DATAFLUX_ISAL PkgConfig::ISAL)
endif()
set(DATAFLUX_DEPENDENCIES
  Threads::Threads CURL::libcurl OpenSSL::SSL OpenSSL::Crypto simdjson::simdjson pugixml::pugixml ${DATAFLUX_ISAL})
