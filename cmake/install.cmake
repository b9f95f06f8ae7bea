# Install, find_package(dataflux) and pkg-config. tests/consume builds programs against the result.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dataflux)

install(DIRECTORY include/dataflux DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
install(TARGETS dataflux dataflux_compiled EXPORT dataflux
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
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
foreach(name dataflux dataflux-compiled)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT headers)
