#include <emulator/message.hpp>

#include <algorithm>

namespace emulator {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

template <typename Headers>
std::string_view find_header(const Headers& headers, std::string_view name) noexcept {
  for (const auto& h : headers) {
    if (same_name(h.name, name)) return h.value;
  }
  return {};
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

std::string_view http_request::header(std::string_view name) const noexcept {
  return find_header(headers, name);
}
std::string_view http_reply::header(std::string_view name) const noexcept {
  return find_header(headers, name);
}

std::string http_request::base() const {
  return (secure ? "https://" : "http://") + std::string{header("Host")};
}

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 202:
      return "Accepted";
    case 301:
      return "Moved Permanently";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Resume Incomplete";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 416:
      return "Requested Range Not Satisfiable";
    case 429:
      return "Too Many Requests";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace emulator
