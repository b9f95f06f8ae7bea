# libdataflux.so: the C ABI. Nothing but what its header declares is seen from outside, and once
# loaded it stays, since its threads may outlive the last handle.
file(GLOB dataflux_c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/c_api/src/*.cpp)
add_library(dataflux_c SHARED ${dataflux_c_sources})
add_library(dataflux::c ALIAS dataflux_c)
target_link_libraries(dataflux_c PRIVATE dataflux_compiled)
target_include_directories(dataflux_c PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/c_api/include>)
set_target_properties(dataflux_c PROPERTIES
  OUTPUT_NAME dataflux EXPORT_NAME c VERSION ${PROJECT_VERSION} SOVERSION 0
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/c_api/dataflux.map)
target_link_options(dataflux_c PRIVATE -Wl,-z,nodelete
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/c_api/dataflux.map)
