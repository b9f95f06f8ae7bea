#include <dataflux/shard/impl/sample_grouper.ipp>
#include <dataflux/shard/impl/sample_name.ipp>
#include <dataflux/shard/impl/shard_decoder.ipp>
