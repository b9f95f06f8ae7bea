#include <dataflux.h>

#include <c_api/call_dice.hpp>
#include <c_api/call_sequence.hpp>
#include <fuzz/require.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::size_t most_handles = 6;
/// Long enough to get something now and then, short enough for thousands of sequences.
constexpr std::int64_t little = 200'000;

/// Options as a program of another version may have them.
class odd_options {
 public:
  template <class Options>
  const Options* of(const Options& good, call_dice& dice) {
    std::memset(memory_.data(), 0, sizeof memory_);
    std::memcpy(memory_.data(), &good, sizeof good);
    std::size_t size = sizeof good;
    switch (dice.below(12)) {
      case 1:
        size = dice.below(sizeof good + 1);
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

/// One sequence.
class player {
 public:
  player(const std::string& endpoint, std::span<const std::byte> input)
      : endpoint_(endpoint), dice_(input) {}
  player(const player&) = delete;
  player& operator=(const player&) = delete;
  ~player() = default;

  void play() {
    make_client();
    make_queue();
    while (!dice_.ended()) step();
    free_all();
  }

 private:
  /// A handle of some kind; null now and then, and where there is none.
  template <class Handle>
  Handle* any(const std::vector<Handle*>& all) {
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
  void given(dataflux_status status, Handle* const& made, std::vector<Handle*>& all) {
    require((said(status) == DATAFLUX_OK) == (made != nullptr));
    if (made != nullptr) all.push_back(made);
  }

  void make_client() {
    if (clients_.size() == 2) return;
    dataflux_client_options o;
    dataflux_client_options_init(&o);
    o.endpoint = endpoint_.c_str();
    o.emulator = 1;
    o.io_threads = 1;
    o.credentials = dice_.chance(8) ? DATAFLUX_CREDENTIALS_TOKEN : DATAFLUX_CREDENTIALS_DEFAULT;
    o.memory_cap = std::uint64_t{1} << 20U;
    dataflux_client* made = nullptr;
    given(dataflux_client_create(&o, &made, err()), made, clients_);
  }
  void make_queue() {
    if (queues_.size() == 3) return;
    dataflux_queue* made = nullptr;
    given(dataflux_queue_create(&made, err()), made, queues_);
  }
  /// The objects that items are of stay as they are.
  dataflux_object_options object(bool changes) {
    dataflux_object_options o;
    dataflux_object_options_init(&o);
    o.bucket = dice_.chance(16) ? "no-such-bucket" : "bkt";
    static constexpr const char* names[]{"mine", "not-there", "", nullptr, "o/000003", "o/000007"};
    o.object = names[dice_.below(changes ? 4 : std::size(names))];
    if (dice_.chance(16)) o.generation = static_cast<std::int64_t>(dice_.number());
    if (dice_.chance(8)) o.timeout_ns = static_cast<std::int64_t>(dice_.below(200)) * 1'000'000;
    return o;
  }

  void call() {
    if (operations_.size() == most_handles) return free_one(operations_, dataflux_operation_free);
    const std::size_t which = dice_.below(5);
    const dataflux_object_options good = object(which == 1 || which == 2);
    const dataflux_object_options* const o = odd_.of(good, dice_);
    dataflux_client* const client = any(clients_);
    dataflux_queue* const queue = any(queues_);
    dataflux_operation* made = nullptr;
    dataflux_operation** const out = dice_.chance(4) ? nullptr : &made;
    dataflux_status status = DATAFLUX_OK;
    switch (which) {
      case 0:
        status = dataflux_stat(client, o, queue, 1, out, err());
        break;
      case 1:
        status =
            dataflux_put(client, o, text, dice_.below(sizeof text), nullptr, queue, 2, out, err());
        break;
      case 2:
        status = dataflux_remove(client, o, queue, 3, out, err());
        break;
      case 3:
        memory_.push_back(std::make_unique<std::array<char, 256>>());
        status = dataflux_get_one(client, o, dice_.below(256), memory_.back()->data(),
                                  dice_.below(256), queue, 4, out, err());
        break;
      default: {
        dataflux_list_options list;
        dataflux_list_options_init(&list);
        list.bucket = "bkt";
        list.prefix = "o/";
        list.regex = dice_.chance(8) ? "(" : nullptr;
        status = dataflux_list(client, odd_.of(list, dice_), queue, 5, out, err());
      }
    }
    require(made == nullptr || status == DATAFLUX_OK);
    said(status);
    if (made != nullptr) operations_.push_back(made);
  }

  void ask_operation() {
    dataflux_operation* const op = any(operations_);
    const char* json = nullptr;
    switch (dice_.below(5)) {
      case 0:
        said(dataflux_operation_wait(op, dice_.chance(2) ? little : 0, err()));
        break;
      case 1:
        said(dataflux_operation_result(op, err()));
        break;
      case 2:
        require((said(dataflux_operation_json(op, &json, err())) == DATAFLUX_OK) ==
                (json != nullptr));
        break;
      case 3: {
        dataflux_listing* made = nullptr;
        given(dataflux_operation_take_listing(op, &made, err()), made, listings_);
        break;
      }
      default:
        dataflux_operation_cancel(op);
    }
  }

  void read_many() {
    if (getters_.size() == most_handles) return free_one(getters_, dataflux_getter_free);
    dataflux_get_many_options o;
    dataflux_get_many_options_init(&o);
    o.bucket = "bkt";
    o.order = static_cast<std::uint32_t>(dice_.below(3));
    o.on_error = static_cast<std::uint32_t>(dice_.below(3));
    o.feed = dice_.chance(3) ? 1 : 0;
    const std::uint64_t rows[]{dice_.below(24), dice_.below(24), dice_.below(24)};
    dataflux_getter* made = nullptr;
    given(dataflux_get_many(any(clients_), odd_.of(o, dice_), any(listings_),
                            dice_.chance(2) ? rows : nullptr, dice_.below(4), any(queues_),
                            item_tag, &made, err()),
          made, getters_);
  }

  void feed() {
    dataflux_getter* const getter = any(getters_);
    std::size_t taken = 0;
    switch (dice_.below(4)) {
      case 0: {
        const std::uint64_t rows[]{dice_.below(24), dice_.below(24)};
        said(dataflux_getter_push_rows(getter, rows, 2, &taken, err()));
        require(taken <= 2);
        break;
      }
      case 1: {
        const std::uint64_t ends[]{0, 8, 16};
        dataflux_get_columns c;
        dataflux_get_columns_init(&c);
        c.names = "o/000001o/000002";
        c.name_offsets = dice_.chance(8) ? nullptr : ends;
        said(dataflux_getter_push(getter, odd_.of(c, dice_), 2, &taken, err()));
        require(taken <= 2);
        break;
      }
      case 2:
        dataflux_getter_finish(getter);
        break;
      default:
        dataflux_getter_cancel(getter);
    }
  }

  void take_records() {
    dataflux_queue* const queue = any(queues_);
    std::array<dataflux_record, 8> records{};
    std::size_t count = 77;
    const std::size_t capacity = dice_.below(records.size() + 1);
    const std::size_t size = dice_.chance(16) ? dice_.below(65) : sizeof records[0];
    const dataflux_status status =
        dataflux_queue_next(queue, records.data(), size, capacity, little, &count);
    require(count <= capacity);
    require(status == DATAFLUX_OK || count == 0);
    for (std::size_t i = 0; i < count; ++i) take(queue, records[i]);
  }
  void take(dataflux_queue* queue, const dataflux_record& r) {
    if (r.error != 0) {
      dataflux_error* const why = dataflux_queue_error(queue, r.error);
      require(why != nullptr && dataflux_error_status(why) == r.status);
      dataflux_error_free(why);
    }
    require(r.status == DATAFLUX_OK || r.data == nullptr);
    if (r.slab == 0) return;
    require(r.tag == item_tag && r.data != nullptr);
    // Bytes tell whose they are and where; all of an object has come.
    const auto* const bytes = static_cast<const unsigned char*>(r.data);
    void* slab = nullptr;
    std::uint64_t slab_size = 0;
    dataflux_slab_memory(r.slab, &slab, &slab_size);
    const auto* const begin = static_cast<const unsigned char*>(slab);
    require(bytes >= begin && bytes + r.size <= begin + slab_size);
    for (std::size_t i = 1; i < r.size; ++i) {
      require(bytes[i] == static_cast<unsigned char>(bytes[0] + i));
    }
    slabs_.push_back(r.slab);
    if (slabs_.size() > 8 || dice_.chance(2)) release();
  }
  void release() {
    dataflux_slabs_release(slabs_.data(), slabs_.size());
    slabs_.clear();
  }

  void ask_client() {
    dataflux_client* const client = any(clients_);
    char* text_out = nullptr;
    switch (dice_.below(3)) {
      case 0:
        require((said(dataflux_client_metrics(client, &text_out, err())) == DATAFLUX_OK) ==
                (text_out != nullptr));
        dataflux_text_free(text_out);
        break;
      case 1:
        said(dataflux_client_set_token(client, dice_.chance(4) ? nullptr : "secret", 0, err()));
        break;
      default:
        if (dice_.chance(4)) dataflux_client_close(client);
    }
  }
  void ask_listing() {
    const dataflux_listing* const listing = any(listings_);
    dataflux_chunk chunk;
    const std::uint64_t chunks = dataflux_listing_chunks(listing);
    const std::uint64_t index = dice_.below(4);
    const dataflux_status status = said(
        dataflux_listing_chunk(listing, index, &chunk, dice_.chance(8) ? 16 : sizeof chunk, err()));
    require(status != DATAFLUX_OK || index < chunks);
    require(dataflux_listing_size(listing) <= 20);
  }

  template <class Handle>
  void free_one(std::vector<Handle*>& all, void (*free)(Handle*)) {
    if (all.empty()) return free(nullptr);
    const std::size_t i = dice_.below(all.size());
    free(all[i]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void free_some() {
    switch (dice_.below(12)) {
      case 0:
        return free_one(clients_, dataflux_client_free);
      case 1:
        return free_one(queues_, dataflux_queue_free);
      case 2:
        return free_one(listings_, dataflux_listing_free);
      case 3:
        return dataflux_queue_close(any(queues_));
      case 4:
      case 5:
        return free_one(getters_, dataflux_getter_free);
      default:
        return free_one(operations_, dataflux_operation_free);
    }
  }
  void free_all() {
    const bool client_first = dice_.chance(2);
    while (client_first && !clients_.empty()) free_one(clients_, dataflux_client_free);
    while (!queues_.empty()) free_one(queues_, dataflux_queue_free);
    while (!operations_.empty()) free_one(operations_, dataflux_operation_free);
    while (!getters_.empty()) free_one(getters_, dataflux_getter_free);
    while (!listings_.empty()) free_one(listings_, dataflux_listing_free);
    while (!clients_.empty()) free_one(clients_, dataflux_client_free);
    release();
  }

  void step() {
    switch (dice_.below(20)) {
      case 0:
        return make_client();
      case 1:
        return make_queue();
      case 2:
        return ask_client();
      case 3:
        return ask_listing();
      case 4:
        return free_some();
      case 5:
      case 6:
      case 7:
        return ask_operation();
      case 8:
      case 9:
      case 10:
        return read_many();
      case 11:
      case 12:
        return feed();
      case 13:
      case 14:
      case 15:
        return call();
      default:
        return take_records();
    }
  }

  static constexpr std::uint64_t item_tag = 9;
  static constexpr char text[] = "what is put";

  const std::string& endpoint_;
  call_dice dice_;
  odd_options odd_{};
  dataflux_error* error_{nullptr};
  dataflux_error** asked_{nullptr};
  std::vector<dataflux_client*> clients_{};
  std::vector<dataflux_queue*> queues_{};
  std::vector<dataflux_operation*> operations_{};
  std::vector<dataflux_listing*> listings_{};
  std::vector<dataflux_getter*> getters_{};
  std::vector<std::uint64_t> slabs_{};
  std::vector<std::unique_ptr<std::array<char, 256>>> memory_{};  ///< lent to reads
};

}  // namespace

void fill_for_calls(emulator::server& server) {
  for (int i = 0; i < 20; ++i) {
    std::string body(300, '\0');
    for (std::size_t k = 0; k < body.size(); ++k) {
      body[k] = static_cast<char>(k + static_cast<std::size_t>(i));
    }
    server.put("bkt", (i < 10 ? "o/00000" : "o/0000") + std::to_string(i), body);
  }
}

void play_calls(const std::string& endpoint, std::span<const std::byte> input) {
  player(endpoint, input).play();
}
