#include "command_table.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include "rewrite_inputs.hpp"
#include "rewrite_table.hpp"

namespace cli {

namespace {

/// What all verbs call alike that take many names.
void declare_names(CLI::App& app, selecting_options& to) {
  app.add_flag("--no-glob", to.no_glob,
               "Names as they are; else *, ?, [a-z], {a,b} and ** in them are patterns");
  app.add_option("--files-from", to.files_from,
                 "A file with a name on each line, or a manifest; - is standard input");
}
void declare_filters(CLI::App& app, selecting_options& to) {
  app.add_option("--include", to.include, "Only names like this; without '/', of their last part");
  app.add_option("--exclude", to.exclude, "No names like this");
  app.add_option("--min-size", to.min_size, "Only of so many bytes: 4096, 64K, 10M, 3G");
  app.add_option("--newer-than", to.newer_than, "Only what was written since: 7d, 2026-01-31");
  for (const char* several : {"--include", "--exclude"}) {
    app.get_option(several)->allow_extra_args(false);
  }
}

void declare_ls(CLI::App& app, command_line& to) {
  app.add_option("URL", to.ls.urls, "gs://bucket[/prefix], or a pattern gs://bucket/x*.jpg");
  declare_names(app, to.ls.select);
  declare_filters(app, to.ls.select);
  app.set_help_flag("--help", "Print this help message and exit");  // -h is what all ls have
  app.add_flag("-l", to.ls.details, "Size, time of writing (UTC) and a total");
  app.add_flag("-h,--human", to.ls.human, "As -l, with sizes as 1.2K, 3.4M (powers of 1024)");
  app.add_flag("-a,--all-versions", to.ls.versions,
               "Of gs://: noncurrent versions, too: name#generation");
  app.add_flag("-r,--recursive", to.ls.recursive, "All objects below, without folding folders");
  app.add_flag("--json", to.ls.json, "One JSON object a line: names exact, all that is known");
}

void declare_stat(CLI::App& app, command_line& to) {
  app.add_option("URL", to.stat.urls, "gs://bucket/name[#generation], or a pattern");
  declare_names(app, to.stat.select);
}

void declare_cat(CLI::App& app, command_line& to) {
  app.add_option("URL", to.cat.urls, "gs://bucket/name[#generation], or a pattern");
  declare_names(app, to.cat.select);
  app.add_option("--range", to.cat.range, "FIRST-LAST, FIRST- or -COUNT, in bytes from 0");
  app.add_flag("--checked", to.cat.checked,
               "Write an object only when all of it has been compared (large ones by way of\n"
               "$TMPDIR); without it a wrong one ends early, with status 7");
  app.add_option("--member", to.cat.member,
                 "Of ais://: this file of a tar, tgz or zip archive; nothing compares it");
}

void declare_attributes(CLI::App& app, attribute_options& to) {
  app.add_option("--content-type", to.content_type, "Of new objects; else by their names");
  app.add_option("--cache-control", to.cache_control, "Of new objects: no-store, max-age=60");
  app.add_option("--metadata", to.metadata, "KEY=VALUE of new objects; may come again")
      ->allow_extra_args(false);
  app.add_option("--storage-class", to.storage_class, "Of new objects: NEARLINE, ...");
  app.add_option("--kms-key", to.kms_key, "What encrypts new objects");
}

/// What `cp`, `mv` and `sync` have alike.
void declare_copying(CLI::App& app, cp_options& to) {
  app.add_option(
         "PLACE", to.places,
         "SOURCE... TARGET: paths, gs://bucket/name[#generation], s3:// or ais://bucket/name,\n"
         "patterns of them, or -")
      ->required();
  declare_names(app, to.select);
  declare_filters(app, to.select);
  app.add_flag("--dry-run", to.dry_run,
               "Print what would be copied, with sizes and a total, and copy nothing");
  declare_attributes(app, to.attributes);
}

void declare_clobbering(CLI::App& app, cp_options& to) {
  app.add_flag("-r,--recursive", to.recursive, "Everything below SOURCE");
  app.add_flag("-n,--no-clobber", to.no_clobber, "Replace nothing: what is there stays");
  app.add_option("--if-generation-match", to.if_generation,
                 "Replace only this generation of the one object; 0 = create it");
}

void declare_cp(CLI::App& app, command_line& to) {
  declare_copying(app, to.cp);
  declare_clobbering(app, to.cp);
  app.add_flag("--continue", to.cp.go_on,
               "Leave out what TARGET has already, of the same size and CRC32C");
  app.add_flag(
      "--delete-extra", to.cp.delete_extra,
      "With -r: remove in the end what TARGET has and SOURCE has not; nothing when SOURCE\n"
      "could not be read in part or is empty");
}

void declare_mv(CLI::App& app, command_line& to) {
  declare_copying(app, to.mv);
  declare_clobbering(app, to.mv);
}

void declare_sync(CLI::App& app, command_line& to) {
  declare_copying(app, to.sync);
  app.add_flag("--delete", to.sync.delete_extra,
               "Remove in the end what TARGET has and SOURCE has not; nothing when SOURCE\n"
               "could not be read in part or is empty");
  app.add_flag("--checksum", to.sync.by_checksum,
               "Compare by CRC32C what sizes and times take to be the same");
}

void declare_rm(CLI::App& app, command_line& to) {
  app.add_option("URL", to.rm.urls,
                 "gs://bucket/name; with #generation that one is removed for good; or a pattern");
  declare_names(app, to.rm.select);
  declare_filters(app, to.rm.select);
  app.add_flag("-r,--recursive", to.rm.recursive, "Everything below, too");
}

void declare_signurl(CLI::App& app, command_line& to) {
  auto& with = to.signurl;
  app.add_option("URL", with.urls, "gs://bucket/name; gs://bucket: its listing")->required();
  app.add_option("-m,--method", with.method, "GET (the default), HEAD, PUT, POST, DELETE");
  app.add_option("-d,--duration", with.duration, "90s, 30m, 12h, 7d, which is the most; 1h");
  app.add_option("--header", with.headers,
                 "\"NAME: VALUE\", which must be sent alike; may come again")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--query", with.query, "NAME=VALUE, a parameter; may come again")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--account", with.account,
                 "Of gs://: a service account that IAM signs for; else that of the credentials");
  app.add_option("--style", with.style,
                 "Of gs://: path (HOST/BUCKET/NAME), virtual_hosted (BUCKET.HOST/NAME) or\n"
                 "bucket_bound (HOST/NAME)");
  app.add_option("--host", with.host, "Of gs://: in place of the endpoint's, name[:port]");
  app.add_option("--scheme", with.scheme, "Of gs://: https or http; else the endpoint's");
}

void declare_uploads(CLI::App& app, command_line& to) {
  app.require_subcommand(1);
  auto* list = app.add_subcommand("list", "When each began, what it was going to be, what it is");
  auto* abort = app.add_subcommand("abort", "Remove them");
  for (auto* command : {list, abort}) {
    command->add_option("URL", to.uploads.url, "gs://bucket[/prefix]")->required();
  }
  list->add_option("--older-than", to.uploads.older_than, "Only of this age: 30m, 12h, 7d");
  abort
      ->add_option("--older-than", to.uploads.older_than,
                   "Of this age: 30m, 12h, 7d. A younger one may be somebody's at work")
      ->required();
  abort->callback([&to] { to.uploads.abort = true; });
}

void declare_manifest(CLI::App& app, command_line& to) {
  auto& with = to.manifest;
  app.require_subcommand(1);
  auto* create = app.add_subcommand(
      "create",
      "List a bucket, or what is below a folder, and save it. Markers of folders and leftovers\n"
      "of composed downloads are left out and counted. A manifest of that name is replaced.");
  auto* refresh = app.add_subcommand(
      "refresh", "List the same again, tell what is different, and replace the manifest");
  auto* show = app.add_subcommand("show", "What was listed, when and how");
  create->add_option("SOURCE", with.source, "gs://bucket[/folder]")->required();
  for (auto* command : {create, refresh, show}) {
    command->add_option("MANIFEST", with.manifest, "Path or gs://bucket/name")->required();
  }
  create->add_option("--glob", with.glob, "Only names like this: **.jpg, train/*/[0-9].png");
  create->add_flag("-a,--all-versions", with.versions, "Noncurrent versions, too");
  create
      ->add_option("--columns", with.columns,
                   "Also md5, created, updated, content-type, storage-class, metadata; of s3://\n"
                   "created, updated, storage-class. `show --json` has them")
      ->delimiter(',');
  refresh->add_flag("-l", with.details, "Each object that was added (+), removed (-), changed (~)");
  refresh->add_flag("--dry-run", with.dry_run, "Leave the manifest as it is");
  show->add_flag("-l", with.details, "Its objects with size and time (where it has the column)");
  show->add_flag("--json", with.json, "Its objects, one JSON object a line");
  create->callback([&with] { with.action = cli::manifest_action::create; });
  refresh->callback([&with] { with.action = cli::manifest_action::refresh; });
}

/// What happens to damage, and how members become samples.
void declare_reading(CLI::App& index, shards_options& with) {
  index.add_flag("--read-concatenated", with.read_concatenated,
                 "Read an archive behind the end of another one; else it is an error");
  index.add_flag("--ignore-trailing", with.ignore_trailing,
                 "Leave out other bytes behind the end; else they are an error");
  index.add_flag("--end-at-damage", with.end_at_damage,
                 "A damaged shard ends at the damage; else it is an error");
  index.add_flag("--keep-first", with.keep_first,
                 "Of two members with one field leave out the second; else it is an error");
  index.add_flag("--keep-case", with.keep_case, "Fields as they are written; else lower case");
  index.add_flag("--strip-dot-slash", with.strip_dot_slash, "\"./\" is no part of a key");
}

void declare_shards(CLI::App& app, command_line& to) {
  auto& with = to.shards;
  app.require_subcommand(1);
  auto* index = app.add_subcommand(
      "index", "Find the samples of all .tar below a folder, and save where they lie");
  auto* show = app.add_subcommand("show", "What was indexed, when and how");
  auto* get = app.add_subcommand("get", "Write a field of a sample to standard output");
  auto* verify = app.add_subcommand(
      "verify", "Read all shards again, and compare them with an index. Status 0: all are right");
  auto* ls = app.add_subcommand("ls", "Samples, fields and sizes of an index, or of a tar");
  index->add_option("SOURCE", with.source, "gs://bucket[/folder]")->required();
  for (auto* command : {index, show, get, verify}) {
    command->add_option("INDEX", with.index, "Path of the index, or gs://bucket/name")->required();
  }
  ls->add_option("WHAT", with.index, "Path of an index or a .tar, or gs://bucket/name")->required();
  auto* samples = ls->add_flag("--samples", with.details, "A line for each sample");
  ls->add_flag("--members", with.members, "A line for each member")->excludes(samples);
  verify->add_flag("--fill", with.fill,
                   "Write the index again, with the checksums that samples lack");
  index->add_option("--part", with.parts,
                    "Index of some of the shards, which are not read if they are as they were;\n"
                    "may come again");
  index->add_option(
      "--from", with.foreign,
      "Another program's index of a shard, which is not read then: AIStore's, DALI's,\n"
      "webshart's; of wids, names and sizes are compared; may come again");
  index->add_option(
      "--board", with.board,
      "gs://bucket/prefix, where as many as run this command meet, and share the work");
  index->add_option("--glob", with.glob, "Only names like this, instead of .tar: train/*.tar");
  index->add_option("--skip-from", with.skip_from,
                    "Do not read the data of members of so many bytes (1 MiB). Samples of such a\n"
                    "shard have no checksums");
  declare_reading(*index, with);
  show->add_flag("-l", with.details, "Each sample: number, shard@offset, size, field:size ...");
  get->add_option("KEY", with.key, "Key of the sample");
  get->add_option("FIELD", with.field, "Without it, the fields and their sizes are shown");
  get->add_option("--sample", with.sample,
                  "Its number, where several samples have the key. Without KEY: shows the sample\n"
                  "of that number, its key first");
  index->callback([&with] { with.action = cli::shards_action::index; });
  get->callback([&with] { with.action = cli::shards_action::get; });
  verify->callback([&with] { with.action = cli::shards_action::verify; });
  ls->callback([&with] { with.action = cli::shards_action::ls; });
  declare_rewriting(app, with.rewrite);
}

void declare_sweep(CLI::App& app, command_line& to) {
  app.add_option("URL", to.sweep.url, "gs://bucket")->required();
  app.add_flag("--dry-run", to.sweep.dry_run, "Show what would be removed");
  app.add_option("--older-than", to.sweep.older_than,
                 "Of this age instead: 0s, 30m, 12h, 7d; 0s after a job was killed. A running\n"
                 "job whose objects are taken away reads more slowly");
}

void declare_cache(CLI::App& app, command_line& to) {
  auto& with = to.cache;
  app.require_subcommand(1);
  auto* list = app.add_subcommand("list", "What it has: bytes, range, service, object");
  auto* verify =
      app.add_subcommand("verify", "Compare all of it with its checksums. Status 7: some differ");
  auto* clear = app.add_subcommand("clear", "Remove all of it. Jobs that use it go on");
  for (auto* command : {list, verify, clear}) {
    command->add_option("FOLDER", with.folder, "As the job names it")->required();
  }
  verify->callback([&with] { with.action = cli::cache_action::verify; });
  clear->callback([&with] { with.action = cli::cache_action::clear; });
}

void declare_simulated_machine(CLI::App& app, simulate_options& with) {
  app.add_option("--link", with.link, "Of the machine: 200MB/s, 10Gbit/s")->required();
  app.add_option("--connection", with.connection, "Of one connection (50MB/s)");
  app.add_option("--rtt", with.round_trip, "From a request to the first byte of its reply (20ms)");
  app.add_option("--spread", with.spread,
                 "How much round trips and rates differ: sigma of their logarithm (0.2)");
  app.add_option("--connecting", with.connecting,
                 "Round trips before the first request of a connection (2, which is TLS 1.3)");
  app.add_option("--processors", with.processors, "Of the machine (4)");
  app.add_option("--workers", with.workers,
                 "Processes that make batches in turns (0: the training process reads)");
  app.add_option("--memory", with.memory, "Of each process, for reads (256MiB)");
  app.add_option("--in-flight", with.in_flight, "Most reads of each process in flight (256)");
  app.add_option("--request-time", with.request_time, "Of a processor, for a request (20us)");
  app.add_option("--byte-ns", with.byte_nanoseconds,
                 "Nanoseconds of a processor for a byte (0.65: TLS by OpenSSL 3.0; 0.2: 3.5;\n"
                 "0.1: without TLS)");
  app.add_option("--decode", with.decode, "Time of a processor to decode a sample: 3ms");
  app.add_option("--decode-threads", with.decode_threads, "Of each process (1)");
}

void declare_simulate(CLI::App& app, command_line& to) {
  auto& with = to.simulate;
  auto* manifest = app.add_option("--manifest", with.manifest, "The objects of a manifest's file");
  app.add_option("--objects", with.objects, "How many there are")->excludes(manifest);
  app.add_option("--size", with.size,
                 "Of an object: 100KiB, 3MB; or several with their parts: 10KiB:9,1MiB:1")
      ->excludes(manifest);
  app.add_option("--epochs", with.epochs, "Times that all are read (1)");
  app.add_flag("--list", with.list, "The bucket is listed first: its requests count");
  declare_simulated_machine(app, with);
  app.add_option("--batch", with.batch, "Samples of a batch (1)");
  app.add_option("--step", with.step, "Of the training, for a batch: 50ms (0)");
  app.add_flag("--as-ready", with.as_ready, "Samples in the order in which they arrive");
  app.add_option("--price-a", with.price_a, "Dollars of a million operations of class A (5)");
  app.add_option("--price-b", with.price_b, "Of a million of class B (0.4)");
  app.add_option("--price-gib", with.price_gib, "Of a GiB that leaves the region (0)");
  app.add_option("--seed", with.seed, "Of the dice (1)");
  app.add_flag("--json", with.json, "One JSON object, in seconds and bytes");
}

const char* interrupted_reading(const command_line&) { return "interrupted"; }
const char* interrupted_cache(const command_line&) {
  return "interrupted; nothing was changed, or else a part removed";
}
const char* interrupted_copy(const command_line& asked) {
  return asked.cp.go_on ? "interrupted; the same command goes on from here"
                        : "interrupted, and cleaned up";
}
const char* interrupted_move(const command_line&) {
  return "interrupted; each name is on one side at least, and whole";
}
const char* interrupted_sync(const command_line&) {
  return "interrupted; the same command goes on from here";
}
const char* interrupted_removal(const command_line&) {
  return "interrupted; what was removed is gone, the rest is there";
}
const char* interrupted_uploads(const command_line& asked) {
  return asked.uploads.abort ? interrupted_removal(asked) : interrupted_reading(asked);
}
const char* interrupted_manifest(const command_line&) {
  return "interrupted; the manifest is as it was";
}

const char* interrupted_shards(const command_line& asked) {
  if (asked.shards.rewrite.verb != rewrite_verb::none) {
    return "interrupted; shards that are there are whole, the last one was discarded";
  }
  return asked.shards.action == shards_action::index ? "interrupted; there is no new index"
                                                     : "interrupted";
}

/// Runs one with its own options.
template <auto Run, auto Options>
exit_status run_with(const session& with, const command_line& asked) {
  return Run(with, asked.*Options);
}

using typed = command_line;

exit_status run_cache_here(const command_line& asked, const std::stop_token& stop) {
  return run_cache(asked.cache, stop);
}

exit_status run_simulate_here(const command_line& asked, const std::stop_token& stop) {
  return run_simulate(asked.simulate, stop);
}

void append_place(const std::string& place, std::vector<std::string>& to) { to.push_back(place); }
void append_place(const std::vector<std::string>& places, std::vector<std::string>& to) {
  to.insert(to.end(), places.begin(), places.end());
}
/// Those of its options that are places.
template <auto Options, auto... Places>
std::vector<std::string> places_in(const command_line& asked) {
  std::vector<std::string> all;
  (append_place(asked.*Options.*Places, all), ...);
  return all;
}
/// With those of its list.
template <auto Options, auto Places>
std::vector<std::string> places_of_list(const command_line& asked) {
  auto all = places_in<Options, Places>(asked);
  const selecting_options& select = (asked.*Options).select;
  append_place(select.lines, all);
  append_place(select.files_from, all);
  return all;
}
template <auto Options>
selecting_options* list_of(command_line& asked) {
  return &(asked.*Options).select;
}
template <auto Options>
const cp_options* copying_of(const command_line& asked) {
  return &(asked.*Options);
}
std::vector<std::string> places_of_shards(const command_line& asked) {
  using of = shards_options;
  auto all = places_in<&typed::shards, &of::source, &of::index, &of::parts, &of::board>(asked);
  const rewrite_options& rewrite = asked.shards.rewrite;
  append_place(rewrite.inputs, all);
  append_place(rewrite.manifests, all);
  append_place(rewrite.output, all);
  for (const std::string& list : rewrite.lists) append_place(first_source_of(list), all);
  return all;
}

constexpr command table[]{
    {"ls", "List objects and folders", declare_ls, places_of_list<&typed::ls, &ls_options::urls>,
     run_with<run_ls, &typed::ls>, interrupted_reading, usual_memory, nullptr, list_of<&typed::ls>},
    {"stat", "Show what is known of objects", declare_stat,
     places_of_list<&typed::stat, &stat_options::urls>, run_with<run_stat, &typed::stat>,
     interrupted_reading, usual_memory, nullptr, list_of<&typed::stat>},
    {"cat", "Write objects to standard output", declare_cat,
     places_of_list<&typed::cat, &cat_options::urls>, run_with<run_cat, &typed::cat>,
     interrupted_reading, std::uint64_t{64} << 20U, nullptr, list_of<&typed::cat>},
    {"cp",
     "Copy to or from a bucket, or between two.\n"
     "A file, a folder with -r, or - (standard input or output) on one side, gs:// or s3:// on\n"
     "the other; or a bucket on both: within a service the service copies, between two all is\n"
     "read and written here, with its content type and metadata. A target that ends with '/', is a "
     "bucket, or is a folder here takes the source\n"
     "in under its last name; any other target is the new name. With -r a source that ends\n"
     "with '/' means what is in it. Bytes are copied as stored, checked by CRC32C, and a\n"
     "file here gets its name when it is complete. Objects whose names can be no files\n"
     "below the target (\"../x\", \"a//b\", with a zero byte or a part of more than 255) are\n"
     "reported and left out, as are files whose names can be no objects (no UTF-8; but of S3 CR,\n"
     "LF);\n"
     "an empty object \"x/\" makes the folder x. Nothing is forced to the disk: a machine that "
     "loses its power soon\n"
     "after may lose files that were complete.\n"
     "What is uploaded appears when it is complete and compared; if another has written the\n"
     "same object meanwhile it fails.\n"
     "With -r --continue TARGET is the folder itself whether it is there already or not, so\n"
     "that the same command goes on in the same place. What there is of a large copy stays when "
     "it breaks off, and the next\n"
     "--continue goes on with it: a download as a file .dataflux-part-..., an upload as parts\n"
     "at the service (`dataflux uploads` shows and removes them) and a journal\n"
     ".dataflux-upload-... beside the file.",
     declare_cp, places_of_list<&typed::cp, &cp_options::places>, run_with<run_cp, &typed::cp>,
     interrupted_copy, usual_memory, nullptr, list_of<&typed::cp>, copying_of<&typed::cp>},
    {"mv", "Move to or from a bucket, or between two: as cp, and then what was copied is removed",
     declare_mv, places_of_list<&typed::mv, &cp_options::places>, run_with<run_mv, &typed::mv>,
     interrupted_move, usual_memory, nullptr, list_of<&typed::mv>, copying_of<&typed::mv>},
    {"sync", "Make a folder, here or in a bucket, as another one is: only what differs is copied",
     declare_sync, places_of_list<&typed::sync, &cp_options::places>,
     run_with<run_sync, &typed::sync>, interrupted_sync, usual_memory, nullptr,
     list_of<&typed::sync>, copying_of<&typed::sync>},
    {"rm", "Remove objects", declare_rm, places_of_list<&typed::rm, &rm_options::urls>,
     run_with<run_rm, &typed::rm>, interrupted_removal, usual_memory, nullptr, list_of<&typed::rm>},
    {"signurl",
     "Print URLs whose holder sends one kind of request, without credentials, until they expire: "
     "a\n"
     "line each, a secret. Signed by the key of the credentials' service account;\n"
     "without one by IAM, which needs iam.serviceAccounts.signBlob. Of s3:// by its keys.",
     declare_signurl, places_in<&typed::signurl, &signurl_options::urls>,
     run_with<run_signurl, &typed::signurl>, interrupted_reading},
    {"uploads",
     "What uploads have left: parts of those that were never finished, and temporary objects "
     "that\n"
     "have not got their name, of processes that were killed or could not reach the service any\n"
     "more. They are billed until they are removed. Those of cp --continue are what it goes on\n"
     "with. Ages are by the service's clock.",
     declare_uploads, places_in<&typed::uploads, &uploads_options::url>,
     run_with<run_uploads, &typed::uploads>, interrupted_uploads},
    {"manifest",
     "A listing in a file or an object, checksummed, from which jobs start without listing.",
     declare_manifest,
     places_in<&typed::manifest, &manifest_options::source, &manifest_options::manifest>,
     run_with<run_manifest, &typed::manifest>, interrupted_manifest},
    {"shards",
     "Tar shards, whose samples are read where they lie. A sample is a run of files with one name\n"
     "up to the first dot of its last part; its fields are what stands behind that.",
     declare_shards, places_of_shards, run_with<run_shards, &typed::shards>, interrupted_shards},
    {"sweep",
     "Remove what killed jobs that composed objects to read them have left in a bucket, below\n"
     "dataflux-composed-objects/: objects by that library whose time has passed by the service's\n"
     "clock, an hour after they were made unless the job said otherwise. Anything else there is\n"
     "shown and kept. Safe beside running jobs.",
     declare_sweep, places_in<&typed::sweep, &sweep_options::url>,
     run_with<run_sweep, &typed::sweep>, interrupted_removal},
    {"cache", "What a cache on a disk of this machine has of what jobs have read.", declare_cache,
     places_in<&typed::cache>, nullptr, interrupted_cache, 1, run_cache_here},
    {"simulate",
     "How long an epoch would take, what would bound it, and what it would cost, before a machine\n"
     "is rented: this library reads a simulated bucket over a simulated network, in a few seconds\n"
     "and without any service. Prices are those of Google's STANDARD class in a region of the\n"
     "United States in September 2026.",
     declare_simulate, places_in<&typed::simulate>, nullptr, interrupted_reading, 1,
     run_simulate_here},
};

/// CLI11 takes "-1" for the greatest number, and cuts one that is too large.
void check_numbers(CLI::App& app) {
  const auto natural = [](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return whole ? "" : "'" + text + "' is no number from 0 to " + std::to_string(UINT64_MAX);
  };
  for (CLI::Option* each : app.get_options()) {
    if (each->get_type_name() == "UINT") each->check(natural);
  }
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) check_numbers(*each);
}

}  // namespace

std::span<const command> commands() noexcept { return table; }

void declare_commands(CLI::App& app, command_line& to) {
  for (const command& each : table) each.declare(*app.add_subcommand(each.name, each.help), to);
  check_numbers(app);
}

const command* chosen_command(const CLI::App& app) {
  for (const command& each : table) {
    if (app.got_subcommand(each.name)) return &each;
  }
  return nullptr;
}

}  // namespace cli
