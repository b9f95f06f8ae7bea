#include <emulator/faults.hpp>

namespace emulator {

bool matches_pattern(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      // Let the last star take one byte more.
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

/// Of a copy, either end will do.
bool describes(const std::string& pattern, const std::string& name, const std::string& other) {
  if (pattern.empty() || matches_pattern(pattern, name)) return true;
  return !other.empty() && matches_pattern(pattern, other);
}

double draw(std::mt19937_64& chance) {
  return std::uniform_real_distribution<double>{0.0, 1.0}(chance);
}

}  // namespace

void fault_script::add(fault_rule rule) {
  const std::lock_guard lock{mutex_};
  rules_.emplace_back(std::move(rule));
  any_.store(true, std::memory_order_release);
}

void fault_script::clear() {
  const std::lock_guard lock{mutex_};
  rules_.clear();
  hits_ = 0;
  any_.store(false, std::memory_order_release);
}

std::uint64_t fault_script::hits() const {
  const std::lock_guard lock{mutex_};
  return hits_;
}

std::vector<std::pair<fault_rule, std::uint64_t>> fault_script::rules() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::pair<fault_rule, std::uint64_t>> out;
  for (const counted_rule& entry : rules_) out.emplace_back(entry.rule, entry.hits);
  return out;
}

std::optional<fault_rule> fault_script::match(const call& asked, bool early) {
  const std::lock_guard lock{mutex_};
  std::optional<fault_rule> hit;
  for (counted_rule& entry : rules_) {
    const fault_rule& rule = entry.rule;
    if (rule.request_bytes.has_value() != early) continue;
    if (!rule.verb.empty() && rule.verb != asked.verb) continue;
    if (rule.part != 0 && rule.part != asked.part) continue;
    if (!describes(rule.object, asked.object, asked.to_object)) continue;
    if (!describes(rule.bucket, asked.bucket, asked.to_bucket)) continue;
    ++entry.seen;
    const bool due =
        entry.seen >= rule.from && (rule.count == 0 || entry.seen - rule.from < rule.count);
    if (!due || hit) continue;
    if (rule.probability < 1.0 && draw(entry.chance) >= rule.probability) continue;
    ++entry.hits;
    hit = rule;
  }
  if (hit) ++hits_;
  return hit;
}

}  // namespace emulator
