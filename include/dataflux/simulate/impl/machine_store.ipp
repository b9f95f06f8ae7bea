#pragma once

#include <dataflux/simulate/detail/machine_store.hpp>

#include <algorithm>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::detail {

class machine_store::unfilled_sink final : public byte_sink {
 public:
  unfilled_sink(byte_sink& to, bytes_span memory) noexcept : to_(to), memory_(memory) {}

  result<void> expect(std::uint64_t length) override { return to_.expect(length); }
  bytes_span prepare(std::size_t wanted) override {
    const bytes_span given = to_.prepare(wanted);
    return memory_.first(std::min(given.size(), memory_.size()));
  }
  bool satisfied() const noexcept override { return to_.satisfied(); }
  result<void> commit(std::size_t count) override { return to_.commit(count); }
  result<void> rewind(std::uint64_t offset) override { return to_.rewind(offset); }

 private:
  byte_sink& to_;
  const bytes_span memory_;
};

struct machine_store::one_read {
  one_read(byte_sink& to, completion<read_summary> then) : sink(to), done(std::move(then)) {}

  byte_sink& sink;
  completion<read_summary> done;
  std::optional<unfilled_sink> unfilled{};
};

DATAFLUX_INLINE store_traits machine_store::traits() const noexcept { return store_.traits(); }
DATAFLUX_INLINE scheduler& machine_store::executor() noexcept { return store_.executor(); }

DATAFLUX_INLINE void machine_store::start(const read_request& request, byte_sink& sink,
                                          completion<read_summary> done) {
  auto read = std::make_shared<one_read>(sink, std::move(done));
  if (costs_.leaves_memory) read->unfilled.emplace(sink, memory_);
  if (++busy_ <= connections_ || costs_.connecting <= duration{0}) return send(request, read);
  ++connections_;
  scheduler& clock = executor();
  clock.at(clock.now() + costs_.connecting,
           [this, request, read = std::move(read)] { send(request, read); });
}

DATAFLUX_INLINE void machine_store::send(const read_request& request,
                                         const std::shared_ptr<one_read>& read) {
  byte_sink& sink = read->unfilled ? *read->unfilled : read->sink;
  store_.start(request, sink,
               [this, read](result<read_summary> outcome) { received(read, std::move(outcome)); });
}

DATAFLUX_INLINE void machine_store::received(const std::shared_ptr<one_read>& read,
                                             result<read_summary> outcome) {
  const std::uint64_t bytes = outcome ? outcome->bytes : 0;
  if (outcome) {
    ++totals_.reads;
    totals_.bytes += bytes;
  }
  const auto nanoseconds =
      costs_.request_nanoseconds +
      static_cast<std::uint64_t>(costs_.byte_nanoseconds * static_cast<double>(bytes));
  io_.run(nanoseconds, [this, read, outcome = std::move(outcome)]() mutable {
    --busy_;
    read->done(std::move(outcome));
  });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
