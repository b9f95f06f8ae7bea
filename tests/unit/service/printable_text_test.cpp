#include <dataflux/service/detail/printable_text.hpp>

#include <support/catch.hpp>

namespace printable_text_test {

using dataflux::detail::service::printable_text;

TEST_CASE("printable_text: what seems a token or a session's id is blanked out", "[service]") {
  CHECK(printable_text("token=ya29.a0AfH6SMB and {\"t\":\"eyJhbGciOiJSUzI1NiJ9.e30.x\"}") ==
        "token=[removed] and {\"t\":\"[removed]\"}");
  CHECK(printable_text("PUT https://h/o?uploadType=resumable&upload_id=ADPycdu more") ==
        "PUT https://h/o?uploadType=resumable&upload_id=[removed] more");
  CHECK(printable_text("GET /o?X-Amz-Security-Token=FwoG%2F&X-Amz-Signature=0a1b more") ==
        "GET /o?X-Amz-Security-Token=[removed]&X-Amz-Signature=[removed] more");
  CHECK(printable_text("AWS4-HMAC-SHA256 SignedHeaders=host, Signature=0a1b") ==
        "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=[removed]");
  CHECK(printable_text("Bearer token missing, eyJ short") == "Bearer token missing, eyJ short");
  CHECK(printable_text("PUT /o?upload_id=AB%2BSECRET more") == "PUT /o?upload_id=[removed] more");
}

TEST_CASE("printable_text: cuts between characters", "[service]") {
  CHECK(printable_text("\xc3\xa4\xc3\xa4\xc3\xa4", 5) == "\xc3\xa4...");
  CHECK(printable_text("\xc3\xa4\xc3\xa4\xc3\xa4", 4) == "...");
  CHECK(printable_text("abc", 3) == "abc");
  CHECK(printable_text("abcd", 2).size() <= 2);
}

}  // namespace printable_text_test
