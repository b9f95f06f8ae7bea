#pragma once

#include <dataflux/store/object_store.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a scripted_store does to one listing page.
enum class page_fault : std::uint8_t {
  none,
  late,          ///< 30 s before anything happens
  fewer,         ///< than asked, with a token
  more,          ///< than asked
  empty,         ///< nothing but a token
  expired,       ///< the token is refused (400); a request without one is served
  token_again,   ///< breaks the contract from here on: names its own token as the next
  out_of_order,  ///< two names change places
  twice,         ///< a name comes again
  outside,       ///< a name before the start or behind the end
  denied,        ///< 403, for good
  unavailable,   ///< 503, retryable
};

/// An object_store before another one, that does to listings what a service should not do. It also
/// checks its caller: a page token comes with the very parameters that it was given for
/// (protocol.md 1.1), and never more calls at a time than allowed.
class scripted_store : public dataflux::object_store {
 public:
  /// Chooses what happens to the page that is asked for.
  using script = std::function<page_fault(const dataflux::list_page_request&)>;

  scripted_store(dataflux::object_store& inner, script chosen)
      : inner_(inner), script_(std::move(chosen)) {}

  dataflux::store_traits traits() const noexcept override { return inner_.traits(); }
  dataflux::scheduler& executor() noexcept override { return inner_.executor(); }

  void start(const dataflux::list_page_request& request,
             completion<dataflux::list_page> done) override {
    ++calls;
    peak_in_flight = std::max(peak_in_flight, ++in_flight);
    auto asked = std::make_shared<dataflux::list_page_request>(request);
    finisher finish = [this,
                       done = std::move(done)](dataflux::result<dataflux::list_page> page) mutable {
      --in_flight;
      done(std::move(page));
    };
    const page_fault fault = script_(request);
    if (fault != page_fault::none) ++faults;
    if (auto refused = refusal(fault, request)) {
      executor().post([finish = std::move(finish), refused = *refused]() mutable {
        finish(std::move(refused));
      });
      return;
    }
    check_token(request);
    if (fault == page_fault::late) {
      const auto when = dataflux::deadline_after(executor().now(), std::chrono::seconds(30));
      executor().at(when, [this, asked, finish = std::move(finish)]() mutable {
        forward(asked, page_fault::none, std::move(finish));
      });
      return;
    }
    forward(std::move(asked), fault, std::move(finish));
  }

  void start(const dataflux::read_request& r, dataflux::byte_sink& sink,
             completion<dataflux::read_summary> done) override {
    inner_.start(r, sink, std::move(done));
  }
#define FORWARDED(request, value)                                           \
  void start(const dataflux::request& r, completion<value> done) override { \
    inner_.start(r, std::move(done));                                       \
  }
  FORWARDED(stat_request, dataflux::object_metadata)
  FORWARDED(insert_request, dataflux::object_metadata)
  FORWARDED(remove_request, void)
  FORWARDED(compose_request, dataflux::object_metadata)
  FORWARDED(move_request, dataflux::object_metadata)
  FORWARDED(multipart_initiate_request, dataflux::multipart_upload)
  FORWARDED(upload_part_request, dataflux::uploaded_part)
  FORWARDED(multipart_complete_request, dataflux::object_metadata)
  FORWARDED(multipart_abort_request, void)
  FORWARDED(list_parts_request, dataflux::part_page)
  FORWARDED(list_uploads_request, dataflux::upload_page)
#undef FORWARDED
  using dataflux::object_store::start;

  std::uint64_t calls{0};
  std::uint64_t faults{0};
  std::size_t in_flight{0};
  std::size_t peak_in_flight{0};
  /// What a listing with `versions` gives: names and generations, in order. memory_store has none.
  std::vector<std::pair<std::string, std::int64_t>> versions{};
  /// All requests, in order, when wanted.
  std::function<void(const dataflux::list_page_request&)> on_request{};

 private:
  using page_result = dataflux::result<dataflux::list_page>;
  using finisher = dataflux::unique_function<void(page_result)>;
  struct token {
    std::string inner;
    std::string parameters;
  };

  static std::string parameters_of(const dataflux::list_page_request& r) {
    std::string all;
    for (const std::string& text :
         {r.bucket, r.prefix, r.delimiter, r.start_offset, r.end_offset, r.match_glob,
          std::to_string(r.max_results), std::string(r.versions ? "versions" : ""),
          std::string(r.include_trailing_delimiter ? "trailing" : "")}) {
      all.append(text).append(1, '\n');
    }
    return all;
  }

  void check_token(const dataflux::list_page_request& r) {
    if (on_request) on_request(r);
    if (r.page_token.empty()) return;
    const auto known = tokens_.find(r.page_token);
    const bool found = known != tokens_.end();
    REQUIRE(found);
    const bool unchanged = known->second.parameters == parameters_of(r);
    REQUIRE(unchanged);
  }

  std::string wrap(const std::string& inner, const dataflux::list_page_request& r) {
    std::string name = "t" + std::to_string(++last_token_);
    tokens_[name] = {inner, parameters_of(r)};
    return name;
  }

  static std::optional<dataflux::error> refusal(page_fault fault,
                                                const dataflux::list_page_request& r) {
    using dataflux::errc;
    if (fault == page_fault::unavailable) {
      dataflux::error e{errc::unavailable, "scripted: try again"};
      return e.with_http_status(503).with_retryable(true);
    }
    if (fault == page_fault::denied) {
      dataflux::error e{errc::permission_denied, "scripted: no"};
      return e.with_http_status(403);
    }
    if (fault == page_fault::expired && !r.page_token.empty()) {
      dataflux::error e{errc::invalid_argument, "scripted: the token has expired"};
      return e.with_http_status(400);
    }
    return std::nullopt;
  }

  void forward(std::shared_ptr<dataflux::list_page_request> asked, page_fault fault,
               finisher finish) {
    dataflux::list_page_request r = *asked;
    const std::string inner = r.page_token.empty() ? "" : tokens_[r.page_token].inner;
    if (fault == page_fault::empty) {
      dataflux::list_page page;
      page.next_page_token = wrap(inner, *asked);
      executor().post([finish = std::move(finish), page = std::move(page)]() mutable {
        finish(std::move(page));
      });
      return;
    }
    r.page_token = inner;
    if (r.match_glob == "**") r.match_glob.clear();  // matches all names
    if (fault == page_fault::fewer) r.max_results = (r.max_results + 2) / 3;
    if (fault == page_fault::more) r.max_results = std::min(1000U, 2 * r.max_results + 1);
    const auto serve = [this](const dataflux::list_page_request& of, finisher then) {
      if (!of.versions) return inner_.start(of, std::move(then));
      executor().post(
          [then = std::move(then), page = list_versions(of)]() mutable { then(std::move(page)); });
    };
    serve(r, [this, asked = std::move(asked), fault,
              finish = std::move(finish)](page_result page) mutable {
      if (page) {
        if (!page->next_page_token.empty()) {
          page->next_page_token = wrap(page->next_page_token, *asked);
        }
        damage(*page, *asked, fault);
      }
      finish(std::move(page));
    });
  }

  dataflux::list_page list_versions(const dataflux::list_page_request& r) const {
    dataflux::list_page page;
    std::size_t at = r.page_token.empty() ? 0 : std::stoul(r.page_token);
    for (; at < versions.size(); ++at) {
      const auto& [name, generation] = versions[at];
      if (!name.starts_with(r.prefix) || name < r.start_offset) continue;
      if (!r.end_offset.empty() && name >= r.end_offset) continue;
      if (page.objects.size() == r.max_results) {
        page.next_page_token = std::to_string(at);
        break;
      }
      page.objects.append(name, 1, generation, std::nullopt);
    }
    return page;
  }

  static void damage(dataflux::list_page& page, const dataflux::list_page_request& asked,
                     page_fault fault) {
    if (fault == page_fault::token_again && !asked.page_token.empty()) {
      page.next_page_token = asked.page_token;
    }
    if (page.objects.empty()) return;
    std::vector<std::string> names;
    for (const auto& row : page.objects) names.emplace_back(row.name);
    if (fault == page_fault::out_of_order && names.size() > 1) std::swap(names[0], names[1]);
    if (fault == page_fault::twice) names.insert(names.begin(), names.front());
    if (fault == page_fault::outside) {
      if (asked.end_offset.empty()) {
        names.insert(names.begin(), std::string(1, '\x01'));
      } else {
        names.push_back(asked.end_offset);
      }
    }
    if (fault < page_fault::out_of_order) return;
    dataflux::object_columns made;
    for (const std::string& name : names) made.append(name, 1, 1, std::nullopt);
    page.objects = std::move(made);
  }

  dataflux::object_store& inner_;
  script script_;
  std::map<std::string, token> tokens_{};
  std::uint64_t last_token_{0};
};
