#include <emulator/s3/buckets.hpp>
#include <emulator/s3/documents.hpp>
#include <emulator/s3/error.hpp>
#include <emulator/s3/lists.hpp>
#include <emulator/uri.hpp>
#include <emulator/xml_writer.hpp>

#include <algorithm>

namespace emulator::s3 {
namespace {

void check_s3_bucket_name(std::string_view name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  const bool ends = !name.empty() && name.front() != '-' && name.front() != '.' &&
                    name.back() != '-' && name.back() != '.';
  if (name.size() < 3 || name.size() > 63 || !ends || !std::ranges::all_of(name, legal) ||
      name.find("..") != std::string_view::npos) {
    auto refused = error(400, "InvalidBucketName", "The specified bucket is not valid.");
    refused.members = {{"BucketName", std::string{name}}};
    throw refused;
  }
  if (name.ends_with("--x-s3")) throw not_implemented("directory buckets");
}

json_value json_text(const std::string& text) {
  json_value out;
  out.value = text;
  return out;
}

}  // namespace

std::string region_of(const std::string& location, const options& how) {
  // "US" is the store's default, and no region of AWS.
  if (location == "US") return how.region;
  return location == "EU" ? "eu-west-1" : location;
}

http_reply buckets::list(const call& asked) const {
  const std::string_view prefix = asked.query.get("prefix");
  const std::string_view after = asked.query.get("continuation-token");
  const std::string_view region = asked.query.get("bucket-region");
  std::size_t most = 10'000;
  if (const std::string_view text = asked.query.get("max-buckets"); !text.empty()) {
    const auto value = parse_integer(text);
    if (!value || *value < 1 || *value > 10'000) {
      throw error(400, "InvalidArgument", "max-buckets must be from 1 to 10000");
    }
    most = static_cast<std::size_t>(*value);
  }
  if (asked.page_limit) most = static_cast<std::size_t>(*asked.page_limit);
  auto all = store_.buckets();
  std::erase_if(all, [&](const bucket_facts& each) {
    return !each.name.starts_with(prefix) || (!after.empty() && each.name <= after) ||
           (!region.empty() && region_of(each.settings.location, how_) != region);
  });
  const bool more = all.size() > most;
  if (more) all.resize(most);
  xml_writer out{"ListAllMyBucketsResult"};
  write_owner(out, "Owner", how_);
  out.open("Buckets");
  for (const bucket_facts& each : all) {
    out.open("Bucket");
    out.leaf("Name", each.name);
    out.leaf("CreationDate", rfc3339(each.created));
    out.leaf("BucketRegion", region_of(each.settings.location, how_));
    out.close("Bucket");
  }
  out.close("Buckets");
  if (!prefix.empty()) out.leaf("Prefix", prefix);
  if (more && !all.empty()) out.leaf("ContinuationToken", all.back().name);
  return out.reply("application/xml");
}

http_reply buckets::head(const call& asked) const {
  store_.require_bucket(asked.bucket);
  http_reply reply;
  reply.set("Content-Type", "application/xml");
  return reply;
}

http_reply buckets::create(const call& asked, const http_request& request) const {
  check_s3_bucket_name(asked.bucket);
  bucket_settings settings;
  const std::string body = request.body.to_string();
  const std::string location = leaf_of(body, "CreateBucketConfiguration", "LocationConstraint");
  settings.location = location.empty() ? how_.region : location;
  if (same_name(request.header("x-amz-bucket-object-lock-enabled"), "true")) {
    settings.object_lock = settings.versioning = true;
  }
  if (!store_.create_bucket(asked.bucket, settings)) {
    throw error(409, "BucketAlreadyOwnedByYou",
                "Your previous request to create the named bucket succeeded and you already own "
                "it.");
  }
  http_reply reply;
  reply.set("Location", "/" + asked.bucket);
  return reply;
}

http_reply buckets::remove(const call& asked) const {
  store_.remove_bucket(asked.bucket, {});
  http_reply reply;
  reply.status = 204;
  return reply;
}

http_reply buckets::show(const call& asked, const bucket_settings& settings) const {
  if (asked.verb == "buckets.location") {
    const std::string region = region_of(settings.location, how_);
    xml_writer out{"LocationConstraint"};
    if (region != "us-east-1") out.text(region);
    return out.reply("application/xml");
  }
  if (asked.verb == "buckets.getVersioning") {
    xml_writer out{"VersioningConfiguration"};
    if (settings.versioning) out.leaf("Status", "Enabled");
    if (!settings.versioning && settings.had_versioning) out.leaf("Status", "Suspended");
    return out.reply("application/xml");
  }
  if (asked.verb == "buckets.getObjectLock") {
    if (!settings.object_lock) {
      throw error(404, "ObjectLockConfigurationNotFoundError",
                  "Object Lock configuration does not exist for this bucket");
    }
    xml_writer out{"ObjectLockConfiguration"};
    out.leaf("ObjectLockEnabled", "Enabled");
    return out.reply("application/xml");
  }
  if (asked.verb == "buckets.getRequestPayment") {
    xml_writer out{"RequestPaymentConfiguration"};
    out.leaf("Payer", settings.requester_pays ? "Requester" : "BucketOwner");
    return out.reply("application/xml");
  }
  xml_writer out{"ServerSideEncryptionConfiguration"};
  const auto kept = settings.kept.find("s3Encryption");
  const bool kms = kept != settings.kept.end();
  out.open("Rule");
  out.open("ApplyServerSideEncryptionByDefault");
  out.leaf("SSEAlgorithm", kms ? kept->second.text("kind").value_or("") : "AES256");
  const std::string key = kms ? kept->second.text("keyId").value_or("") : "";
  if (!key.empty()) out.leaf("KMSMasterKeyID", key);
  out.close("ApplyServerSideEncryptionByDefault");
  out.leaf("BucketKeyEnabled", "false");
  out.close("Rule");
  return out.reply("application/xml");
}

void buckets::change(const call& asked, const http_request& request) const {
  const std::string body = request.body.to_string();
  store_.configure(asked.bucket, {}, [&](bucket_settings& settings) {
    if (asked.verb == "buckets.setVersioning") {
      const std::string status = leaf_of(body, "VersioningConfiguration", "Status");
      if (status != "Enabled" && status != "Suspended") throw malformed_xml();
      if (settings.object_lock && status == "Suspended") {
        throw error(409, "InvalidBucketState",
                    "An Object Lock configuration is present on this bucket, so the versioning "
                    "state cannot be changed.");
      }
      settings.versioning = status == "Enabled";
      settings.had_versioning = true;
    } else if (asked.verb == "buckets.setObjectLock") {
      if (leaf_of(body, "ObjectLockConfiguration", "ObjectLockEnabled") != "Enabled") {
        throw malformed_xml();
      }
      if (!leaf_of(body, "ObjectLockConfiguration", "Rule/DefaultRetention/Mode").empty()) {
        throw not_implemented("a default retention");
      }
      if (!settings.versioning) {
        throw error(409, "InvalidBucketState",
                    "Versioning must be 'Enabled' on the bucket to apply a Object Lock "
                    "configuration");
      }
      settings.object_lock = true;
    } else if (asked.verb == "buckets.setRequestPayment") {
      const std::string payer = leaf_of(body, "RequestPaymentConfiguration", "Payer");
      if (payer != "Requester" && payer != "BucketOwner") throw malformed_xml();
      settings.requester_pays = payer == "Requester";
    } else {
      settings.kept.erase("s3Encryption");
      if (request.method == "DELETE") return;
      static constexpr std::string_view root = "ServerSideEncryptionConfiguration";
      const std::string rule = "Rule/ApplyServerSideEncryptionByDefault/";
      const std::string kind = leaf_of(body, root, rule + "SSEAlgorithm");
      if (kind != "AES256" && !kind.starts_with("aws:kms")) throw malformed_xml();
      if (kind == "AES256") return;
      json_value::object kept;
      kept.emplace("kind", json_text(kind));
      kept.emplace("keyId", json_text(leaf_of(body, root, rule + "KMSMasterKeyID")));
      json_value held;
      held.value = std::move(kept);
      settings.kept.insert_or_assign("s3Encryption", std::move(held));
    }
  });
}

http_reply buckets::setting(const call& asked, const http_request& request) const {
  if (request.method == "GET") return show(asked, store_.facts(asked.bucket).settings);
  change(asked, request);
  http_reply reply;
  reply.status = request.method == "DELETE" ? 204 : 200;
  return reply;
}

}  // namespace emulator::s3
