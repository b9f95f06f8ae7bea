#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/tar_header.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// The bodies of all extension headers in front of one member, and how many there are: more is no
/// name, but an attack.
inline constexpr std::uint64_t most_extension_bytes = std::uint64_t{1} << 20;
inline constexpr std::uint32_t most_extensions = 4096;

/// What the extension headers in front of a member say: GNU tar's long names, pax records of this
/// member, and pax records of all members from there on.
///
/// A record of the member counts first, then GNU's long name, then a record for all, then the
/// member's own header. Writers use one of them; where two disagree, readers do, too. A record
/// without a value takes back the record for all, as Go reads it.
///
/// Errors: texts, for the caller to complete; null when all is well. Lifetime: texts are valid
/// until next_member() or the next extension. Threads: not thread-safe. Cost: one copy of the
/// bodies. It holds at most 4 MiB, whatever the archive says, and keeps them for the next member.
class tar_extensions {
 public:
  /// Forgets what was said for one member alone.
  void next_member() noexcept;
  /// Forgets everything.
  void next_archive() noexcept;

  /// An extension header of this type, whose body has `size` bytes. False when all extensions of
  /// the member are larger than most_extension_bytes together, or more than most_extensions.
  bool begin(tar_type type, std::uint64_t size) noexcept;
  /// The next bytes of its body.
  void append(bytes_view bytes);
  /// Its body is complete. Gives what is wrong with it, or null.
  const char* end();

  std::optional<std::string_view> name() const noexcept;
  std::optional<std::uint64_t> size() const noexcept;
  /// The name or the size is of a record for all members.
  bool of_all() const noexcept;
  /// The file's holes are left out, in one of pax's three ways.
  bool sparse() const noexcept { return own_.sparse || all_.sparse; }
  /// The name of a sparse file whose header has a made-up one; empty for others.
  std::string_view sparse_name() const noexcept { return text_of(sparse_name_); }

  /// Bytes of memory held.
  std::size_t memory() const noexcept { return bodies_.capacity() + all_path_.capacity(); }

 private:
  /// Part of bodies_, which moves as it grows.
  struct place {
    std::size_t begin{0};
    std::size_t size{0};
  };
  enum class record_state : std::uint8_t { absent, taken_back, given };
  struct record_facts {
    record_state path{record_state::absent};
    record_state size_state{record_state::absent};
    std::uint64_t size{0};
    bool sparse{false};
  };

  std::string_view text_of(place at) const noexcept;
  place place_of(std::string_view text) const noexcept;
  const char* read_records();
  bool note_size(std::string_view value, record_facts& facts) noexcept;

  tar_type type_{tar_type::records};
  std::uint64_t total_{0};     ///< declared sizes since next_member()
  std::uint32_t count_{0};     ///< of extensions since then
  std::string bodies_{};       ///< all bodies since next_member()
  std::size_t body_begin_{0};  ///< of the current one
  std::optional<place> long_name_{};
  place path_{};
  place sparse_name_{};
  record_facts own_{};
  record_facts all_{};
  std::string all_path_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/codec/impl/tar_extensions.ipp>
#endif
