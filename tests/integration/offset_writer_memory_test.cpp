#include <dataflux/checkpoint/offset_writer.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <emulator/emulator.hpp>
#include <support/catch.hpp>
#include <support/impatient_client.hpp>
#include <support/run_child.hpp>
#include <support/sanitized.hpp>
#include <support/short_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <thread>

namespace offset_writer_memory_test {

// An offset_writer with each allocation of each thread failing in turn. It has a forked child, so
// that the emulator, which is the parent's, has memory.

using dataflux::as_bytes;
using dataflux::committed_object;
using dataflux::errc;
using dataflux::offset_writer;
using dataflux::result;
using dataflux::test::short_memory;
using dataflux::test::short_memory_everywhere;
using how = short_memory_everywhere::how;

namespace {

constexpr std::size_t part = 5U << 20U;

/// What a child ends with.
enum verdict : int { good, not_opened, wrong_bytes, wrong_failure, memory_kept };

/// Two threads write the object by turns, in pieces that end within parts. Nothing: the caller's
/// own allocation for the commit has failed.
std::optional<result<committed_object>> write(offset_writer& writer, const std::string& body,
                                              std::int64_t allocations, how lasts) {
  const std::size_t piece = body.size() / 5 + 1;
  const auto write_each_second = [&](std::size_t at) {
    for (; at < body.size(); at += 2 * piece) {
      const auto bytes = as_bytes(body).subspan(at, std::min(piece, body.size() - at));
      static_cast<void>(writer.write_at(at, bytes));
    }
  };
  std::atomic<bool> begun = false;
  std::thread other([&] {
    begun.wait(false);
    write_each_second(piece);
  });
  const short_memory_everywhere now(allocations, lasts);
  begun = true;
  begun.notify_one();
  write_each_second(0);
  other.join();
  try {
    return writer.commit();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

verdict try_with(dataflux::gcs::client& client, const dataflux::transfer_context& context,
                 const std::string& body, std::int64_t allocations, how lasts) {
  {
    auto writer = offset_writer::open(context, {.bucket = "bkt", .object = "o", .part_size = part},
                                      body.size());
    if (!writer) return not_opened;
    const auto outcome = write(*writer, body, allocations, lasts);
    if (outcome && *outcome) {
      auto there = client.submit_stat({.bucket = "bkt", .object = "o"}).take();
      const auto right = dataflux::codec::crc32c(as_bytes(body));
      if (!there || there->size != body.size() || there->crc32c != right) return wrong_bytes;
    } else if (outcome && outcome->error().code() != errc::resource_exhausted) {
      return wrong_failure;
    }
  }
  return context.counters().upload_held == 0 ? good : memory_kept;
}

}  // namespace

TEST_CASE("offset_writer: whichever allocation fails, it ends and keeps no memory",
          "[checkpoint]") {
  if (!short_memory::works() || sanitized) return;
  emulator::server server({.threads = 2});
  server.service().store().create_bucket("bkt", {});
  for (const std::size_t size : {std::size_t{100}, 2 * part + 77}) {
    const std::string body(size, 'b');
    for (const how lasts : {how::once, how::from_then_on}) {
      const int end = run_child([&] {
        const auto client = impatient_client(server, 1);
        const dataflux::transfer_context context(*client, {.upload_memory = 4 * part});
        verdict told = try_with(*client, context, body, short_memory_everywhere::plenty, lasts);
        const std::int64_t all = short_memory_everywhere::counted();
        const std::int64_t stride = 1 + all / 100;
        for (std::int64_t k = 0; told == good && k < all; k += k < 40 ? 1 : stride) {
          told = try_with(*client, context, body, k, lasts);
        }
        return told;
      });
      INFO(size << " bytes, " << (lasts == how::once ? "once" : "all after"));
      CHECK(end == good);
    }
  }
}

}  // namespace offset_writer_memory_test
