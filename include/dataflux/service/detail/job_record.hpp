#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a process of a job tells the others of the requests that it starts. The text is of letters,
/// digits and `-._~,;%`, so that it may be the name of a file or of an object:
///
///     1;RANK;BEAT;BUCKET,r|w,LEVEL,WANT,USED,REFUSED;...
///
/// Rates are in thousandths of a request a second. The bucket is percent-encoded.
namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// The requests for which the service has one limit (protocol.md 3.3): reads and metadata, or
/// writes, of one bucket. Rates are a second's.
struct job_budget {
  std::string bucket{};
  bool writes{false};
  double level{0};    ///< of all processes together, as this one knows it
  double want{0};     ///< of this process
  bool more{false};   ///< it would start more than it may
  double used{0};     ///< started
  double refused{0};  ///< of them, for their rate
};

struct job_record {
  std::uint32_t rank{0};
  std::uint64_t beat{0};  ///< each record of a process has another one
  std::vector<job_budget> budgets{};
};

/// A name of an object has 1,024 bytes.
inline constexpr std::size_t longest_job_record = 800;
inline constexpr std::size_t most_job_budgets = 64;

/// At most `longest_job_record` bytes: of the budgets the first ones, as many as find room.
std::string write_job_record(const job_record& record);
/// Nothing for what is no record, or longer than one.
std::optional<job_record> read_job_record(std::string_view text);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/job_record.ipp>
#endif
