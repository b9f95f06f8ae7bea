#pragma once

#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/gcs/detail/endpoint.hpp>
#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/gcs/detail/verbs.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/service/detail/read_call.hpp>
#include <dataflux/service/detail/verb_call.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// How Google Cloud Storage speaks: what all its verbs share.
class dialect final : public service::dialect {
 public:
  struct settings {
    std::string user_project{};
    std::string quota_project{};
    std::string project{};
    /// Whether tokens of the application's may go to this endpoint.
    bool takes_tokens{true};
    /// As the client's options had them, whether they are used or not. Who gives them may have them
    /// hold what must live as long as the client's last call.
    credentials_ptr given{};
    /// Who signs URLs.
    credentials_ptr signs{};
    iam_place iam{};
    encryption_key key{};
  };

  dialect(gcs::endpoint where, settings how) : where_(std::move(where)), how_(std::move(how)) {}

  const gcs::endpoint& endpoint() const noexcept { return where_; }
  bool takes_tokens() const noexcept { return how_.takes_tokens; }
  const credentials* signs() const noexcept { return how_.signs.get(); }
  call_context context() const noexcept {
    return {where_,       how_.user_project, how_.quota_project,
            how_.project, &how_.iam,         how_.key.held()};
  }
  DATAFLUX_INLINE std::string_view secret() const noexcept override;
  template <class Verb>
  static constexpr std::size_t number_of = service::place_of(repeat_rules, Verb::info.name);

  DATAFLUX_INLINE std::span<const std::string_view> verbs() const noexcept override;
  DATAFLUX_INLINE bool trusts(const http::request& request) const noexcept override;
  DATAFLUX_INLINE void add_fields(const call_id& id, http::header_list& headers) const override;
  DATAFLUX_INLINE void gather_facts(const http::reply_head& head,
                                    service::reply_facts& out) const override;
  DATAFLUX_INLINE error parse_error(const service::call_identity& call,
                                    const service::reply_facts& facts, bytes_view body,
                                    std::span<const std::string_view> secrets) const override;
  DATAFLUX_INLINE std::string not_the_service(std::string_view what) const override;
  DATAFLUX_INLINE void look(ref<service::client_core> core, const stat_request& at,
                            object_store::completion<service::looked_object> done,
                            scheduler& executor) const override;
  DATAFLUX_INLINE void remove(ref<service::client_core> core, const remove_request& what,
                              object_store::completion<void> done,
                              scheduler& executor) const override;

 private:
  const gcs::endpoint where_;
  const settings how_;
};

template <class Verb>
using verb_call = service::verb_call<dialect, Verb>;
template <class Verb>
using read_call = service::read_call<dialect, Verb>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
