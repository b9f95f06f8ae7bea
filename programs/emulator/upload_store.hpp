#pragma once

#include <emulator/stored_object.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// The open multipart uploads of the XML API (protocol.md 2). Thread safe. All that take an id
/// throw no_such_upload when it is not open for that bucket and key.
class upload_store {
 public:
  using time_point = stored_object::time_point;
  struct part {
    std::string etag{};  ///< with its quotes
    content data{};
    time_point received{};
    std::string checksum{};  ///< S3's, in base64; empty: none
  };
  struct upload {
    std::string id{};
    std::string bucket{};
    std::string key{};
    object_metadata metadata{};
    time_point initiated{};
    std::map<int, part> parts{};
    std::string customer_key{};  ///< that each part must bring, see stored_object
    /// What the object will have of S3's, with the algorithm and the type of its checksum.
    std::shared_ptr<const s3::object_facts> s3_facts{};
  };
  /// One line of a complete request.
  struct listed_part {
    int number;
    std::string etag;
    std::string checksum{};  ///< S3's, of any algorithm; empty: none
  };

  std::string initiate(std::string_view bucket, std::string_view key, object_metadata metadata,
                       std::string customer_key = {},
                       std::shared_ptr<const s3::object_facts> s3_facts = nullptr);
  /// Adds or replaces a part; gives its ETag.
  std::string add_part(std::string_view bucket, std::string_view key, std::string_view id,
                       int number, content data);
  /// Likewise, with an ETag of the caller's.
  void put_part(std::string_view bucket, std::string_view key, std::string_view id, int number,
                part fresh);
  /// The upload with those of its parts that are listed, or what complete() throws; it stays open.
  upload chosen(std::string_view bucket, std::string_view key, std::string_view id,
                const std::vector<listed_part>& listed, std::uint64_t least_part_size) const;
  /// Checks the list and closes the upload, which stays open when the list is refused: 400
  /// MalformedXML (no part), InvalidPartOrder, InvalidPart, EntityTooSmall.
  upload complete(std::string_view bucket, std::string_view key, std::string_view id,
                  const std::vector<listed_part>& listed, std::uint64_t least_part_size);
  void abort(std::string_view bucket, std::string_view key, std::string_view id);

  upload get(std::string_view bucket, std::string_view key, std::string_view id) const;
  /// Those of a bucket, by key and then by id, parts left out.
  std::vector<upload> list(std::string_view bucket) const;
  std::size_t open() const;

 private:
  using upload_map = std::map<std::string, upload, std::less<>>;
  static upload choose(const upload& from, const std::vector<listed_part>& listed,
                       std::uint64_t least_part_size);
  upload_map::const_iterator find(std::string_view bucket, std::string_view key,
                                  std::string_view id) const;

  mutable std::mutex mutex_{};
  upload_map uploads_{};
  std::uint64_t next_{1};
};

}  // namespace emulator
