#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/detail/journal_file.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What an upload of a file leaves for the next call. Members block; one thread at a time.
///
/// Lines of text, fields apart by one space and percent-encoded, the last one the CRC32C of head
/// and line: a head, then a line for each part, of which the last one of a number counts. Reading
/// ends at the first line that is not right. Nothing in it is a secret (protocol.md 2: an upload id
/// needs credentials to be of use), but it is the owner's.
class upload_journal {
 public:
  /// What is uploaded to where; all of it must be equal for an upload to be gone on with.
  struct subject {
    std::string bucket{};
    std::string object{};
    std::uint64_t size{0};
    std::int64_t modified{0};
    std::uint64_t inode{0};
    std::uint32_t wishes{0};  ///< checksum of what else the object is to be
  };
  struct earlier_upload {
    begun_upload begun{};
    std::string bucket{};
    std::uint64_t part_size{0};
    bool same{false};  ///< subject
    std::map<std::uint32_t, uploaded_part> parts{};
  };

  explicit upload_journal(subject of) : of_(std::move(of)) {}
  upload_journal(const upload_journal&) = delete;
  upload_journal& operator=(const upload_journal&) = delete;
  ~upload_journal() { file_.keep(); }

  /// Makes it, or takes up the one that there is, and locks it. `path` and `folder` are the file's.
  result<void> open(const std::string& path, int folder, const std::string& journal_folder);
  /// What an earlier call has left.
  std::optional<earlier_upload> take_earlier() { return std::exchange(earlier_, std::nullopt); }
  /// Empties it, and makes room for so many parts: a disk that is full is noticed here.
  result<void> begin_anew(std::uint64_t parts);
  /// An upload has begun; on the disk, with its name, when this returns.
  result<void> head(const begun_upload& begun, std::uint64_t part_size);
  result<void> add(std::span<const uploaded_part> parts);
  void remove() noexcept { file_.remove(); }

 private:
  result<void> fail(const char* what) const;
  result<std::string> read_all() const;
  void parse(std::string_view text);
  bool parse_head(std::string_view line);
  bool parse_part(std::string_view line);
  std::string sealed(std::string line) const;
  std::optional<std::string_view> opened(std::string_view line) const;
  result<void> append(const std::string& text, bool first);

  const subject of_;
  std::string shown_{};
  journal_file file_{};
  std::uint64_t end_{0};
  std::optional<earlier_upload> earlier_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/upload_journal.ipp>
#endif
