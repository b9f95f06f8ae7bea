#include <dataflux/checkpoint/impl/checked_ranges.ipp>
#include <dataflux/checkpoint/impl/extent_cache.ipp>
#include <dataflux/checkpoint/impl/read_ahead.ipp>
#include <dataflux/checkpoint/impl/reader.ipp>
#include <dataflux/checkpoint/impl/reader_call.ipp>
#include <dataflux/checkpoint/impl/reader_loads.ipp>
#include <dataflux/checkpoint/impl/reader_state.ipp>
#include <dataflux/checkpoint/impl/writer.ipp>
