#include <dataflux/error.hpp>
#include <dataflux/impl/error.ipp>
