// For a way of use whose code another way compiles: a header is found and something of it is
// called, and each library that dataflux stands on is needed, so a flag that the way forgets is
// missed. program.cpp, of all that a user's program does, costs a minute where it is header-only.
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/version.hpp>

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <simdjson.h>
#include <pugixml.hpp>

#include <cstdio>
#include <string>
#include <thread>

int main() {
  const std::string digits = "123456789";
  bool holds = dataflux::crc32c(dataflux::as_bytes(digits)) == 0xE3069283;  // by ISA-L
  holds = holds && curl_version() != nullptr && EVP_sha256() != nullptr && TLS_method() != nullptr;
  holds = holds && pugi::xml_document().load_string("<a/>");
  simdjson::dom::parser parser;
  holds = holds && parser.parse(std::string("[]")).error() == simdjson::SUCCESS;
  std::thread([&holds] { holds = holds && !std::string(DATAFLUX_VERSION).empty(); }).join();
  if (holds) std::puts("consumed dataflux " DATAFLUX_VERSION);
  return holds ? 0 : 1;
}
