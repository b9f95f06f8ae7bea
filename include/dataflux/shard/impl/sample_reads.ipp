#pragma once

#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/tar_reader.hpp>
#include <dataflux/shard/sample_reads.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

/// Bytes of one sample on their way through the machines that indexed it.
class sample_splitter {
 public:
  sample_splitter(const indexed_sample& sample, const grouping_rules& rules, bytes_view bytes)
      : sample_(sample),
        bytes_(bytes),
        reader_({.concatenated = concatenated_rule::read}, sample.offset),
        grouper_(rules) {}

  result<split_sample_result> run();

 private:
  bool take_member();

  const indexed_sample& sample_;
  const bytes_view bytes_;
  tar_reader reader_;
  sample_grouper grouper_;
  split_sample_result made_{};
};

/// Whether a file is what the index says of the next member; one that is in no sample is passed
/// over.
DATAFLUX_INLINE bool sample_splitter::take_member() {
  const tar_member& member = reader_.member();
  const auto grouped = grouper_.add(member.name, {member.begin, member.data - member.begin});
  if (!grouped || (grouped->begins && !made_.fields.empty())) return false;
  if (!grouped->taken) return true;
  if (made_.fields.size() == sample_.members) return false;
  const indexed_member wanted = sample_.member(made_.fields.size());
  if (wanted.field != grouped->field || wanted.offset != member.data ||
      wanted.size != member.size) {
    return false;
  }
  const auto begin = static_cast<std::size_t>(member.data - sample_.offset);
  made_.fields.push_back({wanted.field, bytes_.subspan(begin, member.size)});
  return true;
}

DATAFLUX_INLINE result<split_sample_result> sample_splitter::run() {
  const error other{errc::data_loss,
                    "the bytes are not those of the sample that was indexed; index "
                    "the shards again"};
  if (bytes_.size() != sample_.size) return other;
  for (bytes_view rest = bytes_; !rest.empty();) {
    const auto step = reader_.next(rest);
    if (!step) return other;
    rest = rest.subspan(step->consumed);
    if (step->event == tar_event::file && !take_member()) return other;
    const auto skipped =
        static_cast<std::size_t>(std::min<std::uint64_t>(reader_.skippable(), rest.size()));
    reader_.skip(skipped);
    rest = rest.subspan(skipped);
  }
  const bool whole = made_.fields.size() == sample_.members;
  if (!whole || shard_index::hash_of(grouper_.key()) != sample_.key_hash) return other;
  made_.key = grouper_.key();
  return std::move(made_);
}

}  // namespace detail::shard

DATAFLUX_INLINE result<get_request> sample_request(const shard_index& index, std::uint64_t sample) {
  const auto found = index.sample(sample);
  if (!found) return found.error();
  const auto shard = index.shard(found->shard);
  if (!shard) return shard.error();
  if (shard->object.generation == 0) {
    error why{errc::failed_precondition,
              "the index is the entry that a writer put beside the shard, without its generation; "
              "index the shards, which takes such entries"};
    why.with_scheme(index.description().scheme).with_bucket(index.description().bucket);
    return std::move(why.with_object(shard->object.name));
  }
  get_request request = get_request::of(shard->object);
  request.range = byte_range::span(found->offset, found->size);
  request.range_crc32c = found->crc32c;
  return request;
}

DATAFLUX_INLINE result<get_request> member_request(const shard_index& index, std::uint64_t sample,
                                                   std::size_t member) {
  const auto found = index.sample(sample);
  if (!found) return found.error();
  if (member >= found->members) {
    return error{errc::out_of_range, "member " + std::to_string(member) + " of sample " +
                                         std::to_string(sample) + ", which has " +
                                         std::to_string(found->members)};
  }
  auto request = sample_request(index, sample);
  if (!request) return request;
  const indexed_member place = found->member(member);
  if (place.size == 0) {
    return error{errc::out_of_range, "member " + std::to_string(member) + " of sample " +
                                         std::to_string(sample) +
                                         " has no bytes: there is nothing to read"};
  }
  request->range = byte_range::span(place.offset, place.size);
  request->range_crc32c.reset();
  return request;
}

DATAFLUX_INLINE result<split_sample_result> split_sample(const shard_index& index,
                                                         std::uint64_t sample, bytes_view bytes) {
  const auto found = index.sample(sample);
  if (!found) return found.error();
  auto parts = detail::shard::sample_splitter(*found, index.grouping(), bytes).run();
  if (parts) return parts;
  const auto shard = index.shard(found->shard);
  error why = parts.error();
  why.with_scheme(index.description().scheme).with_bucket(index.description().bucket);
  if (shard) why.with_object(shard->object.name);
  return std::move(why.with_message("sample " + std::to_string(sample) + ": " + why.message()));
}

}  // namespace dataflux::inline DATAFLUX_ABI
