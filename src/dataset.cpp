#include <dataflux/dataset/impl/index_permutation.ipp>
#include <dataflux/dataset/impl/mixer.ipp>
#include <dataflux/dataset/impl/sampler.ipp>
#include <dataflux/dataset/impl/sampler_cost.ipp>
