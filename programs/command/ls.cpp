#include "commands.hpp"
#include "listing.hpp"
#include "location.hpp"
#include "row_printer.hpp"

namespace cli {

using dataflux::object_row;
using dataflux::result;

namespace {

/// The pages of names below `prefix`: objects and folded folders of each, merged by name.
result<void> print_below(const session& with, const ls_options& how, const location& where,
                         row_printer& out) {
  const listing_request what{.bucket = where.bucket,
                             .prefix = folder_prefix(where.name),
                             .delimiter = how.recursive ? "" : "/",
                             .versions = how.versions,
                             .times = how.details || how.json,
                             .storage_classes = how.json,
                             .stop = with.stop};
  return for_each_page(with.store, what, [&](dataflux::listed_page& page) {
    auto folder = page.prefixes.begin();
    for (auto at = page.objects.begin(); at != page.objects.end(); ++at) {
      const object_row row = *at;
      for (; folder != page.prefixes.end() && *folder < row.name; ++folder) out.folder(*folder);
      out.object(row, at.extras());
    }
    for (; folder != page.prefixes.end(); ++folder) out.folder(*folder);
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
  const listing_request what{.bucket = where.bucket,
                             .prefix = where.name,
                             .versions = true,
                             .times = true,
                             .storage_classes = how.json,
                             .stop = with.stop};
  return for_each_page(with.store, what, [&](dataflux::listed_page& page) {
    for (std::size_t i = 0; i < page.objects.size(); ++i) {
      if (page.objects.name(i) != where.name) return false;  // names ascend: no more comes
      out.object(page.objects[i], page.objects.extras(i));
    }
    return true;
  });
}

}  // namespace

exit_status run_ls(const session& with, const ls_options& options) {
  outcome report(nullptr);
  const auto where = parse_object_location(options.url);
  if (!where) {
    report.failed(where.error());
    return report.status();
  }
  row_printer out({.details = options.details,
                   .human = options.human,
                   .json = options.json,
                   .generations = options.versions},
                  where->scheme, where->bucket);
  result<void> listed;
  if (!where->name.empty() && !where->name.ends_with('/')) {
    listed = print_one(with, options, *where, out);
  }
  if (listed) listed = print_below(with, options, *where, out);
  const bool nothing = listed && out.empty() && !where->name.empty();
  if (!nothing) out.finish(listed.has_value());
  if (!listed) report.failed(listed.error());
  if (nothing) {
    report.failed(dataflux::error(dataflux::errc::not_found, "no object and nothing below it")
                      .with_scheme(where->scheme)
                      .with_bucket(where->bucket)
                      .with_object(where->name));
  }
  if (listed && out.broken()) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
