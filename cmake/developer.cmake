# Everything that only people who work on dataflux build: tests, benchmarks, examples.
option(DATAFLUX_BENCH "Build the benchmarks" ON)
option(DATAFLUX_FUZZ "Build the libFuzzer programs; needs clang and the fuzz preset's flags" OFF)
include(cmake/programs.cmake)

add_subdirectory(programs)
enable_testing()
add_subdirectory(tests)
if(DATAFLUX_BENCH AND EXISTS ${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt)
  add_subdirectory(bench)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt)
  add_subdirectory(examples)
endif()
