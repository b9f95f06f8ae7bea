#pragma once

#include <span>
#include <string_view>

/// Replies, each the whole of what a server sent before it closed.
namespace http1_corpus {

struct sample {
  std::string_view name;
  std::string_view bytes;
  int status;             ///< of the final head; 0 = not a reply that may be accepted
  std::string_view body;  ///< decoded
  bool head{false};       ///< answers a HEAD
};

/// Accepted, or refused when `status` is 0.
std::span<const sample> samples();

}  // namespace http1_corpus
