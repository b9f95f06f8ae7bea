#pragma once

#include <dataflux/checkpoint/detail/set_errand.hpp>
#include <dataflux/collecting_sink.hpp>

#include <limits>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE set_errand::set_errand(object_store& store, std::string bucket, call_limits limits)
    : store_(store),
      home_(store.executor()),
      bucket_(std::move(bucket)),
      limits_(std::move(limits)),
      deadline_(limits_.deadline_from(home_.now())) {}

DATAFLUX_INLINE void set_errand::start() {
  if (auto good = store_.usable(bucket_); !good) return refused(std::move(good).error());
  begin();
}

DATAFLUX_INLINE call_limits set_errand::limits() const {
  return limits_.until(deadline_, home_.now());
}

DATAFLUX_INLINE void set_errand::list(std::string prefix, listed done) {
  auto all = std::make_shared<listing>();
  all->request = {.bucket = bucket_,
                  .prefix = std::move(prefix),
                  .extra = extra_columns::created | extra_columns::metadata};
  all->done = std::move(done);
  next_page(all);
}

DATAFLUX_INLINE void set_errand::next_page(const std::shared_ptr<listing>& all) {
  all->request.limits = limits();
  const list_page_request& request = all->request;
  store_.start(request, then<list_page>(this, [all](set_errand& self, result<list_page> page) {
                 self.take_page(all, std::move(page));
               }));
}

DATAFLUX_INLINE void set_errand::take_page(const std::shared_ptr<listing>& all,
                                           result<list_page> page) {
  if (!page) return all->done(std::move(page).error());
  if (all->rows.empty()) served_ = page->served;
  for (const object_row& row : page->objects) {
    if (row.name.starts_with(all->request.prefix)) continue;
    return all->done(error{errc::internal, "the listing tells of objects outside of its prefix"});
  }
  const bool again = !page->next_page_token.empty() && page->objects.empty() &&
                     page->next_page_token == all->request.page_token;
  const bool back = !page->objects.empty() && !all->rows.empty() &&
                    page->objects.name(0) <= all->rows.last_name();
  if (again || back) return all->done(error{errc::internal, "the listing does not go forward"});
  all->rows.append(std::move(page->objects));
  if (page->next_page_token.empty()) return all->done(std::move(all->rows));
  all->request.page_token = std::move(page->next_page_token);
  next_page(all);
}

DATAFLUX_INLINE void set_errand::fetch(std::string object, std::int64_t generation, fetched done) {
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(std::numeric_limits<std::size_t>::max(), collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store_.start(read_request{.bucket = bucket_,
                            .object = std::move(object),
                            .generation = generation,
                            .limits = limits()},
               sink,
               then<read_summary>(this, [memory, done = std::move(done)](
                                            set_errand&, result<read_summary> outcome) mutable {
                 if (!outcome) return done(std::move(outcome).error());
                 done(std::string(as_text(memory->bytes())));
               }));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
