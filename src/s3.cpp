#include <dataflux/s3/impl/bucket_places.ipp>
#include <dataflux/s3/impl/checksum_fields.ipp>
#include <dataflux/s3/impl/endpoint.ipp>
#include <dataflux/s3/impl/entity_tag.ipp>
#include <dataflux/s3/impl/error_reply.ipp>
#include <dataflux/s3/impl/head_facts.ipp>
#include <dataflux/s3/impl/reply_codes.ipp>
