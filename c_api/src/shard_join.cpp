#include "boundary.hpp"
#include "shard_index.hpp"

#include <dataflux/shard/join_shards.hpp>

#include <cstring>
#include <utility>

/// Immutable, and plain memory: also in the child of a fork.
struct dataflux_shard_join {
  dataflux::shard_join what;
};

using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;

void dataflux_join_options_init(dataflux_join_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_shard_index_join(const dataflux_shard_index* left,
                                          const dataflux_shard_index* right,
                                          const dataflux_join_options* options,
                                          dataflux_shard_join** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (left == nullptr) return missing("left");
    if (right == nullptr) return missing("right");
    const auto o = dataflux_c::options_of(options);
    if (!o) return o.error();
    auto joined = dataflux::join_shards(
        left->what, right->what,
        {.kind = o->left_outer != 0 ? dataflux::join_kind::left : dataflux::join_kind::inner,
         .repeated = o->all_pairs != 0 ? dataflux::repeated_keys::all_pairs
                                       : dataflux::repeated_keys::refuse});
    if (!joined) return std::move(joined).error();
    // Memory comes first, and then the value moves. NOLINTNEXTLINE(modernize-make-unique)
    *out = new dataflux_shard_join{*std::move(joined)};
    return {};
  });
}

void dataflux_shard_join_free(dataflux_shard_join* join) { delete join; }

dataflux_status dataflux_shard_join_rows(const dataflux_shard_join* join, dataflux_join_rows* out,
                                         size_t rows_size, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (join == nullptr) return missing("join");
    if (out == nullptr) return missing("out");
    if (rows_size < sizeof *out) return error(errc::invalid_argument, "rows_size is too small");
    std::memset(static_cast<void*>(out), 0, rows_size);
    out->rows = join->what.left.size();
    out->left = join->what.left.data();
    out->right = join->what.right.data();
    out->left_alone = join->what.left_alone;
    out->right_alone = join->what.right_alone;
    return {};
  });
}
