#include <emulator/digest.hpp>
#include <emulator/listing.hpp>
#include <emulator/service_error.hpp>

#include <algorithm>

namespace emulator {
namespace {

/// Where a page begins.
struct resume_point {
  enum class place : char {
    after_name = 'n',     ///< after the object of that name
    after_prefix = 'p',   ///< after all names that begin with it
    trailing_item = 't',  ///< prefix given, the object of exactly that name is still due
  };
  place where{place::after_name};
  std::string name{};
};

std::string encode(const resume_point& point) {
  return base64url_encode(std::string{static_cast<char>(point.where)} + point.name);
}

resume_point decode(const std::string& token) {
  const auto raw = base64url_decode(token);
  if (!raw || raw->empty() || std::string_view{"npt"}.find((*raw)[0]) == std::string_view::npos) {
    throw invalid_argument("Invalid page token");
  }
  return {static_cast<resume_point::place>((*raw)[0]), raw->substr(1)};
}

/// The first name that does not begin with `prefix` and sorts after those that do.
object_map::const_iterator past_prefix(const object_map& objects, std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return objects.end();
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return objects.lower_bound(prefix);
}

class pager {
 public:
  pager(const object_map& objects, const listing_request& request)
      : objects_(objects), request_(request) {}

  listing_page run() {
    auto at = first();
    while (at != objects_.end() && in_bounds(at->first)) {
      const std::string folded = fold(at->first);
      if (folded.empty()) {
        if (!room()) return finish();
        page_.items.push_back(at->second);
        last_ = {resume_point::place::after_name, at->first};
        ++at;
        continue;
      }
      if (!trailing_due_) {
        if (!room()) return finish();
        page_.prefixes.push_back(folded);
        last_ = {resume_point::place::after_prefix, folded};
      }
      trailing_due_ = false;
      if (request_.include_trailing_delimiter && at->first == folded) {
        last_ = {resume_point::place::trailing_item, folded};
        if (!room()) return finish();
        page_.items.push_back(at->second);
        last_ = {resume_point::place::after_prefix, folded};
      }
      at = past_prefix(objects_, folded);
    }
    return std::move(page_);
  }

 private:
  object_map::const_iterator first() {
    const std::string& least = std::max(request_.prefix, request_.start_offset);
    auto at = objects_.lower_bound(least);
    if (request_.page_token.empty()) return at;
    last_ = decode(request_.page_token);
    object_map::const_iterator resumed;
    switch (last_.where) {
      case resume_point::place::after_name:
        resumed = objects_.upper_bound(last_.name);
        break;
      case resume_point::place::after_prefix:
        resumed = past_prefix(objects_, last_.name);
        break;
      case resume_point::place::trailing_item:
        resumed = objects_.find(last_.name);
        trailing_due_ = resumed != objects_.end();
        if (!trailing_due_) resumed = past_prefix(objects_, last_.name);
        break;
    }
    const bool later =
        at == objects_.end() || (resumed != objects_.end() && resumed->first < least);
    return later ? at : resumed;
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

  listing_page finish() {
    page_.next_page_token = encode(last_);
    return std::move(page_);
  }

  const object_map& objects_;
  const listing_request& request_;
  listing_page page_{};
  resume_point last_{};
  bool trailing_due_{false};
};

}  // namespace

listing_page list(const object_map& objects, const listing_request& request) {
  return pager{objects, request}.run();
}

}  // namespace emulator
