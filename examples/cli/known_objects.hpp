#pragma once

#include <dataflux/list/fast_list.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "listing.hpp"

namespace cli {

struct known_object {
  std::uint64_t size{0};
  std::optional<std::uint32_t> crc32c{};
};

/// What a prefix holds, for who asks in order of names: it is listed meanwhile, a bounded stretch
/// ahead, so that memory does not grow with it. One thread at a time.
class known_objects {
 public:
  known_objects(dataflux::object_store& store, const listing_request& what);

  /// The object of that name, if it is there; nothing for a name below the one before. Blocks for
  /// the listing. Errors: those of dataflux::fast_list(), each time.
  dataflux::result<std::optional<known_object>> find(std::string_view name);

 private:
  dataflux::fast_lister lister_;
  std::optional<dataflux::listed_page> page_{dataflux::listed_page{}};
  std::size_t row_{0};
};

}  // namespace cli
