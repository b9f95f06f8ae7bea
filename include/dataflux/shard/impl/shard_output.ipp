#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/exec/detail/replacing_file.hpp>
#include <dataflux/shard/detail/place_reader.hpp>
#include <dataflux/shard/detail/shard_packer.hpp>
#include <dataflux/shard/impl/shard_writer.ipp>
#include <dataflux/shard/rewrite_shards.hpp>

#include <unistd.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// Shards as files here: each has its name when it is whole.
struct shard_output::files {
  files(shard_writer_request what, detail::shard::shard_pattern names)
      : request(std::move(what)),
        pattern(std::move(names)),
        packer({request.count, request.bytes}),
        number(request.first + request.rank) {}

  result<void> write(std::string_view key, std::span<const sample_field> fields) {
    if (failure) return *failure;
    if (auto good = packer.take(key, fields); !good) return good;
    return kept(add());
  }
  result<shard_writer_summary> finish() {
    if (failure) return *failure;
    if (file) {
      if (auto good = kept(end(shard_end::finished)); !good) return std::move(good).error();
    }
    return std::move(made);
  }

  /// What has failed discards the open file, and is said from then on.
  result<void> kept(result<void> good) {
    if (good) return good;
    failure = good.error();
    file.reset();
    return good;
  }
  result<void> add() {
    if (!packer.fits()) {
      const shard_end why = packer.is_full_by_count() ? shard_end::count : shard_end::bytes;
      if (auto good = end(why); !good) return good;
    }
    if (!file) {
      if (auto good = begin(); !good) return good;
    }
    for (const bytes_view piece : packer.add()) {
      if (auto good = put(piece); !good) return good;
    }
    return {};
  }

  result<void> begin() {
    auto name = pattern.name(number);
    if (!name) return std::move(name).error();
    path = *std::move(name);
    if (::access(path.c_str(), F_OK) == 0) {
      const error why(errc::failed_precondition,
                      "it is there already, and shards are never replaced");
      return detail::shard::of_place({.name = path}, why, {});
    }
    file.emplace(path);
    return file->create();
  }
  result<void> put(bytes_view bytes) {
    constexpr std::size_t at_once = std::size_t{1} << 20U;
    memory += as_text(bytes);
    if (memory.size() < at_once) return {};
    auto good = file->write(memory);
    memory.clear();
    return good;
  }
  result<void> end(shard_end why) {
    memory += as_text(detail::shard::shard_packer_end);
    if (auto good = file->write(memory); !good) return good;
    memory.clear();
    if (auto good = file->put_in_free_place(); !good) return good;
    file.reset();
    const auto packed = packer.finish();
    const std::uint64_t samples = packed.layout.hashes.size();
    made.written.push_back({path, samples, packed.size, packed.crc32c, 0, why});
    made.samples += samples;
    made.bytes += packed.size;
    number += request.ranks;
    return {};
  }

  const shard_writer_request request;
  const detail::shard::shard_pattern pattern;
  detail::shard::shard_packer packer;
  std::uint64_t number;
  std::string path{};
  std::optional<detail::replacing_file> file{};
  std::string memory{};
  std::optional<error> failure{};
  shard_writer_summary made{};
};

DATAFLUX_INLINE shard_output::shard_output() noexcept = default;
DATAFLUX_INLINE shard_output::shard_output(shard_output&&) noexcept = default;
DATAFLUX_INLINE shard_output& shard_output::operator=(shard_output&&) noexcept = default;
DATAFLUX_INLINE shard_output::~shard_output() = default;

DATAFLUX_INLINE result<shard_output> shard_output::open(const transfer_context& context,
                                                        shard_writer_request request) {
  shard_output made;
  if (request.bucket.empty()) {
    auto pattern = detail::shard::check_sizes(request);
    if (!pattern) return std::move(pattern).error();
    if (request.resume) {
      return error{errc::unimplemented, "files here are not resumed: write them anew"};
    }
    made.files_ = std::make_unique<files>(std::move(request), *std::move(pattern));
    return made;
  }
  auto writer = shard_writer::open(context, std::move(request));
  if (!writer) return std::move(writer).error();
  made.writer_ = std::make_unique<shard_writer>(*std::move(writer));
  return made;
}

DATAFLUX_INLINE result<void> shard_output::write(std::string_view key,
                                                 std::span<const sample_field> fields) {
  return files_ ? files_->write(key, fields) : writer_->write(key, fields);
}

DATAFLUX_INLINE result<shard_writer_summary> shard_output::finish() {
  return files_ ? files_->finish() : writer_->finish();
}

}  // namespace dataflux::inline DATAFLUX_ABI
