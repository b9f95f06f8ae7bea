#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Reads Prometheus' text format, version 0.0.4, by its grammar and by what its parsers ask
/// besides: a metric's HELP and TYPE stand before its lines, which stand together; no line comes
/// twice; a histogram's buckets grow up to +Inf, which equals its count. Throws std::runtime_error
/// with the line that is wrong.
class prometheus_text {
 public:
  explicit prometheus_text(std::string_view text) {
    if (text.empty() || text.back() != '\n') fail("no line feed at the end");
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line_ = text.substr(0, end);
      text.remove_prefix(end + 1);
      line_.starts_with("# ") ? read_comment() : read_sample();
    }
    end_histogram();
  }

  /// As it is written, such as `x_total{class="a"}`.
  double operator[](const std::string& series) const {
    const auto found = values_.find(series);
    if (found == values_.end()) throw std::runtime_error("there is no " + series);
    return found->second;
  }
  bool has(const std::string& series) const { return values_.contains(series); }
  std::size_t size() const noexcept { return values_.size(); }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(why + ": " + std::string(line_));
  }
  void expect(bool good, const char* why) const {
    if (!good) fail(why);
  }

  static bool is_name(std::string_view name) {
    const std::string_view letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
    return !name.empty() && name.find_first_not_of(letters) == std::string_view::npos &&
           (name[0] < '0' || name[0] > '9');
  }

  void read_comment() {
    std::string_view rest = line_.substr(2);
    const bool help = rest.starts_with("HELP ");
    expect(help || rest.starts_with("TYPE "), "neither HELP nor TYPE");
    rest.remove_prefix(5);
    const std::size_t space = rest.find(' ');
    expect(space != std::string_view::npos, "nothing behind the name");
    const std::string name(rest.substr(0, space));
    expect(is_name(name), "no name of a metric");
    rest.remove_prefix(space + 1);
    if (help) {
      end_histogram();
      expect(metrics_.insert(name).second, "a metric twice");
      metric_ = name;
      type_.clear();
      return;
    }
    expect(name == metric_ && type_.empty(), "TYPE does not follow HELP");
    expect(rest == "counter" || rest == "gauge" || rest == "histogram", "no type");
    type_ = rest;
  }

  void read_sample() {
    expect(!type_.empty(), "a line without a type");
    std::string_view rest = line_;
    std::string_view name = rest.substr(0, rest.find_first_of("{ "));
    rest.remove_prefix(name.size());
    expect(is_name(name), "no name of a metric");
    std::string labels;
    std::optional<std::string> limit;
    if (rest.starts_with('{')) {
      do {
        rest.remove_prefix(1);
        auto [label, value] = read_label(rest);
        if (label == "le") {
          limit = value;
        } else {
          labels += label + "=" + value + ",";
        }
      } while (rest.starts_with(','));
      expect(rest.starts_with('}'), "labels do not end");
      rest.remove_prefix(1);
    }
    const std::string series(line_.substr(0, line_.size() - rest.size()));
    expect(rest.starts_with(' '), "no space before the value");
    const double value = number_of(rest.substr(1));
    expect(values_.emplace(series, value).second, "a line twice");
    if (type_ == "counter") expect(value >= 0, "a counter below zero");
    if (type_ != "histogram") {
      expect(name == metric_, "a line of another metric");
      return;
    }
    expect(name.starts_with(metric_), "a line of another metric");
    name.remove_prefix(metric_.size());
    read_histogram(name, labels, limit, value);
  }

  void read_histogram(std::string_view part, const std::string& labels,
                      const std::optional<std::string>& limit, double value) {
    if (part == "_bucket") {
      expect(limit.has_value(), "a bucket without a limit");
      const double le = *limit == "+Inf" ? endless : number_of(*limit);
      if (!open_) {
        open_ = true;
        labels_ = labels;
        last_limit_ = -endless;
        last_ = 0;
      }
      expect(labels == labels_, "a histogram does not end");
      expect(le > last_limit_, "limits do not grow");
      expect(value >= last_, "buckets are not cumulative");
      last_limit_ = le;
      last_ = value;
      return;
    }
    expect(open_ && labels == labels_ && !limit, "no bucket before it");
    if (part == "_sum") {
      summed_ = true;
      return;
    }
    expect(part == "_count", "no part of a histogram");
    expect(last_limit_ == endless && value == last_, "the count is not that of +Inf");
    expect(summed_, "no sum");
    open_ = summed_ = false;
  }
  void end_histogram() const { expect(!open_, "a histogram does not end"); }

  /// Takes `name="value"` off the front; the value without its escapes.
  std::pair<std::string, std::string> read_label(std::string_view& rest) const {
    const std::size_t equals = rest.find("=\"");
    expect(equals != std::string_view::npos, "no label");
    std::string name(rest.substr(0, equals));
    expect(is_name(name) && name.find(':') == std::string::npos, "no name of a label");
    rest.remove_prefix(equals + 2);
    std::string value;
    for (; !rest.empty() && rest[0] != '"'; rest.remove_prefix(1)) {
      if (rest[0] == '\\') {
        rest.remove_prefix(1);
        expect(!rest.empty() && std::string_view("\\\"n").find(rest[0]) != std::string_view::npos,
               "no escape");
        value += rest[0] == 'n' ? '\n' : rest[0];
      } else {
        value += rest[0];
      }
    }
    expect(!rest.empty(), "a label does not end");
    rest.remove_prefix(1);
    return {std::move(name), std::move(value)};
  }

  double number_of(std::string_view text) const {
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    expect(end.ec == std::errc() && end.ptr == text.data() + text.size(), "no number");
    return value;
  }

  static constexpr double endless = std::numeric_limits<double>::infinity();
  std::string_view line_{};
  std::string metric_{};
  std::string type_{};
  std::set<std::string> metrics_{};
  std::map<std::string, double> values_{};
  bool open_{false};  ///< a histogram
  bool summed_{false};
  std::string labels_{};
  double last_limit_{0};
  double last_{0};
};
