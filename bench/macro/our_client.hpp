#pragma once
// Our client, as the macro benchmarks make it: with its defaults.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/s3/client.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "measure.hpp"
#include "shapes.hpp"

namespace bench {

inline std::string text_of(const dataflux::error& error) { return std::string(error.message()); }

template <class Client>
inline constexpr std::string_view bucket_of =
    std::is_same_v<Client, dataflux::s3::client> ? s3_bucket : bucket;

inline void tell_service(const options&, dataflux::gcs::client_options& how) {
  how.emulator = true;
}
inline void tell_service(const options& given, dataflux::s3::client_options& how) {
  how.region = "us-east-1";
  how.credentials = given.service == "s3-unsigned"
                        ? dataflux::make_anonymous_credentials()
                        : dataflux::make_aws_keys({.id = "AKIAIOSFODNN7EXAMPLE",
                                                   .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"})
                              .value();
}

template <class Client = dataflux::gcs::client>
std::shared_ptr<Client> make_client(const options& given) {
  std::conditional_t<std::is_same_v<Client, dataflux::s3::client>, dataflux::s3::client_options,
                     dataflux::gcs::client_options>
      how;
  how.endpoint = given.endpoint;
  tell_service(given, how);
  how.transport.io_threads = given.threads;
  how.transport.ca_file = given.tls ? given.ca : "";
  auto made = Client::create(std::move(how));
  if (!made) fail("cannot make a client", text_of(made.error()));
  return std::move(*made);
}

}  // namespace bench
