#include <dataflux/shard/impl/sample_grouper.ipp>
#include <dataflux/shard/impl/sample_name.ipp>
