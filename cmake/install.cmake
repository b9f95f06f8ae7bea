# Install, find_package(dataflux) and pkg-config. tests/consume builds programs against the result.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dataflux)

install(DIRECTORY include/dataflux DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
install(TARGETS dataflux dataflux_compiled EXPORT dataflux
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(DATAFLUX_C_API)
  install(FILES c_api/include/dataflux.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
  install(TARGETS dataflux_c EXPORT dataflux-c
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT dataflux-c NAMESPACE dataflux:: FILE dataflux-c-targets.cmake
          DESTINATION ${config_dir} COMPONENT c)
endif()
install(EXPORT dataflux NAMESPACE dataflux:: FILE dataflux-targets.cmake DESTINATION ${config_dir})
configure_package_config_file(
  cmake/dataflux-config.cmake.in ${PROJECT_BINARY_DIR}/dataflux-config.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/dataflux-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dataflux-config.cmake
              ${PROJECT_BINARY_DIR}/dataflux-config-version.cmake
        DESTINATION ${config_dir})

# The .pc files find their prefix from where they lie, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(pc_names dataflux dataflux-compiled)
if(DATAFLUX_C_API)
  list(APPEND pc_names dataflux-c)
endif()
foreach(name IN LISTS pc_names)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT headers)
