#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// What a batch reads: an object, a range of one, or a member of an archive.
struct batched_read {
  std::string object{};
  /// 0 = whatever is there. Of whole objects only.
  std::int64_t generation{0};
  /// As many bytes as there are. Borrowed until the completion.
  bytes_span into{};
  /// Where in the object they begin.
  std::uint64_t offset{0};
  /// They are all of the object, or of the member.
  bool whole{true};
  /// As read_request::member.
  std::string member{};
};

/// What became of it.
struct batched_bytes {
  /// `into` has the bytes. Else nothing is said of the object, and they are to be read by a request
  /// of their own.
  bool got{false};
  /// The bytes were compared with the generation that was asked for.
  bool verified{false};
  std::uint32_t crc32c{0};
};

/// Reads many small objects of a bucket by one request: as many as store_traits::max_batch_reads
/// says. An object that is missing, of another size or state, or that the service left out, is not
/// got; so are all of a reply that cannot be read.
///
/// Errors: unimplemented for a store without the verb; those of the request as a whole.
struct read_batch_request {
  using value = std::vector<batched_bytes>;

  std::string bucket{};
  /// 1-1,000, of 8 MiB together.
  std::vector<batched_read> entries{};
  call_limits limits{};
};
/// The names, as of all requests; generations are not negative, and of whole objects; how many, and
/// their bytes.
result<void> validate(const read_batch_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
