#pragma once

#include <dataflux/observer.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "outcome.hpp"
#include "rewrite_options.hpp"
#include "selecting.hpp"
#include "voice.hpp"

/// One source each. What they need is in their options; what they print is on standard output, and
/// what goes wrong on standard error.
namespace cli {

struct session {
  /// Of the service that the command's URLs are of.
  dataflux::object_store& store;
  /// What all downloads share.
  const dataflux::transfer_context& transfers;
  std::stop_token stop{};
  /// What has been sent and received over the network; may be null.
  const dataflux::counters* totals{nullptr};
  /// Where `cp` copies to, if that is a bucket of the other service.
  const session* other{nullptr};
  voice speaks{voice::usual};

  /// Requests that were sent again until now.
  std::uint64_t retries() const noexcept {
    const std::uint64_t own = totals == nullptr ? 0 : totals->retries + totals->paced;
    return own + (other == nullptr ? 0 : other->retries());
  }
  /// "gs", "s3" or "ais".
  std::string_view scheme() const noexcept { return store.traits().scheme; }
};

struct ls_options {
  std::vector<std::string> urls{};
  selecting_options select{};
  bool details{false};
  /// Sizes in units, for people.
  bool human{false};
  bool recursive{false};
  bool json{false};
  /// All generations, each with its number.
  bool versions{false};
};
exit_status run_ls(const session& with, const ls_options& options);

struct stat_options {
  std::vector<std::string> urls{};
  selecting_options select{};
};
exit_status run_stat(const session& with, const stat_options& options);

struct cat_options {
  std::vector<std::string> urls{};
  selecting_options select{};
  /// "FIRST-LAST", "FIRST-" or "-COUNT", bytes; empty = all.
  std::string range{};
  /// Nothing is written before all of an object has been compared.
  bool checked{false};
  /// A file of an archive, which the service takes out; empty = the object.
  std::string member{};
};
exit_status run_cat(const session& with, const cat_options& options);

/// What new objects get, as the command line has it.
struct attribute_options {
  std::string content_type{};
  std::string cache_control{};
  std::string storage_class{};
  std::string kms_key{};
  /// KEY=VALUE each.
  std::vector<std::string> metadata{};
};
/// Errors: invalid_argument for metadata without a '='.
dataflux::result<dataflux::object_attributes> attributes_of(const attribute_options& options);

/// How `cp`, `mv` and `sync` copy.
enum class copy_kind : std::uint8_t { cp, mv, sync };
struct cp_options {
  copy_kind kind{copy_kind::cp};
  /// Sources, and the target behind them.
  std::vector<std::string> places{};
  selecting_options select{};
  bool recursive{false};
  /// What is there already, and right, is not copied; large downloads go on where they broke off.
  bool go_on{false};
  /// What the target has and the source has not is removed in the end.
  bool delete_extra{false};
  /// Tells what would be copied, and copies nothing.
  bool dry_run{false};
  bool no_clobber{false};
  /// Of the one object that is written: what is there now; empty = whatever it is.
  std::optional<std::int64_t> if_generation{};
  /// Of `sync`: compares by checksum what sizes and times take to be the same.
  bool by_checksum{false};
  attribute_options attributes{};

  bool moves() const noexcept { return kind == copy_kind::mv; }
  bool syncs() const noexcept { return kind == copy_kind::sync; }
};
exit_status run_cp(const session& with, const cp_options& options);
exit_status run_mv(const session& with, const cp_options& options);
exit_status run_sync(const session& with, const cp_options& options);

struct signurl_options {
  std::vector<std::string> urls{};
  std::string method{"GET"};
  /// As parse_age() reads it; empty = an hour.
  std::string duration{};
  /// "NAME: VALUE" and "NAME=VALUE" each.
  std::vector<std::string> headers{};
  std::vector<std::string> query{};
  /// "path", "virtual_hosted" or "bucket_bound".
  std::string style{"path"};
  std::string host{};
  std::string scheme{};
  std::string account{};
};
exit_status run_signurl(const session& with, const signurl_options& options);

struct rm_options {
  std::vector<std::string> urls{};
  selecting_options select{};
  bool recursive{false};
};
exit_status run_rm(const session& with, const rm_options& options);

struct uploads_options {
  /// A bucket, or a prefix of the objects' names.
  std::string url{};
  /// As parse_age() reads it; empty = of any age.
  std::string older_than{};
  /// Instead of listing them.
  bool abort{false};
};
exit_status run_uploads(const session& with, const uploads_options& options);

enum class manifest_action { create, refresh, show };
struct manifest_options {
  manifest_action action{manifest_action::show};
  std::string source{};
  /// A path or gs://bucket/name.
  std::string manifest{};
  std::string glob{};
  bool versions{false};
  std::vector<std::string> columns{};
  /// Tells what is different, and leaves the manifest as it is.
  bool dry_run{false};
  bool details{false};
  bool json{false};
};
exit_status run_manifest(const session& with, const manifest_options& options);

exit_status run_rewrite(const session& with, const rewrite_options& options);

enum class shards_action { index, show, get, verify, ls };
struct shards_options {
  /// If it has a verb, that alone counts.
  rewrite_options rewrite{};
  shards_action action{shards_action::show};
  std::string source{};
  /// A path, or gs://bucket/name; of `ls` also that of a shard.
  std::string index{};
  std::string glob{};
  /// Indexes that know some of the shards.
  std::vector<std::string> parts{};
  /// Others' indexes that do.
  std::vector<std::string> foreign{};
  /// gs://bucket/prefix, where processes meet.
  std::string board{};
  /// The samples get the checksums that they lack.
  bool fill{false};
  bool members{false};
  /// Bytes; 0 = as the library has it.
  std::uint64_t skip_from{0};
  bool read_concatenated{false};
  bool ignore_trailing{false};
  bool end_at_damage{false};
  bool keep_first{false};
  bool keep_case{false};
  bool strip_dot_slash{false};
  bool details{false};
  std::string key{};
  std::string field{};
  /// A number, where several samples have the key, or without one.
  std::string sample{};
};
exit_status run_shards(const session& with, const shards_options& options);

struct sweep_options {
  /// A bucket.
  std::string url{};
  /// As parse_age() reads it; empty = whose own time has passed.
  std::string older_than{};
  /// Tells what would be removed.
  bool dry_run{false};
};
exit_status run_sweep(const session& with, const sweep_options& options);

enum class cache_action { list, verify, clear };
struct cache_options {
  cache_action action{cache_action::list};
  /// As dataflux::disk_cache::open() takes it.
  std::string folder{};
};
/// Needs no service.
exit_status run_cache(const cache_options& options, const std::stop_token& stop);

/// Texts are as quantity_text.hpp reads them; empty = as the library has it.
struct simulate_options {
  std::string manifest{};
  std::uint64_t objects{0};
  /// "100KiB", or "10KiB:9,1MiB:1", where one of ten has the second size.
  std::string size{};
  std::uint64_t epochs{0};
  bool list{false};
  std::string link{};
  std::string connection{};
  std::string round_trip{};
  std::optional<double> spread{};
  std::uint32_t connecting{0};
  std::uint32_t processors{0};
  std::uint32_t workers{0};
  std::string memory{};
  std::uint32_t in_flight{0};
  std::string request_time{};
  double byte_nanoseconds{0};
  std::string decode{};
  std::uint32_t decode_threads{0};
  bool as_ready{false};
  std::uint64_t batch{0};
  std::string step{};
  std::optional<double> price_a{};
  std::optional<double> price_b{};
  std::optional<double> price_gib{};
  std::uint64_t seed{0};
  bool json{false};
};
/// Needs no service.
exit_status run_simulate(const simulate_options& options, const std::stop_token& stop);

}  // namespace cli
