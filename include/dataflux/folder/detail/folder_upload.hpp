#pragma once

#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/detail/buffer.hpp>
#include <dataflux/folder/detail/extra_removal.hpp>
#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/transfer/detail/upload_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What a file gets that the end of the call finds before it is begun.
inline error not_tried() { return error(errc::cancelled, "stopped"); }

/// One upload_folder(). Files come from a walk and, where it has to be known what is
/// there, meet the listing of the target in the same order.
///
/// The uploads wait for memory beside others, and have none while they have nothing under way. A
/// small file waits for its bytes of the memory for uploads, is read with others in one step
/// (reading group), and is sent as one insert: into nothing at first, and if something is there
/// after all (412, or others had something) in place of what a stat finds. A large file is compared
/// where the target has one of its size, and else is an upload_file().
class folder_upload final : public folder_copy {
 public:
  folder_upload(const transfer_context& context, copy_folder_request request, completion done);

 private:
  struct one_file {
    walked_file file{};
    std::string object{};
    std::string shown{};
    /// The checksum of an object of that name and size that is there.
    std::optional<std::uint32_t> there{};
    buffer memory{};
    bool looked{false};
    bool same{false};
    bool journal{false};
    std::string note{};
    std::optional<error> failure{};
    std::optional<file_comparison> comparison{};
  };
  using file_ptr = std::shared_ptr<one_file>;

  DATAFLUX_INLINE void open() override;
  DATAFLUX_INLINE bool turn() override;
  DATAFLUX_INLINE bool remove_extra() override;

  bool next();
  bool find(std::string_view object);
  void take(walked_file file);
  void compare(const file_ptr& one, void (folder_upload::*known)(const file_ptr&));
  void compared_dry(const file_ptr& one);
  void copied(const one_file& one);
  void already_there(const one_file& one);
  // Small ones.
  void admit(const file_ptr& one);
  void acquire(const file_ptr& one);
  void granted(const file_ptr& one, const result<void>& outcome);
  void one_small_less();
  void read_group();
  void read(one_file& one) const;
  void was_read(const file_ptr& one);
  void replace(const file_ptr& one);
  void insert(const file_ptr& one, std::optional<std::int64_t> generation);
  void inserted(const file_ptr& one, const result<object_metadata>& made);
  void end_small(const file_ptr& one);
  // Large ones.
  void begin_large(const file_ptr& one);
  void look_for_journal(one_file& one);
  void compared_large(const file_ptr& one);
  void send_large(const file_ptr& one);
  void end_large(one_file& one, const result<uploaded_file>& sent);
  transfer_context context_for(std::uint64_t size) const;
  std::uint64_t part_size() const;
  object_attributes attributes_of(const std::string& object) const;
  bool found_taken(const error& why) const;

  upload_memory& memory() const noexcept;

  const std::uint64_t small_limit_;
  const std::uint64_t part_size_;
  const std::size_t most_large_;
  folder_ptr root_{};
  std::optional<extra_removal> removal_{};
  std::optional<walked_names> files_{};
  std::optional<listed_names> there_{};
  bool found_there_{false};          ///< what find() has found is at there_'s front
  upload_memory::member account_{};  ///< of small ones
  std::vector<file_ptr> group_{};
  std::uint64_t group_bytes_{0};
  std::size_t small_{0};
  std::size_t large_{0};
  std::size_t comparing_{0};  ///< in a dry run
  bool joined_{false};        ///< the memory, as long as there are small ones
  bool waiting_{false};       ///< for memory
  bool over_{false};          ///< no more files are taken
  bool target_has_objects_{false};
  bool told_of_fallback_{false};
  bool told_of_journal_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/folder/impl/folder_upload.ipp>
#include <dataflux/folder/impl/folder_upload_small.ipp>
#endif
