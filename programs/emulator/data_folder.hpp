#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/json_value.hpp>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace emulator {

/// Keeps buckets and objects in a folder, so that they are there after a restart: each object's
/// bytes in a file, and a journal, one JSON document a line, of what happened to them. Open uploads
/// are not kept. What was answered is in the kernel's hands: it survives the end of the program,
/// not of the machine.
class data_folder final : public store_journal {
 public:
  /// Makes the folder when it is missing, fills `store` with what it holds, writes the journal anew
  /// and removes files that nothing refers to. Throws std::runtime_error when that fails; a journal
  /// whose last line broke off is good up to there. Two programs must not share a folder.
  data_folder(const std::string& path, bucket_store& store);

  content keep(const content& bytes) override;
  void saved(const stored_object& object) override;
  void removed(const stored_object& object, const stored_object* successor) override;
  void bucket_saved(const bucket_facts& bucket) override;
  void bucket_removed(std::string_view bucket) override;

 private:
  class kept_file;
  void read_journal(bucket_store& store);
  void restore_object(bucket_store& store, const json_value& line);
  void append(const std::string& line);
  void remove_strangers() const;
  content content_of(const std::string& name, std::uint64_t size, bool unwanted);

  const std::string path_;
  std::mutex mutex_{};
  std::ofstream journal_{};
  std::uint64_t next_file_{1};
  struct reference {
    std::weak_ptr<kept_file> file{};
    std::size_t objects{0};
  };
  /// By path, the files made here and how many generations of objects refer to each.
  std::map<std::string, reference, std::less<>> files_{};
};

}  // namespace emulator
