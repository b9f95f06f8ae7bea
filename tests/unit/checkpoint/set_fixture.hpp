#pragma once

#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/codec/crc32c.hpp>

#include <support/catch.hpp>
#include <support/store_fixture.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A bucket on the virtual clock, 20 ms away, whose listings have pages of seven; every call to it
/// is counted, and may be made to fail.
struct set_fixture : transfer_fixture<> {
  /// Of a call, by its number from 1.
  using script = std::function<std::optional<dataflux::injected_fault>(
      std::uint64_t call, dataflux::store_verb verb, std::string_view object)>;

  explicit set_fixture(dataflux::store_traits traits = {.max_list_page = 7})
      : transfer_fixture({.traits = traits, .rtt = 20 * tick}) {
    store.create_bucket("bucket");
  }

  dataflux::member_record put(const std::string& folder, const std::string& name,
                              std::string_view text = "0123456789") {
    const auto bytes = dataflux::as_bytes(text);
    dataflux::member_record record{.name = name, .size = text.size()};
    record.generation = store.put("bucket", folder + name, bytes);
    record.crc32c = dataflux::crc32c(bytes);
    const std::size_t half = text.size() / 2;
    for (const auto part : {bytes.first(half), bytes.subspan(half)}) {
      if (!part.empty()) record.parts.push_back({part.size(), dataflux::crc32c(part)});
    }
    return record;
  }
  std::vector<dataflux::member_record> put_members(const std::string& folder, std::size_t count) {
    std::vector<dataflux::member_record> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(put(folder, "rank-" + std::to_string(i), "state of " + std::to_string(i)));
    }
    return all;
  }
  dataflux::checkpoint_set set(const std::string& prefix = "run/step-1") const {
    return {context, "bucket", prefix};
  }
  /// A whole one, with members of its own.
  dataflux::committed_set commit_set(const std::string& folder, std::size_t members = 3,
                                     dataflux::last_object last = {}) {
    auto records = put_members(folder, members);
    return finish(set(folder).submit_commit(std::move(records), std::move(last))).value();
  }

  dataflux::result<dataflux::checkpoint_set_reader> open(const std::string& prefix = "run/step-1",
                                                         const std::string& last = {}) {
    return finish(set(prefix).submit_open(last));
  }
  dataflux::checkpoint_set_list list(const std::string& prefix) {
    return finish(submit_list_checkpoint_sets(store, {.bucket = "bucket", .prefix = prefix}))
        .value();
  }
  dataflux::result<dataflux::removal_report> remove(const std::string& prefix) {
    return finish(submit_remove_checkpoint_set(store, {.bucket = "bucket", .prefix = prefix}));
  }
  dataflux::result<dataflux::removal_report> keep_last(const std::string& prefix,
                                                       std::size_t count) {
    return finish(submit_keep_last_checkpoint_sets(
        store, {.bucket = "bucket", .prefix = prefix, .count = count}));
  }

  /// Names and generations of all objects, those of manifests cut to ".dataflux-set-".
  std::map<std::string, std::int64_t> objects() {
    std::map<std::string, std::int64_t> all;
    dataflux::list_page_request r{.bucket = "bucket"};
    do {
      const auto page = finish(store.submit(r)).value();
      for (const auto row : page.objects) {
        std::string name{row.name};
        const std::size_t manifest = name.find(".dataflux-set-");
        if (manifest != std::string::npos) name.resize(manifest + 14);
        all.emplace(std::move(name), row.generation);
      }
      r.page_token = page.next_page_token;
    } while (!r.page_token.empty());
    return all;
  }
  bool has(const std::string& name) { return objects().contains(name); }

  void on_call(script faults) {
    calls = 0;
    if (!faults) return store.set_faults({});
    store.set_faults([this, faults = std::move(faults)](dataflux::store_verb verb,
                                                        std::string_view object, std::uint64_t) {
      return faults(++calls, verb, object);
    });
  }
  static dataflux::injected_fault refused(dataflux::errc code, int status) {
    dataflux::error why(code, "scripted");
    return {.failure = why.with_http_status(status)};
  }
  /// The call is carried out, and nobody hears of it.
  static dataflux::injected_fault lost() {
    return {.failure = dataflux::error(dataflux::errc::unavailable, "scripted"),
            .reply_lost = true};
  }

  static constexpr std::chrono::milliseconds tick{1};
  std::uint64_t calls{0};
};
