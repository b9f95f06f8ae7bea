#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/s3/detail/dialect.hpp>
#include <dataflux/s3/detail/kept_conditions.hpp>
#include <dataflux/s3/detail/probe_verbs.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr duration probe_timeout = std::chrono::seconds(60);
inline constexpr std::string_view probe_bytes{"Do conditions hold here? dataflux asks once."};

/// A condition that does not hold was refused as one.
inline bool is_kept(const error& why) noexcept {
  return why.code() == errc::failed_precondition || why.code() == errc::already_exists ||
         why.code() == errc::aborted;
}

/// The questions, one after the other. Each is sent under a condition that does not hold; on()
/// notes whether it was refused for that.
///
///     create, create again, replace, complete, abort, copy, remove, remove in a list, clean up
///
/// All completions come on one executor. What fails for another reason ends it.
class condition_probe final : public std::enable_shared_from_this<condition_probe> {
 public:
  condition_probe(ref<service::client_core> core, std::string bucket, std::string object)
      : core_(std::move(core)),
        on_(core_->transport().next_executor()),
        bucket_(std::move(bucket)),
        object_(std::move(object)) {}

  void create() {
    insert([](condition_probe& self, const result<object_metadata>& made) {
      made ? self.create_again() : self.end(made.error());
    });
  }

 private:
  template <class Verb, class Step>
  void send(typename Verb::request request, Step step) {
    request.bucket = bucket_;
    request.limits = {.timeout = probe_timeout};
    if constexpr (requires { request.object; }) request.object = object_;
    using value = typename Verb::value;
    verb_call<Verb>::start(
        core_, request,
        [self = shared_from_this(), step](result<value> outcome) mutable {
          self->on_.post([self, step, outcome = std::move(outcome)]() mutable {
            step(*self, std::move(outcome));
          });
        },
        &on_);
  }
  template <class Step>
  void insert(Step step) {
    send<insert_verb>({.data = as_bytes(probe_bytes), .conditions = {.if_generation_match = 0}},
                      step);
  }
  /// Whether a request was refused for its condition. False ends the probe where `flag` is null.
  template <class Value>
  bool asked(const result<Value>& outcome, bool& flag) {
    flag = !outcome && is_kept(outcome.error());
    if (flag || outcome) return true;
    end(outcome.error());
    return false;
  }

  void create_again() {
    insert([](condition_probe& self, const result<object_metadata>& made) {
      if (!self.asked(made, self.found_.writes)) return;
      self.found_.writes ? self.replace() : self.clean_up();
    });
  }
  void replace() {
    send<probe_put_verb>({}, [](condition_probe& self, const result<void>& made) {
      if (!self.asked(made, self.found_.writes)) return;
      self.found_.writes ? self.begin_parts() : self.clean_up();
    });
  }
  void begin_parts() {
    send<multipart_initiate_verb>({}, [](condition_probe& self, result<multipart_upload> begun) {
      if (!begun) return self.end(begun.error());
      self.upload_ = std::move(begun->upload_id);
      self.send_part();
    });
  }
  void send_part() {
    send<upload_part_verb>({.upload_id = upload_, .part_number = 1, .data = as_bytes(probe_bytes)},
                           [](condition_probe& self, const result<uploaded_part>& part) {
                             part ? self.complete(*part) : self.end(part.error());
                           });
  }
  void complete(const uploaded_part& part) {
    send<multipart_complete_verb>(
        {.upload_id = upload_, .parts = {part}, .conditions = {.if_generation_match = 0}},
        [](condition_probe& self, const result<object_metadata>& made) {
          if (made) self.upload_.clear();
          if (!self.asked(made, self.found_.writes)) return;
          self.upload_.empty() ? self.clean_up() : self.abort();
        });
  }
  void abort() {
    send<multipart_abort_verb>({.upload_id = std::exchange(upload_, {})},
                               [](condition_probe& self, const result<void>&) { self.copy(); });
  }
  /// Onto itself: with other attributes, or it is refused for changing nothing.
  void copy() {
    send<copy_verb>({.source_bucket = bucket_,
                     .source = object_,
                     .attributes = {.content_type = "text/plain"},
                     .conditions = {.if_generation_match = 0}},
                    [](condition_probe& self, const result<object_metadata>& made) {
                      self.found_.copies = !made && is_kept(made.error());
                      self.remove();
                    });
  }
  void remove() {
    send<probe_remove_verb>({}, [](condition_probe& self, const result<void>& gone) {
      self.found_.removals = !gone && is_kept(gone.error());
      self.found_.lists = false;
      self.found_.removals ? self.remove_in_list() : self.clean_up();
    });
  }
  void remove_in_list() {
    send<delete_verb>({.objects = {{object_, "of-no-object"}}},
                      [](condition_probe& self, const result<std::vector<kept_object>>& kept) {
                        self.found_.lists = kept && kept->size() == 1 && is_kept(kept->front().why);
                        self.clean_up();
                      });
  }
  void clean_up() {
    if (!found_.writes) found_ = {false, false, false, false};
    send<remove_verb>({.last_writer_wins = true},
                      [](condition_probe& self, const result<void>&) { self.end(self.found_); });
  }
  void end(const result<kept_conditions>& what) {
    // What a failure has left of it goes, too.
    if (!what) {
      if (!upload_.empty()) {
        send<multipart_abort_verb>({.upload_id = std::exchange(upload_, {})},
                                   [](condition_probe&, const result<void>&) {});
      }
      send<remove_verb>({.last_writer_wins = true}, [](condition_probe&, const result<void>&) {});
    }
    dialect_of(*core_).conditions().answered(bucket_, what);
  }

  ref<service::client_core> core_;
  scheduler& on_;
  const std::string bucket_;
  const std::string object_;
  std::string upload_{};
  kept_conditions found_{};
};

DATAFLUX_INLINE error not_kept(std::string_view what) {
  return error{errc::failed_precondition,
               std::string{"this server takes the condition of "}.append(what).append(
                   " and does not keep it, so that of two writers both would believe to have "
                   "won: save to a server that keeps If-None-Match and If-Match, or write without "
                   "a condition")};
}

DATAFLUX_INLINE std::optional<kept_conditions> condition_book::find(std::string_view bucket) const {
  const std::scoped_lock lock(mutex_);
  const auto at = known_.find(bucket);
  return at == known_.end() ? std::nullopt : std::optional{at->second};
}

/// In the folder of the object, since rights may be given for folders.
inline std::string scratch_name(std::string_view object) {
  const std::size_t slash = object.rfind('/');
  const std::string folder{slash == std::string_view::npos ? "" : object.substr(0, slash + 1)};
  std::string name = folder.size() > 900 ? std::string{} : folder;
  name.append(".dataflux-conditions-");
  for (const std::uint64_t half : service::client_core::random_id()) {
    name.append(std::to_string(half));
  }
  return name;
}

DATAFLUX_INLINE void condition_book::ask(ref<service::client_core> core, std::string_view bucket,
                                         std::string_view object, answer done) {
  {
    const std::scoped_lock lock(mutex_);
    auto& waiting = waiting_[std::string{bucket}];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;
  }
  std::make_shared<condition_probe>(std::move(core), std::string{bucket}, scratch_name(object))
      ->create();
}

DATAFLUX_INLINE void condition_book::answered(std::string_view bucket,
                                              const result<kept_conditions>& what) {
  std::vector<answer> waiting;
  {
    const std::scoped_lock lock(mutex_);
    if (what) {
      if (known_.size() >= most) known_.clear();
      known_.insert_or_assign(std::string{bucket}, *what);
    }
    if (const auto at = waiting_.find(bucket); at != waiting_.end()) {
      waiting = std::move(at->second);
      waiting_.erase(at);
    }
  }
  for (answer& each : waiting) each(what);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
