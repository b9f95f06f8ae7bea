#pragma once

#include <emulator/field_mask.hpp>
#include <emulator/json_value.hpp>
#include <emulator/json_writer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

struct access_entry {
  std::string entity{};  ///< "user-EMAIL", "project-owners-1", "allUsers" and so on
  std::string role{};    ///< READER, OWNER; of buckets WRITER, too
};
/// One access control list (protocol.md 1.11). Lists are kept and shown; calls are not judged by
/// them.
using access_list = std::vector<access_entry>;
using access_list_ptr = std::shared_ptr<const access_list>;

/// Whose list it is: it decides which roles there are, and how an entry is shown.
enum class access_of { bucket, default_object, object };

/// The project that all buckets belong to, and who is asked for whatever is asked.
inline constexpr std::string_view project_owners = "project-owners-1";
inline constexpr std::string_view caller_entity = "user-emulator@example.iam.gserviceaccount.com";

/// By the name of `predefinedAcl` or, with dashes, of `x-goog-acl`. Throws service_error 400.
access_list_ptr predefined_access(access_of kind, std::string_view name);
/// What `held` is, or the list that a bucket or object has where none was said: projectPrivate.
const access_list& access_or_default(access_of kind, const access_list_ptr& held);

/// An entry, and a whole list, as a client sends it. Both throw service_error 400.
access_entry read_access_entry(access_of kind, const json_value& document);
access_list_ptr read_access_list(access_of kind, const json_value& given);

/// True where everybody is among those who are named.
bool is_public(const access_list& list) noexcept;

/// What an entry is shown with.
struct access_place {
  access_of kind{access_of::bucket};
  std::string_view bucket{};
  std::string_view object{};
  std::int64_t generation{0};
  std::string_view base{};  ///< scheme and authority, for links
  std::string etag{};
};
void write_access_entry(json_writer& out, const access_place& at, const access_entry& entry,
                        const field_mask& wanted = {});
void write_access_list(json_writer& out, const access_place& at, const access_list& list,
                       const field_mask& wanted = {});

}  // namespace emulator
