#pragma once

#include <dataflux/store/detail/verb_list.hpp>

#include <type_traits>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// The verb of a request, the first in the list.
template <class Request, class Verbs>
struct verb_of;
template <class Request, class First, class... Others>
struct verb_of<Request, detail::verb_list<First, Others...>>
    : std::conditional_t<std::is_same_v<Request, typename First::request>,
                         std::type_identity<First>,
                         verb_of<Request, detail::verb_list<Others...>>> {};
template <class Request>
struct verb_of<Request, detail::verb_list<>> {};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
