#pragma once

#include "operation.hpp"

#include <dataflux/checkpoint/checkpoint_sets.hpp>

#include <memory>
#include <string>
#include <utility>

namespace dataflux_c {

/// As texts for JSON.
std::string json_of(const dataflux::checkpoint_set_reader& set);
std::string json_of(const dataflux::checkpoint_set_list& list);
std::string json_of(const dataflux::removal_report& report);
std::string json_of(const dataflux::committed_set& set);

class open_set_operation final : public giving_operation<dataflux::checkpoint_set_reader> {
 public:
  open_set_operation(std::uint64_t tag, std::shared_ptr<client_state> c) noexcept
      : giving_operation(tag), of(std::move(c)) {}
  const std::shared_ptr<client_state> of;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->info().bytes;
  }
};

}  // namespace dataflux_c

/// Immutable.
struct dataflux_set : dataflux_c::handle {
  dataflux_set(std::shared_ptr<dataflux_c::client_state> c, dataflux::checkpoint_set s,
               dataflux::duration limit)
      : client(std::move(c)), state(std::move(s)), timeout(limit) {}
  const std::shared_ptr<dataflux_c::client_state> client;
  const dataflux::checkpoint_set state;
  const dataflux::duration timeout;
};

/// Immutable.
struct dataflux_set_reader : dataflux_c::handle {
  dataflux_set_reader(std::shared_ptr<dataflux_c::client_state> c,
                      dataflux::checkpoint_set_reader opened)
      : client(std::move(c)), state(std::move(opened)), json(dataflux_c::json_of(state)) {}
  const std::shared_ptr<dataflux_c::client_state> client;
  const dataflux::checkpoint_set_reader state;
  const std::string json;
};
