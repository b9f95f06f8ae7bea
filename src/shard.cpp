#include <dataflux/shard/impl/sample_grouper.ipp>
#include <dataflux/shard/impl/sample_name.ipp>
#include <dataflux/shard/impl/shard_decoder.ipp>
#include <dataflux/shard/impl/pax_records.ipp>
#include <dataflux/shard/impl/shard_rules.ipp>
#include <dataflux/shard/impl/tar_extensions.ipp>
#include <dataflux/shard/impl/tar_header.ipp>
#include <dataflux/shard/impl/tar_reader.ipp>
