#include <dataflux/dataset/impl/index_permutation.ipp>
#include <dataflux/dataset/impl/sampler.ipp>
