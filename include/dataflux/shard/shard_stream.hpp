#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/shard_decoder.hpp>
#include <dataflux/shard/detail/tar_reader.hpp>
#include <dataflux/shard/grouping_rules.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

struct shard_stream_options {
  /// What happens to damage, trailing bytes and so on, and how members become samples.
  shard_rules reading{};
  grouping_rules grouping{};
  /// A sample with more bytes of data is an error before they are read. 0 = 1 GiB.
  std::uint64_t most_bytes{0};
};

/// A field of a sample: where its data are among the sample's.
struct streamed_field {
  std::string name{};
  std::size_t offset{0};
  std::size_t size{0};
};

/// A whole sample.
struct streamed_sample {
  std::string key{};                     ///< as the archive has it: not always UTF-8
  std::vector<std::byte> bytes{};        ///< the data of all fields, one behind the other
  std::vector<streamed_field> fields{};  ///< in the archive's order

  bytes_view data(const streamed_field& field) const noexcept {
    return bytes_view{bytes}.subspan(field.offset, field.size);
  }
};

/// Reads one shard in sequence: bytes of it, from wherever they come, become samples. There is no
/// socket and no file in it. The shard is plain tar, or compressed by gzip or zstd, as its first
/// bytes say.
///
///     shard_stream shard;
///     while (const auto piece = next_piece(); !piece.empty()) {
///       shard.feed(piece);
///       while (const auto* sample = shard.next().value()) use(*sample);
///     }
///     shard.finish();
///     while (const auto* sample = shard.next().value()) use(*sample);
///
/// A sample comes once the first member of the next one is seen, or the shard's end. It has all of
/// its members then. Samples before an error come before it: all of an archive behind whose end
/// stands what the rules refuse, and else those that are known to be whole. The outcome does not
/// depend on how the bytes of a plain shard are cut into pieces.
///
/// By damaged_rule::end a sample at the damage has those members that are complete, as for others'
/// readers. A shard whose compressed bytes are damaged or cut ends there, too.
///
/// Errors of next(), which has the same error from then on: data_loss and failed_precondition, as
/// shard_rules say. unimplemented: sparse files, and xz, bzip2 and lz4. invalid_argument: a field
/// that comes twice. resource_exhausted: a sample that is too large. A message has the offset in
/// the archive, and not the shard's name. Of a compressed shard that is damaged, samples just
/// before the damage may be missing.
///
/// Integrity: nothing is compared but what tar, gzip and zstd have themselves. A tar has checksums
/// of headers alone. Compare the object, or read by an index that has checksums.
///
/// Threads: distinct objects are independent.
///
/// Cost: some 150 ns a member, and a copy of the data. Memory: two samples, which is reused.
class shard_stream {
 public:
  explicit shard_stream(const shard_stream_options& options = {}) noexcept;
  // What was decoded and not yet read lies in it.
  shard_stream(const shard_stream&) = delete;
  shard_stream& operator=(const shard_stream&) = delete;

  /// The next bytes. They are not copied, and stay as they are until next() has given nothing.
  void feed(bytes_view bytes) noexcept;
  /// The shard ends behind the bytes that were fed. feed() does nothing then.
  void finish() noexcept { ended_ = true; }

  /// The next sample, valid until next() is called again; nullptr: it needs more bytes, or, behind
  /// finish(), no more come.
  result<const streamed_sample*> next();

  /// What was met so far.
  shard_counts counts() const noexcept;
  const grouping_counts& groups() const noexcept { return grouper_.counts(); }
  /// The name of the first member that is in no sample, directories aside; else empty.
  const std::string& first_left_out() const noexcept { return first_left_out_; }

 private:
  void advance();
  void decode();
  void take(const detail::shard::tar_step& step);
  void begin_member();
  void close();
  void hand_over();
  void fail(error why);
  void fail_behind_end(error why);

  const shard_stream_options options_;
  detail::shard::shard_decoder decoder_{};
  detail::shard::tar_reader reader_;
  detail::shard::sample_grouper grouper_;
  bytes_view input_{};             ///< of the shard, not decoded yet
  bytes_view archive_{};           ///< decoded, not read yet
  std::vector<std::byte> memory_;  ///< for what is decompressed
  bool decoding_{false};           ///< the decoder has more without more input
  bool ended_{false};
  bool closed_{false};    ///< the end was taken, too
  bool cut_{false};       ///< its compressed bytes ended early, as the rules allow
  bool in_field_{false};  ///< the last field of open_ is under way
  streamed_sample open_{};
  streamed_sample whole_{};
  bool ready_{false};  ///< whole_ is to be given
  std::string first_left_out_{};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/shard_stream.ipp>
#endif
