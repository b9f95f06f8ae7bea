#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/http/detail/message.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

template <class Integer>
void append_number(std::string& out, Integer value) {
  char digits[20];  // holds every 64-bit number, sign included
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

/// Writes the query of a request's target in place, from left to right and without temporaries.
/// `Writer`, which each member returns, derives from it and writes the path first.
template <class Writer>
class query_writer {
 public:
  explicit query_writer(http::request& out) noexcept : out_(out.target) {}

  /// A piece of query that is encoded already.
  Writer& raw(std::string_view encoded) {
    out_.push_back(mark_);
    mark_ = '&';
    out_.append(encoded);
    return self();
  }
  Writer& text(std::string_view key, std::string_view value) {
    raw(key);
    out_.push_back('=');
    codec::append_percent(out_, value);
    return self();
  }
  /// Left out when empty.
  Writer& optional_text(std::string_view key, std::string_view value) {
    return value.empty() ? self() : text(key, value);
  }
  template <class Integer>
  Writer& number(std::string_view key, Integer value) {
    raw(key);
    out_.push_back('=');
    append_number(out_, value);
    return self();
  }

 protected:
  Writer& self() noexcept { return static_cast<Writer&>(*this); }
  std::string& out_;

 private:
  char mark_{'?'};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
