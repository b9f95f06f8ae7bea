#pragma once

#include <dataflux/auth/detail/token_endpoint.hpp>
#include <dataflux/auth/detail/token_flow.hpp>

#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What flows share that end with keys of AWS, or with a subject token: tries, and errors that name
/// the source, say what the search passed over before it, and show no secret.
class keys_flow : public token_flow {
 public:
  DATAFLUX_INLINE flow_step resume(flow_event event, const flow_moment& moment) final;

 protected:
  /// `facts` outlive the flow.
  keys_flow(const credentials_facts& facts, int tries) : facts_(facts), attempts_(tries) {}

  /// The step that is due: at the beginning, and for each further try of the same.
  virtual flow_step ask(const flow_moment& moment) = 0;
  /// A reply of any status to what ask() sent.
  virtual flow_step replied(const http_reply& reply, const flow_moment& moment) = 0;
  /// There was no reply. Default: another try, if that makes sense.
  DATAFLUX_INLINE virtual flow_step unanswered(error why, const flow_moment& moment);
  /// What a blocking step gave. Default: that is not expected.
  DATAFLUX_INLINE virtual flow_step read(result<std::string>&& text, const flow_moment& moment);

  const credentials_facts& facts() const noexcept { return facts_; }
  /// From here on so many tries, for the next request.
  void allow(int tries) noexcept { attempts_ = attempts(tries); }
  /// "aws_role credentials: WHAT"
  error failure(errc code, std::string_view what) const;
  /// By a status that is no success: as is_retryable_status() says.
  error refused_by(const std::string& server, int status, std::string_view what = "keys") const;
  /// Waits for another try if the error is retryable and one is left; otherwise the end.
  flow_step again_or(error why, const flow_moment& moment);
  /// The end, with what was passed over.
  flow_step end(error why) const;

 private:
  const credentials_facts& facts_;
  attempts attempts_;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/keys_flow.ipp>
#endif
