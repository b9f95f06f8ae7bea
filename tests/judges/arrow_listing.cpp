// A listing to be judged: arrow_judge.py computes the same rows.
#include <dataflux/store/arrow_stream.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using dataflux::object_columns;

void append(object_columns& to, std::size_t i) {
  const std::string name = "n/" + std::to_string(i) + "\xc3\xa4";
  const std::string pairs = R"({"k":")" + std::to_string(i) + "\"}";
  dataflux::object_extras extras;
  if (i % 2 == 0) extras.md5.emplace().fill(static_cast<std::byte>(i));
  if (i % 3 == 0) {
    extras.updated = dataflux::timestamp{std::chrono::nanoseconds{1'000'000'007 * i}};
  }
  if (i % 5 == 0) extras.content_type = "text/plain";
  if (i % 7 == 0) extras.metadata = pairs;
  const auto crc = static_cast<std::uint32_t>(i * 2654435761U);
  to.append(
      {name, i * 3, static_cast<std::int64_t>(i), i % 11 == 0 ? std::nullopt : std::optional{crc}},
      extras);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void make_listing(ArrowArrayStream* out, std::size_t rows,
                                                            std::size_t first, std::size_t count);
/// Rows of which every second thousand has extra columns; of those first .. first + count.
extern "C" void make_listing(ArrowArrayStream* out, std::size_t rows, std::size_t first,
                             std::size_t count) {
  object_columns all;
  for (std::size_t from = 0; from < rows; from += 1000) {
    object_columns page{from / 1000 % 2 == 1 ? dataflux::all_extra_columns
                                             : dataflux::extra_columns::none};
    for (std::size_t i = from; i < rows && i < from + 1000; ++i) append(page, i);
    all.append(std::move(page));
  }
  dataflux::export_arrow(all.slice(first, count), *out);
}
