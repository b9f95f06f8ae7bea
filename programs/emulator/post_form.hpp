#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/signatures.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator {

/// A multipart/form-data body as an upload by POST sends it: fields, then the file
/// (protocol.md 2.1).
struct upload_form {
  /// In the order sent; names in lower case.
  std::vector<std::pair<std::string, std::string>> fields{};
  content file{};  ///< shares the request's memory
  std::string file_name{};
  std::string file_type{};  ///< the part's own Content-Type

  /// The value of the first field of that name, empty when there is none.
  std::string_view get(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept;

  /// Throws service_error 400 unless the body is such a form.
  static upload_form parse(const http_request& request);
};

/// Judges a form's policy and its signature, V4 or V2, as of a URL. Throws service_error.
signature check_policy(const upload_form& form, std::string_view bucket, const signers& known,
                       stored_object::time_point now);

/// The XML API's upload by a form. Throws service_error when it refuses.
class form_api {
 public:
  form_api(bucket_store& store, const signers& known) : store_(store), signers_(known) {}

  /// `proven`: only a form with a signature that was verified is carried out.
  http_reply post(const call& asked, const http_request& request, bool proven) const;

 private:
  bucket_store& store_;
  const signers& signers_;
};

}  // namespace emulator
