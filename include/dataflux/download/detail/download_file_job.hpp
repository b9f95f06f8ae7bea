#pragma once

#include <dataflux/codec/detail/whole_checksum.hpp>
#include <dataflux/download/detail/part_file.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One download_file(). Its slices are a stream of a getter, as ready. It is either on
/// the strand or makes one step on a thread for files, and goes from one to the other by posting:
/// no lock. So a failure is noted on either, and told in the last step.
class download_file_job final : public call_coordinator<download_file_job, downloaded_file> {
 public:
  download_file_job(const transfer_context& context, download_file_request request,
                    completion done);
  void start() { coordinator::start(request_.bucket, request_.object); }
  void begin();
  /// A step was lost: what it led to is the end.
  void fall_short(const error& why);

 private:
  // On the strand.
  void stat();
  void plan(const object_metadata& object);
  void read();
  void next();
  void arrived(result<std::vector<got_item>> batch);
  // On a thread for files.
  void open();
  std::optional<error> compare();
  void verify();
  void write();
  void close();

  void stop_short() noexcept;
  void run_short(const error& why) noexcept;
  void on_file_thread(void (download_file_job::*step)());
  void on_strand(void (download_file_job::*step)());
  bool stopped();
  void refuse(errc code, const std::string& what);
  /// As one of the object; those of the file are not.
  error named(error why) const;
  void end();

  const transfer_context context_;
  const download_file_request request_;
  part_content content_{};
  std::optional<std::uint32_t> object_crc32c_{};
  /// In its place, of all of an object.
  std::optional<codec::whole_checksum> other_{};
  std::optional<part_file> file_{};
  std::optional<getter> slices_{};
  std::vector<std::uint32_t> wanted_{};     ///< slices that are to be read, in order
  std::size_t examined_{0};                 ///< slices of which that is known
  std::vector<std::uint32_t> checksums_{};  ///< by slice
  std::vector<std::uint64_t> sums_{};       ///< by slice, of the kind of `other_`
  std::size_t there_{0};                    ///< slices in the file
  bool compared_{false};                    ///< the only slice, as it came
  std::vector<got_item> batch_{};
  downloaded_file got_{};
  bool closing_{false};
  bool published_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/download_file_job.ipp>
#endif
