#pragma once
// The least that decodes a listing page by simdjson: four fields of each object into plain arrays.
// The floor and the libcurl reference share it.

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"

namespace bench {

class page_floor {
 public:
  /// Decodes one page, replacing the last. `padded` has SIMDJSON_PADDING readable bytes behind it.
  /// Returns the next page's token, empty on the last page.
  std::string_view decode(std::string_view padded) {
    names_.clear();
    name_ends_.clear();
    sizes_.clear();
    generations_.clear();
    crcs_.clear();
    token_.clear();
    const simdjson::padded_string_view view(padded, padded.size() + simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document page;
    simdjson::ondemand::object root;
    if (parser_.iterate(view).get(page) != simdjson::SUCCESS ||
        page.get_object().get(root) != simdjson::SUCCESS)
      fail("a page is not JSON");
    for (auto field : root) {
      const simdjson::ondemand::raw_json_string key = field.key();
      std::string_view token;
      if (key == "items")
        decode_items(field.value());
      else if (key == "nextPageToken" && field.value().get_string().get(token) == 0)
        token_ = token;
    }
    return token_;
  }

  std::size_t size() const { return sizes_.size(); }

 private:
  void decode_items(simdjson::simdjson_result<simdjson::ondemand::value> items) {
    for (auto item : items) {
      for (auto field : item.get_object()) {
        const simdjson::ondemand::raw_json_string key = field.key();
        if (key == "name") {
          names_ += std::string_view(field.value().get_string());
          name_ends_.push_back(names_.size());
        } else if (key == "size") {
          sizes_.push_back(field.value().get_uint64_in_string());
        } else if (key == "generation") {
          generations_.push_back(field.value().get_uint64_in_string());
        } else if (key == "crc32c") {
          crcs_.push_back(decode_crc(field.value().get_string()));
        }
      }
    }
  }

  static std::uint32_t decode_crc(std::string_view text) {
    static const auto values = [] {
      std::array<std::uint8_t, 256> out{};
      constexpr std::string_view alphabet =
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      for (std::size_t i = 0; i < alphabet.size(); ++i)
        out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
      return out;
    }();
    if (text.size() != 8) fail("a checksum is not of eight characters");
    std::uint64_t bits = 0;
    for (const char c : text.substr(0, 6))
      bits = bits << 6U | values[static_cast<unsigned char>(c)];
    return static_cast<std::uint32_t>(bits >> 4U);
  }

  simdjson::ondemand::parser parser_;
  std::string names_;
  std::string token_;
  std::vector<std::size_t> name_ends_;
  std::vector<std::uint64_t> sizes_, generations_;
  std::vector<std::uint32_t> crcs_;
};

}  // namespace bench
