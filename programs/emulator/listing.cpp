#include <emulator/digest.hpp>
#include <emulator/listing.hpp>
#include <emulator/service_error.hpp>
#include <emulator/uri.hpp>

#include <algorithm>

namespace emulator {
namespace {

/// Where a page begins.
struct resume_point {
  enum class place : char {
    after_item = 'n',     ///< after that generation of the object of that name
    after_prefix = 'p',   ///< after all names that begin with it
    trailing_item = 't',  ///< prefix given, the object of exactly that name is still due
  };
  place where{place::after_item};
  std::string name{};
  std::int64_t generation{0};
};

std::string encode(const resume_point& point) {
  std::string raw{static_cast<char>(point.where)};
  if (point.where == resume_point::place::after_item) raw += std::to_string(point.generation);
  return base64url_encode(raw + ":" + point.name);
}

resume_point decode(const std::string& token) {
  const auto raw = base64url_decode(token);
  const std::size_t colon = raw ? raw->find(':') : std::string::npos;
  if (colon == std::string::npos || colon == 0 ||
      std::string_view{"npt"}.find((*raw)[0]) == std::string_view::npos) {
    throw invalid_argument("Invalid page token");
  }
  const auto generation = parse_integer(std::string_view{*raw}.substr(1, colon - 1));
  return {static_cast<resume_point::place>((*raw)[0]), raw->substr(colon + 1),
          generation.value_or(0)};
}

/// The first name that sorts after all that begin with `prefix`; empty when there can be none.
std::string past_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return {};
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

/// Walks the names of both maps in order.
class name_cursor {
 public:
  name_cursor(const object_map& live, const generation_map* noncurrent)
      : live_(live), others_(noncurrent == nullptr ? nothing() : *noncurrent) {}

  /// To the first name that is not below `least`.
  void seek(const std::string& least) {
    at_ = live_.lower_bound(least);
    other_ = others_.lower_bound(least);
  }
  /// Past all names that begin with `prefix`.
  void skip(const std::string& prefix) {
    const std::string next = past_prefix(prefix);
    if (!next.empty()) return seek(next);
    at_ = live_.end();
    other_ = others_.end();
  }
  void step() {
    const std::string here = name();
    if (at_ != live_.end() && at_->first == here) ++at_;
    if (other_ != others_.end() && other_->first == here) ++other_;
  }
  bool done() const { return at_ == live_.end() && other_ == others_.end(); }
  const std::string& name() const {
    if (other_ == others_.end()) return at_->first;
    if (at_ == live_.end()) return other_->first;
    return std::min(at_->first, other_->first);
  }
  /// What is listed under the present name, oldest first.
  std::vector<object_ptr> objects() const {
    std::vector<object_ptr> out;
    const std::string& here = name();
    if (other_ != others_.end() && other_->first == here) {
      for (const auto& [generation, object] : other_->second) out.push_back(object);
    }
    if (at_ != live_.end() && at_->first == here) out.push_back(at_->second);
    return out;
  }

 private:
  static const generation_map& nothing() {
    static const generation_map none{};
    return none;
  }
  const object_map& live_;
  const generation_map& others_;
  object_map::const_iterator at_{};
  generation_map::const_iterator other_{};
};

class pager {
 public:
  pager(const object_map& live, const generation_map& noncurrent, const listing_request& request)
      : cursor_(live, request.versions ? &noncurrent : nullptr), request_(request) {}

  listing_page run() {
    for (begin(); !cursor_.done() && in_bounds(cursor_.name());) {
      const std::string name = cursor_.name();
      const std::string folded = fold(name);
      if (!folded.empty() && folded <= request_.start_after) {
        cursor_.skip(folded);
        continue;
      }
      if (!(folded.empty() ? add_items(name) : add_prefix(folded, name))) {
        page_.next_page_token = encode(last_);
        break;
      }
      if (folded.empty()) {
        cursor_.step();
      } else {
        cursor_.skip(folded);
      }
    }
    return std::move(page_);
  }

 private:
  void begin() {
    std::string least = std::max(request_.prefix, request_.start_offset);
    // The least name above it has one NUL more.
    if (!request_.start_after.empty()) least = std::max(least, request_.start_after + '\0');
    if (request_.page_token.empty()) return cursor_.seek(least);
    last_ = decode(request_.page_token);
    resumed_ = true;
    if (last_.where == resume_point::place::after_prefix) {
      cursor_.skip(last_.name);
    } else {
      cursor_.seek(last_.name);
    }
    if (!cursor_.done() && cursor_.name() < least) cursor_.seek(least);
  }

  /// False when the page is full.
  bool add_items(const std::string& name) {
    if (!request_.match_glob.empty() && !matches_glob(request_.match_glob, name)) return true;
    for (const object_ptr& object : cursor_.objects()) {
      if (resumed_ && last_.where == resume_point::place::after_item && last_.name == name &&
          (!request_.versions || object->generation <= last_.generation)) {
        continue;
      }
      if (!room()) return false;
      page_.items.push_back(object);
      last_ = {resume_point::place::after_item, name, object->generation};
    }
    return true;
  }

  bool add_prefix(const std::string& folded, const std::string& name) {
    const bool trailing = request_.include_trailing_delimiter && name == folded;
    const bool item_due =
        resumed_ && last_.where == resume_point::place::trailing_item && last_.name == folded;
    const bool wanted = request_.match_glob.empty() || matches_glob(request_.match_glob, folded);
    if (!wanted) return true;
    if (!item_due) {
      if (!room()) return false;
      page_.prefixes.push_back(folded);
      last_ = {resume_point::place::after_prefix, folded};
    }
    if (!trailing) return true;
    const auto objects = cursor_.objects();
    last_ = {resume_point::place::trailing_item, folded};
    if (!room()) return false;
    page_.items.insert(page_.items.end(), objects.begin(), objects.end());
    last_ = {resume_point::place::after_prefix, folded};
    return true;
  }

  bool in_bounds(const std::string& name) const {
    if (!request_.end_offset.empty() && name >= request_.end_offset) return false;
    return name.starts_with(request_.prefix);
  }

  /// The prefix that stands for `name`, empty when the name stands for itself.
  std::string fold(const std::string& name) const {
    if (request_.delimiter.empty()) return {};
    const std::size_t at = name.find(request_.delimiter, request_.prefix.size());
    if (at == std::string::npos) return {};
    return name.substr(0, at + request_.delimiter.size());
  }

  bool room() const { return page_.items.size() + page_.prefixes.size() < request_.max_results; }

  name_cursor cursor_;
  const listing_request& request_;
  listing_page page_{};
  resume_point last_{};
  bool resumed_{false};
};

}  // namespace

listing_page list(const object_map& live, const generation_map& noncurrent,
                  const listing_request& request) {
  return pager{live, noncurrent, request}.run();
}

}  // namespace emulator
