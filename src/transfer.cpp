#include <dataflux/transfer/impl/quantile_sketch.ipp>
