#pragma once

/// The library's version, readable by the preprocessor and by CMake (which parses these lines).
#define DATAFLUX_VERSION_MAJOR 0
#define DATAFLUX_VERSION_MINOR 1
#define DATAFLUX_VERSION_PATCH 0
#define DATAFLUX_VERSION "0.1.0"
