#include <emulator/access.hpp>
#include <emulator/ais/route.hpp>
#include <emulator/batch.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/route.hpp>
#include <emulator/service.hpp>
#include <emulator/upload_body.hpp>

#include <array>
#include <cstdio>
#include <utility>

namespace emulator {
namespace {

int sent_status(const exchange& what) {
  const bool silent =
      what.wire.head_limit == 0 && !(what.wire.stall && what.wire.stall->count() > 0);
  return silent ? 0 : what.reply.status;
}

}  // namespace

service::service(const service_options& options)
    : options_(options),
      store_(options.s3 ? bucket_store::naming::s3 : bucket_store::naming::google),
      tokens_(options.known, options.token_lifetime),
      federation_(tokens_),
      traffic_(options.log_limit),
      rates_(options.rates),
      pace_(options.network.total_bytes_per_second),
      json_(store_),
      buckets_(store_),
      access_(store_),
      notifications_(store_),
      edits_(store_, options.rewrite_bytes_per_call),
      operations_(store_),
      resumable_(store_, sessions_),
      xml_(store_, uploads_, options.least_part_size),
      form_(store_, signers_),
      control_(store_, faults_, traffic_, tokens_, uploads_, sessions_, signers_) {
  if (!options_.s3) return;
  s3_.emplace(store_, uploads_, *options_.s3);
  if (options_.aistore) ais_.emplace(store_, *s3_, options_.ais_token);
  control_.know(s3_->keys());
}

call service::routed(const http_request& request) const {
  if (options_.aistore) return ais::route(request, *options_.s3);
  return options_.s3 ? s3::route(request, *options_.s3) : route(request);
}

void service::require_token(const http_request& request) const {
  const std::string_view header = request.header("Authorization");
  static constexpr std::string_view scheme = "Bearer ";
  if (!header.starts_with(scheme)) throw unauthorized(!header.empty());
  if (!tokens_.accepts(header.substr(scheme.size()))) throw unauthorized(true);
}

/// A session's address is a secret of its own and needs no token (protocol.md 1.4), and neither
/// does a URL whose signature is good. A form is judged by itself.
void service::authorize(const call& asked, const http_request& request) const {
  const auto found = check_signed_url(asked, request, signers_, std::chrono::system_clock::now());
  const bool needs_none = asked.query.has("upload_id") || asked.verb == "objects.form";
  if (!options_.require_token || needs_none || found == signature::good) return;
  require_token(request);
}

http_reply service::dispatch_object(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "objects.media") {
    return asked.xml ? xml_.get(asked, request, false) : json_.media(asked, request);
  }
  if (verb == "objects.get") {
    return asked.xml ? xml_.get(asked, request, true) : json_.get(asked, request);
  }
  if (verb == "objects.insert") {
    return asked.xml ? xml_.put(asked, request) : json_.insert(asked, request);
  }
  if (verb == "objects.delete") {
    return asked.xml ? xml_.remove(asked, request) : json_.remove(asked, request);
  }
  if (verb == "objects.list") {
    return asked.xml ? xml_.list_objects(asked) : json_.list(asked, request);
  }
  if (verb == "objects.form") return form_.post(asked, request, options_.require_token);
  if (verb == "objects.copy" && asked.xml) return xml_.copy(asked, request);
  if (verb == "objects.copy") return edits_.copy(asked, request);
  if (verb == "objects.patch") return edits_.patch(asked, request, false);
  if (verb == "objects.update") return edits_.patch(asked, request, true);
  if (verb == "objects.compose") return edits_.compose(asked, request);
  if (verb == "objects.rewrite") return edits_.rewrite(asked, request);
  if (verb == "objects.move") return edits_.move(asked, request);
  if (verb == "objects.restore") return edits_.restore(asked, request);
  if (verb == "objects.bulkRestore") return operations_.bulk_restore(asked, request);
  throw service_error{404, "notFound", "NotFound", "Not Found"};
}

http_reply service::dispatch_upload(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "multipart.part") return xml_.part(asked, request);
  if (verb == "multipart.initiate") return xml_.initiate(asked, request);
  if (verb == "multipart.complete") return xml_.complete(asked, request);
  if (verb == "multipart.abort") return xml_.abort(asked);
  if (verb == "multipart.list_parts") return xml_.list_parts(asked);
  if (verb == "multipart.list") return xml_.list_uploads(asked);
  if (verb == "resumable.start") return resumable_.start(asked, request);
  if (verb == "resumable.cancel") return resumable_.cancel(asked);
  return resumable_.chunk(asked, request);
}

http_reply service::dispatch_bucket(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "buckets.get") return buckets_.get(asked, request);
  if (verb == "buckets.list") return buckets_.list(asked, request);
  if (verb == "buckets.insert") return buckets_.insert(asked, request);
  if (verb == "buckets.delete") return buckets_.remove(asked, request);
  if (verb == "buckets.patch") return buckets_.patch(asked, request, false);
  if (verb == "buckets.update") return buckets_.patch(asked, request, true);
  if (verb == "buckets.storageLayout") return buckets_.layout(asked);
  if (verb == "buckets.lockRetentionPolicy") return buckets_.lock_retention(asked, request);
  if (verb == "buckets.getIamPolicy") return access_.get_policy(asked);
  if (verb == "buckets.setIamPolicy") return access_.set_policy(asked, request);
  return access_.test_permissions(asked);
}

http_reply service::dispatch_access(const call& asked, const http_request& request,
                                    access_of kind) {
  if (asked.verb.ends_with(".list")) return access_.list(asked, request, kind);
  if (asked.verb.ends_with(".get")) return access_.get(asked, request, kind);
  if (asked.verb.ends_with(".insert")) return access_.insert(asked, request, kind);
  if (asked.verb.ends_with(".delete")) return access_.remove(asked, request, kind);
  return access_.change(asked, request, kind);
}

http_reply service::dispatch_notification(const call& asked, const http_request& request) {
  if (asked.verb == "notifications.list") return notifications_.list(asked, request);
  if (asked.verb == "notifications.get") return notifications_.get(asked, request);
  if (asked.verb == "notifications.insert") return notifications_.insert(asked, request);
  return notifications_.remove(asked);
}

http_reply service::dispatch_project(const call& asked, const http_request& request) {
  if (asked.verb == "hmacKeys.create") return keys_.create(asked, request);
  if (asked.verb == "hmacKeys.list") return keys_.list(asked, request);
  if (asked.verb == "hmacKeys.get") return keys_.get(asked, request);
  if (asked.verb == "hmacKeys.update") return keys_.update(asked, request);
  if (asked.verb == "hmacKeys.delete") return keys_.remove(asked);
  return keys_.service_account(asked);
}

/// Each call of a batch is a request of its own, to the faults and counters too; what only a
/// connection can act out has no meaning here.
http_reply service::batch(const http_request& request) {
  const auto calls = parse_batch(request);
  std::vector<http_reply> replies;
  for (const batched_call& line : calls) {
    http_request inner;
    inner.method = line.method;
    inner.target = line.target;
    inner.secure = request.secure;
    for (const header_line& h : line.headers) inner.headers.push_back({h.name, h.value});
    inner.body = content{line.body};
    const std::string_view verb = route(inner).verb;
    if (verb == "batch" || verb == "control" || verb == "objects.media") {
      replies.push_back(render(invalid_argument("Not allowed in a batch"), error_form::json));
    } else {
      replies.push_back(handle(inner).reply);
    }
  }
  return batch_reply(calls, replies);
}

http_reply service::dispatch(const call& asked, const http_request& request) {
  const std::string_view verb = asked.verb;
  if (verb == "control") return control_.answer(asked, request);
  if (s3_) {
    rates_.check(asked, std::chrono::steady_clock::now());
    return ais_ ? ais_->answer(asked, request) : s3_->answer(asked, request);
  }
  if (verb == "token") return tokens_.token(request);
  if (verb == "metadata") return tokens_.metadata(request);
  if (federation::answers(verb)) return federation_.answer(asked, request);
  if (verb == "batch") return batch(request);
  if (verb == "retry_test") return retry_tests_.answer(asked, request);
  if (!request.header("x-goog-emulator-instructions").empty()) {
    throw not_modelled("x-goog-emulator-instructions; /retry_test does the same");
  }
  authorize(asked, request);
  if (verb == "unmodelled") throw not_modelled(std::string{asked.lacking});
  rates_.check(asked, std::chrono::steady_clock::now());
  if (store_.restricted()) check_access(store_, asked, request);
  if (verb.starts_with("objects.")) return dispatch_object(asked, request);
  if (verb.starts_with("multipart.") || verb.starts_with("resumable.")) {
    return dispatch_upload(asked, request);
  }
  if (verb == "operations.get") return operations_.get(asked);
  if (verb.starts_with("buckets.")) return dispatch_bucket(asked, request);
  if (verb.starts_with("bucketAccessControls.")) {
    return dispatch_access(asked, request, access_of::bucket);
  }
  if (verb.starts_with("defaultObjectAccessControls.")) {
    return dispatch_access(asked, request, access_of::default_object);
  }
  if (verb.starts_with("objectAccessControls.")) {
    return dispatch_access(asked, request, access_of::object);
  }
  if (verb.starts_with("notifications.")) return dispatch_notification(asked, request);
  if (verb.starts_with("hmacKeys.") || verb == "serviceAccount.get") {
    return dispatch_project(asked, request);
  }
  throw service_error{404, "notFound", "NotFound", "Not Found"};
}

http_reply service::execute(const call& asked, const http_request& request) {
  http_reply reply;
  try {
    // A chunk's Content-Range counts its bytes as they are sent.
    const bool encoded = !asked.xml && !s3_ && asked.verb != "resumable.chunk" &&
                         !request.body.empty() &&
                         same_name(request.header("Content-Encoding"), "gzip");
    if (encoded) {
      http_request plain = request;
      plain.body = decoded_body(request);
      reply = dispatch(asked, plain);
    } else {
      reply = dispatch(asked, request);
    }
  } catch (const service_error& refused) {
    reply = render(refused, asked.form);
  } catch (const std::runtime_error& failed) {
    // Such as a full disk below the data folder.
    reply = render({500, "internalError", "InternalError", failed.what()}, asked.form);
  }
  if (request.method == "HEAD") reply.head_only = true;
  return reply;
}

std::optional<service::early_exchange> service::early(const http_request& head) {
  // A gateway says where to go before a body is sent, to who asks.
  const bool asks = ais_ && same_name(head.header("Expect"), "100-continue");
  if (!faults_.active() && !asks) return std::nullopt;
  const call asked = routed(head);
  if (asked.verb == "control") return std::nullopt;
  const auto rule = faults_.active() ? faults_.match(asked, true) : std::nullopt;
  early_exchange out;
  if (!rule) {
    auto elsewhere = asks ? ais_->redirect(asked, head) : std::nullopt;
    if (!elsewhere) return std::nullopt;
    out.what.reply = std::move(*elsewhere);
    traffic_.record(asked.verb, head, out.what.reply.status);
    return out;
  }
  out.request_bytes = *rule->request_bytes;
  if (auto instead = reply_instead(rule->action, asked.form)) out.what.reply = std::move(*instead);
  inflict(rule->action, out.what);
  traffic_.record(asked.verb, head, sent_status(out.what));
  return out;
}

exchange service::answer(call& asked, const http_request& request) {
  exchange out;
  if (asked.query.has("projection") || asked.verb == "objects.patch" ||
      asked.verb == "objects.update") {
    const bool copies = !asked.to_bucket.empty();
    asked.uniform_access = store_.uniform(copies ? asked.to_bucket : asked.bucket);
  }
  std::optional<fault_rule> rule;
  const bool by_name = faults_.active() || rates_.by_name();
  if (by_name && asked.object.empty()) asked.object = name_in_body(asked, request);
  if (faults_.active() && asked.verb != "control") rule = faults_.match(asked, false);
  if (!rule) {
    if (auto instead = retried(asked, request)) return std::move(*instead);
    out.reply = execute(asked, request);
    return out;
  }
  const fault::action& action = rule->action;
  if (const auto* shorter = std::get_if<fault::short_page>(&action)) {
    asked.page_limit = shorter->results;
  }
  if (const auto* less = std::get_if<fault::keep_less>(&action)) asked.persist_limit = less->bytes;
  if (std::holds_alternative<fault::expire_tokens>(action)) {
    tokens_.revoke_all();
    federation_.end_sessions();
    if (s3_) s3_->end_sessions();
  }
  asked.ignore_conditions = std::holds_alternative<fault::ignore_conditions>(action);
  if (const auto* skewed = std::get_if<fault::skew>(&action)) asked.skew = skewed->ahead;
  if (std::holds_alternative<fault::execute_twice>(action)) execute(asked, request);
  if (!prevents(action)) {
    out.reply = execute(asked, request);
  } else if (auto instead = reply_instead(action, asked.form)) {
    out.reply = std::move(*instead);
  }
  inflict(action, out);
  return out;
}

exchange service::handle(const http_request& request) {
  call asked = routed(request);
  exchange out = answer(asked, request);
  std::array<char, 32> id{};
  std::snprintf(id.data(), id.size(), "AEmu%012llx",
                static_cast<unsigned long long>(next_id_.fetch_add(1, std::memory_order_relaxed)));
  if (asked.form == error_form::s3) {
    s3::sign_off(out.reply, id.data());
  } else if (asked.form != error_form::ais) {
    out.reply.set("X-GUploader-UploadID", id.data());
  }
  traffic_.record(asked.verb, request, sent_status(out));
  return out;
}

void service::broken(const http_request& head, const content& part) {
  const call asked = routed(head);
  if (asked.verb == "resumable.chunk") resumable_.broken(asked, head, part);
}

}  // namespace emulator
