#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/exec/continuation.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/unique_function.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: what commits, looks, removals of sets have in common: they are on one executor of the
/// store, kept alive by the requests that they wait for, and live under one deadline.
class set_errand : public std::enable_shared_from_this<set_errand> {
 public:
  set_errand(object_store& store, std::string bucket, call_limits limits);
  set_errand(const set_errand&) = delete;
  set_errand& operator=(const set_errand&) = delete;
  virtual ~set_errand() = default;
  void start();

 protected:
  virtual void begin() = 0;
  /// Instead of begin(), by a store that is not usable().
  virtual void refused(error why) = 0;

  object_store& store() const noexcept { return store_; }
  const std::string& bucket() const noexcept { return bucket_; }
  /// For a request of the errand: what is left of its time.
  call_limits limits() const;
  /// For what mends or finds out what has come of a request, when the caller's limits may be the
  /// reason that it is needed.
  static call_limits own_limits() { return {.timeout = std::chrono::minutes{1}}; }

  /// A completion that goes on with `step(self, outcome)` as a task of the executor.
  template <class T, class Self, class Step>
  object_store::completion<T> then(Self* self, Step step) {
    return continue_on<T>(home_, std::static_pointer_cast<Self>(self->shared_from_this()),
                          std::move(step));
  }

  /// All objects whose names begin with `prefix`, in order of names, with `created` and `metadata`.
  using listed = unique_function<void(result<object_columns>)>;
  void list(std::string prefix, listed done);
  /// When the first page of the last listing was made, by the service's clock; nothing where it
  /// does not tell.
  const std::optional<timestamp>& served() const noexcept { return served_; }
  /// A whole object, checked: its text.
  using fetched = unique_function<void(result<std::string>)>;
  void fetch(std::string object, std::int64_t generation, fetched done);

 private:
  struct listing {
    list_page_request request{};
    object_columns rows{};
    listed done{};
  };
  void next_page(const std::shared_ptr<listing>& all);
  void take_page(const std::shared_ptr<listing>& all, result<list_page> page);

  object_store& store_;
  scheduler& home_;
  const std::string bucket_;
  const call_limits limits_;
  time_point deadline_{never};
  std::optional<timestamp> served_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/set_errand.ipp>
#endif
