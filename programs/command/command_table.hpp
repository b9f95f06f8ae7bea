#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "commands.hpp"

namespace cli {

/// What the command line said.
struct command_line {
  std::string endpoint{};
  bool anonymous{false};
  std::string user_project{};
  /// Of S3.
  std::string region{};
  bool requester_pays{false};
  /// Of AIStore.
  std::string provider{};
  ls_options ls{};
  stat_options stat{};
  cat_options cat{};
  cp_options cp{};
  signurl_options signurl{};
  rm_options rm{};
  uploads_options uploads{};
  manifest_options manifest{};
  shards_options shards{};
  sweep_options sweep{};
  cache_options cache{};
  simulate_options simulate{};
};

/// One subcommand.
struct command {
  const char* name;
  /// The first line, and more.
  const char* help;
  /// Its options and arguments.
  void (*declare)(CLI::App& app, command_line& to);
  /// Its URLs and paths, by which the service is chosen.
  std::vector<std::string> (*places)(const command_line& asked);
  exit_status (*run)(const session& with, const command_line& asked);
  /// What an interrupt has left, for people.
  const char* (*interrupted)(const command_line& asked);
  /// For what is read ahead. Fresh memory costs more than what is read into it: as much as keeps
  /// the network busy.
  std::uint64_t memory{std::uint64_t{128} << 20U};
  /// Instead of `run`, of one that needs no service.
  exit_status (*run_here)(const command_line& asked, const std::stop_token& stop){nullptr};
};

/// All of them, in the order of `dataflux --help`. A new subcommand is a row.
std::span<const command> commands() noexcept;

/// Makes each a subcommand of `app`. `to` is borrowed until it has been parsed.
void declare_commands(CLI::App& app, command_line& to);
/// After a failure to parse: the word that is no subcommand, and what there is instead; empty when
/// it failed for another reason.
std::string unknown_command(const CLI::App& app);
/// The one that was given; null before parsing.
const command* chosen_command(const CLI::App& app);

}  // namespace cli
