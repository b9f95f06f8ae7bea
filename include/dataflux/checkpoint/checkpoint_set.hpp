#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/detail/checkpoint_set_reader.hpp>
#include <dataflux/checkpoint/detail/member_record.hpp>
#include <dataflux/checkpoint/detail/save_over.hpp>
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
  /// Caller's memory, unchanged until the completion. May be empty.
  bytes_view data{};
  std::string content_type{};  ///< empty = application/octet-stream
  /// Besides what the set says of itself there, under keys that begin with "dataflux-".
  std::vector<std::pair<std::string, std::string>> metadata{};
  std::string kms_key_name{};  ///< of it and the manifest; empty = the bucket's default
};

/// What checkpoint_set::begin() does about what an earlier save that was not committed has left.
enum class unfinished_members : std::uint8_t {
  refuse,   ///< it is an error, which says what there is
  replace,  ///< it is removed
};

/// What a member of a set has to be when the set is opened.
enum class member_match : std::uint8_t {
  /// Of the size and CRC32C that the manifest tells. So is a set that was copied to another bucket,
  /// restored from soft delete, or rewritten into another storage class.
  content,
  /// And of the generation that was committed: nobody has written to it since.
  generation,
};

struct removal_report {
  std::uint64_t objects{0};
  std::uint64_t uploads{0};  ///< that were open, and are aborted
  std::uint64_t bytes{0};
  /// Prefixes of sets whose last objects are gone, and of unfinished ones.
  std::vector<std::string> sets{};
  /// What was to go and could not be removed.
  std::vector<failed_removal> failures{};
  /// Objects that were not tried because of those failures: the set's own, when its last object
  /// stays; the manifest, when a member does.
  std::uint64_t spared{0};
};

struct committed_set {
  /// The last object; its `created` is the time of the commit, by the service's clock.
  object_metadata last{};
  std::string manifest{};  ///< its name in the bucket
  std::uint64_t members{0};
  std::uint64_t bytes{0};  ///< of members
  /// Of a save over a set: what was removed after the commit, and what could not be; then the name
  /// of the folder tells of a removal that was stopped. list_checkpoint_sets() shows what is left.
  removal_report replaced{};
};

/// Sharded state: many objects below one prefix, written by many writers, in one process or many,
/// and committed together by one more object, the last. Whoever has written a member tells its
/// record (text where it has to travel) to the one who commits:
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
/// Members become visible as they are written, and nobody trusts them: a set is what its last
/// object says. The last object is created, and not replaced, when the manifest with all records is
/// there; it names the manifest in its custom metadata ("dataflux-set"). So a set is committed
/// once, by one of several who try; the others are told, and their manifests are removed. A member
/// that is overwritten or removed afterwards makes the set damaged, and open() says which.
///
/// A save over a set saves the same state again under the same prefix:
///
///     const save_over save = set.begin_over().value();   // one of them; as text to the others
///     const checkpoint_set mine = set.over(save);        // each; then as above without begin()
///
/// Its members have names of their own ("PREFIX/.dataflux-save-.../rank-3" for "rank-3"), and its
/// last object replaces the one that begin_over() has seen, by its generation. Whoever opens the
/// set meanwhile gets the old one or the new one, whole. After that the old members are removed,
/// and what is read of an old set that is still open fails with not_found, which says why. Of
/// several saves one is committed: the one whose last object comes first.
///
/// Objects of others below the prefix do no harm, and are listed with the set's. The prefix may end
/// with a slash.
///
/// Errors and cost: each member says its own. In the child of a fork: errors, as of the store.
///
/// Lifetime: a handle on context, bucket, prefix and perhaps a save, without any state of its own.
/// The context's store outlives what it begins.
///
/// Threads: all members from any thread. Blocking forms are not for completions, nor for a
/// virtual_scheduler.
class checkpoint_set {
 public:
  checkpoint_set(transfer_context context, std::string bucket, std::string prefix);

  /// Before the first member, by one of those who save: makes sure that nothing is in the way of
  /// their names. What others of this save have written already counts as an earlier save's, so all
  /// wait for its end. Only what open_member() and commits have written is known, and removed, by
  /// its generation; strangers stay.
  ///
  /// A save that is under way looks like one that was given up. With unfinished_members::replace
  /// its members are removed, and so it cannot be committed any more, or is damaged, if its commit
  /// was under way: only one save of a set runs at a time, and whoever begins with `replace` knows
  /// that no other does.
  ///
  /// Errors: already_exists if the set is committed, and for what an earlier save has left unless
  /// it is to be replaced; the first failure of a removal; those of listing. Cost: one listing of
  /// the prefix.
  result<removal_report> begin(unfinished_members unfinished = unfinished_members::refuse,
                               call_limits limits = {}) const;
  operation<removal_report> submit_begin(unfinished_members unfinished = unfinished_members::refuse,
                                         call_limits limits = {}) const;
  void start_begin(unfinished_members unfinished, const call_limits& limits,
                   object_store::completion<removal_report> done) const;

  /// Begins a save over the set that is committed here, if one is; nothing has to be removed before
  /// it, and nothing is written. A set that is damaged may be replaced, too. What earlier saves
  /// have left is removed by the commit.
  ///
  /// Errors: failed_precondition if there are several last objects; those of listing. Cost: one
  /// listing of the prefix.
  result<save_over> begin_over(call_limits limits = {}) const;
  operation<save_over> submit_begin_over(call_limits limits = {}) const;
  void start_begin_over(const call_limits& limits, object_store::completion<save_over> done) const;
  /// The same set, whose members and commit are that save's. An invalid one is told by those. There
  /// begin() is refused with failed_precondition.
  checkpoint_set over(save_over save) const;

  /// Begins a member. It goes direct: until the set is committed nobody trusts it, and so it needs
  /// neither a temporary name nor permission to move. Writers of one context share its memory and
  /// connections. Of `how` bucket, object and mode are the set's, whatever they say.
  ///
  /// Nothing must be there under the name: what is, may belong to a committed set. Where a killed
  /// attempt has left members, begin() removes them. In the object's custom metadata it is said
  /// that it is a member ("dataflux-member-of-set").
  ///
  /// Errors: invalid_argument for the name and for metadata of a key "dataflux-*"; already_exists,
  /// from the writer's commit; those of checkpoint_writer::open().
  result<checkpoint_writer> open_member(std::string_view name, upload_request how = {}) const;
  operation<checkpoint_writer> submit_open_member(std::string_view name,
                                                  upload_request how = {}) const;
  void start_open_member(std::string_view name, upload_request how,
                         object_store::completion<checkpoint_writer> done) const;
  /// The same in place of whatever is there now; a committed set that lists that is damaged from
  /// then on. Cost: one more request, unless `how` names the generation.
  result<checkpoint_writer> replace_member(std::string_view name, upload_request how = {}) const;
  operation<checkpoint_writer> submit_replace_member(std::string_view name,
                                                     upload_request how = {}) const;
  void start_replace_member(std::string_view name, upload_request how,
                            object_store::completion<checkpoint_writer> done) const;

  /// The record of what such a writer has made. Errors: invalid_argument for an object that does
  /// not lie below the prefix; data_loss.
  result<member_record> record_of(const committed_object& made) const;

  /// Commits. Everything that is wrong with the records is found before anything is sent; then the
  /// prefix is listed, to see that all members are there as their records say; then the manifest is
  /// written, then the last object.
  ///
  /// Errors: invalid_argument for records and names (missing, absolute, reserved, of two members,
  /// of a member and the last object); data_loss for a record that contradicts itself, and for
  /// members that are missing or have changed; already_exists if the set is committed: remove it
  /// first. Over a set: aborted if somebody else has committed or removed it since begin_over(),
  /// already_exists if this very save is committed (by a commit whose outcome was not told, say),
  /// and for a last object that is no set's; members stay after that.
  /// invalid_argument for another name than that of the last object which is replaced. data_loss of
  /// the last object, if the service keeps other bytes than it was sent: it is removed, and no set
  /// is left, as the message says.
  ///
  /// After any error the set is not committed, and what was written for it is removed; if
  /// that is not certain, because the service cannot be asked or a request that nobody has
  /// answered, or only by a 5xx, may still be carried out, the message says so, and what was
  /// written stays, so that a last object that appears later has its manifest.
  ///
  /// A save over a set then removes the old members, the old manifest, and all that other saves
  /// have left here, open uploads too, for they cannot be committed any more. What cannot is told
  /// in committed_set::replaced, and is no error; nor is a stop or the end of the time by then.
  ///
  /// `last.data` is borrowed until the end. Cost: encoding on the calling thread; one listing of
  /// the prefix, a page for 1,000 objects, and two inserts; over a set a listing of its open
  /// uploads, a read of its manifest and the removals, too.
  result<committed_set> commit(std::vector<member_record> members, last_object last = {},
                               call_limits limits = {}) const;
  operation<committed_set> submit_commit(std::vector<member_record> members, last_object last = {},
                                         call_limits limits = {}) const;
  /// `done` is called on an executor of the store, or inside for a mistake of the caller.
  void start_commit(std::vector<member_record> members, last_object last, const call_limits& limits,
                    object_store::completion<committed_set> done) const;

  /// Checks whether the set is complete. `last` is the last object's name; empty: the one that is
  /// there. Content decides, so that a copy of a set is one, unless `match` is stricter.
  ///
  /// Errors: failed_precondition if there is no last object, or several and none is named;
  /// data_loss that says what is missing or has changed since the commit; unimplemented for a set
  /// of a later version; aborted, and retryable, for one that is replaced as fast as it is listed.
  /// Cost: one listing of the prefix and a read of the manifest; both twice more before it says
  /// that a set is damaged, because pages of a listing are not of one moment.
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
