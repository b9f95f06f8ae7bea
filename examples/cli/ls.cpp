#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json_writer.hpp>

#include <cinttypes>
#include <cstdio>

#include "commands.hpp"
#include "listing.hpp"
#include "location.hpp"

namespace cli {

using dataflux::object_row;
using dataflux::result;

namespace {

class printer {
 public:
  printer(const ls_options& how, const location& where) : how_(how), where_(where) {}

  void folder(const std::string& prefix) {
    if (how_.json) {
      dataflux::codec::json_writer w;
      w.begin_object()
          .key("bucket")
          .string(where_.bucket)
          .key("prefix")
          .string(prefix)
          .end_object();
      out_ += w.text();
    } else {
      if (how_.details) out_.append(54, ' ');
      out_ += shown_url(where_.bucket, prefix);
    }
    end_line();
  }

  void object(const object_row& row) {
    ++objects_;
    bytes_ += row.size;
    const std::string crc{row.crc32c ? dataflux::codec::encode_crc32c(*row.crc32c).view() : "-"};
    if (how_.json) {
      dataflux::codec::json_writer w;
      w.begin_object().key("bucket").string(where_.bucket).key("name").string(row.name);
      w.key("size").integer(static_cast<std::int64_t>(row.size));
      w.key("generation").decimal_string(row.generation);
      if (row.crc32c) w.key("crc32c").string(crc);
      out_ += w.end_object().text();
    } else {
      char columns[96];
      std::snprintf(columns, sizeof columns, "%15" PRIu64 "  %-8s  #%-25" PRId64 "  ", row.size,
                    crc.c_str(), row.generation);
      if (how_.details) out_ += columns;
      out_ += shown_url(where_.bucket, row.name);
    }
    end_line();
  }

  bool empty() const noexcept { return lines_ == 0; }
  bool broken() const noexcept { return broken_; }

  void finish() {
    if (how_.details && !how_.json && !broken_) {
      out_ +=
          "total: " + std::to_string(objects_) + " objects, " + std::to_string(bytes_) + " bytes\n";
    }
    flush();
    broken_ = std::fflush(stdout) != 0 || broken_;
  }

 private:
  void end_line() {
    ++lines_;
    out_ += '\n';
    if (out_.size() >= 1U << 16U) flush();
  }
  void flush() {
    broken_ = std::fwrite(out_.data(), 1, out_.size(), stdout) != out_.size() || broken_;
    out_.clear();
  }

  const ls_options& how_;
  const location& where_;
  std::string out_{};
  std::uint64_t lines_{0};
  std::uint64_t objects_{0};
  std::uint64_t bytes_{0};
  bool broken_{false};
};

/// The pages of names below `prefix`: objects and folded folders of each, merged by name.
result<void> print_below(const session& with, const ls_options& how, const location& where,
                         const std::string& prefix, printer& out) {
  const listing_request what{.bucket = where.bucket,
                             .prefix = prefix,
                             .delimiter = how.recursive ? "" : "/",
                             .stop = with.stop};
  return for_each_page(with.store, what, [&](dataflux::list_page& page) {
    auto folder = page.prefixes.begin();
    for (const object_row row : page.objects) {
      for (; folder != page.prefixes.end() && *folder < row.name; ++folder) out.folder(*folder);
      out.object(row);
    }
    for (; folder != page.prefixes.end(); ++folder) out.folder(*folder);
    return !out.broken();
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
  printer out(options, *where);
  if (!where->name.empty() && !where->name.ends_with('/')) {
    // gs://b/x may be an object, a folder, or both.
    const auto object = with.store.stat(
        {.bucket = where->bucket, .object = where->name, .limits = {.stop = with.stop}});
    if (object) out.object({object->name, object->size, object->generation, object->crc32c});
  }
  const auto listed = print_below(with, options, *where, folder_prefix(where->name), out);
  const bool nothing = listed && out.empty() && !where->name.empty();
  if (!nothing) out.finish();
  if (!listed) report.failed(listed.error());
  if (nothing) {
    report.failed(dataflux::error(dataflux::errc::not_found, "no object and nothing below it")
                      .with_bucket(where->bucket)
                      .with_object(where->name));
  }
  if (listed && out.broken()) report.failed(file_error("output", "could not be written"));
  return report.status();
}

}  // namespace cli
