#include <dataflux/codec/crc32c.hpp>
#include <dataflux/codec/json_writer.hpp>
#include <dataflux/codec/rfc3339.hpp>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <optional>

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
      if (how_.details) out_.append(columns_width, ' ');
      out_ += shown_url(where_.bucket, prefix);
    }
    end_line();
  }

  void object(const object_row& row, const std::optional<dataflux::timestamp>& created) {
    ++objects_;
    bytes_ += row.size;
    if (how_.json) {
      dataflux::codec::json_writer w;
      w.begin_object().key("bucket").string(where_.bucket).key("name").string(row.name);
      w.key("size").integer(static_cast<std::int64_t>(row.size));
      w.key("generation").decimal_string(row.generation);
      if (row.crc32c) w.key("crc32c").string(dataflux::codec::encode_crc32c(*row.crc32c).view());
      if (created) w.key("created").string(dataflux::codec::format_rfc3339(*created));
      out_ += w.end_object().text();
    } else {
      if (how_.details) columns(row.size, created);
      out_ += shown_url(where_.bucket, row.name);
      if (how_.versions) out_.append("#").append(std::to_string(row.generation));
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
  static constexpr std::size_t columns_width = 15 + 2 + 20 + 2;

  void columns(std::uint64_t size, const std::optional<dataflux::timestamp>& created) {
    const std::string second =
        created
            ? dataflux::codec::format_rfc3339(std::chrono::floor<std::chrono::seconds>(*created))
            : "-";
    char text[columns_width + 16];
    std::snprintf(text, sizeof text, "%15" PRIu64 "  %-20s  ", size, second.c_str());
    out_ += text;
  }
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
                         printer& out) {
  const listing_request what{.bucket = where.bucket,
                             .prefix = folder_prefix(where.name),
                             .delimiter = how.recursive ? "" : "/",
                             .versions = how.versions,
                             .times = how.details || how.json,
                             .stop = with.stop};
  return for_each_page(with.store, what, [&](dataflux::list_page& page) {
    auto folder = page.prefixes.begin();
    for (auto at = page.objects.begin(); at != page.objects.end(); ++at) {
      const object_row row = *at;
      for (; folder != page.prefixes.end() && *folder < row.name; ++folder) out.folder(*folder);
      out.object(row, at.extras().created);
    }
    for (; folder != page.prefixes.end(); ++folder) out.folder(*folder);
    return !out.broken();
  });
}

/// The object of that very name, which may be there beside a folder of it.
result<void> print_one(const session& with, const ls_options& how, const location& where,
                       printer& out) {
  if (!how.versions) {
    const auto object = with.store.stat(
        {.bucket = where.bucket, .object = where.name, .limits = {.stop = with.stop}});
    if (object) {
      out.object({object->name, object->size, object->generation, object->crc32c}, object->created);
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
                             .stop = with.stop};
  return for_each_page(with.store, what, [&](dataflux::list_page& page) {
    for (std::size_t i = 0; i < page.objects.size(); ++i) {
      if (page.objects.name(i) != where.name) return false;  // names ascend: no more comes
      out.object(page.objects[i], page.objects.extras(i).created);
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
  printer out(options, *where);
  result<void> listed;
  if (!where->name.empty() && !where->name.ends_with('/')) {
    listed = print_one(with, options, *where, out);
  }
  if (listed) listed = print_below(with, options, *where, out);
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
