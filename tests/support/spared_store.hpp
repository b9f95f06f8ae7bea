#pragma once

#include <dataflux/store/object_store.hpp>

#include <support/short_memory.hpp>

#include <cstdint>
#include <utility>

namespace dataflux::test {

/// Memory as if nothing were short, or as it is, on this thread and as long as it lives.
class with_memory {
 public:
  explicit with_memory(bool enough) noexcept : before_(spared()) { spare(enough); }
  with_memory(const with_memory&) = delete;
  with_memory& operator=(const with_memory&) = delete;
  ~with_memory() { spare(before_); }

 private:
  static bool& spared() noexcept {
    static thread_local bool is = false;
    return is;
  }
  static void spare(bool enough) noexcept {
    spared() = enough;
    short_memory_everywhere::spare_this_thread(enough);
  }
  const bool before_;
};

/// An object_store before another one, which has memory when who uses it has none: what is tested
/// is the user, whose completions run with as much as there is.
class spared_store final : public object_store {
 public:
  explicit spared_store(object_store& inner) noexcept : inner_(inner) {}

  store_traits traits() const noexcept override { return inner_.traits(); }
  dataflux::scheduler& executor() noexcept override { return inner_.executor(); }

  void start(const read_request& r, byte_sink& sink, completion<read_summary> done) override {
    const with_memory now(true);
    inner_.start(r, sink, short_again<read_summary>(std::move(done)));
  }
#define FORWARDED(request, value)                                 \
  void start(const request& r, completion<value> done) override { \
    const with_memory now(true);                                  \
    inner_.start(r, short_again<value>(std::move(done)));         \
  }
  FORWARDED(list_page_request, dataflux::list_page)
  FORWARDED(stat_request, object_metadata)
  FORWARDED(insert_request, object_metadata)
  FORWARDED(remove_request, void)
  FORWARDED(compose_request, object_metadata)
  FORWARDED(move_request, object_metadata)
  FORWARDED(rewrite_request, object_metadata)
  FORWARDED(bucket_request, bucket_metadata)
  FORWARDED(multipart_initiate_request, multipart_upload)
  FORWARDED(upload_part_request, uploaded_part)
  FORWARDED(multipart_complete_request, object_metadata)
  FORWARDED(multipart_abort_request, void)
  FORWARDED(list_parts_request, part_page)
  FORWARDED(list_uploads_request, upload_page)
#undef FORWARDED
  using object_store::start;

  /// The answer with this number, from 1 on, is lost on its way: its completion is destroyed.
  std::uint64_t loses{0};
  std::uint64_t answers{0};

 private:
  template <class T>
  completion<T> short_again(completion<T> done) {
    return [this, done = std::move(done)](result<T> outcome) mutable {
      const with_memory no_longer(false);
      completion<T> once = std::move(done);
      if (++answers != loses) once(std::move(outcome));
    };
  }

  object_store& inner_;
};

}  // namespace dataflux::test
