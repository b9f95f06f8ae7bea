# Overlay port: vcpkg install dataflux --classic --overlay-ports=<checkout>/cmake/vcpkg/ports
# It builds the checkout it lies in. vcpkg's binary cache does not look there: when the checkout has
# changed, add --binarysource=clear, or the former package comes back.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DDATAFLUX_DEVELOPER=OFF -DDATAFLUX_C_API=OFF -DDATAFLUX_ZSTD=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/dataflux)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
