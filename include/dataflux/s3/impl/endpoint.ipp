#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/s3/detail/endpoint.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline bool is_lower_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// One label of a host's name.
inline bool is_label(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 63 && is_lower_or_digit(text.front()) &&
         is_lower_or_digit(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_or_digit(c) || c == '-';
         });
}

/// Empty where the hosts of the region's partition are not public.
inline std::string_view domain_of(std::string_view region) noexcept {
  if (region.starts_with("cn-")) return "amazonaws.com.cn";
  return region.find("-iso") == std::string_view::npos ? "amazonaws.com" : std::string_view{};
}

DATAFLUX_INLINE bool is_region(std::string_view text) noexcept { return is_label(text); }

DATAFLUX_INLINE result<endpoint> endpoint::make(const endpoint_rules& rules) {
  endpoint made{rules};
  if (rules.url.empty()) return made;
  if (rules.dual_stack || rules.fips) {
    return error{
        errc::invalid_argument,
        "dual_stack and fips choose among AWS's own hosts: leave out the endpoint, or name "
        "the host of your choice by it"};
  }
  auto url = http::parse_url(rules.url);
  if (!url) return error{errc::invalid_argument, "the S3 endpoint: " + url.error().message()};
  std::string_view base = url->target;
  if (base.find('?') != std::string_view::npos) {
    return error{errc::invalid_argument, "the S3 endpoint " + url->origin.to_string() +
                                             " must not have a query behind its path"};
  }
  while (base.ends_with('/')) base.remove_suffix(1);
  made.base_ = std::string{base}.append("/");
  made.server_ = std::move(url->origin);
  // An environment's proxy knows nothing of this machine.
  made.server_.direct = made.server_.is_loopback();
  made.custom_ = true;
  return made;
}

DATAFLUX_INLINE result<http::origin> endpoint::origin_in(std::string_view region) const {
  if (!is_region(region)) {
    return error{errc::invalid_argument,
                 "the region is no name of one, such as \"us-east-1\": set `region`"};
  }
  if (custom_) return server_;
  http::origin origin;
  auto host = host_in("s3", region);
  if (!host) return std::move(host).error();
  origin.host = *std::move(host);
  return origin;
}

DATAFLUX_INLINE result<std::string> endpoint::host_in(std::string_view service,
                                                      std::string_view region) const {
  const std::string_view domain = domain_of(region);
  if (domain.empty()) {
    return error{errc::unimplemented, "the hosts of region " + std::string{region} +
                                          " are not public: name yours by `endpoint`"};
  }
  std::string host{service};
  host.append(rules_.fips ? "-fips." : ".").append(rules_.dual_stack ? "dualstack." : "");
  return host.append(region).append(".").append(domain);
}

DATAFLUX_INLINE result<access_point> parse_access_point(std::string_view arn) {
  const auto other = [](std::string_view what) {
    return error{errc::unimplemented,
                 std::string{what}.append(": name a bucket, the alias of an access point, or "
                                          "arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME")};
  };
  std::array<std::string_view, 6> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? arn.find(':') : arn.size();
    if (end == std::string_view::npos) {
      return error{errc::invalid_argument, "the bucket's ARN is cut off"};
    }
    fields[i] = arn.substr(0, end);
    arn.remove_prefix(std::min(end + 1, arn.size()));
  }
  const auto& [prefix, partition, service, region, account, resource] = fields;
  constexpr std::string_view kind{"accesspoint/"};
  if (service == "s3-object-lambda") return other("the ARN is of an Object Lambda access point");
  if (service == "s3-outposts") return other("the ARN is of an Outpost");
  if (service != "s3" || !resource.starts_with(kind)) return other("the ARN is of no access point");
  if (region.empty()) {
    return other("the access point is of several regions, whose requests are signed otherwise");
  }
  const std::string_view name = resource.substr(kind.size());
  const bool is_account = !account.empty() && account.size() <= 12 &&
                          account.find_first_not_of("0123456789") == std::string_view::npos;
  const bool in_china = region.starts_with("cn-");
  if (!is_region(region) || !is_account || !is_label(name) || in_china != (partition == "aws-cn") ||
      !partition.starts_with("aws")) {
    return error{errc::invalid_argument,
                 "the bucket's ARN names no access point: its region, account or name cannot be"};
  }
  return access_point{std::string{region}, std::string{account}, std::string{name}};
}

/// The path has no bucket.
DATAFLUX_INLINE result<bucket_place> endpoint::place_of_access_point(std::string_view arn) const {
  const auto point = parse_access_point(arn);
  if (!point) return point.error();
  if (custom_ || rules_.style == addressing::path) {
    return error{
        errc::invalid_argument,
        "an access point's ARN stands for a host of AWS: leave out the endpoint, and do not "
        "set `addressing` to path"};
  }
  auto host = host_in("s3-accesspoint", point->region);
  if (!host) return std::move(host).error();
  http::origin origin;
  origin.host = point->name + "-" + point->account + "." + *host;
  if (!is_label(std::string_view{origin.host}.substr(0, origin.host.find('.')))) {
    return error{errc::invalid_argument, "the access point's name is too long for a host's"};
  }
  return bucket_place{point->region, std::make_shared<const http::origin>(std::move(origin)),
                      base_};
}

DATAFLUX_INLINE result<bucket_place> endpoint::place_of_all(std::string_view region) const {
  auto origin = origin_in(region);
  if (!origin) return std::move(origin).error();
  return bucket_place{std::string{region}, std::make_shared<const http::origin>(*std::move(origin)),
                      base_};
}

DATAFLUX_INLINE result<bucket_place> endpoint::place_of(std::string_view bucket,
                                                        std::string_view region) const {
  if (bucket.ends_with("--x-s3")) {
    return error{errc::unimplemented,
                 "a directory bucket (S3 Express One Zone) has sessions and an order of its own, "
                 "which the library does not know: use a general purpose bucket"};
  }
  if (bucket.starts_with("arn:")) return place_of_access_point(bucket);
  auto origin = origin_in(region);
  if (!origin) return std::move(origin).error();
  const bool in_host = rules_.style == addressing::virtual_hosted ||
                       (rules_.style == addressing::automatic && !custom_ && is_label(bucket));
  bucket_place place{std::string{region}, nullptr, base_};
  if (in_host) {
    // An address has no names below it.
    const bool name = origin->host.find(':') == std::string::npos &&
                      origin->host.find_first_not_of("0123456789.") != std::string::npos;
    if (!name || bucket.find('_') != std::string_view::npos) {
      return error{errc::invalid_argument,
                   "the bucket cannot be part of a host's name here: set `addressing` to path"};
    }
    origin->host.insert(0, ".").insert(0, bucket);
  } else {
    codec::append_percent(place.base, bucket);
    place.base.push_back('/');
  }
  place.origin = std::make_shared<const http::origin>(*std::move(origin));
  return place;
}

DATAFLUX_INLINE bool endpoint::owns(const http::origin& origin) const noexcept {
  const auto below = [&](std::string_view domain) {
    const std::string_view host = origin.host;
    return host == domain || (host.size() > domain.size() && host.ends_with(domain) &&
                              host[host.size() - domain.size() - 1] == '.');
  };
  if (custom_) {
    return origin.tls == server_.tls && origin.port == server_.port && below(server_.host);
  }
  return origin.tls && origin.port == 443 && (below("amazonaws.com") || below("amazonaws.com.cn"));
}

DATAFLUX_INLINE std::string endpoint::to_string() const {
  if (!custom_) return "https://s3.amazonaws.com:443";
  std::string_view base = base_;
  base.remove_suffix(1);
  return server_.to_string().append(base);
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
