#pragma once

#include <dataflux/download/detail/batch_rows.hpp>

#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The bytes of a request; nothing where they are not known before it is answered.
inline std::optional<std::uint64_t> size_of(const get_request& r) noexcept {
  if (r.object_size) return r.range.in(*r.object_size).length;
  if (r.range.length() != byte_range::to_end) return r.range.length();
  return std::nullopt;
}

DATAFLUX_INLINE result<void> batch_rows::place(const batch_memory& where) {
  const auto refused = [](const std::string& why) {
    return error(errc::invalid_argument, "memory of a batch: " + why);
  };
  if (!where.sizes.empty() && where.sizes.size() != count_) {
    return refused(std::to_string(where.sizes.size()) + " sizes for " + std::to_string(count_) +
                   " rows");
  }
  memory_ = where.memory;
  if (where.offsets.empty()) {
    stride_ = where.stride != 0 || count_ == 0 ? where.stride : memory_.size() / count_;
    if (count_ < 2 || stride_ == 0 || (count_ - 1) <= memory_.size() / stride_) return {};
    return refused(std::to_string(count_) + " rows, " + std::to_string(stride_) +
                   " bytes apart, are beyond its " + std::to_string(memory_.size()) + " bytes");
  }
  if (where.offsets.size() != count_) {
    return refused(std::to_string(where.offsets.size()) + " offsets for " + std::to_string(count_) +
                   " rows");
  }
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint64_t offset = where.offsets[i];
    if (offset < before) return refused("the offsets descend at row " + std::to_string(i));
    if (offset > memory_.size()) {
      return refused("row " + std::to_string(i) + " begins at " + std::to_string(offset) + " of " +
                     std::to_string(memory_.size()) + " bytes");
    }
    before = offset;
  }
  offsets_.assign(where.offsets.begin(), where.offsets.end());
  return {};
}

DATAFLUX_INLINE bytes_span batch_rows::room(std::size_t i) const noexcept {
  const bool last = i + 1 == count_;
  const std::uint64_t begin = offsets_.empty() ? i * stride_ : offsets_[i];
  const std::uint64_t next = offsets_.empty() ? begin + stride_ : offsets_[last ? i : i + 1];
  const std::uint64_t end = last ? memory_.size() : next;
  return memory_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

DATAFLUX_INLINE result<batch_rows> batch_rows::of_numbers(
    std::span<const std::uint64_t> numbers, const batch_memory& where,
    const std::shared_ptr<const get_rows>& of) {
  batch_rows made;
  made.count_ = numbers.size();
  if (auto good = made.place(where); !good) return std::move(good).error();
  made.numbers_.assign(numbers.begin(), numbers.end());
  made.of_ = of;
  for (std::size_t i = 0; i < where.sizes.size(); ++i) {
    const std::uint64_t row = numbers[i];
    const bool there = row < of->objects.size();
    const std::uint64_t size = there ? of->objects.object_size(static_cast<std::size_t>(row)) : 0;
    where.sizes[i] = size <= made.room(i).size() ? size : 0;
  }
  return made;
}

DATAFLUX_INLINE result<batch_rows> batch_rows::of_requests(std::span<get_request> requests,
                                                           const batch_memory& where) {
  batch_rows made;
  made.count_ = requests.size();
  if (auto good = made.place(where); !good) return std::move(good).error();
  made.requests_.reserve(requests.size());
  for (std::size_t i = 0; i < where.sizes.size(); ++i) {
    const std::uint64_t size = size_of(requests[i]).value_or(0);
    where.sizes[i] = size <= made.room(i).size() ? size : 0;
  }
  for (get_request& each : requests) made.requests_.push_back(std::move(each));
  return made;
}

DATAFLUX_INLINE void batch_rows::fill(std::size_t i, get_piece& into) {
  if (of_ != nullptr) {
    fill_piece(numbers_[i], of_, into);
  } else {
    fill_piece(std::move(requests_[i]), into);
  }
  if (into.refused || !into.request.range.valid()) return;
  const auto refuse = [&into](errc code, const std::string& why) {
    into.refused = error(code, why);
    into.refused->with_object(into.name.str()).with_generation(into.request.generation);
  };
  const bytes_span there = room(i);
  const auto size = size_of(into.request);
  if (!size) {
    return refuse(errc::invalid_argument,
                  "a row of a batch needs a known size: set object_size, or a range with an end");
  }
  if (*size > there.size()) {
    return refuse(errc::out_of_range, std::to_string(*size) +
                                          " bytes are to be read, the row has " +
                                          std::to_string(there.size()));
  }
  into.request.into = there.first(static_cast<std::size_t>(*size));
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
