#include <dataflux/ais/client.hpp>
#include <dataflux/ais/impl/batch_verb.ipp>
#include <dataflux/ais/impl/client.ipp>
#include <dataflux/ais/impl/dialect.ipp>
#include <dataflux/ais/impl/endpoint.ipp>
#include <dataflux/ais/impl/error_reply.ipp>
#include <dataflux/ais/impl/list_verb.ipp>
#include <dataflux/ais/impl/object_state.ipp>
#include <dataflux/ais/impl/object_verbs.ipp>
#include <dataflux/ais/impl/read_verb.ipp>

template struct dataflux::detail::ais::compiled_verbs<dataflux::detail::ais::store_verbs>;
