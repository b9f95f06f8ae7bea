#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/rewrite_shards.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// Reads the bytes of one place in sequence, once: an object by ranges that go ahead, a file by
/// pieces of 1 MiB. An object is compared with its checksum when its last bytes have come.
///
/// Errors: those of the getter and of files. Threads: one at a time, which it blocks.
class place_reader {
 public:
  place_reader(const transfer_context& context, const byte_place& from, std::stop_token stop);
  place_reader(const place_reader&) = delete;
  place_reader& operator=(const place_reader&) = delete;
  ~place_reader();

  /// The next bytes, valid until it is asked again; empty: there are no more.
  result<bytes_view> next();

 private:
  result<bytes_view> next_of_object();
  result<bytes_view> next_of_file();

  const transfer_context context_;
  const byte_place from_;
  const std::string_view scheme_;
  std::optional<getter> slices_{};
  std::optional<got_item> item_{};
  crc32c_accumulator whole_{};
  int file_{-1};
  std::vector<std::byte> memory_{};
};

/// All of an object.
get_request request_of(const byte_place& object);

/// An error with the place's name, unless it has one; `scheme` of the store where it is an object.
error of_place(const byte_place& from, error why, std::string_view scheme);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/place_reader.ipp>
#endif
