#include <dataflux/cache/impl/cache_contents.ipp>
#include <dataflux/cache/impl/cache_folder.ipp>
#include <dataflux/cache/impl/cache_index.ipp>
#include <dataflux/cache/impl/cache_record.ipp>
#include <dataflux/cache/impl/cache_state.ipp>
#include <dataflux/cache/impl/cached_read.ipp>
#include <dataflux/cache/impl/disk_cache.ipp>
#include <dataflux/cache/impl/segment_writer.ipp>
