#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/service/detail/query_writer.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <array>
#include <cstdint>
#include <string_view>

/// Writes a request's target in place, without temporaries.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using service::append_number;

/// What `maxResults` may be at most.
inline constexpr std::uint32_t greatest_page = 1000;

/// Sets every member of `out` but the target's and the headers' content.
inline void begin(const call_context& context, http::method method, http::request& out) {
  out.method = method;
  if (out.origin != context.endpoint.origin()) out.origin = context.endpoint.origin();
  out.target.clear();
  out.target.reserve(256);
  out.headers.clear();
  out.body.clear();
}

/// Writes one target from left to right: path, then query.
class target_writer : public service::query_writer<target_writer> {
 public:
  using query_writer::query_writer;

  /// "{base}{bucket}/o/{object}"; without an object "{base}{bucket}/o". The name is one segment:
  /// its '/' are encoded (protocol.md 0.1).
  target_writer& json_path(std::string_view base, std::string_view bucket,
                           std::string_view object = {}) {
    out_.append(base);
    codec::append_percent(out_, bucket);
    out_.append("/o");
    if (!object.empty()) {
      out_.push_back('/');
      codec::append_percent(out_, object);
    }
    return *this;
  }
  /// "{base}{bucket}", for what is about the bucket itself.
  target_writer& bucket_path(std::string_view base, std::string_view bucket) {
    out_.append(base);
    codec::append_percent(out_, bucket);
    return *this;
  }
  /// One more piece of the path: as it is, or a name.
  target_writer& segment(std::string_view plain) {
    out_.append("/").append(plain);
    return *this;
  }
  target_writer& segment_of(std::string_view name) {
    out_.push_back('/');
    codec::append_percent(out_, name);
    return *this;
  }
  /// "{base}{bucket}/{object}". '/' is encoded here, too, although the XML API would not need it:
  /// no proxy can then take a name's "/../" for a path to be shortened.
  target_writer& xml_path(std::string_view base, std::string_view bucket, std::string_view object) {
    out_.append(base);
    codec::append_percent(out_, bucket);
    out_.push_back('/');
    codec::append_percent(out_, object);
    return *this;
  }

  /// 0 = the live one, which is what the service takes when the parameter is missing.
  target_writer& generation(std::int64_t value) {
    return value == 0 ? *this : number("generation", value);
  }
  target_writer& conditions(const preconditions& c) {
    return conditions(c, {"ifGenerationMatch", "ifGenerationNotMatch", "ifMetagenerationMatch",
                          "ifMetagenerationNotMatch"});
  }
  target_writer& source_conditions(const preconditions& c) {
    return conditions(c, {"ifSourceGenerationMatch", "ifSourceGenerationNotMatch",
                          "ifSourceMetagenerationMatch", "ifSourceMetagenerationNotMatch"});
  }

 private:
  target_writer& conditions(const preconditions& c, const std::array<std::string_view, 4>& keys) {
    if (c.if_generation_match) number(keys[0], *c.if_generation_match);
    if (c.if_generation_not_match) number(keys[1], *c.if_generation_not_match);
    if (c.if_metageneration_match) number(keys[2], *c.if_metageneration_match);
    if (c.if_metageneration_not_match) number(keys[3], *c.if_metageneration_not_match);
    return *this;
  }
};

/// The customer's key of the object that is read or written (protocol.md 0.3); null = none.
inline void add_key(const held_key* key, http::request& out) {
  if (key == nullptr) return;
  out.headers.add("x-goog-encryption-algorithm", "AES256");
  out.headers.add("x-goog-encryption-key", key->base64);
  out.headers.add("x-goog-encryption-key-sha256", key->sha256);
}
/// That of the object that is copied.
inline void add_source_key(const held_key* key, http::request& out) {
  if (key == nullptr) return;
  out.headers.add("x-goog-copy-source-encryption-algorithm", "AES256");
  out.headers.add("x-goog-copy-source-encryption-key", key->base64);
  out.headers.add("x-goog-copy-source-encryption-key-sha256", key->sha256);
}

/// Who pays, in the JSON API's form; closes the target.
inline void bill_json(const call_context& context, target_writer& target, http::request& out) {
  target.optional_text("userProject", context.user_project);
  if (!context.quota_project.empty()) out.headers.add("x-goog-user-project", context.quota_project);
}

/// The XML API has the header only; who pays for the bucket decides more than whose quota it is.
inline void bill_xml(const call_context& context, http::request& out) {
  const std::string_view project =
      context.user_project.empty() ? context.quota_project : context.user_project;
  if (!project.empty()) out.headers.add("x-goog-user-project", project);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
