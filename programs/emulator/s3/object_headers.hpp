#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/s3/object_facts.hpp>

#include <string>
#include <string_view>

namespace emulator::s3 {

/// What the headers of a PUT, a copy or the beginning of an upload say of the object.
struct described_object {
  object_metadata metadata{};
  object_facts facts{};
};
/// Throws service_error 400 for what no object can have.
described_object described_by(const http_request& request, const bucket_settings& bucket);

/// x-amz-tagging: "a=b&c=d". Throws 400 InvalidTag and BadRequest.
tag_list parse_tags(std::string_view text);
void check_tags(const tag_list& tags);

/// MD5 of the key that the caller sends along, in base64; empty: none. `prefix` is "x-amz-" or
/// "x-amz-copy-source-". Throws 400 when it is no key of 32 bytes.
std::string customer_key_md5(const http_request& request, const std::string& prefix = "x-amz-");
/// Throws 400 or 403 unless the key is the one that is needed.
void require_customer_key(const object_facts& facts, const std::string& given);

/// Throws 400 KeyTooLongError, or InvalidArgument for what is not UTF-8.
void check_key_name(std::string_view name);

/// Whether its bytes must be restored before they can be read.
bool is_archived(const stored_object& object);
/// 403 InvalidObjectState.
service_error archived(const stored_object& object);

void set_encryption_headers(http_reply& reply, const encryption& how);
void set_checksum_headers(http_reply& reply, const checksum& sum);
/// All that a GET or HEAD says of an object but Content-Range and checksums.
void set_object_headers(http_reply& reply, const stored_object& object);
/// The leaf that a result document has of it, such as ChecksumCRC32C.
std::string quoted(const std::string& etag);

}  // namespace emulator::s3
