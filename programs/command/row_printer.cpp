#include "row_printer.hpp"

#include <dataflux/codec/crc32c.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>

#include "location.hpp"

namespace cli {

namespace {
/// As a string of JSON. Names are UTF-8, so that only these need an escape.
std::string json_text(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out += '"';
}

/// As md5sum writes it.
std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits{"0123456789abcdef"};
  std::string out;
  for (const std::byte each : bytes) {
    out += digits[std::to_integer<unsigned>(each >> 4U)];
    out += digits[std::to_integer<unsigned>(each & std::byte{15})];
  }
  return out;
}

constexpr std::size_t columns_width = 15 + 2 + 20 + 2;
}  // namespace

std::string human_size(std::uint64_t bytes) {
  constexpr std::string_view units{"KMGTPE"};
  if (bytes < 1024) return std::to_string(bytes);
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < units.size(); ++unit) value /= 1024;
  char text[16];
  std::snprintf(text, sizeof text, "%.1f%c", value, units[unit]);
  return text;
}

void row_printer::folder(const std::string& prefix) {
  if (how_.json) {
    out_ += R"({"bucket":)" + json_text(bucket_) + R"(,"prefix":)" + json_text(prefix) + "}";
  } else {
    if (how_.details) out_.append(columns_width, ' ');
    out_ += shown_url(scheme_, bucket_, prefix);
  }
  end_line();
}

void row_printer::add_json(std::string_view key, const std::string& text) {
  if (!text.empty()) out_.append(R"(,")").append(key).append(R"(":)").append(json_text(text));
}

void row_printer::add_json(const dataflux::object_extras& extras) {
  if (extras.md5) add_json("md5", hexadecimal(*extras.md5));
  if (extras.created) add_json("created", dataflux::to_string(*extras.created));
  if (extras.updated) add_json("updated", dataflux::to_string(*extras.updated));
  add_json("content_type", std::string{extras.content_type});
  add_json("storage_class", std::string{extras.storage_class});
  if (!extras.metadata.empty()) out_.append(R"(,"metadata":)").append(extras.metadata);
}

void row_printer::object(const dataflux::object_row& row, const dataflux::object_extras& extras) {
  ++objects_;
  bytes_ += row.size;
  if (how_.json) {
    out_ += R"({"bucket":)" + json_text(bucket_) + R"(,"name":)" + json_text(row.name);
    out_ += R"(,"size":)" + std::to_string(row.size);
    out_ += R"(,"generation":)" + json_text(std::to_string(row.generation));
    if (row.crc32c) {
      out_ += R"(,"crc32c":)" + json_text(dataflux::encode_crc32c(*row.crc32c).view());
    }
    add_json(extras);
    out_ += '}';
  } else {
    if (how_.details) columns(row.size, extras.created);
    out_ += shown_url(scheme_, bucket_, row.name);
    if (how_.generations) out_.append("#").append(std::to_string(row.generation));
  }
  end_line();
}

void row_printer::finish(bool whole) {
  if (whole && how_.details && !how_.json && !broken_) {
    out_ += "total: " + std::to_string(objects_) + " objects, " +
            (how_.human ? human_size(bytes_) : std::to_string(bytes_)) + " bytes\n";
  }
  flush();
  broken_ = std::fflush(stdout) != 0 || broken_;
}

void row_printer::columns(std::uint64_t size, const std::optional<dataflux::timestamp>& created) {
  const std::string second =
      created ? dataflux::to_string(std::chrono::floor<std::chrono::seconds>(*created)) : "-";
  const std::string bytes = how_.human ? human_size(size) : std::to_string(size);
  char text[columns_width + 16];
  std::snprintf(text, sizeof text, "%15s  %-20s  ", bytes.c_str(), second.c_str());
  out_ += text;
}

void row_printer::end_line() {
  ++lines_;
  out_ += '\n';
  if (out_.size() >= 1U << 16U) flush();
}

void row_printer::flush() {
  broken_ = std::fwrite(out_.data(), 1, out_.size(), stdout) != out_.size() || broken_;
  out_.clear();
}

}  // namespace cli
