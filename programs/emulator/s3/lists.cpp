#include <emulator/digest.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/lists.hpp>
#include <emulator/s3/object_headers.hpp>
#include <emulator/uri.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace emulator::s3 {
namespace {

/// Before the place in the listing, so that '+' and '/' are in every token.
constexpr std::string_view token_mark = "\xfb\xff\xbf";

std::string token_of(const std::string& place) {
  return base64_encode(std::string{token_mark} + place);
}

std::string place_of(std::string_view token) {
  const auto raw = base64_decode(token);
  if (!raw || !raw->starts_with(token_mark)) {
    throw error(400, "InvalidArgument", "The continuation token provided is incorrect");
  }
  return raw->substr(token_mark.size());
}

bool wants_restore(const http_request& request) {
  return request.header("x-amz-optional-object-attributes").find("RestoreStatus") !=
         std::string_view::npos;
}

void write_contents(xml_writer& out, const stored_object& object, const name_encoding& name) {
  const object_facts& facts = facts_of(object);
  out.leaf("Key", name(object.name));
  out.leaf("LastModified", rfc3339(std::chrono::floor<std::chrono::seconds>(object.created)));
  out.quoted_leaf("ETag", etag_of(object));
  if (facts.sum) {
    out.leaf("ChecksumAlgorithm", name_of(facts.sum->algorithm).text);
    out.leaf("ChecksumType", text_of(facts.sum->type));
  }
  out.leaf("Size", static_cast<std::int64_t>(object.data.size()));
  out.leaf("StorageClass",
           object.metadata.storage_class.empty() ? "STANDARD" : object.metadata.storage_class);
}

void write_restore_status(xml_writer& out, const stored_object& object) {
  const auto& restored = facts_of(object).restored_until;
  if (!restored) return;
  out.open("RestoreStatus");
  out.leaf("IsRestoreInProgress", "false");
  out.leaf("RestoreExpiryDate", rfc3339(*restored));
  out.close("RestoreStatus");
}

void write_prefixes(xml_writer& out, const std::vector<std::string>& prefixes,
                    const name_encoding& name) {
  for (const std::string& prefix : prefixes) {
    out.open("CommonPrefixes");
    out.leaf("Prefix", name(prefix));
    out.close("CommonPrefixes");
  }
}

/// The greatest name of a page.
std::string last_name(const listing_page& page) {
  std::string last = page.items.empty() ? std::string{} : page.items.back()->name;
  if (!page.prefixes.empty()) last = std::max(last, page.prefixes.back());
  return last;
}

/// One line of a listing of versions: a version, or a prefix that stands for some.
struct version_line {
  std::string prefix{};
  object_ptr object{};
  bool latest{false};

  const std::string& name() const { return object ? object->name : prefix; }
  std::string id() const { return object ? version_id_of(*object) : std::string{}; }
};

std::vector<version_line> version_lines(const std::vector<object_ptr>& all,
                                        const std::string& prefix, const std::string& delimiter) {
  std::vector<version_line> out;
  for (const object_ptr& each : all) {
    const std::size_t at =
        delimiter.empty() ? std::string::npos : each->name.find(delimiter, prefix.size());
    if (at != std::string::npos) {
      std::string folded = each->name.substr(0, at + delimiter.size());
      if (out.empty() || out.back().prefix != folded) out.push_back({.prefix = std::move(folded)});
      continue;
    }
    const bool first = out.empty() || !out.back().object || out.back().name() != each->name;
    out.push_back({.object = each, .latest = first});
  }
  return out;
}

/// Those behind the marker, which names a key, or a version of it.
void drop_seen(std::vector<version_line>& lines, std::string_view key, std::string_view version) {
  if (key.empty()) return;
  auto from = std::ranges::find_if(lines, [&](const version_line& l) { return l.name() > key; });
  if (!version.empty()) {
    const auto exact = std::ranges::find_if(
        lines, [&](const version_line& l) { return l.name() == key && l.id() == version; });
    if (exact != lines.end()) from = exact + 1;
  }
  lines.erase(lines.begin(), from);
}

void write_version(xml_writer& out, const version_line& line, const name_encoding& name,
                   const options& how) {
  const stored_object& object = *line.object;
  const bool marker = is_marker(object);
  const std::string_view element = marker ? "DeleteMarker" : "Version";
  out.open(element);
  if (marker) {
    out.leaf("Key", name(object.name));
    out.leaf("LastModified", rfc3339(std::chrono::floor<std::chrono::seconds>(object.created)));
  } else {
    write_contents(out, object, name);
  }
  out.leaf("VersionId", version_id_of(object));
  out.leaf("IsLatest", line.latest ? "true" : "false");
  write_owner(out, "Owner", how);
  out.close(element);
}

}  // namespace

name_encoding::name_encoding(const query_parameters& query) {
  const std::string_view type = query.get("encoding-type");
  if (!type.empty() && type != "url") {
    throw error(400, "InvalidArgument", "Invalid Encoding Method specified in Request");
  }
  url_ = type == "url";
}

std::string name_encoding::operator()(std::string_view name) const {
  if (!url_) return std::string{name};
  std::string out;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t mark = std::min(name.find_first_of("/ ", at), name.size());
    out += percent_encode(name.substr(at, mark - at));
    if (mark < name.size()) out += name[mark] == ' ' ? '+' : '/';
    at = mark + 1;
  }
  return out;
}

std::uint64_t page_limit_of(const call& asked, std::string_view parameter) {
  std::uint64_t out = 1000;
  const std::string_view text = asked.query.get(parameter);
  if (!text.empty()) {
    const auto value = parse_integer(text);
    if (!value || *value < 0 || *value > 2'147'483'647) {
      throw error(400, "InvalidArgument",
                  "Provided " + std::string{parameter} + " not an integer or within integer range");
    }
    out = std::min<std::uint64_t>(out, static_cast<std::uint64_t>(*value));
  }
  // A fault may make a page shorter, and longer than any that was asked for.
  return asked.page_limit.value_or(out);
}

void write_owner(xml_writer& out, std::string_view element, const options& how) {
  out.open(element);
  out.leaf("ID", hex_encode(sha256(how.account)));
  out.leaf("DisplayName", "emulator");
  out.close(element);
}

http_reply lists::objects(const call& asked, const http_request& request) const {
  const bool second = asked.query.get("list-type") == "2";
  const name_encoding name{asked.query};
  listing_request wanted;
  wanted.prefix = asked.query.get("prefix");
  wanted.delimiter = asked.query.get("delimiter");
  const std::uint64_t most = page_limit_of(asked, "max-keys");
  wanted.max_results = most;
  const std::string_view after = asked.query.get(second ? "start-after" : "marker");
  const std::string_view token = second ? asked.query.get("continuation-token") : "";
  if (second && asked.query.has("continuation-token")) {
    wanted.page_token = place_of(token);
  } else {
    wanted.start_after = after;
  }
  const listing_page page = store_.list(asked.bucket, wanted);
  const bool more = !page.next_page_token.empty() && (most > 0 || asked.page_limit);

  xml_writer out{"ListBucketResult"};
  out.leaf("Name", asked.bucket);
  out.leaf("Prefix", name(wanted.prefix));
  if (second) {
    if (!token.empty()) out.leaf("ContinuationToken", token);
    if (!after.empty()) out.leaf("StartAfter", name(after));
    out.leaf("KeyCount", static_cast<std::int64_t>(page.items.size() + page.prefixes.size()));
    if (more) out.leaf("NextContinuationToken", token_of(page.next_page_token));
  } else {
    out.leaf("Marker", name(after));
    // Without a delimiter the last key is the marker, and S3 does not say so.
    if (more && !wanted.delimiter.empty()) out.leaf("NextMarker", name(last_name(page)));
  }
  out.leaf("MaxKeys", static_cast<std::int64_t>(most));
  if (!wanted.delimiter.empty()) out.leaf("Delimiter", name(wanted.delimiter));
  name.tell(out);
  out.leaf("IsTruncated", more ? "true" : "false");
  const bool owner = !second || asked.query.flag("fetch-owner");
  for (const object_ptr& item : page.items) {
    out.open("Contents");
    write_contents(out, *item, name);
    if (owner) write_owner(out, "Owner", how_);
    if (wants_restore(request)) write_restore_status(out, *item);
    out.close("Contents");
  }
  write_prefixes(out, page.prefixes, name);
  return out.reply("application/xml");
}

http_reply lists::versions(const call& asked) const {
  const name_encoding name{asked.query};
  const std::string prefix{asked.query.get("prefix")};
  const std::string delimiter{asked.query.get("delimiter")};
  const std::string_view key = asked.query.get("key-marker");
  const std::string_view version = asked.query.get("version-id-marker");
  if (key.empty() && !version.empty()) {
    throw error(400, "InvalidArgument",
                "A version-id marker cannot be specified without a key marker.");
  }
  const std::uint64_t most = page_limit_of(asked, "max-keys");
  auto lines = version_lines(store_.versions(asked.bucket, prefix), prefix, delimiter);
  drop_seen(lines, key, version);
  const bool more = lines.size() > most;
  if (more) lines.resize(static_cast<std::size_t>(most));

  xml_writer out{"ListVersionsResult"};
  out.leaf("Name", asked.bucket);
  out.leaf("Prefix", name(prefix));
  out.leaf("KeyMarker", name(key));
  out.leaf("VersionIdMarker", version);
  if (more && !lines.empty()) {
    out.leaf("NextKeyMarker", name(lines.back().name()));
    if (lines.back().object) out.leaf("NextVersionIdMarker", lines.back().id());
  }
  out.leaf("MaxKeys", static_cast<std::int64_t>(most));
  if (!delimiter.empty()) out.leaf("Delimiter", name(delimiter));
  name.tell(out);
  out.leaf("IsTruncated", more && !lines.empty() ? "true" : "false");
  std::vector<std::string> prefixes;
  for (const version_line& line : lines) {
    if (line.object) write_version(out, line, name, how_);
    if (!line.object) prefixes.push_back(line.prefix);
  }
  write_prefixes(out, prefixes, name);
  return out.reply("application/xml");
}

}  // namespace emulator::s3
