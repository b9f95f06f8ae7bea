#pragma once

#include <dataflux/detail/config.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Names of objects that are uploaded and have not got their own name yet.
namespace dataflux::inline DATAFLUX_ABI::detail {

/// A new one each time, below temporary_objects_prefix: 16 hexadecimal digits, '-', and what it is
/// going to be, percent-encoded, so that it tells people. One folder for all of them: in a
/// hierarchical bucket a folder of its own would stay behind.
std::string temporary_object_name(std::string_view object);

struct temporary_target {
  std::string object{};  ///< or its beginning, of whole characters
  bool whole{true};
};

/// The target of a temporary object, or of an upload, of that name. Nothing when it is none of
/// ours. A name that would be too long tells only the beginning of it. Pure.
std::optional<temporary_target> target_of_temporary(std::string_view name);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/temporary_object.ipp>
#endif
