# What the library links, and why:
#
#   libcurl    connects: DNS, proxies, TLS, client certificates. Its transfers cost twice the CPU of ours
#   OpenSSL    TLS records, signing tokens, base64, digests. Never cryptography of our own
#   simdjson   JSON, On-Demand, instead of a tree of nodes for each page. `plain_text` reads resources and
#              listing pages that the service writes plainly in one pass
#   pugixml    XML replies of multipart uploads, instead of a scanner of ours or expat's callbacks
#   ISA-L      CRC32C at 46-56 GB/s; a loop over SSE4.2's instruction does 9.7. Its igzip decompresses
#              text at 0.7 GB/s for shards that gzip compressed; zlib does 0.2
#   xxhash     XXH64, AIStore's checksum, by its header alone: nothing is linked
#   libzstd    decompresses shards (.tar.zst); optional, see DATAFLUX_ZSTD
#
# Tests and programs use Catch2 (2.13 or 3; one header in Debian 12), CLI11, and
# Boost.Beast: the emulator's HTTP, which also judges our codec without sharing its mistakes.
#
# Catch2's header is included as <support/catch.hpp>; two sources of the emulator see Beast, one .ipp sees
# each large header (<simdjson.h> costs 1.8 s a translation unit). OpenSSL's headers are cheap C.
find_package(Threads REQUIRED)
# Conan's version files refuse a later major version, here 8.
find_package(CURL REQUIRED)
if(NOT CURL_VERSION)
  set(CURL_VERSION ${CURL_VERSION_STRING})  # CMake's own name for it
endif()
if(CURL_VERSION VERSION_LESS 7.86)
  message(FATAL_ERROR "dataflux needs libcurl 7.86 or later; found ${CURL_VERSION}")
endif()
find_package(OpenSSL 3.0 REQUIRED)
# Its own version file refuses all but 3.0.x when asked for 3.0, and then an older one elsewhere on
# the machine is taken.
find_package(simdjson REQUIRED)
if(simdjson_VERSION VERSION_LESS 3.0)
  message(FATAL_ERROR "dataflux needs simdjson 3.0 or later; found ${simdjson_VERSION}")
endif()
find_package(pugixml 1.11 REQUIRED)
# ISA-L has a package of another name in each world: its own CMake files and conanfile.py, vcpkg, and
# pkg-config (Debian).
find_package(unofficial-isal QUIET CONFIG)
if(NOT TARGET unofficial::isal::isal)  # vcpkg has both names, and warns of the other
  find_package(isal QUIET CONFIG)
endif()
if(TARGET unofficial::isal::isal)
  set(DATAFLUX_ISAL unofficial::isal::isal)
elseif(TARGET ISAL::isal)
  set(DATAFLUX_ISAL ISAL::isal)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal>=2.30)
  set(DATAFLUX_ISAL PkgConfig::ISAL)
endif()
# A header alone, which each world's package has: no name of a package is needed.
find_path(DATAFLUX_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(DATAFLUX_XXHASH_INCLUDE)
if(NOT DATAFLUX_XXHASH_INCLUDE)
  message(FATAL_ERROR "dataflux needs xxhash.h (xxhash 0.8 or later); it was not found")
endif()
if(NOT TARGET dataflux::xxhash)
  add_library(dataflux::xxhash INTERFACE IMPORTED)
  set_target_properties(dataflux::xxhash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${DATAFLUX_XXHASH_INCLUDE}")
endif()
# libzstd's package differs as ISA-L's does: its own CMake files (vcpkg, Conan), or pkg-config (Debian).
set(DATAFLUX_ZSTD AUTO CACHE STRING "Read shards that zstd compressed: ON, OFF, or AUTO, if libzstd is found")
set(DATAFLUX_ZSTD_TARGET "")
set(DATAFLUX_ZSTD_REQUIRES "")  # of dataflux.pc, as is the next
set(DATAFLUX_ZSTD_CFLAGS "")
if(DATAFLUX_ZSTD)
  find_package(zstd QUIET CONFIG)
  foreach(target zstd::libzstd zstd::libzstd_shared zstd::libzstd_static)
    if(TARGET ${target} AND NOT DATAFLUX_ZSTD_TARGET)
      set(DATAFLUX_ZSTD_TARGET ${target})
    endif()
  endforeach()
  if(NOT DATAFLUX_ZSTD_TARGET)
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd>=1.4)
    endif()
    if(ZSTD_FOUND)
      set(DATAFLUX_ZSTD_TARGET PkgConfig::ZSTD)
    endif()
  endif()
  if(DATAFLUX_ZSTD_TARGET)
    set(DATAFLUX_ZSTD_REQUIRES ", libzstd >= 1.4")
    set(DATAFLUX_ZSTD_CFLAGS " -DDATAFLUX_ZSTD=1")
  elseif(NOT DATAFLUX_ZSTD STREQUAL "AUTO")
    message(FATAL_ERROR "dataflux needs libzstd 1.4 or later for DATAFLUX_ZSTD=ON; it was not found")
  endif()
endif()
set(DATAFLUX_DEPENDENCIES
  Threads::Threads CURL::libcurl OpenSSL::SSL OpenSSL::Crypto simdjson::simdjson pugixml::pugixml ${DATAFLUX_ISAL}
  dataflux::xxhash ${DATAFLUX_ZSTD_TARGET})
