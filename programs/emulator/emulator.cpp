#include <emulator/data_folder.hpp>
#include <emulator/emulator.hpp>
#include <emulator/listener.hpp>
#include <emulator/seed.hpp>

namespace emulator {

struct server::impl {
  explicit impl(const server_options& options)
      : service(options.service),
        data(options.data.empty() ? nullptr
                                  : std::make_unique<data_folder>(options.data, service.store())),
        tls(options.tls == tls_mode::off ? certificate{} : make_certificate(options.tls)),
        sockets(service, options.address, options.port, options.threads,
                options.tls == tls_mode::off ? nullptr : &tls, options.demands_certificate),
        endpoint((options.tls == tls_mode::off ? "http://" : "https://") + options.address + ":" +
                 std::to_string(sockets.port())) {}

  emulator::service service;
  std::unique_ptr<data_folder> data;
  certificate tls;
  listener sockets;
  std::string endpoint;
};

server::server(const server_options& options) : impl_(std::make_unique<impl>(options)) {}
server::~server() = default;

std::uint16_t server::port() const noexcept { return impl_->sockets.port(); }
const std::string& server::endpoint() const noexcept { return impl_->endpoint; }
const std::string& server::authority_pem() const noexcept { return impl_->tls.authority_pem; }
const std::string& server::client_pem() const noexcept { return impl_->tls.client_pem; }
const std::string& server::client_key_pem() const noexcept { return impl_->tls.client_key_pem; }
fault_script& server::faults() noexcept { return impl_->service.faults(); }
token_authority& server::tokens() noexcept { return impl_->service.tokens(); }
service& server::service() noexcept { return impl_->service; }

traffic_counters server::counters() const {
  traffic_counters out = impl_->service.seen().counters();
  out.uploads_open = impl_->service.uploads().open() + impl_->service.sessions().open();
  return out;
}
std::vector<logged_request> server::log() const { return impl_->service.seen().log(); }

void server::create_bucket(std::string_view bucket) {
  impl_->service.store().create_bucket(bucket);
}

std::int64_t server::put(std::string_view bucket, std::string_view name, std::string bytes,
                         object_metadata metadata) {
  bucket_store& store = impl_->service.store();
  store.create_bucket(bucket);
  bucket_store::new_object fresh;
  fresh.name = name;
  fresh.metadata = std::move(metadata);
  fresh.data = content{std::move(bytes)};
  return store.put(bucket, std::move(fresh), {})->generation;
}

std::optional<std::string> server::get(std::string_view bucket, std::string_view name) const {
  try {
    return impl_->service.store().get(bucket, name, {})->data.to_string();
  } catch (const service_error&) {
    return std::nullopt;
  }
}

std::size_t server::seed(std::string_view bucket, const std::string& directory) {
  return seed_folder(impl_->service.store(), bucket, directory);
}

std::string server::service_account_json() const {
  return impl_->service.tokens().service_account_json(impl_->endpoint + "/token");
}

}  // namespace emulator
