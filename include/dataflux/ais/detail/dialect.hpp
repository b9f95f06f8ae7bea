#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/ais/detail/verbs.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/service/detail/read_call.hpp>
#include <dataflux/service/detail/verb_call.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// How AIStore speaks: what all its verbs share.
class dialect final : public service::dialect {
 public:
  dialect(ais::endpoint where, std::string_view provider)
      : where_(std::move(where)), provider_(provider) {}

  const ais::endpoint& endpoint() const noexcept { return where_; }
  call_context context() const noexcept { return {where_, provider_}; }
  template <class Verb>
  static constexpr std::size_t number_of = service::place_of(repeat_rules, Verb::info.name);

  std::string_view scheme() const noexcept override { return "ais"; }
  DATAFLUX_INLINE std::span<const std::string_view> verbs() const noexcept override;
  DATAFLUX_INLINE bool trusts(const http::request& request) const noexcept override;
  void add_fields(const call_id&, http::header_list&) const override {}
  DATAFLUX_INLINE void gather_facts(const http::reply_head& head,
                                    service::reply_facts& out) const override;
  DATAFLUX_INLINE error parse_error(const service::call_identity& call,
                                    const service::reply_facts& facts, bytes_view body,
                                    std::span<const std::string_view> secrets) const override;
  DATAFLUX_INLINE http::reply_class classify(const service::call_identity& call, int http_status,
                                             std::string_view reason) const override;
  DATAFLUX_INLINE std::optional<http::url> redirect_of(
      const service::reply_facts& facts) const override;
  /// The gateway takes no bodies of objects.
  DATAFLUX_INLINE bool holds_back(const http::request& request) const noexcept override;
  bool reads_members() const noexcept override { return true; }
  DATAFLUX_INLINE std::string not_the_service(std::string_view what) const override;
  DATAFLUX_INLINE void look(ref<service::client_core> core, const stat_request& at,
                            object_store::completion<service::looked_object> done,
                            scheduler& executor) const override;
  DATAFLUX_INLINE void remove(ref<service::client_core> core, const remove_request& what,
                              object_store::completion<void> done,
                              scheduler& executor) const override;

 private:
  const ais::endpoint where_;
  const std::string_view provider_;  ///< a literal
};

inline const dialect& dialect_of(const service::client_core& core) noexcept {
  return static_cast<const dialect&>(*core.dialect);
}

template <class Verb>
using verb_call = service::verb_call<dialect, Verb>;
template <class Verb>
using read_call = service::read_call<dialect, Verb>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/dialect.ipp>
#endif
