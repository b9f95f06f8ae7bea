#pragma once

#include <dataflux/detail/ref.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/sign_requests.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// Signs by the key that is there, on the caller's thread, or by IAM, in one or two requests of the
/// client (gcs/detail/sign_verbs.hpp). The completion runs later, on an executor; in the child of a
/// fork inside.
void start_signing(const ref<service::client_core>& core, const sign_url_request& request,
                   object_store::completion<signed_url> done);
void start_signing(const ref<service::client_core>& core, const sign_form_request& request,
                   object_store::completion<signed_form> done);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/sign_call.ipp>
#endif
