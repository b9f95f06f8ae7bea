#include "get_requests.hpp"

#include "listing.hpp"
#include "shard_index.hpp"

#include <dataflux/shard/sample_reads.hpp>
#include <dataflux/store/detail/own_service.hpp>

#include <string>
#include <string_view>

namespace dataflux_c {

result<dataflux::get_many_request> get_many_request_of(const dataflux_get_many_options& o,
                                                       dataflux::observer* observer) {
  if (o.bucket == nullptr) return missing("bucket");
  if (o.order > DATAFLUX_ORDER_AS_READY) {
    return error(errc::invalid_argument, "order is no DATAFLUX_ORDER_*");
  }
  if (o.on_error > DATAFLUX_ON_ERROR_STOP) {
    return error(errc::invalid_argument, "on_error is no DATAFLUX_ON_ERROR_*");
  }
  dataflux::get_many_request r;
  r.bucket = o.bucket;
  r.order = o.order == DATAFLUX_ORDER_AS_READY ? dataflux::get_order::as_ready
                                               : dataflux::get_order::as_asked;
  r.on_error = o.on_error == DATAFLUX_ON_ERROR_STOP ? dataflux::get_on_error::stop
                                                    : dataflux::get_on_error::fail_item;
  if (o.compose != 0) r.compose.emplace().observer = observer;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

dataflux::object_columns columns_of(const dataflux_listing* listing) {
  return listing == nullptr ? dataflux::object_columns()
                            : listing->rows->slice(0, listing->rows->size());
}

namespace {

/// The text at `i` of a column. Errors: invalid_argument.
result<std::string_view> text_at(const char* texts, const std::uint64_t* offsets, std::size_t i,
                                 std::string_view name) {
  const std::uint64_t begin = offsets[i];
  const std::uint64_t end = offsets[i + 1];
  if (end >= begin) return std::string_view(texts + begin, static_cast<std::size_t>(end - begin));
  return error(errc::invalid_argument, std::string(name) + " descend at " + std::to_string(i));
}

/// One request of the columns. Errors: invalid_argument, naming the row.
result<dataflux::get_request> request_at(const dataflux_get_columns& c, std::size_t i) {
  dataflux::get_request r;
  const auto name = text_at(c.names, c.name_offsets, i, "name_offsets");
  if (!name) return name.error();
  r.object = *name;
  if (c.members != nullptr) {
    const auto member = text_at(c.members, c.member_offsets, i, "member_offsets");
    if (!member) return member.error();
    r.member = *member;
  }
  if (c.generations != nullptr) r.generation = c.generations[i];
  const std::uint64_t offset = c.offsets == nullptr ? 0 : c.offsets[i];
  const std::uint64_t length = c.lengths == nullptr ? UINT64_MAX : c.lengths[i];
  if (length != UINT64_MAX) {
    r.range = dataflux::byte_range::span(offset, length);
  } else if (offset != 0) {
    r.range = dataflux::byte_range::from(offset);
  }
  if (c.object_sizes != nullptr && c.object_sizes[i] != UINT64_MAX) {
    r.object_size = c.object_sizes[i];
  }
  if (c.into != nullptr && c.into[i] != nullptr) {
    if (length == UINT64_MAX) {
      return error(errc::invalid_argument, "`into` needs `lengths` at " + std::to_string(i));
    }
    r.into = {static_cast<std::byte*>(c.into[i]), static_cast<std::size_t>(length)};
  }
  return r;
}

}  // namespace

result<std::vector<dataflux::get_request>> requests_of(const dataflux_get_columns& columns,
                                                       std::size_t count) {
  if (count > 0 && (columns.names == nullptr || columns.name_offsets == nullptr)) {
    return missing("names");
  }
  if (columns.members != nullptr && columns.member_offsets == nullptr) {
    return missing("member_offsets");
  }
  std::vector<dataflux::get_request> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto one = request_at(columns, i);
    if (!one) return std::move(one).error();
    all.push_back(*std::move(one));
  }
  return all;
}

result<std::vector<dataflux::get_request>> requests_of(const dataflux_shard_index* index,
                                                       const std::uint64_t* numbers,
                                                       std::size_t count,
                                                       const client_state& client) {
  if (index == nullptr) return missing("index");
  if (numbers == nullptr && count > 0) return missing("numbers");
  const std::string& scheme = index->what.description().scheme;
  if (auto own = dataflux::detail::check_own_service(*client.client, scheme, "index"); !own) {
    return std::move(own).error();
  }
  std::vector<dataflux::get_request> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto one = dataflux::sample_request(index->what, numbers[i]);
    if (!one) return std::move(one).error();
    all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace dataflux_c
