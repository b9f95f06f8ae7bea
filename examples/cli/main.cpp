/// The command `dataflux`: Google Cloud Storage from a shell.

#include <dataflux/auth/anonymous.hpp>
#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/gcs/client.hpp>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <stop_token>

#include "commands.hpp"
#include "retry_notice.hpp"

namespace {

/// Attempts of one request: half a minute on the average where nothing answers, a person waiting.
constexpr int patience = 6;

struct command_line {
  std::string endpoint{};
  bool anonymous{false};
  std::string user_project{};
  cli::ls_options ls{};
  cli::stat_options stat{};
  cli::cat_options cat{};
  cli::cp_options cp{};
  cli::rm_options rm{};
  cli::uploads_options uploads{};
  cli::manifest_options manifest{};
  cli::sweep_options sweep{};
};

void declare_reading(CLI::App& app, command_line& to) {
  auto* ls = app.add_subcommand("ls", "List objects and folders");
  ls->add_option("URL", to.ls.url, "gs://bucket[/prefix]")->required();
  ls->set_help_flag("--help", "Print this help message and exit");  // -h is what all ls have
  ls->add_flag("-l", to.ls.details, "Size, time of writing (UTC) and a total");
  ls->add_flag("-h,--human", to.ls.human, "With -l: sizes as 1.2K, 3.4M (powers of 1024)");
  ls->add_flag("-a,--all-versions", to.ls.versions, "Noncurrent versions, too: name#generation");
  ls->add_flag("-r,--recursive", to.ls.recursive, "All objects below, without folding folders");
  ls->add_flag("--json", to.ls.json, "One JSON object a line: names exact, all that is known");

  auto* stat = app.add_subcommand("stat", "Show what is known of objects");
  stat->add_option("URL", to.stat.urls, "gs://bucket/name[#generation]")->required();

  auto* cat = app.add_subcommand("cat", "Write objects to standard output");
  cat->add_option("URL", to.cat.urls, "gs://bucket/name[#generation]")->required();
  cat->add_option("--range", to.cat.range, "FIRST-LAST, FIRST- or -COUNT, in bytes from 0");
  cat->add_flag("--checked", to.cat.checked,
                "Write an object only when all of it has been compared (large ones by way of\n"
                "$TMPDIR); without it a wrong one ends early, with status 7");
}

void declare_writing(CLI::App& app, command_line& to) {
  auto* cp = app.add_subcommand(
      "cp",
      "Copy to or from a bucket.\n"
      "A file, a folder with -r, or - (standard input or output) on one side, gs:// on the\n"
      "other. A target that ends with '/', is a bucket, or is a folder here takes the source\n"
      "in under its last name; any other target is the new name. With -r a source that ends\n"
      "with '/' means what is in it. Bytes are copied as stored, checked by CRC32C, and a\n"
      "file here gets its name when it is complete. Objects whose names can be no files\n"
      "below the target (\"../x\", \"a//b\", with a zero byte or a part of more than 255) are\n"
      "reported and left out, as are files whose names can be no objects (CR, LF, no UTF-8);\n"
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
      ".dataflux-upload-... beside the file.");
  cp->add_option("SOURCE", to.cp.source, "Path, gs://bucket/name[#generation] or -")->required();
  cp->add_option("TARGET", to.cp.target, "Path, gs://bucket/name or -")->required();
  cp->add_flag("-r,--recursive", to.cp.recursive, "Everything below SOURCE");
  cp->add_flag("--continue", to.cp.go_on,
               "Leave out what TARGET has already, of the same size and CRC32C");
  cp->add_flag("--dry-run", to.cp.dry_run,
               "Print what would be copied, with sizes and a total, and copy nothing");

  auto* rm = app.add_subcommand("rm", "Remove objects");
  rm->add_option("URL", to.rm.urls,
                 "gs://bucket/name; with #generation that one is removed for good")
      ->required();
  rm->add_flag("-r,--recursive", to.rm.recursive, "Everything below, too");
}

void declare_uploads(CLI::App& app, command_line& to) {
  auto* uploads = app.add_subcommand(
      "uploads",
      "What uploads have left: parts of those that were never finished, and temporary objects "
      "that\n"
      "have not got their name, of processes that were killed or could not reach the service any\n"
      "more. They are billed until they are removed. Those of cp --continue are what it goes on\n"
      "with. Ages are by the service's clock.");
  uploads->require_subcommand(1);
  auto* list =
      uploads->add_subcommand("list", "When each began, what it was going to be, what it is");
  auto* abort = uploads->add_subcommand("abort", "Remove them");
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
  auto* manifest = app.add_subcommand(
      "manifest",
      "A listing in a file or an object, checksummed, from which jobs start without listing.");
  manifest->require_subcommand(1);
  auto* create = manifest->add_subcommand(
      "create",
      "List a bucket, or what is below a folder, and save it. Markers of folders and leftovers\n"
      "of composed downloads are left out and counted. A manifest of that name is replaced.");
  auto* refresh = manifest->add_subcommand(
      "refresh", "List the same again, tell what is different, and replace the manifest");
  auto* show = manifest->add_subcommand("show", "What was listed, when and how");
  create->add_option("SOURCE", with.source, "gs://bucket[/folder]")->required();
  for (auto* command : {create, refresh, show}) {
    command->add_option("MANIFEST", with.manifest, "Path or gs://bucket/name")->required();
  }
  create->add_option("--glob", with.glob, "Only names like this: **.jpg, train/*/[0-9].png");
  create->add_flag("-a,--all-versions", with.versions, "Noncurrent versions, too");
  create
      ->add_option("--columns", with.columns,
                   "Also md5, created, updated, content-type, storage-class, metadata")
      ->delimiter(',');
  refresh->add_flag("-l", with.details, "Each object that was added (+), removed (-), changed (~)");
  refresh->add_flag("--dry-run", with.dry_run, "Leave the manifest as it is");
  show->add_flag("-l", with.details, "Its objects with size and time (where it has the column)");
  show->add_flag("--json", with.json, "Its objects, one JSON object a line");
  create->callback([&with] { with.action = cli::manifest_action::create; });
  refresh->callback([&with] { with.action = cli::manifest_action::refresh; });
}

void declare_sweep(CLI::App& app, command_line& to) {
  auto* sweep = app.add_subcommand(
      "sweep",
      "Remove what killed jobs that composed objects to read them have left in a bucket, below\n"
      "dataflux-composed-objects/: objects by that library whose time has passed by the service's\n"
      "clock, an hour after they were made unless the job said otherwise. Anything else there is\n"
      "shown and kept. Safe beside running jobs.");
  sweep->add_option("URL", to.sweep.url, "gs://bucket")->required();
  sweep->add_flag("--dry-run", to.sweep.dry_run, "Show what would be removed");
  sweep->add_option("--older-than", to.sweep.older_than,
                    "Of this age instead: 0s, 30m, 12h, 7d; 0s after a job was killed. A running\n"
                    "job whose objects are taken away reads more slowly");
}

dataflux::result<std::shared_ptr<dataflux::gcs::client>> connect(const command_line& asked,
                                                                 cli::retry_notice& notice) {
  dataflux::gcs::client_options options{.endpoint = asked.endpoint,
                                        .user_project = asked.user_project,
                                        .user_agent = "dataflux-cli/" DATAFLUX_VERSION,
                                        .retry = {.max_attempts = patience},
                                        .observer = &notice};
  // Plain HTTP is what emulators speak; no credentials go there.
  options.emulator = asked.endpoint.starts_with("http://");
  if (asked.anonymous) options.credentials = dataflux::auth::make_anonymous_credentials();
  return dataflux::gcs::client::create(std::move(options));
}

cli::exit_status run(const CLI::App& app, const command_line& asked, const std::stop_token& stop) {
  cli::retry_notice notice;
  const auto client = connect(asked, notice);
  if (!client) {
    cli::outcome report(nullptr);
    report.failed(client.error());
    return report.status();
  }
  // Fresh memory costs more than what is read into it: as much as keeps the network busy.
  const std::uint64_t memory = std::uint64_t{app.got_subcommand("cat") ? 64U : 128U} << 20U;
  const dataflux::transfer_context transfers(**client, {.memory_cap = memory});
  const cli::session with{**client, transfers, stop, &(*client)->totals()};
  if (app.got_subcommand("ls")) return cli::run_ls(with, asked.ls);
  if (app.got_subcommand("stat")) return cli::run_stat(with, asked.stat);
  if (app.got_subcommand("cat")) return cli::run_cat(with, asked.cat);
  if (app.got_subcommand("cp")) return cli::run_cp(with, asked.cp);
  if (app.got_subcommand("rm")) return cli::run_rm(with, asked.rm);
  if (app.got_subcommand("uploads")) return cli::run_uploads(with, asked.uploads);
  if (app.got_subcommand("manifest")) return cli::run_manifest(with, asked.manifest);
  if (app.got_subcommand("sweep")) return cli::run_sweep(with, asked.sweep);
  std::fputs("dataflux: this subcommand does nothing\n", stderr);
  return cli::exit_status::usage;
}

/// What an interrupt has left.
const char* after_interrupt(const CLI::App& app, const command_line& asked) {
  if (app.got_subcommand("cp")) {
    return asked.cp.go_on ? "interrupted; the same command goes on from here"
                          : "interrupted, and cleaned up";
  }
  if (app.got_subcommand("rm") || app.got_subcommand("sweep") ||
      (app.got_subcommand("uploads") && asked.uploads.abort)) {
    return "interrupted; what was removed is gone, the rest is there";
  }
  if (app.got_subcommand("manifest")) return "interrupted; the manifest is as it was";
  return "interrupted";
}

/// Connections and open folders are many, and the usual limit is for programs that use select().
void raise_descriptor_limit() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Google Cloud Storage from the shell", "dataflux");
  command_line asked;
  app.add_option("--endpoint", asked.endpoint,
                 "Another address of the service, https://...; http://... means an emulator");
  app.add_flag("--anonymous", asked.anonymous, "Use no credentials: for public buckets");
  app.add_option("--user-project", asked.user_project,
                 "Who pays for requests to a bucket whose requester pays");
  app.set_version_flag("--version", DATAFLUX_VERSION);
  app.footer(std::string(cli::exit_status_help));
  app.require_subcommand(1);
  app.fallthrough();
  declare_reading(app, asked);
  declare_writing(app, asked);
  declare_uploads(app, asked);
  declare_manifest(app, asked);
  declare_sweep(app, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(cli::exit_status::usage);
  }
  raise_descriptor_limit();
  // A file beyond the limit of sizes is a failed write, after which we clean up, not our end.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto signals = dataflux::interrupt_source::create().value();
  const auto status = run(app, asked, signals.token());
  if (signals.token().stop_requested()) {
    std::fprintf(stderr, "dataflux: %s\n", after_interrupt(app, asked));
    return 128 + signals.signal();
  }
  return static_cast<int>(status);
}
