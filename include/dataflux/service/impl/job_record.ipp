#pragma once

#include <dataflux/codec/detail/decimal.hpp>
#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/service/detail/job_record.hpp>
#include <dataflux/service/detail/query_writer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

inline constexpr double most_of_a_rate = 1e9;

inline void append_rate(std::string& to, double rate) {
  to += ',';
  append_number(to, std::llround(std::clamp(rate, 0.0, most_of_a_rate) * 1000));
}

/// What is before the sign, which goes with it; all of it where there is none.
inline std::string_view take_field(std::string_view& text, char sign) {
  const std::string_view field = text.substr(0, text.find(sign));
  text.remove_prefix(std::min(field.size() + 1, text.size()));
  return field;
}

inline std::optional<double> read_rate(std::string_view text) {
  // A copy with room before and behind it: the reader looks at eight bytes at once.
  if (text.empty() || text.size() > 13) return std::nullopt;
  std::array<char, 32> around{};
  std::copy(text.begin(), text.end(), around.begin() + 8);
  const std::uint64_t number = codec::read_count({around.data() + 8, text.size()});
  const double rate = static_cast<double>(number) / 1000;
  if (number == codec::no_count || rate > most_of_a_rate) return std::nullopt;
  return rate;
}

inline std::optional<std::uint64_t> read_whole(std::string_view text) {
  if (text.size() > 19) return std::nullopt;
  std::array<char, 40> around{};
  std::copy(text.begin(), text.end(), around.begin() + 8);
  const std::uint64_t number = codec::read_count({around.data() + 8, text.size()});
  return number == codec::no_count ? std::nullopt : std::optional{number};
}

inline std::optional<job_budget> read_job_budget(std::string_view text) {
  auto bucket = codec::decode_percent(take_field(text, ','));
  const std::string_view kind = take_field(text, ',');
  if (!bucket || bucket->empty() || (kind != "r" && kind != "w")) return std::nullopt;
  job_budget read{.bucket = *std::move(bucket), .writes = kind == "w"};
  const auto level = read_rate(take_field(text, ','));
  const std::string_view want = take_field(text, ',');
  read.more = want == "m";
  const auto wanted = read.more ? std::optional{0.0} : read_rate(want);
  const auto used = read_rate(take_field(text, ','));
  const auto refused = read_rate(text);
  if (!level || !wanted || !used || !refused) return std::nullopt;
  read.level = *level;
  read.want = *wanted;
  read.used = *used;
  read.refused = *refused;
  return read;
}

DATAFLUX_INLINE std::string write_job_record(const job_record& record) {
  std::string text = "1;";
  append_number(text, record.rank);
  text += ';';
  append_number(text, record.beat);
  const std::size_t count = std::min(record.budgets.size(), most_job_budgets);
  for (std::size_t i = 0; i < count; ++i) {
    const job_budget& each = record.budgets[i];
    std::string part = ";";
    codec::append_percent(part, each.bucket);
    part += each.writes ? ",w" : ",r";
    append_rate(part, each.level);
    if (each.more) {
      part += ",m";
    } else {
      append_rate(part, each.want);
    }
    append_rate(part, each.used);
    append_rate(part, each.refused);
    if (text.size() + part.size() <= longest_job_record) text += part;
  }
  return text;
}

DATAFLUX_INLINE std::optional<job_record> read_job_record(std::string_view text) {
  if (text.size() > longest_job_record) return std::nullopt;
  if (take_field(text, ';') != "1") return std::nullopt;
  const auto rank = read_whole(take_field(text, ';'));
  const auto beat = read_whole(take_field(text, ';'));
  if (!rank || *rank > UINT32_MAX || !beat) return std::nullopt;
  job_record read{.rank = static_cast<std::uint32_t>(*rank), .beat = *beat};
  while (!text.empty()) {
    auto budget = read_job_budget(take_field(text, ';'));
    if (!budget || read.budgets.size() == most_job_budgets) return std::nullopt;
    read.budgets.push_back(*std::move(budget));
  }
  return read;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
