#pragma once
// The load server's replies, all made before the first request: heads as the service sends them,
// listing pages in JSON (projected to four fields) and XML, and the block behind every body.

#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "shapes.hpp"

namespace bench {

inline std::uint32_t crc32c(std::span<unsigned char> data, std::uint32_t crc = 0) {
  return ~crc32_iscsi(data.data(), static_cast<int>(data.size()), ~crc);
}

inline std::string base64(std::span<const unsigned char> data) {
  std::string out((data.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), data.data(),
                                     static_cast<int>(data.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

inline std::string base64_crc(std::uint32_t crc) {
  const std::array<unsigned char, 4> big_endian = {
      static_cast<unsigned char>(crc >> 24U), static_cast<unsigned char>(crc >> 16U),
      static_cast<unsigned char>(crc >> 8U), static_cast<unsigned char>(crc)};
  return base64(big_endian);
}

inline std::string with_length(std::string_view type, std::string_view body,
                               std::string_view more = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) +
         "\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: UploadServer\r\n"
         "Cache-Control: no-cache, no-store, max-age=0, must-revalidate\r\n" +
         std::string(more) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

/// The replies to complete and move for an object that tells by its name what it is going to be,
/// "saved-SIZE-CRC32C" in hexadecimal: this server looks at no byte. False: for another object.
inline bool choose_saved(std::string_view target, std::string& out) {
  constexpr std::string_view mark = "saved-";
  const auto at = target.rfind(mark);
  const bool moved = target.find("/moveTo/") != std::string_view::npos;
  if (at == std::string_view::npos ||
      (!moved && target.find("uploadId=") == std::string_view::npos))
    return false;
  const char* numbers = target.data() + at + mark.size();
  char* end = nullptr;
  const std::uint64_t size = std::strtoull(numbers, &end, 16);
  const std::string name{target.substr(at, target.find_first_of("? /", at) - at)};
  const std::string hash =
      base64_crc(static_cast<std::uint32_t>(std::strtoull(end + 1, nullptr, 16)));
  if (moved) {
    out = with_length("application/json; charset=UTF-8",
                      "{\"kind\":\"storage#object\",\"bucket\":\"bench\",\"name\":\"" + name +
                          "\",\"generation\":"
                          "\"1767225600000002\",\"metageneration\":\"1\",\"size\":\"" +
                          std::to_string(size) + "\",\"crc32c\":\"" + hash + "\"}");
  } else {
    out =
        with_length("application/xml",
                    "<?xml version='1.0' encoding='UTF-8'?><CompleteMultipartUploadResult "
                    "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Location>http://localhost/"
                    "bench/key</Location><Bucket>bench</Bucket><Key>key</Key><ETag>"
                    "\"5d41402abc4b2a76-1\"</ETag></CompleteMultipartUploadResult>",
                    "x-goog-generation: 1767225600000001\r\nx-goog-hash: crc32c=" + hash + "\r\n");
  }
  return true;
}

/// Every reply in memory, except the numbers of a range.
class served {
 public:
  explicit served(std::span<unsigned char> block) {
    fill_block(block);
    std::uint32_t large_crc = 0, huge_crc = 0;
    for (std::uint64_t at = 0; at < huge_size; at += block.size()) {
      if (at == large_size) large_crc = huge_crc;
      huge_crc = crc32c(block, huge_crc);
    }

    const std::string small_hash = base64_crc(crc32c(block.first(small_size)));
    const std::string large_hash = base64_crc(large_crc);
    const std::string huge_hash = base64_crc(huge_crc);
    small = whole(block.first(small_size));
    medium = whole(block.first(medium_size));
    s3_small = s3_whole(block.first(small_size));
    s3_medium = s3_whole(block.first(medium_size));
    large_headers = object_headers(large_hash, large_size);
    huge_headers = object_headers(huge_hash, huge_size);
    large_whole = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(large_size) + "\r\n" +
                  large_headers + "\r\n";
    small_metadata = metadata(small_object, small_hash, small_size);
    large_metadata = metadata(large_object, large_hash, large_size);
    huge_metadata = metadata(huge_object, huge_hash, huge_size);
    for (unsigned page = 0; page < page_count; ++page) add_page(page);

    part_head =
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"5d41402abc4b2a76b9719d911017c592\"\r\n"
        "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: UploadServer\r\n";
    upload_begun = with_length(
        "application/xml",
        "<?xml version='1.0' encoding='UTF-8'?><InitiateMultipartUploadResult "
        "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Bucket>bench</Bucket><Key>key</Key>"
        "<UploadId>VXBsb2FkIElE</UploadId></InitiateMultipartUploadResult>");
    upload_completed = with_length(
        "application/xml",
        "<?xml version='1.0' encoding='UTF-8'?><CompleteMultipartUploadResult "
        "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Location>http://localhost/bench/key"
        "</Location><Bucket>bench</Bucket><Key>key</Key><ETag>\"5d41402abc4b2a76-1\"</ETag>"
        "</CompleteMultipartUploadResult>",
        "x-goog-generation: 1767225600000001\r\n");
  }

  std::string small, medium, large_headers, large_whole, small_metadata, large_metadata;
  std::string huge_headers, huge_metadata;
  std::string s3_small, s3_medium;
  /// Of a range, of which S3 tells no checksum.
  std::string s3_headers = s3_object_headers();
  std::vector<std::string> json_pages, xml_pages;
  std::string part_head, upload_begun, upload_completed;
  std::string no_content = "HTTP/1.1 204 No Content\r\nServer: UploadServer\r\n\r\n";
  std::string not_found =
      "HTTP/1.1 404 Not Found\r\nContent-Type: application/json; charset=UTF-8\r\n"
      "Content-Length: 52\r\n\r\n{\"error\":{\"code\":404,\"message\":\"No such object: x\"}}";
  std::string bad_request = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

 private:
  static std::string whole(std::span<unsigned char> content) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(content.size()) + "\r\n" +
           object_headers(base64_crc(crc32c(content)), content.size()) + "\r\n" +
           std::string(reinterpret_cast<const char*>(content.data()), content.size());
  }

  static std::string object_headers(const std::string& crc, std::uint64_t size) {
    return "Content-Type: application/octet-stream\r\n"
           "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
           "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
           "ETag: \"CIGAgICAgICAAhAB\"\r\n"
           "Accept-Ranges: bytes\r\n"
           "Cache-Control: no-cache, no-store, max-age=0, must-revalidate\r\n"
           "x-goog-generation: 1767225600000001\r\n"
           "x-goog-metageneration: 1\r\n"
           "x-goog-stored-content-encoding: identity\r\n"
           "x-goog-stored-content-length: " +
           std::to_string(size) + "\r\nx-goog-hash: crc32c=" + crc +
           "\r\nx-goog-storage-class: STANDARD\r\n"
           "X-GUploader-UploadID: "
           "AAwnv3Jx0m5oYw4kqV7d1Qb8Tz2rLh6sPc9fGe3uXiNyKaMvWjZtBoRdSlEqHgFp\r\n"
           "Server: UploadServer\r\n";
  }

  static std::string s3_whole(std::span<unsigned char> content) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(content.size()) + "\r\n" +
           s3_object_headers() + "x-amz-checksum-crc32c: " + base64_crc(crc32c(content)) +
           "\r\nx-amz-checksum-type: FULL_OBJECT\r\n\r\n" +
           std::string(reinterpret_cast<const char*>(content.data()), content.size());
  }

  static std::string s3_object_headers() {
    return "x-amz-id-2: "
           "eftixk72aD6Ap51TnqcoF8eFidJG9Z/2mkiDFu8yU9AS1ed4OpIszj7UDNEHGranStDLAm0kOpI=\r\n"
           "x-amz-request-id: 318BC8BC148832E5\r\n"
           "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
           "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
           "ETag: \"5d41402abc4b2a76b9719d911017c592\"\r\n"
           "x-amz-server-side-encryption: AES256\r\n"
           "Accept-Ranges: bytes\r\n"
           "Content-Type: application/octet-stream\r\n"
           "Server: AmazonS3\r\n";
  }

  static std::string metadata(std::string_view name, const std::string& crc, std::uint64_t size) {
    const std::string object{name};
    const std::string link = "https://www.googleapis.com/storage/v1/b/bench/o/" + object;
    return with_length(
        "application/json; charset=UTF-8",
        "{\"kind\":\"storage#object\",\"id\":\"bench/" + object +
            "/1767225600000001\",\"selfLink\":\"" + link + "\",\"mediaLink\":\"" + link +
            "?generation=1767225600000001&alt=media\",\"name\":\"" + object +
            "\",\"bucket\":\"bench\",\"generation\":\"1767225600000001\",\"metageneration\":\"1\","
            "\"contentType\":\"application/"
            "octet-stream\",\"storageClass\":\"STANDARD\",\"size\":\"" +
            std::to_string(size) + "\",\"md5Hash\":\"1B2M2Y8AsgTpgAmY7PhCfg==\",\"crc32c\":\"" +
            crc +
            "\",\"etag\":\"CIGAgICAgICAAhAB\",\"timeCreated\":\"2026-01-01T00:00:00.000Z\","
            "\"updated\":\"2026-01-01T00:00:00.000Z\","
            "\"timeStorageClassUpdated\":\"2026-01-01T00:00:00.000Z\"}");
  }

  void add_page(unsigned page) {
    const bool last = page + 1 == page_count;
    const std::string token = "page-" + std::to_string(page + 1);
    std::string
        json = "{",
        xml =
            "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult "
            "xmlns='http://doc.s3.amazonaws.com/2006-03-01'><Name>bench</Name><Prefix></Prefix>";
    if (!last) json += "\"nextPageToken\":\"" + token + "\",";
    if (!last) xml += "<NextContinuationToken>" + token + "</NextContinuationToken>";
    xml += std::string("<IsTruncated>") + (last ? "false" : "true") + "</IsTruncated>";
    json += "\"items\":[";
    for (unsigned i = 0; i < page_items; ++i) {
      const unsigned number = page * page_items + i;
      std::array<char, 96> name{};
      std::snprintf(name.data(), name.size(), "imagenet/train/n%08u/n%08u_%08u.JPEG", number / 1300,
                    number / 1300, number);
      const std::string size = std::to_string(100000 + number % 50000);
      const std::string generation = std::to_string(1767225600000000 + std::uint64_t{number} * 997);
      const std::string crc = base64_crc(number * 2654435761U);
      json += std::string(i == 0 ? "" : ",") + "{\"name\":\"" + name.data() + "\",\"size\":\"" +
              size + "\",\"generation\":\"" + generation + "\",\"crc32c\":\"" + crc + "\"}";
      xml += std::string("<Contents><Key>") + name.data() + "</Key><Generation>" + generation +
             "</Generation><MetaGeneration>1</MetaGeneration><LastModified>2026-01-01T00:00:00.000Z"
             "</LastModified><ETag>\"CIGAgICAgICAAhAB\"</ETag><Size>" +
             size + "</Size></Contents>";
    }
    json_pages.push_back(with_length("application/json; charset=UTF-8", json + "]}"));
    xml_pages.push_back(with_length("application/xml", xml + "</ListBucketResult>"));
  }
};

}  // namespace bench
