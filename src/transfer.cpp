#include <dataflux/transfer/impl/coalesce.ipp>
#include <dataflux/transfer/impl/concurrency.ipp>
#include <dataflux/transfer/impl/hedge.ipp>
#include <dataflux/transfer/impl/quantile_sketch.ipp>
#include <dataflux/transfer/impl/window.ipp>
