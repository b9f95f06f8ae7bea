#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/service/detail/query_writer.hpp>

#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// Writes one target from left to right.
class target_writer : public service::query_writer<target_writer> {
 public:
  using query_writer::query_writer;

  /// "/v1/KIND/BUCKET", and "/OBJECT" with its slashes as they are unless it is empty.
  target_writer& path(const call_context& context, std::string_view kind, std::string_view bucket,
                      std::string_view object) {
    out_.append(context.endpoint.calls()).append(kind).push_back('/');
    codec::append_percent(out_, bucket);
    if (object.empty()) return *this;
    out_.push_back('/');
    codec::append_percent_path(out_, object);
    return *this;
  }
};

/// Sets every member of `out`: a call about an object, or where it has no name about the bucket.
inline target_writer begin(const call_context& context, http::method method,
                           std::string_view bucket, std::string_view object, http::request& out) {
  out.method = method;
  if (out.origin != context.endpoint.gateway()) out.origin = context.endpoint.gateway();
  out.target.clear();
  out.target.reserve(256);
  out.headers.clear();
  out.body.clear();
  target_writer target{out};
  target.path(context, object.empty() ? "buckets" : "objects", bucket, object)
      .text("provider", context.provider);
  return target;
}

/// The query of a URL behind a name or a prefix. Errors: unimplemented where it asks for an ETL.
result<void> check_etl(std::string_view name);
/// Names that the service would take for others: it makes one slash of several, and control
/// characters do not pass its redirects (s3-protocol.md 8.1, 8.2). Errors: invalid_argument for
/// those; as check_etl().
result<void> check_name(std::string_view object);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/object_verbs.ipp>
#endif
