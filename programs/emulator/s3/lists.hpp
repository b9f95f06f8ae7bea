#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/options.hpp>
#include <emulator/xml_writer.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator::s3 {

/// S3's listings of objects. Each throws service_error when it refuses. Thread safe.
class lists {
 public:
  lists(const bucket_store& store, const options& how) : store_(store), how_(how) {}

  /// Both versions of it, list-type 1 and 2.
  http_reply objects(const call& asked, const http_request& request) const;
  http_reply versions(const call& asked) const;

 private:
  const bucket_store& store_;
  const options& how_;
};

/// A name as a listing writes it: with encoding-type=url percent-encoded, a blank as '+', slashes
/// as they are. Throws 400 InvalidArgument for another type of encoding.
class name_encoding {
 public:
  explicit name_encoding(const query_parameters& query);
  std::string operator()(std::string_view name) const;
  /// Writes EncodingType, where it was asked for.
  void tell(xml_writer& out) const {
    if (url_) out.leaf("EncodingType", "url");
  }

 private:
  bool url_{false};
};

/// max-keys and its like: at most 1,000, which is the default. Throws 400 InvalidArgument.
std::uint64_t page_limit_of(const call& asked, std::string_view parameter);

void write_owner(xml_writer& out, std::string_view element, const options& how);

}  // namespace emulator::s3
