#include <command/command_table.hpp>
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
  const auto said = [](const std::string& line) {
    CLI::App app;
    command_line asked;
    app.require_subcommand(1);
    app.fallthrough();
    cli::declare_commands(app, asked);
    CHECK_THROWS_AS(app.parse(line), CLI::ParseError);
    return cli::unknown_command(app);
  };
  for (const std::string line : {"mv gs://bucket/a gs://bucket/b", "mv --help", "mv"}) {
    CHECK(said(line).starts_with("'mv': no such subcommand; there are ls, stat, "));
  }
  CHECK(said("uploads remove gs://bucket") ==
        "'remove': no such subcommand; there are list, abort");
  CHECK(said("--help").empty());
  CHECK(said("").empty());
  CHECK(said("uploads").empty());
  CHECK(said("ls").empty());
  CHECK(said("cp a b c").empty());
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
  app.parse("cp -r --continue --delete-extra --dry-run src gs://bucket/t");
  CHECK((asked.cp.recursive && asked.cp.go_on && asked.cp.delete_extra && asked.cp.dry_run));
  CHECK(asked.cp.source == "src");
  CHECK(asked.cp.target == "gs://bucket/t");
  CHECK_FALSE((asked.rm.recursive || asked.ls.recursive || asked.sweep.dry_run));
}

}  // namespace command_table_test
