#pragma once

#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/shard_pattern.hpp>
#include <dataflux/shard/impl/sample_grouper.ipp>
#include <dataflux/shard/rewrite_shards.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

/// "image=jpg;png", or "jpg".
struct chosen_field {
  std::string name{};
  std::vector<std::string> from{};
};

inline result<chosen_field> chosen_field_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  std::string_view names = equals == std::string_view::npos ? text : text.substr(equals + 1);
  chosen_field made{.name = std::string(text.substr(0, equals))};
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(';'), names.size());
    made.from.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  const bool empty = std::any_of(made.from.begin(), made.from.end(),
                                 [](const std::string& each) { return each.empty(); });
  if (made.name.empty() || made.from.empty() || empty) {
    return error{errc::invalid_argument,
                 "the field '" + std::string(text) + "': write jpg, or image=jpg;png"};
  }
  return made;
}

class choosing {
 public:
  choosing(sample_source from, sample_choice choice) noexcept
      : from_(std::move(from)), choice_(std::move(choice)) {}

  result<void> prepare() {
    if (choice_.step == 0 || (choice_.end != 0 && choice_.end < choice_.first)) {
      return error{errc::invalid_argument, "a slice begins before its end, and its step is not 0"};
    }
    for (const std::string& each : choice_.fields) {
      auto field = chosen_field_of(each);
      if (!field) return std::move(field).error();
      fields_.push_back(*std::move(field));
    }
    for (const std::string& each : choice_.keys) wanted_.emplace(each, false);
    if (choice_.rekey.empty()) return {};
    auto pattern = shard_pattern::parse(choice_.rekey, "train/%08d");
    if (!pattern) return std::move(pattern).error();
    rekey_ = *std::move(pattern);
    return {};
  }

  result<sample_view*> next() {
    for (;;) {
      const bool full = choice_.end != 0 && number_ >= choice_.end;
      // The keys are looked for to the end all the same.
      if (full && wanted_.empty()) return nullptr;
      auto got = from_();
      if (!got) return got;
      if (*got == nullptr) return end();
      if (!is_wanted((*got)->key)) continue;
      const std::uint64_t number = number_++;
      if (full || number < choice_.first || (number - choice_.first) % choice_.step != 0) continue;
      return change(**got);
    }
  }

 private:
  bool is_wanted(std::string_view key) {
    if (wanted_.empty()) return true;
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) return false;
    found->second = true;
    return true;
  }
  result<sample_view*> end() {
    std::size_t missing = 0;
    std::string text;
    for (const auto& [key, seen] : wanted_) {
      if (!seen && missing++ == 0) append_quoted(text, key);
    }
    if (missing == 0) return nullptr;
    return error{errc::not_found, std::to_string(missing) +
                                      " of the keys that were asked for are "
                                      "of no sample, such as " +
                                      text};
  }
  result<sample_view*> change(sample_view& sample) {
    if (!fields_.empty()) {
      fields_now_.clear();
      for (const chosen_field& wanted : fields_) {
        const sample_field* found = find(sample, wanted.from);
        if (found == nullptr) {
          std::string text{"the sample "};
          append_quoted(text, sample.key);
          append_quoted(text += " has no field ", wanted.from.front());
          return error{errc::not_found, std::move(text)};
        }
        fields_now_.push_back({wanted.name, found->bytes});
      }
      std::swap(sample.fields, fields_now_);
    }
    if (rekey_) {
      auto key = rekey_->name(given_++);
      if (!key) {
        return error{errc::out_of_range, "the key of sample " + std::to_string(given_ - 1) +
                                             " does not fit the digits of '" + choice_.rekey +
                                             "'; give it more digits"};
      }
      key_ = *std::move(key);
      sample.key = key_;
    }
    return &sample;
  }
  static const sample_field* find(const sample_view& sample,
                                  const std::vector<std::string>& names) noexcept {
    for (const std::string& name : names) {
      for (const sample_field& each : sample.fields) {
        if (each.name == name) return &each;
      }
    }
    return nullptr;
  }

  sample_source from_;
  const sample_choice choice_;
  std::vector<chosen_field> fields_{};
  std::map<std::string, bool, std::less<>> wanted_{};
  std::optional<shard_pattern> rekey_{};
  std::uint64_t number_{0};  ///< of the samples with a wanted key
  std::uint64_t given_{0};
  std::vector<sample_field> fields_now_{};
  std::string key_{};
};

}  // namespace detail::shard

DATAFLUX_INLINE result<sample_source> choose_samples(sample_source from, sample_choice choice) {
  auto made = std::make_unique<detail::shard::choosing>(std::move(from), std::move(choice));
  if (auto good = made->prepare(); !good) return std::move(good).error();
  return sample_source([made = std::move(made)] { return made->next(); });
}

}  // namespace dataflux::inline DATAFLUX_ABI
