#include "rewrite_table.hpp"

namespace cli {

namespace {

void declare_output(CLI::App& app, rewrite_options& with) {
  app.add_option(
         "-o,--output", with.output,
         "Path or gs://bucket/name of one shard; or a pattern, train-%06d.tar, with --count\n"
         "or --bytes. Nothing that is there is replaced")
      ->required();
  app.add_option("--count", with.count, "Most samples of a shard; else there is no such limit");
  app.add_option("--bytes", with.bytes,
                 "Most bytes of a shard; else there is no such limit. One sample may be larger");
  app.add_option("--first", with.first, "The first number (0)");
  app.add_flag("--leave-out", with.leave_out,
               "What is left out is no failure: members in no sample, what is behind damage,\n"
               "files of map that are no field");
}

void declare_choice(CLI::App& app, rewrite_options& with) {
  app.add_option("--fields", with.fields,
                 "Only these: jpg,cls; image=jpg;png is the first of two under a new name")
      ->delimiter(',');
  app.add_option("--select", with.select, "Only samples whose keys are in this file, one a line");
  app.add_option("--slice", with.slice, "Only samples FIRST:END or FIRST:END:STEP, from 0");
  app.add_option("--rekey", with.rekey, "Keys by number instead: train/%08d");
}

void declare_reading(CLI::App& app, rewrite_options& with) {
  app.add_flag("--read-concatenated", with.read_concatenated,
               "Read an archive behind the end of another one; else it is an error");
  app.add_flag("--ignore-trailing", with.ignore_trailing,
               "Leave out other bytes behind the end; else they are an error");
  app.add_flag("--end-at-damage", with.end_at_damage,
               "A damaged shard ends at the damage; else it is an error");
}

void declare_grouping(CLI::App& app, rewrite_options& with) {
  app.add_flag("--keep-first", with.keep_first,
               "Of two members with one field leave out the second; else it is an error");
  app.add_flag("--strip-dot-slash", with.strip_dot_slash, "\"./\" is no part of a key");
}

CLI::App* declare_rewriting(CLI::App& app, rewrite_options& with, rewrite_verb verb,
                            const char* name, const char* help, const char* inputs) {
  auto* command = app.add_subcommand(name, help);
  command->callback([&with, verb] { with.verb = verb; });
  auto* given = command->add_option("SHARDS", with.inputs, inputs);
  if (verb != rewrite_verb::create) given->required();
  declare_output(*command, with);
  declare_grouping(*command, with);
  if (verb == rewrite_verb::create) return command;
  declare_reading(*command, with);
  declare_choice(*command, with);
  return command;
}

}  // namespace

void declare_rewriting(CLI::App& app, rewrite_options& with) {
  constexpr const char* shards =
      "Paths, folders, gs://bucket/name.tar, gs://bucket/folder; - is standard input";
  constexpr const char* numbered =
      "Paths, folders, gs://bucket/name.tar, gs://bucket/folder; or one index, NAME.dfx";
  const auto add = [&](rewrite_verb verb, const char* name, const char* help, const char* inputs) {
    return declare_rewriting(app, with, verb, name, help, inputs);
  };
  auto* create = add(rewrite_verb::create, "create",
                     "Files become samples: all with one name up to the first dot of its last part",
                     "Folders, gs://bucket/folder; samples are in the order of their keys");
  create->add_option("--list", with.lists,
                     "A file of lines NAME SOURCE, in its order. SOURCE: a path, file:PATH,\n"
                     "gs://bucket/name, text:TEXT, pipe:COMMAND. - is standard input");
  create->add_option("--manifest", with.manifests, "Objects of a saved listing, by their names");
  create->add_flag("--allow-pipe", with.allow_pipe, "pipe:COMMAND may run a shell");
  add(rewrite_verb::cat, "cat", "Samples of shards in their order", shards);
  add(rewrite_verb::split, "split", "The same into shards of other sizes", shards);
  add(rewrite_verb::shuffle, "shuffle",
      "All samples in one random order, each order alike. Shards are read twice: they are\n"
      "indexed first, unless that is given",
      numbered)
      ->add_option("--seed", with.seed, "The same number, the same order (0)");
  add(rewrite_verb::sort, "sort",
      "Samples by key or by the bytes of a field; equal ones stay in their order. What they are\n"
      "sorted by is in memory. Equal keys behind one another are an error",
      numbered)
      ->add_option("--by", with.by, "\"key\", or a field")
      ->required();
  auto* join = add(rewrite_verb::join, "join",
                   "Samples of two sets that have one key become one, in the order of the first.\n"
                   "A key comes once in each",
                   "Two: paths, folders, gs://bucket/folder, NAME.dfx");
  join->get_option("SHARDS")->expected(2);
  join->add_flag("--left", with.left, "Samples of the first without a partner, too");
  join->add_option("--right-prefix", with.right_prefix, "In front of the second's fields");
  add(rewrite_verb::map, "map",
      "Each sample through a shell command, in a folder of its own: fields are files "
      "sample.FIELD,\n"
      "before and after. DATAFLUX_KEY is the key. One whose command fails is left out and told",
      shards)
      ->add_option("-c,--command", with.shell_command, "For /bin/sh")
      ->required();
}

}  // namespace cli
