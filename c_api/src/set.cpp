#include "set.hpp"

#include "reader.hpp"
#include "writer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dataflux_c {

namespace {

void describe(const dataflux::committed_set& set, dataflux_record& r) {
  r.size = set.bytes;
  r.generation = set.last.generation;
}
void describe(const dataflux::checkpoint_set_list& list, dataflux_record& r) {
  r.size = list.complete.size();
}
void describe(const dataflux::removal_report& report, dataflux_record& r) { r.size = report.bytes; }

using commit_set_operation = report_operation<dataflux::committed_set, describe, json_of>;
using list_sets_operation = report_operation<dataflux::checkpoint_set_list, describe, json_of>;
using removal_operation = report_operation<dataflux::removal_report, describe, json_of>;

/// Its JSON is the text that travels.
class begin_over_operation final : public giving_operation<dataflux::save_over> {
 public:
  using giving_operation::giving_operation;

 protected:
  std::string make_json() const override {
    return value_ ? dataflux::to_text(*value_) : std::string();
  }
};

template <class Request, class Options>
result<Request> sets_of(const Options& o) {
  if (o.bucket == nullptr) return missing("bucket");
  if (o.prefix == nullptr) return missing("prefix");
  Request r;
  r.bucket = o.bucket;
  r.prefix = o.prefix;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}
result<dataflux::checkpoint_sets_request> sets_of(const dataflux_set_options* given) {
  const auto known = options_of(given);
  if (!known) return known.error();
  return sets_of<dataflux::checkpoint_sets_request>(*known);
}

result<std::vector<dataflux::member_record>> records_of(const dataflux_set_commit_options& o) {
  if (o.records == nullptr && o.record_count > 0) return missing("records");
  std::vector<dataflux::member_record> all;
  all.reserve(o.record_count);
  for (std::size_t i = 0; i < o.record_count; ++i) {
    if (o.records[i] == nullptr) return missing("one of the records");
    auto record = dataflux::parse_member_record(o.records[i]);
    if (!record) return std::move(record).error();
    all.push_back(*std::move(record));
  }
  return all;
}

dataflux::call_limits limits_of(const dataflux_set& set) {
  dataflux::call_limits limits;
  limits.timeout = set.timeout;
  return limits;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::client_state;
using dataflux_c::errc;
using dataflux_c::error;
using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;

void dataflux_set_options_init(dataflux_set_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_set_commit_options_init(dataflux_set_commit_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}
void dataflux_keep_last_options_init(dataflux_keep_last_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_set_create(dataflux_client* client, const dataflux_set_options* options,
                                    dataflux_set** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    const auto where = dataflux_c::sets_of(options);
    if (!where) return where.error();
    *out = new dataflux_set(client->state, {client->state->context, where->bucket, where->prefix},
                            where->limits.timeout);
    return {};
  });
}

dataflux_status dataflux_set_begin(dataflux_set* set, uint32_t unfinished, dataflux_queue* queue,
                                   uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    if (unfinished > DATAFLUX_UNFINISHED_REPLACE) {
      return error(errc::invalid_argument, "unfinished is no DATAFLUX_UNFINISHED_*");
    }
    const auto what = unfinished == DATAFLUX_UNFINISHED_REPLACE
                          ? dataflux::unfinished_members::replace
                          : dataflux::unfinished_members::refuse;
    return dataflux_c::begin_operation<dataflux_c::removal_operation>(
        set->client, queue, tag, out,
        [&](client_state&) { return set->state.submit_begin(what, dataflux_c::limits_of(*set)); });
  });
}

dataflux_status dataflux_set_open_member(dataflux_set* set, const char* name,
                                         const dataflux_writer_options* options,
                                         dataflux_queue* queue, uint64_t tag,
                                         dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    if (name == nullptr) return missing("name");
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    if (known->bucket != nullptr || known->object != nullptr || known->conditions != nullptr) {
      return error(errc::invalid_argument,
                   "bucket, object and conditions of a member are the set's: leave them NULL");
    }
    auto request = dataflux_c::upload_of(*known);
    if (!request) return std::move(request).error();
    return dataflux_c::begin_writer(set->client, *std::move(request), queue, tag, out,
                                    [&](client_state&, dataflux::upload_request r) {
                                      return set->state.submit_open_member(name, std::move(r));
                                    });
  });
}

dataflux_status dataflux_set_record(const dataflux_set* set, dataflux_operation* op, char** out,
                                    dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    if (auto good = dataflux_c::ended_well(op); !good) return good;
    const auto* const commit = dynamic_cast<dataflux_c::commit_operation*>(op->state.get());
    if (commit == nullptr) {
      return error(errc::invalid_argument, "the operation is no commit of a writer");
    }
    const auto record = set->state.record_of(*commit->made());
    if (!record) return record.error();
    const std::string text = dataflux::to_text(*record);
    *out = new char[text.size() + 1];
    std::memcpy(*out, text.c_str(), text.size() + 1);
    return {};
  });
}

dataflux_status dataflux_set_commit(dataflux_set* set, const dataflux_set_commit_options* options,
                                    dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                    dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    auto records = dataflux_c::records_of(*known);
    if (!records) return std::move(records).error();
    if (known->data == nullptr && known->size > 0) return missing("data");
    dataflux::last_object last;
    if (known->last != nullptr) last.name = known->last;
    last.kms_key_name = dataflux_c::text_of(known->kms_key_name);
    last.data = {static_cast<const std::byte*>(known->data), known->size};
    return dataflux_c::begin_operation<dataflux_c::commit_set_operation>(
        set->client, queue, tag, out, [&](client_state&) {
          return set->state.submit_commit(*std::move(records), std::move(last),
                                          dataflux_c::limits_of(*set));
        });
  });
}

dataflux_status dataflux_set_open(dataflux_set* set, const char* last, dataflux_queue* queue,
                                  uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    return dataflux_c::begin_operation<dataflux_c::open_set_operation>(
        set->client, queue, tag, out,
        [&](client_state&) {
          return set->state.submit_open(dataflux_c::text_of(last), dataflux_c::limits_of(*set));
        },
        set->client);
  });
}

void dataflux_set_free(dataflux_set* set) { dataflux_c::free_handle(set); }

dataflux_status dataflux_latest_set(dataflux_client* client, const dataflux_set_options* options,
                                    dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                    dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    auto where = dataflux_c::sets_of(options);
    if (!where) return std::move(where).error();
    return dataflux_c::begin_operation<dataflux_c::open_set_operation>(
        client, queue, tag, out,
        [&](client_state& c) {
          return dataflux::submit_latest_checkpoint_set(c.context, *std::move(where));
        },
        client->state);
  });
}

dataflux_status dataflux_operation_take_set_reader(dataflux_operation* op,
                                                   dataflux_set_reader** out,
                                                   dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::open_set_operation>(
        op, "set", out, [op](dataflux::checkpoint_set_reader& opened) {
          const auto& client = static_cast<dataflux_c::open_set_operation&>(*op->state).of;
          return std::make_unique<dataflux_set_reader>(client, opened);
        });
  });
}

dataflux_status dataflux_set_reader_json(const dataflux_set_reader* set, const char** json,
                                         dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (json == nullptr) return missing("json");
    *json = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    *json = set->json.c_str();
    return {};
  });
}

dataflux_status dataflux_set_reader_open(dataflux_set_reader* set, const char* name,
                                         const dataflux_reader_options* options,
                                         dataflux_queue* queue, uint64_t tag,
                                         dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    if (name == nullptr) return missing("name");
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    if (known->bucket != nullptr || known->object != nullptr || known->generation != 0) {
      return error(errc::invalid_argument,
                   "bucket, object and generation of a member are the set's: leave them 0");
    }
    return dataflux_c::begin_operation<dataflux_c::open_reader>(
        set->client, queue, tag, out,
        [&](client_state&) { return set->state.submit_open(name, dataflux_c::reading_of(*known)); },
        set->client);
  });
}

void dataflux_set_reader_free(dataflux_set_reader* set) { dataflux_c::free_handle(set); }

dataflux_status dataflux_list_sets(dataflux_client* client, const dataflux_set_options* options,
                                   dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                   dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto where = dataflux_c::sets_of(options);
    if (!where) return std::move(where).error();
    return dataflux_c::begin_operation<dataflux_c::list_sets_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux::submit_list_checkpoint_sets(*c.client, *std::move(where));
        });
  });
}

dataflux_status dataflux_keep_last_sets(dataflux_client* client,
                                        const dataflux_keep_last_options* options,
                                        dataflux_queue* queue, uint64_t tag,
                                        dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    auto r = dataflux_c::sets_of<dataflux::keep_last_request>(*known);
    if (!r) return std::move(r).error();
    r->count = static_cast<size_t>(std::max<uint64_t>(known->count, 1));
    if (known->remove_unfinished_older_than_ns > 0) {
      r->remove_unfinished_older_than =
          dataflux_c::duration_of(known->remove_unfinished_older_than_ns);
    }
    return dataflux_c::begin_operation<dataflux_c::removal_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux::submit_keep_last_checkpoint_sets(*c.client, *std::move(r));
        });
  });
}

dataflux_status dataflux_remove_sets(dataflux_client* client, const dataflux_set_options* options,
                                     dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
                                     dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    auto where = dataflux_c::sets_of(options);
    if (!where) return std::move(where).error();
    return dataflux_c::begin_operation<dataflux_c::removal_operation>(
        client, queue, tag, out, [&](client_state& c) {
          return dataflux::submit_remove_checkpoint_set(*c.client, *std::move(where));
        });
  });
}

dataflux_status dataflux_set_begin_over(dataflux_set* set, dataflux_queue* queue, uint64_t tag,
                                        dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    return dataflux_c::begin_operation<dataflux_c::begin_over_operation>(
        set->client, queue, tag, out,
        [&](client_state&) { return set->state.submit_begin_over(dataflux_c::limits_of(*set)); });
  });
}

dataflux_status dataflux_set_over(const dataflux_set* set, const char* text, dataflux_set** out,
                                  dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out == nullptr) return missing("out");
    *out = nullptr;
    if (auto good = usable(set, "set"); !good) return good;
    if (text == nullptr) return missing("text");
    auto save = dataflux::parse_save_over(text);
    if (!save) return std::move(save).error();
    *out = new dataflux_set(set->client, set->state.over(*std::move(save)), set->timeout);
    return {};
  });
}
