#include <dataflux/gcs/client.hpp>
#include <dataflux/gcs/impl/bucket_verbs.ipp>
#include <dataflux/gcs/impl/change_verbs.ipp>
#include <dataflux/gcs/impl/client.ipp>
#include <dataflux/gcs/impl/dialect.ipp>
#include <dataflux/gcs/impl/endpoint.ipp>
#include <dataflux/gcs/impl/error_reply.ipp>
#include <dataflux/gcs/impl/goog_hash.ipp>
#include <dataflux/gcs/impl/head_facts.ipp>
#include <dataflux/gcs/impl/list_verb.ipp>
#include <dataflux/gcs/impl/multipart_verbs.ipp>
#include <dataflux/gcs/impl/object_reader.ipp>
#include <dataflux/gcs/impl/object_resource.ipp>
#include <dataflux/gcs/impl/object_verbs.ipp>
#include <dataflux/gcs/impl/read_verb.ipp>
#include <dataflux/gcs/impl/restore_verb.ipp>
#include <dataflux/gcs/impl/resumable_verbs.ipp>
#include <dataflux/gcs/impl/sign_call.ipp>
#include <dataflux/gcs/impl/sign_verbs.ipp>
#include <dataflux/gcs/impl/url_signing.ipp>

template struct dataflux::detail::gcs::compiled_verbs<dataflux::detail::gcs::verbs>;
