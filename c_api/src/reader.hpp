#pragma once

#include "operation.hpp"

#include <dataflux/checkpoint/checkpoint_reader.hpp>

#include <memory>
#include <utility>

namespace dataflux_c {

class open_reader final : public giving_operation<dataflux::checkpoint_reader> {
 public:
  open_reader(std::uint64_t tag, std::shared_ptr<client_state> c) noexcept
      : giving_operation(tag), of(std::move(c)) {}
  const std::shared_ptr<client_state> of;

 protected:
  void describe(dataflux_record& r) const override;
};

/// All but which object.
dataflux::checkpoint_read_request reading_of(const dataflux_reader_options& o);

}  // namespace dataflux_c

/// Reads that are under way share the reader.
struct dataflux_reader : dataflux_c::handle {
  dataflux_reader(std::shared_ptr<dataflux_c::client_state> c, dataflux::checkpoint_reader&& opened)
      : client(std::move(c)),
        state(std::make_shared<dataflux::checkpoint_reader>(std::move(opened))) {}
  const std::shared_ptr<dataflux_c::client_state> client;
  const std::shared_ptr<dataflux::checkpoint_reader> state;
};
