#include <dataflux/simulate/impl/epoch_reckoning.ipp>
#include <dataflux/simulate/impl/machine_store.ipp>
#include <dataflux/simulate/impl/object_strata.ipp>
#include <dataflux/simulate/impl/simulate_epoch.ipp>
#include <dataflux/simulate/impl/simulated_epoch.ipp>
#include <dataflux/simulate/impl/simulated_threads.ipp>
