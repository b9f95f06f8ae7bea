#pragma once

#include <dataflux/exec/detail/replacing_file.hpp>
#include <dataflux/list/detail/manifest_joiner.hpp>
#include <dataflux/list/detail/share_record.hpp>
#include <dataflux/store/detail/call_coordinator.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Makes one manifest, a file, of what lies on a board that is whole.
///
/// Records that are not known are read; their pieces, in order of names, are proved to be the
/// whole. Then the pieces are read, several at a time up to a cap of memory, and written in order
/// by steps on threads for files. Gives the rows.
class share_join final : public call_coordinator<share_join, std::uint64_t> {
 public:
  struct what {
    std::string bucket{};
    std::string done_prefix{};
    std::vector<std::string> ids{};
    std::map<std::string, share_record> records{};  ///< of some of them
    name_range whole{};
    manifest_description description{};
    std::string path{};
    std::uint32_t parallelism{1};
  };
  share_join(object_store& store, scheduler& strand, call_limits limits, what all, completion done);
  DATAFLUX_INLINE ~share_join();

  void begin();

 private:
  struct piece {
    share_piece at{};
    const std::string* part{nullptr};
    std::optional<manifest> read{};
  };
  void read_records();
  void put_in_order();
  void read_pieces();
  void read_piece(std::size_t index);
  void write();
  void wrote(std::size_t to, bool last, std::optional<error> why);
  result<void> write_step(std::size_t from, std::size_t to, bool last);

  what all_;
  std::size_t next_record_{0};
  std::size_t reading_{0};
  std::vector<piece> pieces_{};  ///< with names, in order
  std::size_t next_read_{0};
  std::size_t next_write_{0};
  std::uint64_t ahead_{0};  ///< bytes read, or under way, and not written
  std::uint64_t rows_{0};
  bool writing_{false};
  manifest_joiner joiner_;
  std::unique_ptr<replacing_file> file_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/list/impl/share_join.ipp>
#endif
