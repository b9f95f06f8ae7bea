/// Plays calls of the table of behaviour (table.txt, which says what they are) by the C++ library.
///
///     driver ENDPOINT       calls from standard input, answers to standard output

#include "words.hpp"

#include <dataflux/auth/credentials.hpp>
#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_set.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace behaviour;
using dataflux::result;

struct call {
  std::string bucket{};
  words given{};
  dataflux::preconditions conditions{};
  std::int64_t generation{0};
  bool stop{false};
  dataflux::call_limits limits{};

  std::string name(std::size_t i) const { return text(given.at(i)); }
  std::uint64_t size(std::size_t i) const { return number(given.at(i)); }
};

class player {
 public:
  explicit player(std::shared_ptr<dataflux::gcs::client> client)
      : client_(std::move(client)), context_(*client_) {}

  /// What follows "ok"; nothing for a verb that is not known.
  std::optional<result<std::string>> play(const std::string& verb, const call& c);

 private:
  dataflux::get_one_request read_of(const call& c, dataflux::byte_range range) const {
    return {.bucket = c.bucket,
            .object = c.name(0),
            .generation = c.generation,
            .range = range,
            .limits = c.limits};
  }
  result<std::string> get(const call& c);
  result<std::string> into(const call& c);
  result<std::string> ranges(const call& c);
  result<std::string> many(const call& c);
  result<std::string> compose(const call& c);
  result<std::string> list(const call& c);
  enum class end : std::uint8_t { commit, abort, overtaken };
  result<std::string> write(const call& c, end how);
  result<std::string> cancel(const call& c);
  result<std::string> commit_set(const call& c);

  std::shared_ptr<dataflux::gcs::client> client_;
  dataflux::transfer_context context_;
};

result<std::string> player::get(const call& c) {
  return dataflux::get_one(context_, read_of(c, dataflux::byte_range::span(c.size(1), c.size(2))))
      .transform([](const dataflux::got_item& item) { return known(item.bytes); });
}

result<std::string> player::into(const call& c) {
  bytes memory(c.size(2));
  // An object of no bytes has no range that could be asked for.
  const auto range = memory.empty() ? dataflux::byte_range::from(c.size(1))
                                    : dataflux::byte_range::span(c.size(1), c.size(2));
  return dataflux::get_one(context_, read_of(c, range), memory).transform([&](const auto&) {
    return known(memory);
  });
}

result<std::string> player::ranges(const call& c) {
  auto reader = dataflux::checkpoint_reader::open(
      context_,
      {.bucket = c.bucket, .object = c.name(0), .generation = c.generation, .limits = c.limits});
  if (!reader) return reader.error();
  std::vector<bytes> memory;
  std::vector<dataflux::range_read> wanted;
  for (const std::string& pair : split(c.given.at(1), ',')) {
    const words both = split(pair, ':');
    memory.emplace_back(number(both.at(1)));
    wanted.push_back({.offset = number(both.at(0)), .into = memory.back()});
  }
  if (auto good = reader->read_ranges(std::move(wanted)); !good) return good.error();
  std::string made;
  for (const bytes& one : memory) made += known(one);
  return made;
}

result<std::string> player::many(const call& c) {
  std::vector<dataflux::get_request> requests;
  for (const std::string& request : split(c.given.at(0), ',')) {
    const words of = split(request, ':');
    const auto range = of.size() == 1
                           ? dataflux::byte_range::all()
                           : dataflux::byte_range::span(number(of.at(1)), number(of.at(2)));
    requests.push_back({.object = text(of.at(0)), .range = range});
  }
  const auto on_error = c.stop ? dataflux::get_on_error::stop : dataflux::get_on_error::fail_item;
  dataflux::getter items(context_, {.bucket = c.bucket, .on_error = on_error, .limits = c.limits},
                         std::move(requests));
  std::string made;
  for (;;) {
    const auto item = items.next();
    if (!item) return item.error();
    if (!*item) return made;
    const dataflux::got_item& one = **item;
    if (one.failure) {
      made.append(" - ").append(to_string(one.failure->code()));
    } else {
      made += known(one.bytes);
    }
  }
}

result<std::string> player::compose(const call& c) {
  std::vector<dataflux::compose_source> sources;
  for (const std::string& name : split(c.given.at(1), ',')) sources.push_back({text(name)});
  return client_
      ->run(dataflux::compose_request{.bucket = c.bucket,
                                      .object = c.name(0),
                                      .sources = std::move(sources),
                                      .conditions = c.conditions,
                                      .last_writer_wins = true,
                                      .limits = c.limits})
      .transform(of_object);
}

result<std::string> player::list(const call& c) {
  const auto listing =
      dataflux::fast_list(*client_, {.bucket = c.bucket, .prefix = c.name(0), .limits = c.limits});
  if (!listing) return listing.error();
  std::string made;
  for (const dataflux::object_row row : listing->objects) made += " " + coded(row.name);
  return made;
}

result<void> write_all(dataflux::checkpoint_writer& writer,
                       const std::vector<std::uint64_t>& sizes) {
  for (const std::uint64_t size : sizes) {
    if (auto good = writer.write(pattern(size, writer.written())); !good) return good;
  }
  return {};
}

result<std::string> player::write(const call& c, end how) {
  auto writer = dataflux::checkpoint_writer::open(
      context_, {.bucket = c.bucket,
                 .object = c.name(0),
                 .if_generation_match = c.conditions.if_generation_match,
                 .limits = c.limits});
  if (!writer) return writer.error();
  if (how == end::overtaken) {
    const auto put = client_->insert({.bucket = c.bucket, .object = c.name(0), .data = pattern(1)});
    if (!put) return put.error();
  }
  if (auto good = write_all(*writer, sizes_of(c.given.at(1))); !good) return good.error();
  if (how == end::abort) {
    if (auto good = writer->abort(); !good) return good.error();
    return std::string();
  }
  return writer->commit().transform([](const auto& made) { return of_object(made.object); });
}

result<std::string> player::cancel(const call& c) {
  auto read = dataflux::submit_get_one(context_, read_of(c, dataflux::byte_range::all()));
  read.cancel();
  return read.take().transform([](const dataflux::got_item& item) { return known(item.bytes); });
}

result<std::string> player::commit_set(const call& c) {
  const dataflux::checkpoint_set set(context_, c.bucket, c.name(0));
  if (auto room = set.begin(); !room) return room.error();
  std::vector<dataflux::member_record> records;
  for (const std::string& member : split(c.given.at(1), ',')) {
    const words both = split(member, ':');
    auto writer = set.open_member(text(both.at(0)));
    if (!writer) return writer.error();
    if (auto good = writer->write(pattern(number(both.at(1)))); !good) return good.error();
    const auto made = writer->commit();
    if (!made) return made.error();
    auto record = set.record_of(*made);
    if (!record) return record.error();
    records.push_back(*std::move(record));
  }
  return set.commit(std::move(records)).transform([](const auto& made) {
    return " " + std::to_string(made.bytes);
  });
}

std::optional<result<std::string>> player::play(const std::string& verb, const call& c) {
  if (verb == "get") return get(c);
  if (verb == "into") return into(c);
  if (verb == "ranges") return ranges(c);
  if (verb == "many") return many(c);
  if (verb == "compose") return compose(c);
  if (verb == "list") return list(c);
  if (verb == "write") return write(c, end::commit);
  if (verb == "abandon") return write(c, end::abort);
  if (verb == "overtaken") return write(c, end::overtaken);
  if (verb == "cancel") return cancel(c);
  if (verb == "commit_set") return commit_set(c);
  if (verb == "open_set") {
    return dataflux::checkpoint_set(context_, c.bucket, c.name(0))
        .open()
        .transform([](const auto& set) { return " " + std::to_string(set.info().bytes); });
  }
  if (verb == "put") {
    const bytes data = pattern(c.size(1));
    return client_
        ->insert({.bucket = c.bucket,
                  .object = c.name(0),
                  .data = data,
                  .conditions = c.conditions,
                  .last_writer_wins = true,
                  .limits = c.limits})
        .transform(of_object);
  }
  if (verb == "stat") {
    return client_
        ->stat({.bucket = c.bucket,
                .object = c.name(0),
                .generation = c.generation,
                .conditions = c.conditions,
                .limits = c.limits})
        .transform(of_object);
  }
  if (verb == "remove") {
    const auto gone = client_->remove({.bucket = c.bucket,
                                       .object = c.name(0),
                                       .generation = c.generation,
                                       .conditions = c.conditions,
                                       .last_writer_wins = true,
                                       .limits = c.limits});
    if (!gone) return gone.error();
    return std::string();
  }
  if (verb == "copy") {
    return client_
        ->run(dataflux::rewrite_request{.source_bucket = c.bucket,
                                        .source = c.name(0),
                                        .bucket = c.bucket,
                                        .object = c.name(1),
                                        .conditions = c.conditions,
                                        .last_writer_wins = true,
                                        .limits = c.limits})
        .transform(of_object);
  }
  if (verb == "move") {
    return client_
        ->run(dataflux::move_request{.bucket = c.bucket,
                                     .source = c.name(0),
                                     .object = c.name(1),
                                     .conditions = c.conditions,
                                     .last_writer_wins = true,
                                     .limits = c.limits})
        .transform(of_object);
  }
  return std::nullopt;
}

call call_of(const words& line) {
  call c{.bucket = text(line.at(0))};
  for (std::size_t i = 2; i < line.size(); ++i) {
    const std::string& word = line[i];
    if (word.starts_with("if=")) {
      c.conditions.if_generation_match = std::stoll(word.substr(3));
    } else if (word.starts_with("gen=")) {
      c.generation = std::stoll(word.substr(4));
    } else if (word.starts_with("ms=")) {
      c.limits.timeout = std::chrono::milliseconds(std::stoll(word.substr(3)));
    } else if (word == "stop") {
      c.stop = true;
    } else {
      c.given.push_back(word);
    }
  }
  return c;
}

std::string answer(player& library, const words& line) {
  const auto outcome = library.play(line.at(1), call_of(line));
  if (!outcome) return "none";
  if (*outcome) return "ok" + **outcome;
  const dataflux::error& why = outcome->error();
  return std::string("error ")
      .append(to_string(why.code()))
      .append(" " + std::to_string(why.http_status()))
      .append(why.outcome_unknown() ? " maybe" : "")
      .append(" # " + why.to_string());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string token = argv[2];
  player library(dataflux::gcs::client::create(
                     {.credentials = dataflux::make_token_provider(
                          [token]() -> dataflux::result<dataflux::access_token> {
                            return dataflux::access_token{
                                token, std::chrono::system_clock::now() + std::chrono::hours(1)};
                          }),
                      .endpoint = argv[1],
                      .emulator = true,
                      .tokens_to_emulator = true})
                     .value());
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(library, split(line, ' ')) << std::endl;
  }
}
