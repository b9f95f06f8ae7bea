#include <dataflux/download/impl/get_group.ipp>
#include <dataflux/download/impl/get_many.ipp>
#include <dataflux/download/impl/get_one.ipp>
#include <dataflux/download/impl/get_outbox.ipp>
#include <dataflux/download/impl/get_stream.ipp>
#include <dataflux/download/impl/get_stream_reads.ipp>
#include <dataflux/download/impl/get_unit.ipp>
