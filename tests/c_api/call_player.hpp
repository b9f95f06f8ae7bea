#pragma once

#include <dataflux.h>

#include <c_api/call_dice.hpp>
#include <fuzz/require.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Options as a program of another version may have them.
class odd_options {
 public:
  /// `least`: what a version without which would be about something else.
  template <class Options>
  const Options* of(const Options& good, call_dice& dice, std::size_t least = 0) {
    std::memset(memory_.data(), 0, sizeof memory_);
    std::memcpy(memory_.data(), &good, sizeof good);
    std::size_t size = sizeof good;
    switch (dice.below(12)) {
      case 1:
        size = least + dice.below(sizeof good + 1 - least);
        break;
      case 2:
        size = sizeof good + 8 * dice.below(8);
        break;
      case 3:
        size = sizeof good + 8;
        std::memset(reinterpret_cast<char*>(memory_.data()) + sizeof good, 1, 8);
        break;
      case 4:
        return nullptr;
      default:
        break;
    }
    std::memcpy(memory_.data(), &size, sizeof size);
    return reinterpret_cast<const Options*>(memory_.data());
  }

 private:
  std::array<std::uint64_t, 64> memory_{};
};

#include <cstdio>
/// One sequence of calls: what is alive, and how it is used. What call_sequence.hpp says.
class call_player {
 public:
  call_player(const std::string& endpoint, const std::string& folder,
              std::span<const std::byte> input)
      : endpoint_(endpoint), folder_(folder), dice_(input) {}
  call_player(const call_player&) = delete;
  call_player& operator=(const call_player&) = delete;
  ~call_player() = default;

  void play() {
    make_client();
    make_queue();
    while (!dice_.ended()) {
      if (dice_.chance(2)) {
        step();
      } else {
        feature();
      }
    }
    free_all();
  }

 private:
  template <class Handle>
  using handles = std::vector<Handle*>;

  /// A handle of some kind; null now and then, and where there is none.
  template <class Handle>
  Handle* any(const handles<Handle>& all) {
    if (all.empty() || dice_.chance(16)) return nullptr;
    return all[dice_.below(all.size())];
  }
  /// An answer and its error agree.
  dataflux_status said(dataflux_status status) {
    if (asked_ == nullptr) return status;
    const bool fails = status != DATAFLUX_OK && status != DATAFLUX_INTERRUPTED;
    require(fails == (error_ != nullptr));
    if (error_ != nullptr) {
      require(dataflux_error_status(error_) == status);
      require(dataflux_error_text(error_)[0] != '\0');
      dataflux_error_free(error_);
      error_ = nullptr;
    }
    return status;
  }
  dataflux_error** err() {
    asked_ = dice_.chance(8) ? nullptr : &error_;
    return asked_;
  }
  /// What a function has given by its out parameter, which is looked at after the call.
  template <class Handle>
  void given(dataflux_status status, Handle* const& made, handles<Handle>& all) {
    require((said(status) == DATAFLUX_OK) == (made != nullptr));
    if (made != nullptr) all.push_back(made);
  }
  /// Room for one more of `all`.
  template <class Handle>
  bool room(handles<Handle>& all, void (*free)(Handle*)) {
    if (all.size() < most_handles) return true;
    free_one(all, free);
    return false;
  }
  /// Begins an operation by `call(queue, out, err)`.
  template <class Call>
  void begin(Call call) {
    if (!room(operations_, dataflux_operation_free)) return;
    dataflux_operation* made = nullptr;
    dataflux_operation** const out = dice_.chance(4) ? nullptr : &made;
    const dataflux_status status = said(call(any(queues_), out, err()));
    require((made != nullptr) == (status == DATAFLUX_OK && out != nullptr));
    if (made != nullptr) operations_.push_back(made);
  }
  /// Takes what some operation has made.
  template <class Handle>
  void taken_of(dataflux_status (*take_it)(dataflux_operation*, Handle**, dataflux_error**),
                handles<Handle>& all, void (*free)(Handle*)) {
    if (!room(all, free)) return;
    Handle* made = nullptr;
    for (std::size_t i = 0; made == nullptr && i < operations_.size(); ++i) {
      given(take_it(operations_[i], &made, err()), made, all);
    }
    if (operations_.empty()) given(take_it(nullptr, &made, err()), made, all);
  }
  /// What is asked of a kind that there is none of is seldom worth a call.
  template <class Handle>
  bool none(const handles<Handle>& all) {
    return all.empty() && !dice_.chance(8);
  }
  /// A text that is the caller's.
  void text_of(dataflux_status status, char* const& text) {
    require((said(status) == DATAFLUX_OK) == (text != nullptr));
    dataflux_text_free(text);
  }
  /// A text that lives in its handle.
  void lent_text(dataflux_status status, const char* const& text) {
    require((said(status) == DATAFLUX_OK) == (text != nullptr));
  }
  /// 256 bytes, lent until the end of the sequence.
  char* memory() {
    memory_.push_back(std::make_unique<std::array<char, 256>>());
    return memory_.back()->data();
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  std::int64_t timeout() {
    return dice_.chance(8) ? static_cast<std::int64_t>(dice_.below(200)) * 1'000'000 : 0;
  }

  // call_sequence.cpp: clients, queues, operations, objects, listings, getters.
  void step();
  void make_client();
  void make_queue();
  dataflux_object_options object(bool changes);
  /// Lists the objects that stay as they are, and no others.
  const dataflux_list_options* odd_listing(const dataflux_list_options& good) {
    return odd_.of(good, dice_, offsetof(dataflux_list_options, start_offset));
  }
  void call();
  void ask_operation();
  void read_many();
  void feed();
  void read_batches();
  void push_batch();
  void take_records();
  void take(dataflux_queue* queue, const dataflux_record& r);
  void release();
  void ask_client();
  void ask_listing();
  void free_some();
  void free_all();

  // call_features.cpp: everything else.
  void feature();
  void list_stream();
  void ask_lister();
  void save_manifest();
  void ask_manifest();
  void ask_changes();
  dataflux_listing* listed_shards();
  void index_shards();
  void verify_shards();
  void ask_shard_index();
  void stream_shard();
  void open_shard_writer();
  void write_shards();
  void end_shard_writer();
  void ask_sampler();
  void simulate_epoch();
  void ask_mixer();
  void ask_cache();
  void ask_job();
  void change_object();
  void ask_bucket();
  void sign();
  void open_writer();
  void write();
  void end_writer();
  void open_reader();
  void read();
  void ask_records(const dataflux_set* set);
  std::string ask_save();
  void save_set();
  void load_set();
  void ask_sets();
  void copy_file();
  void copy_folder();
  void sweep();
  void ask_events();
  void free_feature();
  void free_features();

  template <class Handle>
  void free_one(handles<Handle>& all, void (*free)(Handle*)) {
    if (all.empty()) return free(nullptr);
    const std::size_t i = dice_.below(all.size());
    free(all[i]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  template <class Handle>
  void free_each(handles<Handle>& all, void (*free)(Handle*)) {
    while (!all.empty()) free_one(all, free);
  }

  static constexpr std::size_t most_handles = 6;
  /// Long enough to get something now and then, short enough for thousands of sequences.
  static constexpr std::int64_t little = 200'000;
  static constexpr std::uint64_t item_tag = 9;
  static constexpr std::uint64_t events_tag = 10;
  static constexpr std::uint64_t batch_tag = 11;
  static constexpr std::uint64_t get_tag = 100;
  static constexpr char put_bytes[] = "what is put";

  const std::string& endpoint_;
  const std::string& folder_;  ///< where files are
  call_dice dice_;
  odd_options odd_{};
  odd_options more_odd_{};
  dataflux_error* error_{nullptr};
  dataflux_error** asked_{nullptr};
  handles<dataflux_client> clients_{};
  handles<dataflux_queue> queues_{};
  handles<dataflux_operation> operations_{};
  handles<dataflux_listing> listings_{};
  handles<dataflux_getter> getters_{};
  handles<dataflux_batch_getter> batch_getters_{};
  handles<dataflux_lister> listers_{};
  handles<dataflux_manifest> manifests_{};
  handles<dataflux_changes> changes_{};
  handles<dataflux_shard_index> shard_indexes_{};
  handles<dataflux_shard_stream> shard_streams_{};
  handles<dataflux_shard_writer> shard_writers_{};
  handles<dataflux_mixer> mixers_{};
  handles<dataflux_writer> writers_{};
  handles<dataflux_reader> readers_{};
  handles<dataflux_set> sets_{};
  handles<dataflux_set_reader> set_readers_{};
  handles<dataflux_events> events_{};
  std::vector<std::string> set_records_{};
  std::vector<std::uint64_t> slabs_{};
  std::vector<std::unique_ptr<std::array<char, 256>>> memory_{};  ///< lent to reads
};
