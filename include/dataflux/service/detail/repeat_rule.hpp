#pragma once

#include <dataflux/service/detail/last_writer.hpp>
#include <dataflux/service/detail/verb.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// When a verb may be sent again after an attempt of unknown outcome, and how that outcome is found
/// out, as data. The retry decision and the documentation read it.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// When carrying a request out twice equals carrying it out once.
enum class repeat_condition : std::uint8_t {
  always,
  generation,            ///< it names a generation, or has if_generation_match
  generation_match,      ///< it has if_generation_match, which the first success makes false
  metageneration_match,  ///< it has if_metageneration_match
  never,
};

/// What the error of a repeated attempt says when an earlier one may have succeeded with its reply
/// lost.
enum class repeat_meaning : std::uint8_t {
  failed,   ///< what it says
  done,     ///< the earlier attempt did it: success
  compare,  ///< the object tells: success if it is the one that the call was to make
};

struct repeat_rule {
  std::string_view verb{};
  repeat_condition safe{repeat_condition::always};
  repeat_meaning on_missing{repeat_meaning::failed};  ///< 404, 410
  repeat_meaning on_unmet{repeat_meaning::failed};    ///< 412
  /// A call that ends without a reply is resolved by a stat of the object, too.
  bool looks{false};
  /// Of a request with last_writer_wins: what a stat of the object says to it.
  last_writer_rule last_writer{};
};

/// The rules of those verbs, in their order; verbs of one name have one together.
template <template <class...> class List, class... Verbs>
constexpr auto rules_of(List<Verbs...>) noexcept {
  constexpr repeat_rule all[]{Verbs::repeat...};
  constexpr auto is_first = [](const repeat_rule* rule, const repeat_rule* begin) {
    return rule == begin || rule[-1].verb != rule->verb;
  };
  constexpr std::size_t count = [&] {
    std::size_t sum = 0;
    for (const repeat_rule& rule : all) sum += is_first(&rule, all) ? 1U : 0U;
    return sum;
  }();
  std::array<repeat_rule, count> rules{};
  std::size_t at = 0;
  for (const repeat_rule& rule : all) {
    if (is_first(&rule, all)) rules[at++] = rule;
  }
  return rules;
}

/// The place of a verb's rule among them.
template <class Rules>
constexpr std::size_t place_of(const Rules& rules, std::string_view verb) noexcept {
  std::size_t at = 0;
  while (rules[at].verb != verb) ++at;  // a verb that is not there does not compile
  return at;
}

/// May this request be sent again although it may have been carried out?
template <class Request>
bool may_be_repeated(const repeat_rule& rule, const Request& r) noexcept {
  if (rule.safe == repeat_condition::always) return true;
  if constexpr (requires { r.conditions; }) {
    if (rule.safe == repeat_condition::metageneration_match) {
      return r.conditions.if_metageneration_match.has_value();
    }
    if (rule.safe != repeat_condition::never && r.conditions.if_generation_match) return true;
  }
  if constexpr (requires { r.generation; }) {
    return rule.safe == repeat_condition::generation && r.generation != 0;
  } else {
    return false;
  }
}

/// Does the last writer win with this request?
template <class Request>
bool is_last_writer(const repeat_rule& rule, const Request& r) noexcept {
  if constexpr (requires { r.last_writer_wins; }) {
    return r.last_writer_wins && !r.conditions.any() && !may_be_repeated(rule, r);
  } else {
    return false;
  }
}

/// What a reply of that status to a repeated attempt says.
constexpr repeat_meaning meaning_of(const repeat_rule& rule, int http_status) noexcept {
  if (http_status == 404 || http_status == 410) return rule.on_missing;
  return http_status == 412 ? rule.on_unmet : repeat_meaning::failed;
}

/// Such as "generation_match".
constexpr std::string_view to_string(repeat_condition condition) noexcept {
  switch (condition) {
    case repeat_condition::always:
      return "always";
    case repeat_condition::generation:
      return "generation";
    case repeat_condition::generation_match:
      return "generation_match";
    case repeat_condition::metageneration_match:
      return "metageneration_match";
    case repeat_condition::never:
      return "never";
  }
  return "never";
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
