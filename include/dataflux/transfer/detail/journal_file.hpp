#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A file in which one call leaves for the next how far it came, so that what was killed,
/// or lost its power, is gone on with. What upload_journal and part_file share; where a record lies
/// and what it says is theirs.
///
/// One call at a time has the file: it is locked (open_locked). A head says what the records are
/// of. A record's checksum begins with that of the head, so that a torn record, one that never came
/// to the disk and one behind another head are alike: none. So nothing need be flushed for safety;
/// flush() is for what shall not be lost.
///
/// Members that give a bool say why in errno. All block for the disk. One thread at a time.
class journal_file {
 public:
  journal_file() noexcept = default;
  journal_file(const journal_file&) = delete;
  journal_file& operator=(const journal_file&) = delete;
  /// The file is gone then, unless it was kept or published.
  ~journal_file();

  /// The folder of the file: `folder`, which outlives this, or if that is -1 the one at `path`.
  bool enter(int folder, const std::string& path);
  int folder() const noexcept { return folder_; }
  /// The file of that name, made if it is missing. EWOULDBLOCK: another call has it.
  bool open(std::string name, unsigned mode) { return file_.open(folder_, std::move(name), mode); }
  /// A new one that no later call finds.
  bool create(unsigned mode) { return file_.create(folder_, mode); }
  bool publish(const std::string& name, bool flush) { return file_.publish(name, flush); }
  void keep() noexcept { file_.keep(); }
  void remove() noexcept { file_ = {}; }

  /// 0 when the system does not say.
  std::uint64_t size() const noexcept;
  bool resize(std::uint64_t size) noexcept;
  /// Says early that a disk is too small, and keeps what comes in any order together. Of no effect
  /// where the file system cannot do it.
  bool make_room(std::uint64_t bytes) noexcept;
  /// How many bytes of it there are from `at` on: all of `into`, or less at the end of the file.
  std::optional<std::size_t> read(bytes_span into, std::uint64_t at) const noexcept;
  bool write(bytes_view bytes, std::uint64_t at) noexcept;
  /// What was written outlives a loss of power then; with `name` the file's name, too.
  bool flush(bool name) noexcept;

  /// The head of all records from here on; without one, of none.
  void set_head(bytes_view head) noexcept;
  std::uint32_t head_checksum() const noexcept { return head_; }
  std::uint32_t checksum(bytes_view record) const noexcept;

 private:
  int own_folder_{-1};
  int folder_{-1};
  std::uint32_t head_{0};
  hidden_file file_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/journal_file.ipp>
#endif
