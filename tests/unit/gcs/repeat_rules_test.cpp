#include <dataflux/gcs/detail/change_verbs.hpp>
#include <dataflux/gcs/detail/multipart_verbs.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/resumable_verbs.hpp>
#include <dataflux/gcs/detail/verbs.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace repeat_rules_test {

namespace gcs = dataflux::detail::gcs;
using gcs::repeat_meaning;

namespace {

template <class Verb>
bool repeats(const typename Verb::request& r) {
  return dataflux::detail::service::may_be_repeated(Verb::repeat, r);
}

}  // namespace

TEST_CASE("repeat_rules: a row for each verb, and one only", "[gcs]") {
  std::set<std::string> names;
  for (const auto& rule : gcs::repeat_rules) {
    CAPTURE(rule.verb);
    CHECK(names.insert(std::string(rule.verb)).second);
    CHECK(gcs::find_repeat_rule(rule.verb) == &rule);
    // What compares needs a stat, and what is always safe has no condition to fail.
    if (rule.on_unmet == repeat_meaning::compare) CHECK(rule.looks);
    if (rule.safe == gcs::repeat_condition::always) CHECK(rule.on_unmet == repeat_meaning::failed);
  }
  CHECK(gcs::find_repeat_rule("objects.none") == nullptr);
}

TEST_CASE("repeat_rules: writes are repeated with the condition that makes it harmless", "[gcs]") {
  // protocol.md 3.1
  CHECK_FALSE(repeats<gcs::compose_verb>({}));
  CHECK_FALSE(repeats<gcs::compose_verb>({.conditions = {.if_metageneration_match = 1}}));
  CHECK(repeats<gcs::compose_verb>({.conditions = {.if_generation_match = 0}}));
  CHECK_FALSE(repeats<gcs::move_verb>({.source_conditions = {.if_generation_match = 3}}));
  CHECK(repeats<gcs::move_verb>({.conditions = {.if_generation_match = 3}}));
  CHECK_FALSE(repeats<gcs::rewrite_verb>({.source_generation = 4}));
  CHECK(repeats<gcs::rewrite_verb>({.conditions = {.if_generation_match = 3}}));
  CHECK(gcs::rewrite_verb::continued({.token = "t"}));
  CHECK_FALSE(gcs::rewrite_verb::continued({}));
  CHECK_FALSE(repeats<gcs::patch_verb>({.generation = 7}));
  CHECK_FALSE(repeats<gcs::patch_verb>({.conditions = {.if_generation_match = 3}}));
  CHECK(repeats<gcs::patch_verb>({.conditions = {.if_metageneration_match = 3}}));
  CHECK(repeats<gcs::remove_verb>({.generation = 7}));
  CHECK_FALSE(repeats<gcs::multipart_initiate_verb>({}));
  CHECK(repeats<gcs::upload_part_verb>({}));
  CHECK(repeats<gcs::multipart_complete_verb>({}));
  CHECK_FALSE(repeats<gcs::resumable_start_verb>({}));
  CHECK(repeats<gcs::resumable_start_verb>({.conditions = {.if_generation_match = 0}}));
  CHECK(repeats<gcs::resumable_chunk_verb>({}));
}

TEST_CASE("repeat_rules: what a repeated attempt's error means", "[gcs]") {
  const auto meaning = [](std::string_view verb, int status) {
    return dataflux::detail::service::meaning_of(*gcs::find_repeat_rule(verb), status);
  };
  CHECK(meaning("multipart.abort", 404) == repeat_meaning::done);
  CHECK(meaning("multipart.complete", 404) == repeat_meaning::compare);
  CHECK(meaning("multipart.part", 404) == repeat_meaning::failed);
  CHECK(meaning("objects.delete", 404) == repeat_meaning::done);
  CHECK(meaning("objects.delete", 412) == repeat_meaning::failed);
  CHECK(meaning("objects.move", 404) == repeat_meaning::compare);
  CHECK(meaning("objects.compose", 412) == repeat_meaning::compare);
  CHECK(meaning("objects.compose", 404) == repeat_meaning::failed);
  CHECK(meaning("resumable.chunk", 410) == repeat_meaning::compare);
  CHECK(meaning("objects.insert", 403) == repeat_meaning::failed);
}

}  // namespace repeat_rules_test
