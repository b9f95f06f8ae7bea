#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/list/detail/filter_table.hpp>
#include <dataflux/list/detail/page_check.hpp>
#include <dataflux/list/list_filter.hpp>
#include <dataflux/store/detail/condition_scratch.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>
#include <variant>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// The bits of the filters at the front of the table, which are at work by default.
inline constexpr std::uint32_t usual_filters = 3;

/// The options, and what the filters need of them at each row.
struct filter_rules {
  list_filter_options options{};
  std::uint32_t at_work{usual_filters};  ///< a bit for each filter, in the order of the table
  std::optional<std::regex> expression{};
};

inline bool drops_marker(const filter_rules&, const object_columns&, std::size_t,
                         const object_row& row) {
  return row.size == 0 && row.name.ends_with('/');
}

inline bool drops_composed(const filter_rules&, const object_columns&, std::size_t,
                           const object_row& row) {
  return is_reserved_name(row.name) || is_condition_scratch(row.name, row.size);
}

inline std::string prepare_suffix(filter_rules& rules) {
  const std::string& suffix = rules.options.suffix;
  return codec::is_valid_utf8(suffix) ? "" : "suffix " + in_quotes(suffix) + " is not UTF-8";
}
inline bool drops_suffix(const filter_rules& rules, const object_columns&, std::size_t,
                         const object_row& row) {
  return !row.name.ends_with(rules.options.suffix);
}

inline std::string prepare_size(filter_rules& rules) {
  const std::uint64_t min = rules.options.min_size;
  const std::uint64_t max = rules.options.max_size;
  if (min <= max) return {};
  return "min_size " + std::to_string(min) + " is above max_size " + std::to_string(max);
}
inline bool drops_size(const filter_rules& rules, const object_columns&, std::size_t,
                       const object_row& row) {
  return row.size < rules.options.min_size || row.size > rules.options.max_size;
}

inline std::string prepare_storage_class(filter_rules& rules) {
  const auto& names = rules.options.storage_classes;
  const bool good = std::find(names.begin(), names.end(), "") == names.end();
  return good ? "" : "a storage class is empty";
}
inline bool drops_storage_class(const filter_rules& rules, const object_columns& rows,
                                std::size_t i, const object_row&) {
  const auto& names = rules.options.storage_classes;
  return std::find(names.begin(), names.end(), rows.extras(i).storage_class) == names.end();
}

inline std::string prepare_regex(filter_rules& rules) {
  const std::string& regex = rules.options.regex;
  try {
    rules.expression.emplace(regex, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& e) {
    return "regex " + in_quotes(regex) + ": " + e.what();
  }
  return {};
}
inline bool drops_regex(const filter_rules& rules, const object_columns&, std::size_t,
                        const object_row& row) {
  return !std::regex_search(row.name.begin(), row.name.end(), *rules.expression);
}

/// An option: its name in a manifest, and its member.
struct filter_option {
  using truth = bool list_filter_options::*;
  using number = std::uint64_t list_filter_options::*;
  using text = std::string list_filter_options::*;
  using texts = std::vector<std::string> list_filter_options::*;

  std::string_view name{};
  std::variant<truth, number, text, texts> member{};
};

/// A filter. Where an option is a truth, the filter is at work when it is true; else when an option
/// differs from its default.
struct filter_row {
  std::uint64_t list_dropped::*count{nullptr};
  std::array<filter_option, 2> options{};  ///< unused ones have no name
  extra_columns needs{extra_columns::none};
  /// What is wrong with the options, empty if nothing; makes what `drops` needs. May be null.
  std::string (*prepare)(filter_rules& rules){nullptr};
  /// May throw std::regex_error.
  bool (*drops)(const filter_rules& rules, const object_columns& rows, std::size_t i,
                const object_row& row){nullptr};
};

/// All that there is to know of each filter, in the order in which they are asked: a row is counted
/// for the first that drops it, and the expression, which costs most, comes last. A new filter is a
/// member of list_filter_options, a count in list_dropped and a row here; what has no row does not
/// compile (see below).
inline constexpr std::array list_filters{
    filter_row{.count = &list_dropped::markers,
               .options = {{{"skip_markers", &list_filter_options::skip_markers}}},
               .drops = drops_marker},
    filter_row{.count = &list_dropped::composed,
               .options = {{{"skip_composed", &list_filter_options::skip_composed}}},
               .drops = drops_composed},
    filter_row{.count = &list_dropped::suffix,
               .options = {{{"suffix", &list_filter_options::suffix}}},
               .prepare = prepare_suffix,
               .drops = drops_suffix},
    filter_row{.count = &list_dropped::size,
               .options = {{{"min_size", &list_filter_options::min_size},
                            {"max_size", &list_filter_options::max_size}}},
               .prepare = prepare_size,
               .drops = drops_size},
    filter_row{.count = &list_dropped::storage_class,
               .options = {{{"storage_class", &list_filter_options::storage_classes}}},
               .needs = extra_columns::storage_class,
               .prepare = prepare_storage_class,
               .drops = drops_storage_class},
    filter_row{.count = &list_dropped::regex,
               .options = {{{"regex", &list_filter_options::regex}}},
               .prepare = prepare_regex,
               .drops = drops_regex},
};

/// Stands for a member of any type, where members are counted.
struct any_member {
  template <class T>
  operator T() const noexcept;
};

template <class T, class... Members>
consteval std::size_t member_count() {
  if constexpr (requires { T{Members{}..., any_member{}}; }) {
    return member_count<T, Members..., any_member>();
  } else {
    return sizeof...(Members);
  }
}

consteval std::size_t options_in_table() {
  std::vector<filter_option> all;
  for (const filter_row& filter : list_filters) {
    for (const filter_option& option : filter.options) {
      if (option.name.empty()) continue;
      for (const filter_option& other : all) {
        if (other.member == option.member || other.name == option.name) return 0;
      }
      all.push_back(option);
    }
  }
  return all.size();
}

consteval std::size_t counts_in_table() {
  for (const filter_row& filter : list_filters) {
    int uses = 0;
    for (const filter_row& other : list_filters) uses += other.count == filter.count ? 1 : 0;
    if (uses != 1) return 0;
  }
  return list_filters.size();
}

static_assert(options_in_table() == member_count<list_filter_options>(),
              "each member of list_filter_options is an option of one row of list_filters");
static_assert(counts_in_table() == member_count<list_dropped>(),
              "each member of list_dropped is the count of one row of list_filters");

/// Whether the option differs from its default.
inline bool differs(const filter_option& option, const list_filter_options& options) {
  const list_filter_options usual;
  return std::visit([&](auto member) { return options.*member != usual.*member; }, option.member);
}

inline bool is_at_work(const filter_row& filter, const list_filter_options& options) {
  return std::any_of(filter.options.begin(), filter.options.end(),
                     [&](const filter_option& option) {
                       if (option.name.empty()) return false;
                       const auto* truth = std::get_if<filter_option::truth>(&option.member);
                       return truth != nullptr ? options.*(*truth) : differs(option, options);
                     });
}

DATAFLUX_INLINE extra_columns columns_for(const list_filter_options& options) {
  extra_columns all = extra_columns::none;
  for (const filter_row& filter : list_filters) {
    if (is_at_work(filter, options)) all = all | filter.needs;
  }
  return all;
}

/// The text of a value in a manifest.
struct filter_value_text {
  using entries = std::vector<std::string>;
  entries operator()(bool value) const { return {value ? "true" : "false"}; }
  entries operator()(std::uint64_t value) const { return {std::to_string(value)}; }
  entries operator()(const std::string& value) const { return {value}; }
  entries operator()(const entries& value) const { return value; }
};

DATAFLUX_INLINE std::vector<std::pair<std::string, std::string>> tell_filter(
    const list_filter_options& options) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const filter_row& filter : list_filters) {
    for (const filter_option& option : filter.options) {
      if (option.name.empty()) continue;
      if (!std::holds_alternative<filter_option::truth>(option.member) && !differs(option, options))
        continue;
      const auto texts = std::visit(
          [&](auto member) { return filter_value_text{}(options.*member); }, option.member);
      for (const std::string& text : texts) out.emplace_back(option.name, text);
    }
  }
  return out;
}

/// The other way round; false when the text is no such value.
struct filter_value_reader {
  const std::string& text;

  bool operator()(bool& to) const {
    to = text == "true";
    return to || text == "false";
  }
  bool operator()(std::uint64_t& to) const {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), to);
    return failed == std::errc{} && end == text.data() + text.size();
  }
  bool operator()(std::string& to) const { return to = text, true; }
  bool operator()(std::vector<std::string>& to) const { return to.push_back(text), true; }
};

DATAFLUX_INLINE bool read_filter_option(std::string_view name, const std::string& value,
                                        list_filter_options& to) {
  for (const filter_row& filter : list_filters) {
    for (const filter_option& option : filter.options) {
      if (option.name.empty() || option.name != name) continue;
      return std::visit([&](auto member) { return filter_value_reader{value}(to.*member); },
                        option.member);
    }
  }
  return false;
}

/// The count to raise when the row is to be dropped; null when it stays. Throws what the expression
/// throws. The table is unrolled, so that calls through it cost nothing.
template <std::size_t... F>
std::uint64_t list_dropped::*drop_reason(const filter_rules& rules, const object_columns& rows,
                                         std::size_t i, const object_row& row,
                                         std::index_sequence<F...>) {
  std::uint64_t list_dropped::*count = nullptr;
  static_cast<void>(
      (((rules.at_work >> F & 1U) != 0 && list_filters[F].drops(rules, rows, i, row) &&
        (count = list_filters[F].count) != nullptr) ||
       ...));
  return count;
}

/// The sum of the sizes if usual filters, the only ones at work, keep every row. Apart from the
/// table for speed, since nearly every page goes through it.
inline std::optional<std::uint64_t> bytes_if_all_stay(const list_filter_options& options,
                                                      const object_columns& rows) {
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < rows.chunk_count(); ++c) {
    const object_chunk chunk = rows.chunk(c);
    const char* const names = chunk.names.data();
    for (std::size_t i = 0; i < chunk.rows; ++i) {
      const std::int32_t from = chunk.offsets[i];
      const std::int32_t to = chunk.offsets[i + 1];
      bytes += chunk.sizes[i];
      if (chunk.sizes[i] == 0 && to > from && names[to - 1] == '/' && options.skip_markers) {
        return std::nullopt;
      }
      if (!options.skip_composed || to <= from) continue;
      const std::string_view name{names + from, static_cast<std::size_t>(to - from)};
      const bool below = name.front() == composed_objects_prefix.front() && is_reserved_name(name);
      if (below || is_condition_scratch(name, chunk.sizes[i])) return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace detail

DATAFLUX_INLINE std::uint64_t list_dropped::total() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& filter : detail::list_filters) sum += this->*filter.count;
  return sum;
}

DATAFLUX_INLINE list_dropped& list_dropped::operator+=(const list_dropped& other) noexcept {
  for (const auto& filter : detail::list_filters) this->*filter.count += other.*filter.count;
  return *this;
}

DATAFLUX_INLINE list_filter::list_filter()
    : rules_(std::make_shared<const detail::filter_rules>()) {}

DATAFLUX_INLINE result<list_filter> list_filter::create(const list_filter_options& options) {
  auto made = std::make_shared<detail::filter_rules>();
  made->options = options;
  made->at_work = 0;
  for (std::size_t f = 0; f < detail::list_filters.size(); ++f) {
    const detail::filter_row& filter = detail::list_filters[f];
    if (!detail::is_at_work(filter, options)) continue;
    made->at_work |= 1U << f;
    if (filter.prepare == nullptr) continue;
    if (const std::string wrong = filter.prepare(*made); !wrong.empty()) {
      return error{errc::invalid_argument, "filter: " + wrong};
    }
  }
  return list_filter{std::move(made)};
}

DATAFLUX_INLINE result<list_filter::outcome> list_filter::apply(const object_columns& rows) const {
  outcome out;
  const auto total = rows.size();
  if ((rules_->at_work & ~detail::usual_filters) == 0) {
    if (const auto bytes = detail::bytes_if_all_stay(rules_->options, rows)) {
      return outcome{.kept = rows.slice(0, total), .bytes = *bytes, .dropped = {}};
    }
  }
  bool copying = false;  // from the first row on that is dropped
  std::size_t i = 0;
  std::string_view at;
  try {
    for (auto it = rows.begin(); it != rows.end(); ++it, ++i) {
      const object_row row = *it;
      at = row.name;
      const auto reason = detail::drop_reason(
          *rules_, rows, i, row, std::make_index_sequence<detail::list_filters.size()>());
      if (reason == nullptr) {
        out.bytes += row.size;
        if (copying) out.kept.append(row, it.extras());
        continue;
      }
      ++(out.dropped.*reason);
      if (copying) continue;
      copying = true;
      out.kept = object_columns(rows.kept());
      out.kept.reserve(total);
      const auto stop = it;
      for (auto before = rows.begin(); before != stop; ++before) {
        out.kept.append(*before, before.extras());
      }
    }
  } catch (const std::regex_error& e) {
    return error{errc::invalid_argument,
                 "filter: regex on the name " + detail::in_quotes(at) + ": " + e.what()};
  }
  if (copying) {
    out.kept.shrink_to_fit();
  } else {
    out.kept = rows.slice(0, total);
  }
  return out;
}

}  // namespace dataflux::inline DATAFLUX_ABI
