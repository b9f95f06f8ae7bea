#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// A whole object that a batch reads.
struct batched_read {
  std::string object{};
  /// 0 = whatever is there.
  std::int64_t generation{0};
  /// As many bytes as the object has. Borrowed until the completion.
  bytes_span into{};
};

/// What became of it.
struct batched_bytes {
  /// `into` has the object's bytes. Else nothing is said of the object, and its bytes are to be
  /// read by a request of their own.
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
/// The names, as of all requests; generations are not negative; how many, and their bytes.
result<void> validate(const read_batch_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/detail/validate.hpp>
#endif
