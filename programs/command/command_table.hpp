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
  bool quiet{false};
  bool verbose{false};
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
  cp_options mv{};
  cp_options sync{};
  signurl_options signurl{};
  rm_options rm{};
  uploads_options uploads{};
  manifest_options manifest{};
  shards_options shards{};
  sweep_options sweep{};
  cache_options cache{};
  simulate_options simulate{};
};

/// For what is read ahead. Fresh memory costs more than what is read into it: as much as keeps the
/// network busy.
inline constexpr std::uint64_t usual_memory = std::uint64_t{128} << 20U;

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
  std::uint64_t memory{usual_memory};
  /// Instead of `run`, of one that needs no service.
  exit_status (*run_here)(const command_line& asked, const std::stop_token& stop){nullptr};
  /// Where it keeps a list of names, of one that takes those.
  selecting_options* (*list)(command_line& asked){nullptr};
  /// Of one that may copy from one service to another.
  const cp_options* (*copying)(const command_line& asked){nullptr};
};

/// All of them, in the order of `dataflux --help`. A new subcommand is a row.
std::span<const command> commands() noexcept;

/// Makes each a subcommand of `app`. `to` is borrowed until it has been parsed.
void declare_commands(CLI::App& app, command_line& to);
/// After a failure to parse, or a wish for help: the word that is no subcommand, the nearest one
/// that is, and what there is; empty where each is one.
std::string unknown_command(const CLI::App& app);
/// Why a command line was not parsed, in one line: the word that is no subcommand or no option,
/// the nearest one that is, and what there is.
std::string why_not_parsed(const CLI::App& app, const CLI::ParseError& failure);
/// The one that was given; null before parsing.
const command* chosen_command(const CLI::App& app);

}  // namespace cli
