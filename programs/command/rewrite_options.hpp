#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

/// What `dataflux shards` writes: samples of some shards into others.
enum class rewrite_verb { none, create, cat, split, shuffle, sort, join, map };

struct rewrite_options {
  rewrite_verb verb{rewrite_verb::none};
  /// gs://bucket[/name or folder], paths, "-".
  std::vector<std::string> inputs{};
  /// A name, or a pattern with a number.
  std::string output{};
  std::uint64_t count{0};
  std::uint64_t bytes{0};
  std::uint64_t first{0};
  bool read_concatenated{false};
  bool ignore_trailing{false};
  bool end_at_damage{false};
  bool keep_first{false};
  bool strip_dot_slash{false};
  /// What is left out is no failure.
  bool leave_out{false};
  std::vector<std::string> fields{};
  /// "first:end:step"
  std::string slice{};
  /// A file of keys, one a line.
  std::string select{};
  std::string rekey{};
  std::uint64_t seed{0};
  /// "key", or a field.
  std::string by{};
  /// join: samples without a partner, too.
  bool left{false};
  /// join: in front of the right side's fields.
  std::string right_prefix{};
  /// map: for a shell.
  std::string shell_command{};
  /// create: lists of names and sources, manifests.
  std::vector<std::string> lists{};
  std::vector<std::string> manifests{};
  bool allow_pipe{false};
};

}  // namespace cli
