#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

/// Writes one JSON document, compact or as the service prints it by default (indented by two).
/// The caller keeps begin and end, key and value in order.
class json_writer {
 public:
  explicit json_writer(bool pretty) : pretty_(pretty) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  void string(std::string_view value);
  void number(std::int64_t value);
  void real(double value);
  void null();
  void boolean(bool value);

  void member(std::string_view name, std::string_view value) {
    key(name);
    string(value);
  }

  std::string take() { return std::move(out_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void before_value();
  void new_line();
  void quoted(std::string_view text);

  std::string out_{};
  bool pretty_;
  int depth_{0};
  bool first_{true};  ///< nothing written yet in the innermost brackets
  bool after_key_{false};
};

}  // namespace emulator
