#include <dataflux/s3/client.hpp>
#include <dataflux/s3/impl/bucket_places.ipp>
#include <dataflux/s3/impl/bucket_verb.ipp>
#include <dataflux/s3/impl/checksum_fields.ipp>
#include <dataflux/s3/impl/client.ipp>
#include <dataflux/s3/impl/copy_part_verb.ipp>
#include <dataflux/s3/impl/copy_verb.ipp>
#include <dataflux/s3/impl/delete_verb.ipp>
#include <dataflux/s3/impl/dialect.ipp>
#include <dataflux/s3/impl/endpoint.ipp>
#include <dataflux/s3/impl/entity_tag.ipp>
#include <dataflux/s3/impl/error_reply.ipp>
#include <dataflux/s3/impl/head_facts.ipp>
#include <dataflux/s3/impl/join_call.ipp>
#include <dataflux/s3/impl/kept_conditions.ipp>
#include <dataflux/s3/impl/keys_signer.ipp>
#include <dataflux/s3/impl/list_page.ipp>
#include <dataflux/s3/impl/list_verb.ipp>
#include <dataflux/s3/impl/multipart_lists.ipp>
#include <dataflux/s3/impl/multipart_verbs.ipp>
#include <dataflux/s3/impl/object_fields.ipp>
#include <dataflux/s3/impl/object_verbs.ipp>
#include <dataflux/s3/impl/read_verb.ipp>
#include <dataflux/s3/impl/reply_codes.ipp>
#include <dataflux/s3/impl/sign_call.ipp>

template struct dataflux::detail::s3::compiled_verbs<dataflux::detail::s3::verbs>;
