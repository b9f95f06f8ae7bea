#pragma once

#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/multipart_verbs.hpp>
#include <dataflux/gcs/object_resource.hpp>
#include <dataflux/gcs/object_verbs.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/validate.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// What a write leaves in the store, if it has been carried out: for the look that tells.
struct expected_object {
  std::uint64_t size{0};
  std::uint32_t crc32c{0};
};
inline expected_object expected_of(const insert_request& r, const insert_body& body) noexcept {
  return {r.data.size(), body.crc32c};
}
inline expected_object expected_of(const multipart_complete_request&,
                                   const complete_body& body) noexcept {
  return {body.whole.length(), body.whole.crc()};
}

/// The object may have been there before with the same bytes; then it is not what was written.
inline bool is_ours(const insert_request& r, const object_metadata& found) {
  if (r.conditions.if_generation_match == found.generation) return false;
  auto sent = r.metadata;
  auto stored = found.metadata;
  std::sort(sent.begin(), sent.end());
  std::sort(stored.begin(), stored.end());
  return sent == stored;
}
/// A multipart upload knows no precondition, so that nothing tells an older object of equal bytes.
inline bool is_ours(const multipart_complete_request&, const object_metadata&) { return true; }

/// A call whose reply is read as a whole: every verb but the read.
template <class Verb>
class verb_call final : public call {
 public:
  using value = typename Verb::value;
  using request_type = typename Verb::request;
  using completion = object_store::completion<value>;

  /// A side call of another call runs on that one's executor, `home`.
  static void start(ref<client_core> core, const request_type& what, completion done,
                    scheduler* home = nullptr) {
    auto made = ref<verb_call>::adopt(new verb_call(core->buffers, what, std::move(done)));
    made->reuse(std::move(core));
    made->executor = home;
    auto valid = validate(made->request_);
    std::optional<error> bad;
    if (!valid) {
      bad = std::move(valid).error();
    } else if (auto prepared = Verb::prepare(made->request_, client_core::random_id()); prepared) {
      made->state_ = std::move(*prepared);
    } else {
      bad = std::move(prepared).error();
    }
    made->launch(made->request_.limits, std::move(bad));
  }

 private:
  /// A write whose outcome can be found out by looking at the object.
  static constexpr bool writes_object =
      std::is_same_v<value, object_metadata> && !std::is_same_v<Verb, stat_verb>;

  verb_call(const buffer_pool& buffers, const request_type& what, completion done)
      : call(buffers), request_(what), done_(std::move(done)) {}

  const verb_info& info() const noexcept override { return Verb::info; }
  call_identity identity() const noexcept override { return Verb::identity(request_); }
  bool repeatable() const noexcept override { return Verb::idempotent(request_); }
  void build() override { Verb::build(core().context(), request_, state_, request); }

  result<byte_sink*> open_body(const http::reply_head&) override {
    reply_body().reset(Verb::info.reply_limit, collecting_sink::excess::refuse);
    return &reply_body();
  }

  result<void> take_reply() override {
    auto parsed = Verb::parse(request_, state_, reply());
    if (!parsed) return std::move(parsed).error();
    if constexpr (!std::is_void_v<value>) value_ = std::move(*parsed);
    if constexpr (writes_object) {
      if (!value_->crc32c)
        return error(errc::data_loss, "the reply carries no checksum of the object");
    }
    return {};
  }

  bool investigate(const error& e, bool outcome_unknown) override {
    if constexpr (writes_object) {
      if (e.code() == errc::data_loss && e.generation() != 0) return remove_damaged(e);
      const bool repeated =
          outcome_unknown && Verb::on_repeat(request_, e) == repeat_meaning::compare;
      // No reply, a success that broke off, or one without a checksum: the object itself is the
      // only witness.
      const bool silent = (outcome_unknown && e.http_status() < 300) || value_.has_value();
      if (!repeated && !silent) return false;
      return look(e);
    } else {
      if (!outcome_unknown || Verb::on_repeat(request_, e) != repeat_meaning::done) return false;
      finish(std::nullopt);
      return true;
    }
  }

  /// Success if the object is there as it was sent; otherwise the error that led here.
  bool look(const error& e) {
    if constexpr (writes_object) {
      stat_request question{
          .bucket = request_.bucket, .object = request_.object, .limits = remaining_limits()};
      verb_call<stat_verb>::start(ref<client_core>::share(&core()), question,
                                  [self = ref<verb_call>::share(this),
                                   e = error(e)](result<object_metadata> found) mutable {
                                    const expected_object sent =
                                        expected_of(self->request_, self->state_);
                                    if (found && is_ours(self->request_, *found) &&
                                        check_stored(*found, sent.size, sent.crc32c)) {
                                      self->value_ = std::move(*found);
                                      self->finish(std::nullopt);
                                    } else {
                                      self->finish(std::move(e));
                                    }
                                  });
    }
    return true;
  }

  /// What was stored is not what was sent: nobody must find it under this name.
  bool remove_damaged(const error& e) {
    if constexpr (writes_object) {
      remove_request removal{.bucket = request_.bucket,
                             .object = request_.object,
                             .generation = e.generation(),
                             .limits = remaining_limits()};
      verb_call<remove_verb>::start(
          ref<client_core>::share(&core()), removal,
          [self = ref<verb_call>::share(this), e = error(e)](result<void> removed) mutable {
            e.with_message(e.message() +
                           (removed ? "; the damaged object was removed"
                                    : "; it could not be removed: " + removed.error().message()));
            self->finish(std::move(e));
          },
          executor);
    }
    return true;
  }

  void conclude(std::optional<error> failure) noexcept override {
    auto done = std::exchange(done_, {});
    if (failure) {
      done(std::move(*failure));
    } else if constexpr (std::is_void_v<value>) {
      done(result<void>{});
    } else {
      done(std::move(*value_));
    }
  }

  using stored_value = std::conditional_t<std::is_void_v<value>, no_state, value>;
  request_type request_;
  typename Verb::state state_{};
  completion done_;
  std::optional<stored_value> value_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
