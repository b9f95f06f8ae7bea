#pragma once

#include <dataflux/list/list_filter.hpp>
#include <dataflux/store/object_chunk.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the rest of list/ asks of the table of filters in impl/list_filter.ipp. Pure.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// The columns that the filters read, besides those that every listing has.
extra_columns columns_for(const list_filter_options& options);

/// The options as manifest_description::options has them, in the order of the table: a truth
/// always, all else where it differs from the default, a list as one entry for each member.
std::vector<std::pair<std::string, std::string>> tell_filter(const list_filter_options& options);

/// The other way round, entry by entry. False: no filter has an option of that name, or the option
/// cannot have that value.
bool read_filter_option(std::string_view name, const std::string& value, list_filter_options& to);

}  // namespace dataflux::inline DATAFLUX_ABI::detail
