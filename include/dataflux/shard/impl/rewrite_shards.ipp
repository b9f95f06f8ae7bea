#pragma once

#include <dataflux/shard/detail/place_reader.hpp>
#include <dataflux/shard/detail/sample_grouper.hpp>
#include <dataflux/shard/detail/sample_name.hpp>
#include <dataflux/shard/rewrite_shards.hpp>
#include <dataflux/shard/shard_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

/// Each source is an object in a unique_function: shard_sequence, member_sequence, the ones of
/// sample_table.ipp and sample_choice.ipp. Only one sample of it is in memory.
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::shard {

class shard_sequence {
 public:
  shard_sequence(const transfer_context& context, std::vector<byte_place> shards,
                 rewrite_rules rules)
      : context_(context),
        scheme_(context.store().traits().scheme),
        shards_(std::move(shards)),
        rules_(std::move(rules)) {}

  result<sample_view*> next() {
    for (;;) {
      if (!stream_ && !open()) return nullptr;
      auto got = stream_->next();
      if (!got) return of_place(shards_[next_ - 1], std::move(got).error(), scheme_);
      if (*got != nullptr) return view(**got);
      if (over_) {
        close();
      } else if (auto fed = feed(); !fed) {
        return of_place(shards_[next_ - 1], std::move(fed).error(), scheme_);
      }
    }
  }

 private:
  bool open() {
    if (next_ == shards_.size()) return false;
    const byte_place& from = shards_[next_++];
    stream_.emplace(shard_stream_options{.reading = rules_.reading, .grouping = rules_.grouping});
    bytes_.emplace(context_, from, rules_.stop);
    over_ = false;
    return true;
  }
  result<void> feed() {
    if (rules_.stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
    const auto bytes = bytes_->next();
    if (!bytes) return bytes.error();
    over_ = bytes->empty();
    if (over_) {
      stream_->finish();
    } else {
      stream_->feed(*bytes);
    }
    return {};
  }
  void close() {
    if (rules_.left_out != nullptr) {
      rules_.left_out->add(stream_->counts(), stream_->groups(), shards_[next_ - 1].name,
                           stream_->first_left_out());
    }
    stream_.reset();
    bytes_.reset();
  }
  sample_view* view(const streamed_sample& sample) {
    view_.key = sample.key;
    view_.fields.clear();
    for (const streamed_field& field : sample.fields) {
      view_.fields.push_back({field.name, sample.data(field)});
    }
    return &view_;
  }

  const transfer_context context_;
  const std::string_view scheme_;
  const std::vector<byte_place> shards_;
  const rewrite_rules rules_;
  std::size_t next_{0};
  std::optional<shard_stream> stream_{};
  std::optional<place_reader> bytes_{};
  bool over_{false};
  sample_view view_{};
};

/// Members in their order, read and put together to samples.
class member_sequence {
 public:
  member_sequence(const transfer_context& context, std::vector<member_place> members,
                  rewrite_rules rules)
      : context_(context),
        members_(std::move(members)),
        rules_(std::move(rules)),
        grouper_(rules_.grouping) {}

  void sort() {
    // By key, then by field, which is not the order of names: "a.b/c.x" is between "a.a" and "a.c".
    std::stable_sort(members_.begin(), members_.end(),
                     [](const member_place& a, const member_place& b) {
                       const sample_name left = split_name(a.name);
                       const sample_name right = split_name(b.name);
                       return std::pair{left.key, left.field} < std::pair{right.key, right.field};
                     });
  }

  result<sample_view*> next() {
    fields_.clear();
    for (; next_ < members_.size(); ++next_) {
      const member_place& member = members_[next_];
      auto grouped = grouper_.add(member.name, {next_, 1});
      if (!grouped) return of_member(member, std::move(grouped).error());
      if (grouped->begins) {
        // This one begins the next sample: it is read when it is asked for.
        if (grouped->ended) return view();
        key_ = grouper_.key();
      }
      if (!grouped->taken) {
        if (first_left_out_.empty()) first_left_out_ = member.name;
        continue;
      }
      auto data = read(member);
      if (!data) return of_member(member, std::move(data).error());
      fields_.emplace_back(std::string(grouped->field), *std::move(data));
    }
    if (!fields_.empty()) return view();
    if (rules_.left_out != nullptr && !std::exchange(told_, true)) {
      rules_.left_out->groups += grouper_.counts();
      rules_.left_out->first = std::move(first_left_out_);
    }
    return nullptr;
  }

 private:
  error of_member(const member_place& member, error why) const {
    return of_place(member.make ? byte_place{.name = member.name} : member.from, std::move(why),
                    context_.store().traits().scheme);
  }
  sample_view* view() {
    grouper_.end_shard();  // the member is added once more, and begins its sample
    view_.key = key_;
    view_.fields.clear();
    for (const auto& [name, data] : fields_) view_.fields.push_back({name, as_bytes(data)});
    return &view_;
  }
  /// Whether it is an object that is certainly read, of the bucket of the first one.
  static bool goes_ahead(const std::vector<member_place>& all, std::size_t i) noexcept {
    const member_place& member = all[i];
    return !member.make && !member.from.bucket.empty() &&
           member.from.bucket == all.front().from.bucket &&
           split_name(member.name).kind == membership::sample;
  }
  get_source requests() const {
    return [this, i = std::size_t{0}]() mutable -> std::optional<get_request> {
      while (i < members_.size() && !goes_ahead(members_, i)) ++i;
      if (i == members_.size()) return std::nullopt;
      return request_of(members_[i++].from);
    };
  }
  /// One that the grouper has left out was read, too, and is passed over.
  result<std::string> read_ahead() {
    if (!ahead_) {
      ahead_.emplace(
          context_,
          get_many_request{.bucket = members_.front().from.bucket, .limits = {.stop = rules_.stop}},
          requests());
    }
    for (;;) {
      while (!goes_ahead(members_, item_member_)) ++item_member_;
      const auto item = ahead_->next();
      if (!item) return item.error();
      if (!*item) return error(errc::internal, "an object was not read");
      if (item_member_++ < next_) continue;
      if ((*item)->failure) return *(*item)->failure;
      return std::string(as_text((*item)->bytes));
    }
  }
  result<std::string> read(const member_place& member) {
    if (rules_.stop.stop_requested()) return error(errc::cancelled, "the caller asked to stop");
    if (member.make) return member.make();
    if (goes_ahead(members_, next_)) return read_ahead();
    place_reader bytes(context_, member.from, rules_.stop);
    std::string all;
    for (;;) {
      const auto some = bytes.next();
      if (!some) return some.error();
      if (some->empty()) return all;
      all += as_text(*some);
    }
  }

  const transfer_context context_;
  std::vector<member_place> members_;
  const rewrite_rules rules_;
  sample_grouper grouper_;
  std::size_t next_{0};
  std::string key_{};
  std::vector<std::pair<std::string, std::string>> fields_{};
  bool told_{false};
  std::string first_left_out_{};
  sample_view view_{};
  // Objects of the first one's bucket go ahead, in the order of their members.
  std::optional<getter> ahead_{};
  std::size_t item_member_{0};  ///< of the item that comes next, or before it
};

}  // namespace detail::shard

DATAFLUX_INLINE sample_source read_shards(const transfer_context& context,
                                          std::vector<byte_place> shards, rewrite_rules rules) {
  auto all =
      std::make_unique<detail::shard::shard_sequence>(context, std::move(shards), std::move(rules));
  return [all = std::move(all)] { return all->next(); };
}

DATAFLUX_INLINE sample_source read_members(const transfer_context& context,
                                           std::vector<member_place> members, bool sorted,
                                           rewrite_rules rules) {
  auto all = std::make_unique<detail::shard::member_sequence>(context, std::move(members),
                                                              std::move(rules));
  if (sorted) all->sort();
  return [all = std::move(all)] { return all->next(); };
}

}  // namespace dataflux::inline DATAFLUX_ABI
