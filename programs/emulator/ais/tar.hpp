#pragma once

#include <emulator/content.hpp>

#include <optional>
#include <string>
#include <string_view>

/// As much of tar as AIStore's answers and archives need.
namespace emulator::ais {

/// Writes members one behind the other, in the form of ustar: a name of more than 100 bytes is cut
/// into the field for prefixes at a slash, and one that cannot be comes in a header of pax.
class tar_writer {
 public:
  void add(std::string_view name, const content& data);
  /// With the two blocks of zeros at the end.
  content finish();

 private:
  void add_header(std::string_view name, std::string_view prefix, std::uint64_t size, char kind);
  void pad();
  content out_{};
};

/// The bytes of the first regular member of that name in a plain tar; empty optional without one,
/// and where the archive is broken before it.
std::optional<content> tar_member(const content& archive, std::string_view name);

}  // namespace emulator::ais
