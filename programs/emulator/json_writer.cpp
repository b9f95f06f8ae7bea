#include <emulator/json_writer.hpp>

#include <array>
#include <charconv>

namespace emulator {

void json_writer::new_line() {
  if (!pretty_) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
}

void json_writer::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ += ',';
  first_ = false;
  new_line();
}

void json_writer::open(char bracket) {
  before_value();
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void json_writer::close(char bracket) {
  --depth_;
  if (!first_) new_line();
  out_ += bracket;
  first_ = false;
}

void json_writer::key(std::string_view name) {
  before_value();
  quoted(name);
  out_ += pretty_ ? ": " : ":";
  after_key_ = true;
}

void json_writer::string(std::string_view value) {
  before_value();
  quoted(value);
}
void json_writer::number(std::int64_t value) {
  before_value();
  out_ += std::to_string(value);
}
void json_writer::real(double value) {
  before_value();
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out_.append(text.data(), end);
}
void json_writer::null() {
  before_value();
  out_ += "null";
}
void json_writer::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
}

void json_writer::quoted(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (byte < 0x20 || c == '<' || c == '>') {
      // The service escapes angle brackets too; a client must undo it.
      out_ += "\\u00";
      out_ += digits[byte >> 4];
      out_ += digits[byte & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

}  // namespace emulator
