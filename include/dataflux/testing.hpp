#pragma once

/// For tests of programs that use this library: an object store in memory, and clocks that never
/// wait for real time. A memory_store is an object_store, so a whole listing, training epoch or
/// checkpoint runs without a network and at once.
///
///     virtual_thread clock;                       // for code that blocks
///     memory_store store(clock, {.rtt = 20ms});
///     store.put("bucket", "name", as_bytes("bytes"));
///     assert(store.stat({.bucket = "bucket", .object = "name"})->size == 5);
///
/// A virtual_scheduler has no thread: the test itself runs it, step by step, and all is
/// deterministic. Blocking forms would wait there for ever:
///
///     virtual_scheduler clock;
///     auto page = store.submit_list_page({.bucket = "bucket"});
///     clock.run();                                // until nothing waits
///     assert(page.take()->objects.size() == 1);
///
/// Faults, latency and the rules of buckets: memory_store::set_faults, memory_store_options,
/// memory_store::set_rules.

#include <dataflux/exec/virtual_scheduler.hpp>
#include <dataflux/store/memory_store.hpp>
