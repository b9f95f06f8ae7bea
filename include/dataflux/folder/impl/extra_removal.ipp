#pragma once

#include <dataflux/folder/detail/extra_removal.hpp>
#include <dataflux/folder/detail/folder_copy.hpp>
#include <dataflux/store/detail/reserved_prefixes.hpp>

#include <memory>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t removals_at_once = 64;
inline constexpr std::size_t files_removed_a_step = 64;

DATAFLUX_INLINE bool extra_removal::turn() {
  while (!over_ && !owner_.stopped() && removing_ < removals_at_once && next()) {
  }
  if (!extra_files_.empty() && (over_ || owner_.stopped() || !files_.ready())) flush_files();
  return (over_ || owner_.stopped()) && extra_files_.empty();
}

/// Takes the next name of the two. False: it has to come first, or there is none.
DATAFLUX_INLINE bool extra_removal::next() {
  const bool file = files_.ready();
  const bool object = objects_.ready();
  if (file && skip_what_is_no_file()) return true;
  if (objects_.failure()) {
    over_ = true;
    owner_.give_up(*objects_.failure());
    return false;
  }
  if ((!file && !files_.ended()) || (!object && !objects_.ended())) return false;
  // What was there when it was copied may be gone, or kept from us, by now.
  if (!std::exchange(met_source_, true) && !(in_ == target::files ? object : file)) {
    over_ = true;
    owner_.spare_extra("the source, looked at once more, was empty");
    return false;
  }
  if (!file && !object) {
    over_ = true;
    return false;
  }
  if (!object) return only_file(), true;
  const object_row row = objects_.front();
  const std::string_view rest = row.name.substr(owner_.request().prefix.size());
  const int order = file ? std::string_view(files_.front().path).compare(rest) : 1;
  if (order < 0) return only_file(), true;
  if (order > 0) only_object(row, rest);
  if (order == 0) files_.pop();
  objects_.pop();
  return true;
}

/// True: it was dealt with.
DATAFLUX_INLINE bool extra_removal::skip_what_is_no_file() {
  using kind = walked_file::kind;
  const walked_file& one = files_.front();
  const bool hides = one.what == kind::unread || one.what == kind::linked_folder;
  if (in_ == target::objects) {
    if (!hides) return false;
    over_ = true;  // extra objects can no longer be told from others
    owner_.give_up(*one.failure);
    return true;
  }
  if (one.what == kind::file) return false;
  if (one.what == kind::unread) {
    owner_.tell_failure({}, path_below(owner_.request().path, one.path), *one.failure);
  }
  files_.pop();
  return true;
}

DATAFLUX_INLINE void extra_removal::only_file() {
  const walked_file& one = files_.front();
  if (in_ == target::files && owner_.selected().takes(one.path, one.size, one.changed)) {
    if (owner_.request().dry_run) {
      const std::string path = path_below(owner_.request().path, files_.front().path);
      owner_.tell({.outcome = copy_outcome::removed, .path = path, .bytes = files_.front().size});
    } else {
      extra_files_.push_back(std::move(files_.front()));
    }
  }
  files_.pop();
  if (extra_files_.size() == files_removed_a_step) flush_files();
}

DATAFLUX_INLINE void extra_removal::only_object(const object_row& row, std::string_view rest) {
  if (in_ == target::files) return;
  const bool marker = row.size == 0 && (rest.empty() || rest.ends_with('/'));
  const auto leaf = rest.substr(rest.rfind('/') + 1);  // npos + 1 is 0
  if (marker || is_reserved_name(row.name) || is_leftover_name(leaf)) return;
  if (!owner_.selected().takes(rest, row.size, objects_.extras().created)) return;
  if (owner_.request().dry_run) {
    owner_.tell({.outcome = copy_outcome::removed, .object = row.name, .bytes = row.size});
    return;
  }
  // A write of somebody else is another generation, and stays.
  const remove_request request{.bucket = owner_.request().bucket,
                               .object = std::string(row.name),
                               .conditions = {.if_generation_match = row.generation},
                               .limits = owner_.limits()};
  ++removing_;
  owner_.store().start_remove(
      request, owner_.back<void>(
                   [this, name = request.object, size = row.size](const result<void>& removed) {
                     --removing_;
                     if (!removed && removed.error().code() != errc::not_found) {
                       return owner_.tell_failure(name, {}, removed.error());
                     }
                     owner_.tell({.outcome = copy_outcome::removed, .object = name, .bytes = size});
                   }));
}

DATAFLUX_INLINE void extra_removal::flush_files() {
  ++removing_;
  struct batch {
    std::vector<walked_file> files;
    std::vector<result<bool>> outcomes{};
  };
  const auto some = std::make_shared<batch>(batch{std::exchange(extra_files_, {})});
  owner_.on_file_thread(
      [this, some] {
        for (const walked_file& one : some->files) {
          if (owner_.stopped()) return;
          some->outcomes.push_back(remove_file(*one.where, one.name));
        }
      },
      [this, some] {
        --removing_;
        for (std::size_t i = 0; i < some->outcomes.size(); ++i) {
          const std::string path = path_below(owner_.request().path, some->files[i].path);
          const result<bool>& outcome = some->outcomes[i];
          if (!outcome) {
            owner_.tell_failure({}, path, outcome.error());
          } else if (*outcome) {
            owner_.tell(
                {.outcome = copy_outcome::removed, .path = path, .bytes = some->files[i].size});
          }
        }
      });
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
