# What programs of this tree share: how they are compiled, and which library they link.
option(DATAFLUX_UNITY "Compile several sources of a program of the developer half at once" ON)
set(DATAFLUX_TEST_OPTIONS "" CACHE STRING
    "Compiler options of what links the library: tests, emulator, examples; -O0 where nobody waits for them")

set(DATAFLUX_LIBRARY_OPTIONS "" CACHE STRING "Compiler options of the library alone")

# Most of what a test's source costs is parsing headers that its neighbours include, too. A compiler
# takes up to 2.5 GiB for one unit.
function(dataflux_few_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DATAFLUX_UNITY} UNITY_BUILD_BATCH_SIZE 10)
endfunction()

add_library(dataflux_warnings INTERFACE)
target_compile_options(dataflux_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wundef -Wmissing-declarations
  $<$<BOOL:${DATAFLUX_WERROR}>:-Werror>)
# g++ 12 takes "literal" + std::string for overlapping memory when it optimises (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dataflux_warnings INTERFACE -Wno-restrict)
endif()
# g++ 13 and 14 take what is in an empty optional for uninitialised when it is destroyed.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(dataflux_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
# Few at a time: whoever works on one of them waits for its neighbours, too.
if(TARGET dataflux_c)
  set_target_properties(dataflux_c PROPERTIES UNITY_BUILD ${DATAFLUX_UNITY} UNITY_BUILD_BATCH_SIZE 4)
endif()
target_link_libraries(dataflux_compiled PRIVATE $<BUILD_INTERFACE:dataflux_warnings>)
target_compile_options(dataflux_compiled PRIVATE ${DATAFLUX_LIBRARY_OPTIONS})

# What tests, benchmarks and examples link: the compiled target unless a preset asks for the other.
add_library(dataflux_under_test INTERFACE)
target_compile_options(dataflux_under_test INTERFACE ${DATAFLUX_TEST_OPTIONS})
if(DATAFLUX_TESTS_HEADER_ONLY)
  target_link_libraries(dataflux_under_test INTERFACE dataflux::dataflux dataflux_warnings)
else()
  target_link_libraries(dataflux_under_test INTERFACE dataflux::compiled dataflux_warnings)
endif()
