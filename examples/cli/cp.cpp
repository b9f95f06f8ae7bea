#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "commands.hpp"
#include "download.hpp"
#include "known_objects.hpp"
#include "listing.hpp"
#include "local_name.hpp"
#include "location.hpp"
#include "stream_out.hpp"
#include "upload.hpp"
#include "walk.hpp"

namespace cli {

using dataflux::errc;
using dataflux::error;
using dataflux::result;

namespace {

/// Beside what the transfers have, for large ones.
constexpr std::size_t memory_for_small_files = std::size_t{128} << 20U;

enum class path_kind : std::uint8_t { missing, folder, file, other };

path_kind kind_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return path_kind::missing;
  if (S_ISDIR(facts.st_mode)) return path_kind::folder;
  return S_ISREG(facts.st_mode) ? path_kind::file : path_kind::other;
}

/// A path split into its folder and the rest.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

class copy {
 public:
  copy(const session& with, job& work, location source, location target)
      : with_(with),
        work_(work),
        source_(std::move(source)),
        target_(std::move(target)),
        down_(work, with.transfers, source_.bucket),
        up_(work, with.transfers) {}

  void download_one() {
    const auto object = find_object(with_.store, source_, work_.stop);
    if (!object) return work_.report.failed(object.error());
    work_.report.expect(object->size);
    if (target_.where == location::kind::stream) {
      if (work_.only_tell == nullptr) return to_stream(*object, STDOUT_FILENO);
      return work_.tell(source_.to_string(), "-", object->size);
    }
    std::string path = target_.path;
    if (path.ends_with('/') || kind_of(path) == path_kind::folder) {
      const std::string leaf = last_component(object->name);
      if (object->name.ends_with('/') || !why_no_file(leaf).empty()) {
        return refuse(object->name, leaf.empty() ? "it has no last part to be a file's name"
                                                 : "it ends with '/', as a folder's");
      }
      path += "/" + leaf;
    }
    if (kind_of(path) == path_kind::other && work_.only_tell == nullptr) {
      return to_device(*object, path);
    }
    const auto [above, leaf] = split_path(path);
    auto where = folder::open(above);
    if (!where) return work_.report.failed(where.error());
    down_.add({object->name, object->size, object->generation, object->crc32c},
              {std::move(*where), leaf, path});
    down_.flush();
  }

  void download_below() {
    std::string root = target_.path;
    // What the first of two runs makes must not lead the second one elsewhere.
    if (root.ends_with('/') || (!work_.go_on && kind_of(root) == path_kind::folder)) {
      const std::string leaf = source_.name.ends_with('/') ? "" : last_component(source_.name);
      if (!leaf.empty() && !why_no_file(leaf).empty()) return refuse(leaf, why_no_file(leaf));
      if (!leaf.empty()) root += "/" + leaf;
    }
    const std::string prefix = folder_prefix(source_.name);
    std::optional<target_tree> tree;
    bool any = false;
    const auto listed =
        for_each_page(with_.store, {.bucket = source_.bucket, .prefix = prefix, .stop = work_.stop},
                      [&](dataflux::listed_page& page) {
                        any = any || !page.objects.empty();
                        if (!tree && any && !open_tree(root, tree)) return false;
                        for (const auto row : page.objects) work_.report.expect(row.size);
                        for (const auto row : page.objects) {
                          if (work_.ended()) return false;
                          fetch(*tree, root, row, prefix.size());
                        }
                        down_.flush();
                        return true;
                      });
    if (!listed) return work_.report.failed(listed.error());
    if (!any && !source_.name.empty() && !work_.ended() && work_.report.failures() == 0) {
      // Nothing below: it may be one object.
      if (!source_.name.ends_with('/')) return download_one();
      work_.report.failed(error(errc::not_found, "nothing is below it")
                              .with_bucket(source_.bucket)
                              .with_object(source_.name));
    }
  }

  void upload_one() {
    std::string name = target_.name;
    if (source_.where == location::kind::stream) {
      if (name.empty() || name.ends_with('/')) {
        return work_.report.failed(
            error(errc::invalid_argument,
                  "give the whole name that standard input gets, not " + target_.to_string()));
      }
      return report(upload_stream(work_, with_.transfers, STDIN_FILENO, target_.bucket, name));
    }
    const auto [above, leaf] = split_path(source_.path);
    if (name.empty() || name.ends_with('/')) name += leaf;
    struct stat facts {};
    if (::stat(source_.path.c_str(), &facts) != 0) {
      return work_.report.failed(file_error(source_.path, errno));
    }
    if (S_ISDIR(facts.st_mode)) {
      return work_.report.failed(file_error(source_.path, "is a folder; `cp -r` copies folders"));
    }
    if (!S_ISREG(facts.st_mode)) return from_device(name);
    auto where = folder::open(above);
    if (!where) return work_.report.failed(where.error());
    file_to_send file{std::move(*where), leaf, static_cast<std::uint64_t>(facts.st_size),
                      target_.bucket, name};
    if (work_.go_on) {
      const auto there = with_.store.stat(
          {.bucket = target_.bucket, .object = name, .limits = {.stop = work_.stop}});
      if (!there && there.error().code() != errc::not_found) {
        return work_.report.failed(there.error());
      }
      if (there) work_.target_has_objects = true;
      if (there && there->size == file.size) file.there = there->crc32c;
    }
    work_.report.expect(file.size);
    up_.add(std::move(file));
  }

  void upload_below() {
    if (kind_of(source_.path) != path_kind::folder) return upload_one();
    auto root = folder::open(source_.path);
    if (!root) return work_.report.failed(root.error());
    std::string prefix = target_.name;
    if (prefix.empty() || prefix.ends_with('/')) {
      if (!source_.path.ends_with('/')) prefix += last_component(source_.path);
    }
    prefix = folder_prefix(prefix);
    std::optional<known_objects> there;
    if (work_.go_on) {
      there.emplace(
          with_.store,
          listing_request{.bucket = target_.bucket, .prefix = prefix, .stop = work_.stop});
    }
    walk(*root, work_.report,
         [&](const folder_ptr& in, const std::string& name, const std::string& path,
             std::uint64_t size) {
           return send({in, name, size, target_.bucket, prefix + path}, there) && !work_.ended();
         });
  }

 private:
  /// False: what is there cannot be known.
  bool send(file_to_send file, std::optional<known_objects>& there) {
    if (there) {
      const auto found = there->find(file.object);
      if (!found) {
        work_.report.failed(found.error());
        return false;
      }
      if (*found) work_.target_has_objects = true;
      if (*found && (*found)->size == file.size) file.there = (*found)->crc32c;
    }
    work_.report.expect(file.size);
    up_.add(std::move(file));
    return true;
  }

  void report(const result<void>& ended) {
    if (!ended) return work_.report.failed(ended.error());
    work_.report.done(0);
  }

  void refuse(std::string_view name, std::string_view why) {
    work_.report.failed(
        file_error(shown_url(source_.bucket, name),
                   "not copied, its name can be no file's here: " + std::string(why)));
  }

  bool open_tree(const std::string& root, std::optional<target_tree>& tree) {
    const bool make = work_.only_tell == nullptr;
    const auto made = make ? make_folders(root) : result<void>();
    auto top = made ? folder::open(root) : made.error();
    if (!top && !make && top.error().code() == errc::not_found) top = folder_ptr();
    if (!top) {
      work_.report.failed(top.error());
      return false;
    }
    tree.emplace(std::move(*top), make);
    return true;
  }

  void fetch(target_tree& tree, const std::string& root, const dataflux::object_row& row,
             std::size_t prefix) {
    std::string_view rest = row.name.substr(prefix);
    // An empty object "x/" is how consoles make a folder x.
    const bool marker = row.size == 0 && (rest.empty() || rest.ends_with('/'));
    if (marker && rest.empty()) return work_.report.done(0);
    if (marker) rest.remove_suffix(1);
    if (const auto why = why_no_file(rest); !why.empty()) return refuse(row.name, why);
    auto path = components(rest);
    const auto leaf = path.back();
    if (!marker) path.pop_back();
    auto where = tree.reach(path);
    if (!where) return work_.report.failed(where.error());
    if (marker) return work_.report.done(0);
    down_.add({std::string(row.name), row.size, row.generation, row.crc32c},
              {std::move(*where), std::string(leaf), below(root, rest)});
  }

  void to_stream(const dataflux::object_metadata& object, int descriptor) {
    report(stream_out(with_.transfers, object, {}, descriptor, work_.report, work_.stop));
  }

  /// A pipe or device is written to, never replaced.
  void to_device(const dataflux::object_metadata& object, const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return work_.report.failed(file_error(path, errno));
    to_stream(object, descriptor);
    ::close(descriptor);
  }

  void from_device(const std::string& name) {
    const int descriptor = ::open(source_.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return work_.report.failed(file_error(source_.path, errno));
    report(upload_stream(work_, with_.transfers, descriptor, target_.bucket, name));
    ::close(descriptor);
  }

  const session& with_;
  job& work_;
  const location source_;
  const location target_;
  downloads down_;
  file_uploads up_;
};

result<std::pair<location, location>> parse_ends(const cp_options& options) {
  auto source = parse_location(options.source);
  if (!source) return source.error();
  auto target = parse_location(options.target);
  if (!target) return target.error();
  if (source->is_object() == target->is_object()) {
    return error(errc::invalid_argument,
                 source->is_object()
                     ? "cp from gs:// to gs:// is not offered; copy to a folder or by way of '-'"
                     : "neither side is gs://bucket/name; for files use the system's cp");
  }
  const bool stream =
      source->where == location::kind::stream || target->where == location::kind::stream;
  if (stream && options.recursive) {
    return error(errc::invalid_argument, "-r needs a folder, and '-' is none");
  }
  if (stream && options.go_on) {
    return error(errc::invalid_argument, "--continue needs files, and '-' is none");
  }
  if (!options.recursive && source->is_object() && source->name.empty()) {
    return error(errc::invalid_argument, source->to_string() + " is a bucket; `cp -r` copies all");
  }
  return std::pair{std::move(*source), std::move(*target)};
}

}  // namespace

exit_status run_cp(const session& with, const cp_options& options) {
  auto ends = parse_ends(options);
  if (!ends) {
    outcome report(nullptr);
    report.failed(ends.error());
    return report.status();
  }
  const bool down = ends->first.is_object();
  dry_run plan;
  std::optional<progress> bar;
  if (!options.dry_run) {
    bar.emplace(down ? "downloading" : "uploading", 0, [totals = with.totals, down] {
      if (totals == nullptr) return std::uint64_t{0};
      return (down ? totals->bytes_received : totals->bytes_sent).load(std::memory_order_relaxed);
    });
  }
  std::stop_source end;
  const std::stop_callback interrupted(with.stop, [&end] { end.request_stop(); });
  outcome report(bar ? &*bar : nullptr, &end);
  {
    pipeline flow(with.store.executor(), {.bytes = memory_for_small_files});
    job work{.store = with.store,
             .flow = flow,
             .report = report,
             .stop = end.get_token(),
             .go_on = options.go_on,
             .only_tell = options.dry_run ? &plan : nullptr};
    copy task(with, work, std::move(ends->first), std::move(ends->second));
    if (down) {
      options.recursive ? task.download_below() : task.download_one();
    } else {
      options.recursive ? task.upload_below() : task.upload_one();
    }
    flow.wait();
  }
  if (options.dry_run) plan.finish(report);
  return report.status();
}

}  // namespace cli
