#pragma once

#include <dataflux/s3/detail/bucket_places.hpp>
#include <dataflux/s3/detail/kept_conditions.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/s3/detail/verbs.hpp>
#include <dataflux/service/detail/dialect.hpp>
#include <dataflux/service/detail/read_call.hpp>
#include <dataflux/service/detail/verb_call.hpp>
#include <dataflux/store/encryption_key.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// How S3 speaks: what all its verbs share.
class dialect final : public service::dialect {
 public:
  struct settings {
    bool requester_pays{false};
    /// Nobody has promised that the server keeps conditions.
    bool asks_for_conditions{false};
    std::uint32_t removals_at_once{greatest_removal};
    upload_checksum uploads{upload_checksum::full_object};
    std::uint64_t copy_at_once{greatest_at_once};
    encryption_key key{};
  };

  dialect(const s3::endpoint& where, std::string region, settings how)
      : places_(where, std::move(region)), how_(std::move(how)) {}

  const s3::endpoint& endpoint() const noexcept { return places_.endpoint(); }
  const settings& how() const noexcept { return how_; }
  condition_book& conditions() const noexcept { return conditions_; }
  call_context context() const noexcept {
    return {places_, how_.requester_pays, how_.uploads, how_.copy_at_once, how_.key.held()};
  }
  template <class Verb>
  static constexpr std::size_t number_of = service::place_of(repeat_rules, Verb::info.name);

  std::string_view scheme() const noexcept override { return "s3"; }
  std::string_view secret() const noexcept override {
    return how_.key.empty() ? std::string_view{} : how_.key.held()->secret();
  }
  DATAFLUX_INLINE std::span<const std::string_view> verbs() const noexcept override;
  std::optional<error> refuse_bucket(std::string_view) const override { return std::nullopt; }
  std::optional<error> refuse_object(std::string_view) const override { return std::nullopt; }
  DATAFLUX_INLINE bool trusts(const http::request& request) const noexcept override;
  DATAFLUX_INLINE void add_fields(const call_id& id, http::header_list& headers) const override;
  DATAFLUX_INLINE void gather_facts(const http::reply_head& head,
                                    service::reply_facts& out) const override;
  DATAFLUX_INLINE error parse_error(const service::call_identity& call,
                                    const service::reply_facts& facts, bytes_view body,
                                    std::span<const std::string_view> secrets) const override;
  DATAFLUX_INLINE http::reply_class classify(const service::call_identity& call, int http_status,
                                             std::string_view reason) const override;
  DATAFLUX_INLINE std::string region_of(std::string_view bucket) const override;
  DATAFLUX_INLINE bool moved(const service::call_identity& call, const service::reply_facts& facts,
                             bytes_view body) const override;
  /// s3-protocol.md 3.1: 400 is of keys that have ended, too, and 403 of a wrong clock.
  bool hides_reason(int http_status) const noexcept override {
    return http_status == 400 || http_status == 401 || http_status == 403;
  }
  DATAFLUX_INLINE void ask_why(const service::call_identity& call,
                               http::request& request) const override;
  DATAFLUX_INLINE std::string not_the_service(std::string_view what) const override;
  DATAFLUX_INLINE void look(ref<service::client_core> core, const stat_request& at,
                            object_store::completion<service::looked_object> done,
                            scheduler& executor) const override;
  DATAFLUX_INLINE void remove(ref<service::client_core> core, const remove_request& what,
                              object_store::completion<void> done,
                              scheduler& executor) const override;

 private:
  mutable bucket_places places_;
  mutable condition_book conditions_{};
  const settings how_;
};

inline const dialect& dialect_of(const service::client_core& core) noexcept {
  return static_cast<const dialect&>(*core.dialect);
}

template <class Verb>
using verb_call = service::verb_call<dialect, Verb>;
template <class Verb>
using read_call = service::read_call<dialect, Verb>;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/dialect.ipp>
#include <dataflux/s3/impl/kept_conditions.ipp>
#endif
