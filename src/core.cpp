#include <dataflux/impl/buffer.ipp>
#include <dataflux/impl/byte_sink.ipp>
#include <dataflux/impl/collecting_sink.ipp>
#include <dataflux/impl/error.ipp>
#include <dataflux/impl/latency_histogram.ipp>
#include <dataflux/impl/observer.ipp>
#include <dataflux/impl/process_stamp.ipp>
