#include "commands.hpp"
#include "listing.hpp"
#include "location.hpp"
#include "row_printer.hpp"
#include "selecting.hpp"

namespace cli {

using dataflux::name_selector;
using dataflux::object_row;
using dataflux::result;

namespace {

bool wants_times(const ls_options& how) { return how.details || how.human || how.json; }

/// What is printed of a listing: objects that are selected, and folders.
struct shown {
  const name_selector& selector;
  std::size_t folder{0};  ///< bytes of a name in front of what the selector compares
  /// Folders are compared with it, too.
  const name_selector* folders{nullptr};

  bool takes_folder(std::string_view prefix) const {
    prefix.remove_prefix(folder);
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    return folders == nullptr || folders->takes_name(prefix);
  }
};

/// The pages of names that begin with `prefix`: objects and folded folders of each, merged by name.
result<void> print_pages(const session& with, const listing_request& what, const shown& of,
                         row_printer& out) {
  return for_each_page(with.store, what, [&](dataflux::listed_page& page) {
    auto folder = page.prefixes.begin();
    const auto folders_before = [&](const std::string_view* name) {
      for (; folder != page.prefixes.end() && (name == nullptr || *folder < *name); ++folder) {
        if (of.takes_folder(*folder)) out.folder(*folder);
      }
    };
    for (auto at = page.objects.begin(); at != page.objects.end(); ++at) {
      const object_row row = *at;
      folders_before(&row.name);
      const auto written = at.extras().created;
      if (of.selector.takes(row.name.substr(of.folder), row.size, written)) {
        out.object(row, at.extras());
      }
    }
    folders_before(nullptr);
    return !out.broken();
  });
}

listing_request request_for(const session& with, const ls_options& how, const location& where) {
  return {.bucket = where.bucket,
          .versions = how.versions,
          .times = wants_times(how) || !how.select.newer_than.empty(),
          .storage_classes = how.json,
          .stop = with.stop};
}

result<void> print_below(const session& with, const ls_options& how, const location& where,
                         const name_selector& selector, row_printer& out) {
  auto what = request_for(with, how, where);
  what.prefix = folder_prefix(where.name);
  what.delimiter = how.recursive ? "" : "/";
  return print_pages(with, what, {.selector = selector, .folder = what.prefix.size()}, out);
}

/// Those of a manifest.
result<void> print_rows(const source& of, const name_selector& selector, row_printer& out) {
  for (auto at = of.rows->begin(); at != of.rows->end() && !out.broken(); ++at) {
    const object_row row = *at;
    const auto name = row.name.substr(of.where.name.size());
    if (selector.takes(name, row.size, at.extras().created)) out.object(row, at.extras());
  }
  return {};
}

/// Names of a pattern. Where only its last part is one, a level is listed and folders are shown as
/// such; else all names that begin as it does are gone through, and folders of objects are shown
/// once.
result<void> print_matching(const session& with, const ls_options& how, const source& of,
                            const name_selector& selector, row_printer& out) {
  auto what = request_for(with, how, of.where);
  what.prefix = of.where.name + selector.prefix();
  const std::size_t folder = of.where.name.size();
  const bool one_level = of.pattern.find('/') == std::string::npos &&
                         of.pattern.find("**") == std::string::npos && !how.recursive;
  if (one_level) {
    what.delimiter = "/";
    return print_pages(with, what, {.selector = selector, .folder = folder, .folders = &selector},
                       out);
  }
  const bool folds = !how.recursive && of.pattern.find("**") == std::string::npos;
  std::string last;
  return for_each_page(with.store, what, [&](dataflux::listed_page& page) {
    for (auto at = page.objects.begin(); at != page.objects.end(); ++at) {
      const object_row row = *at;
      const std::string_view name = row.name.substr(folder);
      if (selector.takes(name, row.size, at.extras().created)) out.object(row, at.extras());
      if (!folds || (!last.empty() && row.name.starts_with(last))) continue;
      for (auto slash = name.find('/'); slash != std::string_view::npos;
           slash = name.find('/', slash + 1)) {
        if (!selector.takes_name(name.substr(0, slash))) continue;
        last = row.name.substr(0, folder + slash + 1);
        out.folder(last);
        break;
      }
    }
    return !out.broken();
  });
}

/// The object of that very name, which may be there beside a folder of it.
result<void> print_one(const session& with, const ls_options& how, const location& where,
                       row_printer& out) {
  if (!how.versions) {
    const auto object = with.store.stat(
        {.bucket = where.bucket, .object = where.name, .limits = {.stop = with.stop}});
    if (object) {
      out.object({object->name, object->size, object->generation, object->crc32c},
                 {.created = object->created, .storage_class = object->storage_class});
      return {};
    }
    const auto why = object.error().code();
    // Who may list need not be allowed to read.
    const bool absent =
        why == dataflux::errc::not_found || why == dataflux::errc::permission_denied;
    return absent ? result<void>{} : result<void>{object.error()};
  }
  auto what = request_for(with, how, where);
  what.prefix = where.name;
  what.times = true;
  return for_each_page(with.store, what, [&](dataflux::listed_page& page) {
    for (std::size_t i = 0; i < page.objects.size(); ++i) {
      if (page.objects.name(i) != where.name) return false;  // names ascend: no more comes
      out.object(page.objects[i], page.objects.extras(i));
    }
    return true;
  });
}

result<void> print(const session& with, const ls_options& how, const source& of, row_printer& out) {
  const auto narrowed = selection_of(how.select);
  if (!narrowed) return narrowed.error();
  const auto selector = name_selector::create(selection_in(of, *narrowed, how.recursive));
  if (!selector) return selector.error();
  const location& where = of.where;
  out.enter(where.scheme, where.bucket);
  const std::uint64_t before = out.lines();
  result<void> listed;
  if (of.rows) {
    listed = print_rows(of, *selector, out);
  } else if (of.many()) {
    listed = print_matching(with, how, of, *selector, out);
  } else {
    if (!where.name.empty() && !where.name.ends_with('/') && !how.select.narrows()) {
      listed = print_one(with, how, where, out);
    }
    if (listed) listed = print_below(with, how, where, *selector, out);
  }
  if (!listed || out.lines() > before || (where.name.empty() && !of.many())) return listed;
  if (of.many() || how.select.narrows()) return nothing_matches(of, how.select);
  return dataflux::error(dataflux::errc::not_found, "no object and nothing below it")
      .with_scheme(where.scheme)
      .with_bucket(where.bucket)
      .with_object(where.name);
}

}  // namespace

exit_status run_ls(const session& with, const ls_options& options) {
  outcome report(nullptr, nullptr, with.speaks);
  const auto sources = parse_object_sources(with, options.urls, options.select);
  if (!sources) {
    report.failed(sources.error());
    return report.status();
  }
  row_printer out({.details = options.details || options.human,
                   .human = options.human,
                   .json = options.json,
                   .generations = options.versions});
  std::size_t listed = 0;
  for (const source& each : *sources) {
    if (with.stop.stop_requested() || out.broken()) break;
    const auto printed = print(with, options, each, out);
    printed ? void(++listed) : report.failed(printed.error());
  }
  out.finish(report.failures() == 0);
  if (out.broken()) {
    report.failed(file_error("output", "could not be written"));
  } else {
    for (; listed > 0; --listed) report.done(0);
  }
  return report.status();
}

}  // namespace cli
