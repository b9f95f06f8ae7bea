#pragma once

#include <dataflux/result.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

/// What a training job does with a bucket, step by step, on any object_store.
struct main_job_options {
  std::string bucket{};
  /// Objects to read are below it.
  std::string prefix{};
  /// The checkpoint's name. It is written, read back and removed.
  std::string checkpoint{};
  std::uint64_t checkpoint_size{std::uint64_t{512} << 20U};
  /// Where the objects come from, to compare every byte; nothing = checksums only.
  std::optional<std::filesystem::path> original{};
  std::stop_token stop{};
};

/// One finished step, for the closing table.
struct step_report {
  std::uint64_t objects{0};
  std::uint64_t bytes{0};
  double seconds{0};
};

dataflux::result<dataflux::object_columns> list_all(dataflux::object_store& store,
                                                    const main_job_options& job,
                                                    step_report& report);
/// Reads every object into memory, in order, and compares.
dataflux::result<step_report> read_all(const dataflux::transfer_context& context,
                                       const main_job_options& job,
                                       const dataflux::object_columns& objects);
/// Saves `data` piece by piece.
dataflux::result<step_report> write_checkpoint(const dataflux::transfer_context& context,
                                               const main_job_options& job,
                                               dataflux::bytes_view data);
/// Reads the checkpoint back and compares it with `data`.
dataflux::result<step_report> read_checkpoint(const dataflux::transfer_context& context,
                                              const main_job_options& job,
                                              dataflux::bytes_view data);
