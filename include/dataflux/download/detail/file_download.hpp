#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/download/detail/part_file.hpp>
#include <dataflux/download/download_file_request.hpp>
#include <dataflux/download/get_many.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one download_file(). Its slices are a stream of a getter, as ready. It is either on
/// home or makes one step on a thread for files, and goes from one to the other by posting: no
/// lock.
class file_download final : public std::enable_shared_from_this<file_download> {
 public:
  using completion = object_store::completion<downloaded_file>;

  file_download(const transfer_context& context, download_file_request request, completion done);
  void start();

 private:
  // On home.
  void look();
  void plan(const object_metadata& object);
  void read();
  void next();
  void arrived(result<std::vector<got_item>> batch);
  // On a thread for files.
  void open();
  void verify();
  void write();
  void close();

  void on_file_thread(void (file_download::*step)());
  void on_home(void (file_download::*step)());
  bool stopped();
  void fail(errc code, const std::string& what);
  /// As one of the object; those of the file are not.
  error named(error why) const;
  void end();
  call_limits limits() const;

  const transfer_context context_;
  const download_file_request request_;
  completion done_;
  const time_point deadline_;
  part_content content_{};
  std::optional<std::uint32_t> object_crc32c_{};
  std::optional<part_file> file_{};
  std::optional<getter> slices_{};
  std::vector<std::uint32_t> wanted_{};     ///< slices that are to be read, in order
  std::size_t looked_at_{0};                ///< slices of which that is known
  std::vector<std::uint32_t> checksums_{};  ///< by slice
  std::size_t there_{0};                    ///< slices in the file
  std::vector<got_item> batch_{};
  downloaded_file got_{};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/file_download.ipp>
#endif
