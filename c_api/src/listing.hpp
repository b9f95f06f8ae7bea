#pragma once

#include "operation.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/store/object_columns.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dataflux_c {

/// What a listing is, whatever made it. Immutable, and shared with the streams that read it.
struct listed {
  std::shared_ptr<const dataflux::object_columns> rows{};
  std::string json{};
  bool versions{false};
  std::string scheme{"gs"};  ///< of the service that was listed
  /// Of all that was to be listed, with nothing missing or folded.
  std::optional<dataflux::manifest_description> description{};
};

result<dataflux::fast_list_request> request_of(const dataflux_list_options* given);
/// The members of a summary, into an object that is begun.
void put_summary(dataflux::detail::codec::json_writer& w, const dataflux::list_summary& summary);
void put_prefixes(dataflux::detail::codec::json_writer& w,
                  const std::vector<std::string>& prefixes);
/// `description`: of all of it.
listed listed_of(dataflux::listing all, bool versions, std::string_view scheme,
                 std::optional<dataflux::manifest_description> description);

/// A call that gives a listing.
class listing_operation final : public giving_operation<listed> {
 public:
  using giving_operation::giving_operation;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->rows->size();
  }
};

}  // namespace dataflux_c

struct dataflux_listing : dataflux_c::listed {
  explicit dataflux_listing(dataflux_c::listed&& made) noexcept : listed(std::move(made)) {}
  explicit dataflux_listing(const dataflux_c::listed& made) : listed(made) {}
};
