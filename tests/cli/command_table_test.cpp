#include <command/command_table.hpp>
#include <command/nearest.hpp>
#include <support/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace command_table_test {

using cli::chosen_command;
using cli::command;
using cli::command_line;
using cli::commands;

namespace {

/// A command line of each subcommand: a new one needs one.
const std::map<std::string, std::vector<std::string>> lines{
    {"ls", {"gs://bucket/a"}},         {"stat", {"gs://bucket/a"}},
    {"cat", {"gs://bucket/a"}},        {"cp", {"-r", "gs://bucket/a", "t"}},
    {"mv", {"gs://bucket/a", "t"}},    {"sync", {"gs://bucket/a", "t"}},
    {"rm", {"gs://bucket/a"}},         {"uploads", {"list", "gs://bucket"}},
    {"manifest", {"show", "m"}},       {"shards", {"show", "m"}},
    {"sweep", {"gs://bucket"}},        {"cache", {"list", "folder"}},
    {"simulate", {"--link", "1GB/s"}}, {"signurl", {"gs://bucket/a"}},
};

}  // namespace

TEST_CASE("command_table: each row is declared, chosen by its name, and has all that it needs",
          "[cli]") {
  std::set<std::string> names;
  for (const command& row : commands()) {
    INFO(row.name);
    names.insert(row.name);
    REQUIRE((row.declare != nullptr && row.interrupted != nullptr));
    REQUIRE((row.run == nullptr) != (row.run_here == nullptr));
    REQUIRE(lines.count(row.name) == 1);
    CLI::App app;
    command_line asked;
    cli::declare_commands(app, asked);
    CHECK(chosen_command(app) == nullptr);
    std::vector<std::string> words = lines.at(row.name);
    words.insert(words.begin(), row.name);
    std::vector<std::string> backwards(words.rbegin(), words.rend());  // as CLI11 takes them
    app.parse(backwards);
    CHECK(chosen_command(app) == &row);
    CHECK(std::string(row.interrupted(asked)).starts_with("interrupted"));
    CHECK(row.memory > 0);
  }
  CHECK(names.size() == commands().size());
  CHECK(names.size() == lines.size());
}

TEST_CASE("command_table: a word that is no subcommand is named, with those that there are",
          "[cli]") {
  const auto said = [](const std::string& line) -> std::string {
    CLI::App app;
    command_line asked;
    app.require_subcommand(1);
    app.fallthrough();
    cli::declare_commands(app, asked);
    try {
      app.parse(line);
    } catch (const CLI::ParseError& failure) {
      return cli::why_not_parsed(app, failure);
    }
    return "parsed";
  };
  for (const std::string line : {"xyzzy gs://bucket/a gs://bucket/b", "xyzzy --help", "xyzzy"}) {
    CHECK(said(line).starts_with("'xyzzy': no such subcommand; there are ls, stat, "));
  }
  CHECK(said("uploads remove gs://bucket") ==
        "'remove': no such subcommand; there are list, abort");
  CHECK(said("lsit gs://bucket").starts_with("'lsit': no such subcommand; the nearest is ls; "));
  CHECK(said("manifest creat").starts_with("'creat': no such subcommand; the nearest is create; "));
  CHECK(
      said("ls --recursiv gs://bucket") ==
      "'--recursiv': no such option of ls; the nearest is --recursive; `dataflux ls --help` shows "
      "how");
  CHECK(said("ls --qqqqqqqq=1 gs://bucket") ==
        "'--qqqqqqqq': no such option of ls; `dataflux ls --help` shows how");
  CHECK(said("cp") == "cp: PLACE is required; `dataflux cp --help` shows how");
  CHECK(said("sweep gs://b gs://c") ==
        "'gs://c': one word too many for sweep; `dataflux sweep --help` shows how");
}

TEST_CASE("nearest: what was meant", "[cli]") {
  const std::vector<std::string> known{"ls", "stat", "cat", "cp", "rm", "uploads", "manifest"};
  CHECK(cli::nearest("lss", known) == "ls");
  CHECK(cli::nearest("tsat", known) == "stat");
  CHECK(cli::nearest("manfest", known) == "manifest");
  CHECK(cli::nearest("upload", known) == "uploads");
  for (const char* word : {"", "x", "frobnicate", "zzzz"}) CHECK(cli::nearest(word, known).empty());
  CHECK(cli::nearest("ls", {}).empty());
}

TEST_CASE("command_table: no two rows run the same", "[cli]") {
  using row_runs = std::pair<decltype(command::run), decltype(command::run_here)>;
  std::set<row_runs> functions;
  for (const command& row : commands()) functions.insert({row.run, row.run_here});
  CHECK(functions.size() == commands().size());
}

TEST_CASE("command_table: options go to their own subcommand", "[cli]") {
  CLI::App app;
  command_line asked;
  cli::declare_commands(app, asked);
  app.parse(
      "cp -r --continue --delete-extra --dry-run --include *.jpg --exclude a --exclude b src "
      "gs://bucket/t");
  CHECK(asked.cp.select.include == std::vector<std::string>{"*.jpg"});
  CHECK(asked.cp.select.exclude == std::vector<std::string>{"a", "b"});
  CHECK((asked.cp.recursive && asked.cp.go_on && asked.cp.delete_extra && asked.cp.dry_run));
  CHECK(asked.cp.places == std::vector<std::string>{"src", "gs://bucket/t"});
  CHECK_FALSE((asked.rm.recursive || asked.ls.recursive || asked.sweep.dry_run));
}

}  // namespace command_table_test
