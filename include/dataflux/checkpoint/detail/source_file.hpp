#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// A file that is read in parts while others may write to it. Members block. read() from
/// several threads; else one at a time.
class source_file {
 public:
  source_file() = default;
  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;
  ~source_file();

  /// `folder`: as upload_file_request::folder.
  result<void> open(const std::string& path, int folder);
  std::uint64_t size() const noexcept { return size_; }
  std::int64_t modified() const noexcept { return modified_; }
  std::uint64_t inode() const noexcept { return inode_; }
  /// Reads `length` bytes from `offset` on into `into`, over each other where that is smaller, and
  /// gives the checksum of what `crc` is that of, followed by them.
  result<std::uint32_t> read(std::uint64_t offset, std::uint64_t length, bytes_span into,
                             std::uint32_t crc) const;
  /// Fails when it is not what it was at open().
  result<void> unchanged() const;

 private:
  error changed() const;
  std::string path_{};
  int file_{-1};
  std::uint64_t size_{0};
  std::int64_t modified_{0};  ///< ns
  std::uint64_t inode_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/source_file.ipp>
#endif
