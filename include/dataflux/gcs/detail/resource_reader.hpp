#pragma once

#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/timestamp.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the members of small resources; those of objects are an object_reader's.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The service may leave out what has its default; null is as good as absent.
inline bool left_out(const codec::json_value& member) noexcept {
  return !member || member.kind() == codec::json_kind::null;
}

/// Takes members of a JSON resource; remembers the first one that is not what it must be.
class resource_reader {
 public:
  explicit resource_reader(codec::json_value resource) : members_(resource.members()) {}

  void text(std::string_view key, std::string& into) {
    if (const auto value = member(key)) {
      const auto found = value.text();
      if (found) into = *found;
      check(found.has_value(), key);
    }
  }
  template <class Integer>
  void number(std::string_view key, Integer& into) {
    if (const auto value = member(key)) {
      const auto found = value.int64();
      const bool fits = found && *found >= 0 &&
                        static_cast<std::uint64_t>(*found) <=
                            static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
      if (fits) into = static_cast<Integer>(*found);
      check(fits, key);
    }
  }
  void time(std::string_view key, std::optional<timestamp>& into) {
    if (const auto value = member(key)) {
      into = parse_timestamp(value.text().value_or(std::string_view{}));
      check(into.has_value(), key);
    }
  }
  /// What is in it is read elsewhere.
  void array(std::string_view key) {
    if (const auto value = member(key)) check(value.kind() == codec::json_kind::array, key);
  }
  void require(std::string_view key) { check(static_cast<bool>(member(key)), key); }
  /// The key of the first member at fault; empty when there is none.
  std::string_view fault() const noexcept { return fault_; }

 private:
  /// Absent for null, too.
  codec::json_value member(std::string_view key) const noexcept {
    for (const codec::json_member& m : members_) {
      if (m.key == key) return left_out(m.value) ? codec::json_value{} : m.value;
    }
    return {};
  }
  void check(bool good, std::string_view key) noexcept {
    if (!good && fault_.empty()) fault_ = key;
  }

  /// Once gathered, twenty keys are found for the price of five searches of the document.
  std::vector<codec::json_member> members_;
  std::string_view fault_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
