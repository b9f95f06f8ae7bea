#pragma once

#include <dataflux/codec/detail/xml.hpp>
#include <dataflux/error.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/multipart_requests.hpp>

#include <optional>
#include <string>
#include <string_view>

/// What the pages of all services' listings have to be. What is not is internal, and no page is
/// believed that leads nowhere, so that there is an end to each listing.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// "a page of the listing broke its contract: WHAT".
error broken_page(std::string_view what);
/// "... WHAT 'NAME' RULE".
error broken_page(std::string_view what, std::string_view name, std::string_view rule);

/// The first rule that a page of objects breaks. Cost of one that holds: two comparisons.
class page_fault {
 public:
  void check(bool holds, std::string_view what, std::string_view name, std::string_view rule) {
    if (!holds && !first_) first_ = broken_page(what, name, rule);
  }
  explicit operator bool() const noexcept { return first_.has_value(); }
  const std::optional<error>& first() const noexcept { return first_; }

 private:
  std::optional<error> first_{};
};

/// The parts that a reply lists behind `marker`: their numbers ascend, and so do the pages.
result<part_page> read_part_page(codec::list_parts_result listed, std::uint32_t marker);

/// Takes the next page's markers, which are behind those of the page that was asked for.
result<upload_page> with_next(upload_page page, const list_uploads_request& asked,
                              std::string object_marker, std::string upload_marker);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/broken_page.ipp>
#endif
