#pragma once

#include <dataflux/download/download_file.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/folder/detail/extra_removal.hpp>
#include <dataflux/folder/detail/folder_copy.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// One download_folder(). A page of the listing is placed in steps on a thread for files,
/// one at a time and in order: each name is checked, its folder made or entered, and with `resume`
/// the file that is there compared. What is to be copied goes on as a large file of its own
/// (download_file()), or is collected for a stream of small ones (small_stream).
///
/// Between two steps all is strand's; while one is made (placing_) what it uses is its own.
class folder_download final : public folder_copy {
 public:
  using folder_copy::folder_copy;

  /// One object, and the file that it becomes.
  struct placed_object {
    copy_outcome outcome{copy_outcome::copied};
    std::string object{};
    std::uint64_t size{0};
    std::int64_t generation{0};
    std::optional<std::uint32_t> crc32c{};
    folder_ptr where{};  ///< in a dry run there may be none
    std::string name{};
    std::string shown{};
    std::optional<error> failure{};
  };

  void stream_ended();
  void told(const placed_object& one, bool verified);

 private:
  DATAFLUX_INLINE void open() override;
  DATAFLUX_INLINE bool turn() override;
  DATAFLUX_INLINE bool remove_extra() override;

  void take_page();
  object_columns selected_of(object_columns page) const;
  void place();
  // On a thread for files.
  bool open_root();
  void place_some();
  placed_object place_one(const object_row& row, const std::optional<timestamp>& written);
  bool is_kept(const placed_object& one, const std::optional<timestamp>& written) const;
  // On the strand.
  void placed();
  bool dispatch();
  void collect(placed_object one);
  void begin_stream();
  void fetch_large(placed_object one);

  std::optional<listed_names> names_{};
  object_columns rows_{};
  std::size_t row_{0};  ///< the first one that is not placed
  std::optional<target_tree> tree_{};
  folder_ptr root_{};
  std::optional<extra_removal> removal_{};
  std::optional<placed_object> comparing_{};
  std::optional<file_comparison> comparison_{};
  std::vector<placed_object> just_placed_{};
  std::optional<error> root_failure_{};
  std::deque<placed_object> placed_{};
  std::vector<placed_object> small_{};  ///< for the next stream
  std::size_t small_folders_{0};        ///< different ones among them, neighbours compared
  std::size_t streams_{0};
  std::size_t large_{0};
  bool placing_{false};
};

/// Many objects that come whole by one getter, and become files as they come. Some hands
/// take batches of them, each written on a thread for files. On the strand.
class small_stream : public std::enable_shared_from_this<small_stream> {
 public:
  using placed_object = folder_download::placed_object;

  /// `owner` keeps it while a hand is at work.
  small_stream(folder_download& owner, std::vector<placed_object> objects);
  void start();

 private:
  struct batch;
  void next();
  void arrived(result<std::vector<got_item>> got);
  void write(batch& one);
  void written(const batch& one);
  void hand_ended();

  folder_download& owner_;
  std::vector<placed_object> objects_;  ///< each for whoever writes it
  const std::size_t at_once_;
  std::optional<getter> items_;
  int hands_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/folder_download.ipp>
#include <dataflux/folder/impl/small_stream.ipp>
#endif
