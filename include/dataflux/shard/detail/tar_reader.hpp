#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/shard/detail/tar_format.hpp>
#include <dataflux/shard/shard_rules.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

/// A member of an archive: its headers, then its data.
struct tar_member {
  /// Bytes, as the archive has them: not always UTF-8, not cleaned of "./" or "..".
  std::string_view name{};
  tar_type type{tar_type::file};
  std::uint64_t begin{0};  ///< offset of its first header: of an extension, where it has one
  std::uint64_t data{0};   ///< offset of its data
  std::uint64_t size{0};   ///< bytes of data; 0 for a type that has none, whatever its header says
};

/// Keeps the name of the first member that is in no sample, as far as a person reads. Directories
/// have nothing to lose.
inline void note_left_out(const tar_member& member, std::string& first) {
  constexpr std::size_t most_kept = 200;
  if (!first.empty() || member.type == tar_type::directory) return;
  first = member.name.substr(0, most_kept);
}

enum class tar_event : std::uint8_t {
  more,      ///< the input is consumed; give what follows it, or closed()
  file,      ///< member() is a file, and its data come next
  data,      ///< a piece of its data
  file_end,  ///< its data are complete
  left_out,  ///< member() is no file: a link, a directory; counted
};

/// One step: what was consumed of the input, and what that gave.
struct tar_step {
  std::size_t consumed{0};
  tar_event event{tar_event::more};
  bytes_view data{};  ///< of tar_event::data: inside the input, not empty
};

/// Reads a tar archive without a file or a socket: bytes become members.
///
///     tar_reader reader{rules};
///     for each piece of the object, until it is consumed:
///       step = reader.next(piece); handle step.event; piece = what is not consumed
///     reader.closed();
///
/// The outcome does not depend on how the bytes are cut into pieces, but for the pieces of data.
///
/// A reader by ranges jumps: skip() stands for up to skippable() bytes that are not given to
/// next(). So a pass over large members reads headers alone. Data that are skipped come in no
/// event; file_end does.
///
/// An archive ends by two blocks of zeros, or by the object's end. More zeros behind it are
/// padding; other bytes are what shard_rules are for. Where a rule ends the shard early,
/// skippable() is byte_range::to_end and next() consumes without an event. A file whose file_end
/// does not come is not complete: it is to be dropped.
///
/// Errors: data_loss and failed_precondition, as shard_rules say; unimplemented, with its name, for
/// a sparse file, whose data are no range of the object. The message has the offset, the reason and
/// what to do, and not the shard's name. After an error every call gives the same error; after
/// std::bad_alloc the reader is of no use.
///
/// Lifetime: the name of member() is valid until the next call of next() behind file_end or
/// left_out. Threads: none of its own, not thread-safe.
///
/// Cost: bytes of data are not looked at; some 100 ns a member, 200 ns with pax records. No
/// allocation once the memory for names has grown. It holds at most 4 MiB, whatever an archive
/// says, and no more than a few times the bytes of extensions that have come.
class tar_reader {
 public:
  /// `begin`: the offset of the first byte that comes, where that is not the object's first. It
  /// begins a member then.
  explicit tar_reader(const shard_rules& rules = {}, std::uint64_t begin = 0) noexcept
      : rules_(rules), begin_(begin), offset_(begin) {}
  tar_reader(const tar_reader&) = delete;  // member() has a view of it
  tar_reader& operator=(const tar_reader&) = delete;

  /// Goes through the input up to and with the next event. It consumes nothing only for file_end,
  /// or where the input is empty.
  result<tar_step> next(bytes_view input);

  /// Bytes from here on that may be skipped: what is left of the data and of the padding behind it.
  std::uint64_t skippable() const noexcept;
  /// `count` bytes are passed over: at most skippable(), and no more than the object has left.
  void skip(std::uint64_t count) noexcept;

  /// The object ends here. To be called once next() has given tar_event::more; behind skip() an
  /// empty input gives that.
  result<void> closed();

  /// Valid from the events file and left_out on.
  const tar_member& member() const noexcept { return member_; }
  /// Its name or size is of a global pax header, and so not in the bytes from its begin on.
  bool depends_on_all() const noexcept { return extensions_.of_all(); }
  /// Offset of the next byte that next() takes.
  std::uint64_t offset() const noexcept { return offset_; }
  const shard_counts& counts() const noexcept { return counts_; }
  /// Bytes of memory held, beyond the reader itself.
  std::size_t memory() const noexcept { return extensions_.memory() + name_.capacity(); }

 private:
  enum class phase : std::uint8_t {
    header,     // whole blocks; zeros_ says how many of zeros came last
    extension,  // left_ bytes of an extension's body
    data,       // left_ bytes of a file's data, or that many which are passed over
    padding,    // left_ bytes up to the next header
    rest,       // the shard has ended; what comes is counted
  };

  void consume(tar_step& step, std::size_t count) noexcept;
  void settle(tar_step& step) noexcept;
  result<void> advance(bytes_view input, tar_step& step);
  result<void> take_header_bytes(bytes_view input, tar_step& step);
  result<void> take_block(bytes_view block, tar_step& step);
  result<void> take_behind_zeros(bytes_view block);
  result<void> take_extension(bytes_view input, tar_step& step);
  void take_data(bytes_view input, tar_step& step) noexcept;
  result<void> begin_extension(const tar_header& header);
  result<void> end_extension();
  result<void> begin_member(const tar_header& header, tar_step& step);
  void note_name(const tar_header& header);
  void count_left_out(tar_type type) noexcept;

  result<void> closed_between_members();
  result<void> closed_within_member();
  result<void> damaged(std::uint64_t at, std::string_view what);
  result<void> trailing(std::uint64_t at);
  void end_early(std::uint64_t at) noexcept;
  std::string shown_name() const;

  shard_rules rules_;
  shard_counts counts_{};
  std::uint64_t begin_;
  std::uint64_t offset_;
  std::uint64_t block_at_{0};  // offset of the last whole block
  phase phase_{phase::header};
  std::uint8_t zeros_{0};     // blocks of zeros in a row; 2: the archive has ended
  bool file_open_{false};     // its file_end has not come yet
  bool between_{true};        // the next header is the first one of a member
  std::size_t filled_{0};     // bytes of a header in block_
  std::uint64_t left_{0};     // bytes left of the phase
  std::uint64_t padding_{0};  // bytes of the phase behind it
  tar_member member_{};
  std::uint64_t link_size_{0};  // what the header of a hard link says
  std::string name_{};          // of member_, where its own header has it
  tar_extensions extensions_{};
  std::optional<error> failure_{};
  std::array<std::byte, tar_block> block_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/shard/impl/tar_reader.ipp>
#endif
