# Runs vcpkg's port without vcpkg: cmake -DPORT_DIR=... -DFOLDER=... -P vcpkg.cmake
#
# The functions stand for those of vcpkg's scripts, as far as the port uses them, for a triplet with
# VCPKG_BUILD_TYPE release. They do what those do to the files; what the port requires is this
# system's. The package lies in FOLDER/packages then.
cmake_minimum_required(VERSION 3.22)
set(PORT dataflux)
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vcpkg.cmake does not stand for ${arg_UNPARSED_ARGUMENTS}")
  endif()
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/rel -G Ninja ${arg_OPTIONS}
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD=ON
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib
      -DBUILD_SHARED_LIBS=OFF)
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${FOLDER}/rel --target install -j 2)
endfunction()

# It moves the files to where vcpkg's toolchain looks, one folder less deep.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share)
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/lib/cmake)
  file(GLOB configs ${CURRENT_PACKAGES_DIR}/share/${PORT}/*.cmake)
  set(up [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]])
  foreach(config IN LISTS configs)
    file(READ ${config} text)
    string(REPLACE "${up}\n${up}\n${up}\n" "${up}\n${up}\n" text "${text}")
    string(REPLACE "CMAKE_CURRENT_LIST_DIR}/../../../" "CMAKE_CURRENT_LIST_DIR}/../../" text
           "${text}")
    file(WRITE ${config} "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
  file(GLOB files ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/*.pc)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE "^prefix=[^\n]*" "prefix=\${pcfiledir}/../.." text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

include(${PORT_DIR}/portfile.cmake)
