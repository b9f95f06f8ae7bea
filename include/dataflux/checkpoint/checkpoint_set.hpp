#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/checkpoint_set_reader.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/member_record.hpp>
#include <dataflux/checkpoint/save_over.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/remove_objects.hpp>
#include <dataflux/transfer/transfer_context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// The last object of a set that has no file for it.
inline constexpr std::string_view set_marker_name = ".dataflux-complete";

/// The object that readers trust: once it is there, the set is.
struct last_object {
  /// Below the set's prefix, without a slash, and no member's: such as ".metadata" of PyTorch's
  /// distributed checkpoints. All who may commit the set use the same one.
  std::string name{set_marker_name};
  /// Caller's memory, unchanged until the completion. May be empty; without
  /// store_traits::ordered_generations the manifest's name is written then, or the last objects of
  /// two saves would be the same.
  bytes_view data{};
  std::string content_type{};  ///< empty = application/octet-stream
  /// Besides what the set says of itself there, under keys that begin with "dataflux-".
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::string kms_key_name{};  ///< of it and the manifest; empty = the bucket's default
};

/// How checkpoint_set::begin() treats leftovers of an earlier save that was not committed.
enum class unfinished_members : std::uint8_t {
  refuse,   ///< it is an error, which says what there is
  replace,  ///< it is removed
};

/// What is required of a member when the set is opened.
enum class member_match : std::uint8_t {
  /// The manifest's size and CRC32C. A set that was copied to another bucket, restored from soft
  /// delete, or rewritten into another storage class has them.
  content,
  /// And the committed generation: it was not written since.
  generation,
};

struct removal_report {
  std::uint64_t objects{0};
  std::uint64_t uploads{0};  ///< that were open, and are aborted
  std::uint64_t bytes{0};
  /// Prefixes of sets whose last objects are gone, and of unfinished ones.
  std::vector<std::string> sets{};
  /// What could not be removed.
  std::vector<failed_removal> failures{};
  /// Objects that were not tried because of those failures: the set's own if its last object stays;
  /// the manifest if a member stays.
  std::uint64_t spared{0};
};

struct committed_set {
  /// The last object; its `created` is the time of the commit, by the service's clock.
  object_metadata last{};
  std::string manifest{};  ///< its name in the bucket
  std::uint64_t members{0};
  std::uint64_t bytes{0};  ///< of members
  /// Of a save over a set: the removals after the commit, and those that failed. A failure with the
  /// folder's name is a removal that was stopped. list_checkpoint_sets() shows the rest.
  removal_report replaced{};
};

/// Sharded state: many objects below one prefix, written by many writers, in one process or many.
/// One more object, the last, commits them together. Each writer of a member passes its record, as
/// text between processes, to the one that commits:
///
///     checkpoint_set set(context, "bucket", "run/step-10");
///     auto room = set.begin(unfinished_members::replace);          // one of them, before all else
///     auto writer = set.open_member("rank-3");                     // each rank its own
///     writer->write(state);
///     auto record = set.record_of(*writer->commit());
///     ...
///     auto done = set.commit(records, {.name = ".metadata", .data = metadata});    // one of them
///     ...
///     auto saved = set.open();                 // refused unless every member is as it was written
///
/// Members become visible as they are written, but only the last object makes a set. It is created,
/// and not replaced, after the manifest with all records; its custom metadata ("dataflux-set")
/// names the manifest. So a set is committed once. Other commits fail, and their manifests are
/// removed. If a member is overwritten or removed afterwards the set is damaged, and open() says
/// which member.
///
/// A save over a set saves the same state again under the same prefix:
///
///     const save_over save = set.begin_over().value();   // one of them; as text to the others
///     const checkpoint_set mine = set.over(save);        // each; then as above without begin()
///
/// Its members have their own names ("PREFIX/.dataflux-save-.../rank-3" for "rank-3"), and its last
/// object replaces the one that begin_over() saw, by its generation. Opening the set meanwhile
/// returns the whole old one or the whole new one. Then the old members are removed, and reads of
/// an old set that is still open fail with not_found, which says why. Of several saves the first to
/// commit wins.
///
/// Other objects below the prefix are harmless, and are listed with the set's. The prefix may end
/// with a slash.
///
/// Errors and cost: each member says its own. In the child of a fork: errors, as of the store.
///
/// Lifetime: a handle on context, bucket, prefix and perhaps a save, without other state. The
/// context's store outlives its calls.
///
/// Threads: all members from any thread. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
class checkpoint_set {
 public:
  checkpoint_set(transfer_context context, std::string bucket, std::string prefix);

  /// Called by one process before the first member: ensures that the names are free. Members of
  /// this save that already exist count as an earlier save's, so all processes wait for this call.
  /// It knows and removes only objects of open_member() and of commits, by generation; other
  /// objects stay.
  ///
  /// A save under way looks like an abandoned one. unfinished_members::replace removes its members,
  /// so it can no longer be committed, or is damaged if its commit was under way. So use `replace`
  /// only if no other save of the set is running.
  ///
  /// Errors: already_exists for a committed set, and for leftovers of an earlier save unless they
  /// are replaced; failed_precondition where the store cannot commit; the first failure of a
  /// removal; those of listing. Cost: one listing of the prefix.
  result<removal_report> begin(unfinished_members unfinished = unfinished_members::refuse,
                               call_limits limits = {}) const;
  operation<removal_report> submit_begin(unfinished_members unfinished = unfinished_members::refuse,
                                         call_limits limits = {}) const;
  void start_begin(unfinished_members unfinished, const call_limits& limits,
                   object_store::completion<removal_report> done) const;

  /// Begins a save over the set, which may be committed, damaged or missing. Nothing has to be
  /// removed before, and nothing is written. The commit removes leftovers of earlier saves.
  ///
  /// Errors: failed_precondition if there are several last objects, or the store cannot commit;
  /// those of listing. Cost: one listing of the prefix.
  result<save_over> begin_over(call_limits limits = {}) const;
  operation<save_over> submit_begin_over(call_limits limits = {}) const;
  void start_begin_over(const call_limits& limits, object_store::completion<save_over> done) const;
  /// The same set with the members and the commit of `save`. They report an invalid `save`; begin()
  /// fails with failed_precondition.
  checkpoint_set over(save_over save) const;

  /// Begins a member. It is uploaded directly, without a temporary name or permission to move:
  /// before the commit it is no part of a set. Writers of one context share its memory and
  /// connections. The set ignores bucket, object and mode of `how`.
  ///
  /// The name must be free: an existing object may belong to a committed set. begin() removes
  /// members of a killed attempt. The object's custom metadata ("dataflux-member-of-set") marks it
  /// as a member.
  ///
  /// Errors: invalid_argument for the name and for metadata of a key "dataflux-*"; already_exists,
  /// from the writer's commit; those of checkpoint_writer::open().
  result<checkpoint_writer> open_member(std::string_view name, upload_request how = {}) const;
  operation<checkpoint_writer> submit_open_member(std::string_view name,
                                                  upload_request how = {}) const;
  void start_open_member(std::string_view name, upload_request how,
                         object_store::completion<checkpoint_writer> done) const;
  /// The same, replacing an existing object; a committed set that lists it is then damaged. Cost:
  /// one more request, unless `how` names the generation.
  result<checkpoint_writer> replace_member(std::string_view name, upload_request how = {}) const;
  operation<checkpoint_writer> submit_replace_member(std::string_view name,
                                                     upload_request how = {}) const;
  void start_replace_member(std::string_view name, upload_request how,
                            object_store::completion<checkpoint_writer> done) const;

  /// The record of such a writer's object. Errors: invalid_argument for an object that does not lie
  /// below the prefix; data_loss.
  result<member_record> record_of(const committed_object& made) const;

  /// Commits. Checks the records before any request. Then lists the prefix to check that all
  /// members match their records, writes the manifest, and writes the last object.
  ///
  /// Errors: invalid_argument for records and names (missing, absolute, reserved, used twice).
  /// data_loss for a record that contradicts itself, and for missing or changed members.
  /// already_exists if the set is committed: remove it first. Over a set: aborted if another
  /// program committed or removed it since begin_over(). already_exists if this save is committed
  /// already (for example by a commit whose outcome was unknown), and for a last object of no set;
  /// members stay then. invalid_argument if the last object has another name than the replaced one,
  /// or on a store without ordered generations the same bytes.
  /// data_loss if the service stored other bytes of the last object: it is removed, and no set is
  /// left, as the message says.
  ///
  /// After any error the set is not committed, and its manifest is removed. That may be uncertain:
  /// the service cannot be reached, or a request without an answer, or with a 5xx, may still be
  /// carried out. Then the message says so, and the manifest stays, so that a last object that
  /// appears later has it.
  ///
  /// A save over a set then removes the old members, the old manifest, and leftovers of other
  /// saves, open uploads included: they can no longer be committed. committed_set::replaced has
  /// failed removals, which are no error. A stop or the time limit is no error by then, either.
  ///
  /// `last.data` is borrowed until the end. Cost: encoding on the calling thread; one listing of
  /// the prefix, a page for 1,000 objects, and two inserts. Over a set also a listing of its open
  /// uploads, a read of its manifest, and the removals.
  result<committed_set> commit(std::vector<member_record> members, last_object last = {},
                               call_limits limits = {}) const;
  operation<committed_set> submit_commit(std::vector<member_record> members, last_object last = {},
                                         call_limits limits = {}) const;
  /// `done` is called on an executor of the store, or inside for a mistake of the caller.
  void start_commit(std::vector<member_record> members, last_object last, const call_limits& limits,
                    object_store::completion<committed_set> done) const;

  /// Checks whether the set is complete. `last` is the last object's name; empty: the only one.
  /// Content decides, so that a copy of a set is a set, unless `match` is stricter.
  ///
  /// Errors: failed_precondition without a last object, or with several if `last` is empty.
  /// data_loss names members that are missing or have changed since the commit. unimplemented for a
  /// set of a later version. aborted, and retryable, for one that is replaced too often to be
  /// listed. Cost: one listing of the prefix and a read of the manifest; both twice more before it
  /// says that a set is damaged, because pages of a listing are not of one moment.
  result<checkpoint_set_reader> open(std::string last = {}, call_limits limits = {},
                                     member_match match = member_match::content) const;
  operation<checkpoint_set_reader> submit_open(std::string last = {}, call_limits limits = {},
                                               member_match match = member_match::content) const;
  void start_open(std::string last, const call_limits& limits,
                  object_store::completion<checkpoint_set_reader> done,
                  member_match match = member_match::content) const;

 private:
  result<std::string> members_folder() const;
  result<upload_request> member_request(std::string_view name, upload_request how) const;

  transfer_context context_;
  std::string bucket_;
  std::string prefix_;
  std::optional<save_over> save_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/checkpoint/impl/checkpoint_set.ipp>
#include <dataflux/checkpoint/impl/checkpoint_set_reader.ipp>
#endif
