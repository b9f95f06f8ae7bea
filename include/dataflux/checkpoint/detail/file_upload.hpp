#pragma once

#include <dataflux/buffer.hpp>
#include <dataflux/checkpoint/detail/source_file.hpp>
#include <dataflux/checkpoint/detail/upload_journal.hpp>
#include <dataflux/checkpoint/upload_file_request.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/object_upload.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one upload_file(). It lives on home; steps that block are made on threads for files,
/// and come back by posting: no lock. One step at a time but for those of different parts, and for
/// the journal's, which write down what has been sent meanwhile.
///
/// A part that the journal knows is read to compare it (looking) and is either had or wanted; what
/// is wanted gets its memory in order, so that what comes later never keeps it from what comes
/// first, is read, and waits for its turn to be sent.
class file_upload final : public std::enable_shared_from_this<file_upload> {
 public:
  using completion = object_store::completion<uploaded_file>;

  file_upload(const transfer_context& context, upload_file_request request, completion done);
  void start();

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
  void check();
  void write_journal();
  void close();
  // On home, file_upload.ipp: from the file to the end.
  void look();
  void begin();
  void opened(const result<void>& outcome);
  void pump();
  void fetch(std::size_t part);
  void read(std::size_t part, bool compare);
  void arrived(reading& one);
  void deliver();
  void finish();
  void ended(result<committed_object> outcome);
  void end();
  // On home, file_upload_resume.ipp: what was and what will be.
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
  void fail(error why);
  template <class Step>
  void on_file_thread(Step step);
  void on_home(void (file_upload::*step)());
  template <class T, class Step>
  object_store::completion<T> then(Step step);
  call_limits limits() const;

  const transfer_context context_;
  upload_file_request request_;
  completion done_;
  const time_point deadline_;
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
  bool checking_{false};
  bool finishing_{false};
  bool closing_{false};
  bool keep_journal_{false};
  bool journal_busy_{false};
  std::optional<object_upload::begun_upload> to_head_{};
  std::vector<uploaded_part> to_note_{};
  std::vector<uploaded_part> noting_{};
  std::optional<error> journal_failure_{};
  std::uint64_t reported_{0};
  uploaded_file got_{};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/file_upload.ipp>
#include <dataflux/checkpoint/impl/file_upload_resume.ipp>
#endif
