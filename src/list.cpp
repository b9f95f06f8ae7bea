#include <dataflux/list/impl/listing_changes.ipp>
#include <dataflux/list/impl/manifest.ipp>
#include <dataflux/list/impl/manifest_encoder.ipp>
#include <dataflux/list/impl/manifest_format.ipp>
#include <dataflux/list/impl/manifest_object.ipp>
#include <dataflux/list/impl/manifest_writer.ipp>
#include <dataflux/list/impl/name_range.ipp>
#include <dataflux/list/impl/range_splitter.ipp>
