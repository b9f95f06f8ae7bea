#pragma once

#include <dataflux/detail/ref.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/sign_requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Signs by the client's keys, once they are there, for the region that the bucket is known in. The
/// completion runs later, on an executor; in the child of a fork inside.
///
/// Errors: invalid_argument for what is of Google's URLs alone; failed_precondition without keys.
void start_signing(const ref<service::client_core>& core, const sign_url_request& request,
                   object_store::completion<signed_url> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/sign_call.ipp>
#endif
