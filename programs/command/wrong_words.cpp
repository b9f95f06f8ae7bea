#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_table.hpp"
#include "nearest.hpp"

namespace cli {

namespace {

/// What other tools call it.
struct other_word {
  std::string_view word;
  const char* ours;
};
constexpr other_word other_words[]{
    {"copy", "cp"},   {"upload", "cp"}, {"download", "cp"}, {"get", "cp"},
    {"put", "cp"},    {"list", "ls"},   {"dir", "ls"},      {"delete", "rm"},
    {"del", "rm"},    {"remove", "rm"}, {"rmdir", "rm"},    {"describe", "stat"},
    {"info", "stat"}, {"head", "stat"}, {"rsync", "sync"},  {"mirror", "sync"},
    {"move", "mv"},   {"rename", "mv"},
};

std::string meant_by(const std::string& word, std::span<const std::string> known) {
  for (const other_word& each : other_words) {
    if (each.word != word) continue;
    if (std::find(known.begin(), known.end(), each.ours) != known.end()) return each.ours;
  }
  return nearest(word, known);
}

/// The subcommand that was reached, by its words: "uploads list".
struct reached {
  const CLI::App* app;
  std::string words{};
};
reached reached_in(const CLI::App& app) {
  reached at{&app};
  while (!at.app->get_subcommands().empty()) {
    at.app = at.app->get_subcommands().front();
    at.words.append(at.words.empty() ? "" : " ").append(at.app->get_name());
  }
  return at;
}

std::string unknown_in(const CLI::App& in, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* each : in.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(each->get_name());
  }
  if (known.empty()) return {};
  std::string out = "'" + word + "': no such subcommand";
  if (const std::string near = meant_by(word, known); !near.empty()) {
    out.append("; the nearest is ").append(near);
  }
  out += "; there are";
  for (const std::string& each : known) out += (each == known.front() ? " " : ", ") + each;
  return out;
}

void add_options(const CLI::App& of, std::vector<std::string>& to) {
  for (const CLI::Option* each : of.get_options()) {
    for (const std::string& name : each->get_lnames()) to.push_back("--" + name);
    for (const std::string& name : each->get_snames()) to.push_back("-" + name);
  }
}

std::string unknown_option(const CLI::App& app, const reached& at, const std::string& word) {
  std::vector<std::string> known;
  add_options(*at.app, known);
  add_options(app, known);
  const std::string name = word.substr(0, word.find('='));
  std::string out = "'" + name + "': no such option";
  if (!at.words.empty()) out += " of " + at.words;
  const std::string near = name.size() > 2 ? nearest(name, known) : std::string();
  return near.empty() ? out : out + "; the nearest is " + near;
}

}  // namespace

std::string unknown_command(const CLI::App& app) {
  const auto left = app.remaining(true);
  const auto word = std::find_if(left.begin(), left.end(),
                                 [](const std::string& each) { return !each.starts_with('-'); });
  return word == left.end() ? std::string() : unknown_in(*reached_in(app).app, *word);
}

std::string why_not_parsed(const CLI::App& app, const CLI::ParseError& failure) {
  std::string out = unknown_command(app);
  if (!out.empty()) return out;
  const reached at = reached_in(app);
  const auto left = app.remaining(true);
  const std::string help =
      at.words.empty() ? "dataflux --help" : "dataflux " + at.words + " --help";
  if (!left.empty() && left.front().starts_with('-')) {
    out = unknown_option(app, at, left.front());
  } else if (!left.empty()) {
    out =
        "'" + left.front() + "': one word too many" + (at.words.empty() ? "" : " for " + at.words);
  } else {
    const std::string text = failure.what();
    out = (at.words.empty() ? "" : at.words + ": ") + text.substr(0, text.find('\n'));
  }
  return out + "; `" + help + "` shows how";
}

}  // namespace cli
