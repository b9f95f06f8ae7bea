#pragma once

#include <dataflux/checkpoint/detail/source_file.hpp>
#include <dataflux/checkpoint/detail/upload_journal.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>
#include <dataflux/transfer/detail/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One upload_file(). Steps that block are made on threads for files, and come back to the
/// strand by posting: no lock. One step at a time but for those of different parts, and for the
/// journal's, which write down what has been sent meanwhile.
///
/// A part that the journal knows is read to compare it (looking) and is either had or wanted; what
/// is wanted gets its memory in order, so that what comes later never keeps it from what comes
/// first, is read, and waits for its turn to be sent.
class upload_file_job final : public call_coordinator<upload_file_job, uploaded_file> {
 public:
  upload_file_job(const transfer_context& context, upload_file_request request, completion done);
  void start() { coordinator::start(request_.upload.bucket, request_.upload.object); }
  void begin();
  /// With the upload, whose cleaning up comes first.
  void fail(error why);
  /// A step was lost: what it led to is the end.
  void fall_short(error why);
  void idle();

 private:
  enum class part_state : std::uint8_t { looking, wanted, ready, had };
  /// A part that is being read.
  struct reading {
    std::size_t part{0};
    std::uint64_t size{0};
    bool compare{false};  ///< only
    std::uint64_t done{0};
    std::uint32_t crc{0};
    buffer memory{};
    std::optional<error> failure{};
  };

  // On a thread for files.
  void open();
  void make_room();
  void read_some(const std::shared_ptr<reading>& one);
  void read_on(const std::shared_ptr<reading>& one);
  void check();
  void write_journal();
  void close();
  // On the strand, upload_file_job.ipp: from the file to the end.
  void look();
  void begin_upload();
  void opened(const result<void>& outcome);
  void advance();
  void fetch(std::size_t part);
  void read(std::size_t part, bool compare);
  void arrived(reading& one);
  void deliver();
  void finish();
  void ended(result<committed_object> outcome);
  void describe_end(result<committed_object> outcome);
  void close_for(error why);
  void end();
  // On the strand, file_upload_resume.ipp: what was and what will be.
  void list_parts(std::uint32_t marker);
  void listed(const result<part_page>& page);
  void forget_earlier();
  void take_up(std::size_t part);
  void note(const uploaded_part& part);
  void journal_made();
  void journal_next();
  void journal_written();

  std::uint32_t wishes() const;
  std::uint64_t size_of(std::size_t part) const noexcept;
  std::size_t count_of(std::uint64_t part_size) const noexcept;
  bool broken() const noexcept { return upload_ != nullptr && upload_->failed(); }
  template <class Step>
  void on_file_thread(Step step);
  /// On any thread. `otherwise` follows on the strand where the step is short of memory.
  template <class Step, class Otherwise>
  void on_file_thread(Step step, Otherwise otherwise);
  void on_strand(void (upload_file_job::*step)());

  const transfer_context context_;
  upload_file_request request_;
  source_file file_{};
  std::optional<upload_journal> journal_{};
  std::optional<upload_journal::earlier_upload> earlier_{};
  std::map<std::uint32_t, listed_part> listed_{};
  std::shared_ptr<object_upload> upload_{};
  std::size_t count_{0};  ///< parts
  std::vector<part_state> states_{};
  std::map<std::size_t, upload_piece> ready_{};
  std::size_t looked_{0};   ///< parts of which is known, or being found out, what they are
  std::size_t fetched_{0};  ///< parts that have asked for memory, or need none
  std::size_t sent_{0};     ///< parts that the upload has
  std::size_t busy_{0};     ///< steps and waits for memory
  bool opened_{false};
  bool checking_{false};
  bool finishing_{false};
  bool closing_{false};
  bool made_{false};  ///< the object is there, whatever comes after
  bool keep_journal_{false};
  bool journal_busy_{false};
  std::optional<begun_upload> to_head_{};
  std::vector<uploaded_part> to_note_{};
  std::vector<uploaded_part> noting_{};
  std::optional<error> journal_failure_{};
  std::uint64_t reported_{0};
  uploaded_file got_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/upload_file_job.ipp>
#include <dataflux/checkpoint/impl/upload_file_job_resume.ipp>
#endif
