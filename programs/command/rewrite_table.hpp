#pragma once

#include <CLI/CLI.hpp>

#include "rewrite_options.hpp"

namespace cli {

/// Makes the verbs that write subcommands of `shards`. `with` is borrowed until it has been parsed.
void declare_rewriting(CLI::App& app, rewrite_options& with);

}  // namespace cli
