#include "queue_member.hpp"

#include <utility>

namespace dataflux_c {

result<void> queue_member::join(std::shared_ptr<client_state> client,
                                std::shared_ptr<queue_state> queue,
                                const std::shared_ptr<queue_member>& self) {
  client_ = std::move(client);
  if (auto watched = client_->watch(*this); !watched) return watched;
  if (queue == nullptr) return {};
  auto number = queue->add(self);
  if (!number) return std::move(number).error();
  number_ = *number;
  queue_ = std::move(queue);
  return {};
}

void queue_member::leave() {
  if (queue_ != nullptr) queue_->remove(number_);
}

dataflux_record queue_member::end_record() const noexcept {
  dataflux_record r{};
  r.tag = tag_;
  r.flags = DATAFLUX_RECORD_END;
  return r;
}

}  // namespace dataflux_c
