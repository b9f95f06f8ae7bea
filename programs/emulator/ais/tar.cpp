#include <emulator/ais/tar.hpp>

#include <algorithm>
#include <cstdio>

namespace emulator::ais {
namespace {

constexpr std::size_t block = 512;

void put_text(std::string& header, std::size_t at, std::size_t most, std::string_view text) {
  header.replace(at, std::min(most, text.size()), text.substr(0, most));
}

void put_octal(std::string& header, std::size_t at, int digits, std::uint64_t value) {
  std::string text(static_cast<std::size_t>(digits) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
  put_text(header, at, static_cast<std::size_t>(digits), text.substr(0, text.size() - 1));
}

std::string text_at(const std::string& header, std::size_t at, std::size_t most) {
  const std::string field = header.substr(at, most);
  return field.substr(0, field.find('\0'));
}

std::optional<std::uint64_t> octal_at(const std::string& header, std::size_t at, std::size_t most) {
  std::uint64_t out = 0;
  bool any = false;
  for (const char c : header.substr(at, most)) {
    if (c >= '0' && c <= '7') {
      out = out * 8 + static_cast<std::uint64_t>(c - '0');
      any = true;
    } else if (any || (c != ' ' && c != '\0')) {
      break;
    }
  }
  if (!any) return std::nullopt;
  return out;
}

/// A record of pax says its own length, in decimal.
std::string pax_record(const std::string& key, const std::string& value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t size = rest + 1;
  while (rest + std::to_string(size).size() != size) size = rest + std::to_string(size).size();
  return std::to_string(size) + " " + key + "=" + value + "\n";
}

/// The value of `path` in a header of pax; empty: none.
std::string pax_path(const std::string& records) {
  const std::size_t at = records.find(" path=");
  if (at == std::string::npos) return {};
  return records.substr(at + 6, records.find('\n', at) - at - 6);
}

}  // namespace

void tar_writer::add_header(std::string_view name, std::string_view prefix, std::uint64_t size,
                            char kind) {
  std::string header(block, '\0');
  put_text(header, 0, 100, name);
  put_octal(header, 100, 7, 0644);
  put_octal(header, 108, 7, 0);
  put_octal(header, 116, 7, 0);
  put_octal(header, 124, 11, size);
  put_octal(header, 136, 11, 0);
  put_text(header, 148, 8, "        ");
  header[156] = kind;
  put_text(header, 257, 6, std::string_view{"ustar\0", 6});
  put_text(header, 263, 2, "00");
  put_text(header, 345, 155, prefix);
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
  out_.append(content{std::move(header)});
}

void tar_writer::pad() {
  const std::uint64_t over = out_.size() % block;
  if (over > 0) out_.append(content{std::string(block - over, '\0')});
}

void tar_writer::add(std::string_view name, const content& data) {
  std::string_view prefix;
  std::string_view rest = name;
  if (name.size() > 100) {
    const std::size_t slash = name.find('/', name.size() - 101);
    if (slash != std::string_view::npos && slash <= 155 && slash > 0) {
      prefix = name.substr(0, slash);
      rest = name.substr(slash + 1);
    } else {
      const std::string record = pax_record("path", std::string{name});
      add_header("pax", "", record.size(), 'x');
      out_.append(content{record});
      pad();
    }
  }
  add_header(rest, prefix, data.size(), '0');
  out_.append(data);
  pad();
}

content tar_writer::finish() {
  out_.append(content{std::string(2 * block, '\0')});
  return std::move(out_);
}

std::optional<content> tar_member(const content& archive, std::string_view name) {
  std::string longer;
  for (std::uint64_t at = 0; at + block <= archive.size();) {
    const std::string header = archive.slice(at, block).to_string();
    const auto size = octal_at(header, 124, 12);
    if (!size || header[0] == '\0' || *size > archive.size() - at - block) return std::nullopt;
    const content data = archive.slice(at + block, *size);
    const char kind = header[156];
    const std::string prefix = text_at(header, 345, 155);
    std::string own = text_at(header, 0, 100);
    if (!prefix.empty() && header.compare(257, 6, std::string_view{"ustar\0", 6}) == 0) {
      own = prefix + "/" + own;
    }
    at += block + (*size + block - 1) / block * block;
    if (kind == 'x' || kind == 'L') {
      const std::string text = data.slice(0, 65'536).to_string();
      longer = kind == 'x' ? pax_path(text) : text.substr(0, text.find('\0'));
      continue;
    }
    if (!longer.empty()) own = longer;
    longer.clear();
    if ((kind == '0' || kind == '\0') && own == name) return data;
  }
  return std::nullopt;
}

}  // namespace emulator::ais
