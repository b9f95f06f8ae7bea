#pragma once

#include <emulator/message.hpp>
#include <emulator/service_error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace emulator {

/// Builds one flat-ish document; names are ours, texts are escaped.
class xml_writer {
 public:
  explicit xml_writer(std::string_view root) : root_(root) {
    out_ = "<?xml version='1.0' encoding='UTF-8'?><" + root_ + " xmlns='";
    out_ += "http://s3.amazonaws.com/doc/2006-03-01/'>";
  }
  void open(std::string_view name) { out_.append("<").append(name).append(">"); }
  void close(std::string_view name) { out_.append("</").append(name).append(">"); }
  void leaf(std::string_view name, std::string_view text) {
    open(name);
    out_ += xml_escape(text);
    close(name);
  }
  /// With quotes, which S3 writes as entities.
  void quoted_leaf(std::string_view name, std::string_view text) {
    open(name);
    out_.append("&quot;").append(xml_escape(text)).append("&quot;");
    close(name);
  }
  void text(std::string_view text) { out_ += xml_escape(text); }
  void leaf(std::string_view name, std::int64_t value) { leaf(name, std::to_string(value)); }
  http_reply reply(std::string_view type = "application/xml; charset=UTF-8") {
    close(root_);
    http_reply out;
    out.set("Content-Type", std::string{type});
    out.body = content{std::move(out_)};
    return out;
  }

 private:
  std::string root_;
  std::string out_{};
};

}  // namespace emulator
