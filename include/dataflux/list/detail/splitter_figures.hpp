#pragma once

#include <dataflux/detail/config.hpp>

#include <cstddef>
#include <cstdint>

/// The only figures of the splitter that are not learned from the names. They hold for all kinds of
/// names alike. bench/NOTES.md says how they were found, and what a listing loses without the
/// mechanism that each belongs to. The unit of sizes is a name (an entry of a page). Chances and
/// parts lie between 0 and 1.
namespace dataflux::inline DATAFLUX_ABI::detail::splitting {

// Pages, in names. A small page answers soon, and each costs a round trip.

/// The first page of a range, and the peek beside the listing's first page.
inline constexpr std::uint32_t first_page = 250;
/// The first page of a range that is cut while the listing's first page is in flight. That page is
/// a whole one, so this one may take longer, too.
inline constexpr std::uint32_t second_pages = 400;
/// Pages are small while more than this part of the slots is idle.
inline constexpr double many_idle = 0.15;
/// A small page grows to so many times what its range has listed.
inline constexpr std::uint64_t page_growth = 4;
/// At most so many names of a page are reported to the splitter. More would cost CPU and teach
/// little: they differ in places where no range will end.
inline constexpr std::uint64_t reported_names = 128;

// When a range is cut, and where.

/// Names that must be expected behind the page in flight for a cut there: when no slot is idle,
/// when all are, and when all are at the beginning, where little is known. A cut costs a call. It
/// is worth more while slots are idle.
inline constexpr double worth_a_cut = 1400;
inline constexpr double worth_a_cut_hungry = 550;
inline constexpr double worth_a_cut_young = 450;
/// A range that has listed n names since its last cut holds at least so many times n more: the
/// first in any case, the others when all slots are idle, at the beginning the last.
inline constexpr double age = 0.4;
inline constexpr double age_hungry = 0.8;
inline constexpr double age_young = 4.0;
/// When all slots are idle, this part of the expected names is hoped for in addition.
inline constexpr double hope = 0.5;
/// More than this times what a range has listed is not believed. It makes no listing faster: it
/// keeps an estimate that multiplies through many places of long names finite.
inline constexpr double faith = 200;
/// This part of a page in flight has come, on average, when its range is cut.
inline constexpr double come = 0.5;
/// A cut lies at least so many times the page in flight behind the last name: pages that begin
/// inside it would list the same names again.
inline constexpr double margin = 1.2;
/// A cut may miss its place by this part of the new range's share. A better place would need a
/// longer cut, and each byte of that is a guess.
inline constexpr double slack = 0.1;
/// For a reader in key order, a range is divided before one on its right that is at most so many
/// times as large.
inline constexpr double in_order = 2;
/// At most so many places are explored at once. Each costs a call, and may be empty.
inline constexpr std::size_t explored = 8;
/// A folder is asked for when this part of what is expected lies in it: more can lie in no other.
inline constexpr double worth_asking = 0.5;
/// Entries of a folder that are asked for. More of them answer later.
inline constexpr std::uint32_t folders_asked = 500;
/// Bytes of a cut. A longer one would only follow what few names have in common.
inline constexpr std::size_t longest_cut = 512;

// How many calls a small bucket may cost (calls_per_page).

/// This part of the expected pages counts as found; half of it when `many_pages` are expected, and
/// less when they are fewer. Many pages remain many when the estimate is far off.
inline constexpr double expectation = 0.3;
inline constexpr double many_pages = 40;
/// The calls of so many pages are free at the start. They are used up after `small_bucket` pages.
inline constexpr double free_pages = 4.7;
inline constexpr double small_bucket = 10;

// Chances.

/// A sibling that is less likely than this is left out: it costs CPU and changes nothing.
inline constexpr double negligible = 0.005;
/// Where a range's end lies in a sibling is known well enough when this part of it is undecided.
inline constexpr double negligible_part = 0.01;
/// A sibling that is more likely than this is sure: no folder is asked for it.
inline constexpr double sure = 0.9;

// Doubt: how much of what is known of other places counts beside what was seen at this one. The
// unit is what was seen: places, children, or nodes weighed by their size.

/// Places where names branch, and as many where they go on alike, before one was seen.
inline constexpr double branching_doubt = 0.5;
/// Places of any size count like so many at most: those of such a size count in full.
inline constexpr double branching_anywhere = 3;
/// Children before one was seen, and this part of them is followed by the next byte.
inline constexpr double following_doubt = 1;
inline constexpr double following = 0.3;
/// What was seen at all places counts at most so many times as much as that.
inline constexpr double following_growth = 2;
/// Children before one was seen at this node, which are followed as elsewhere.
inline constexpr double following_doubt_here = 2;
/// Nodes before one was seen, half as even as can be.
inline constexpr double evenness_doubt = 2;
/// What is nearer to the place counts at most so many times as much as all that is farther.
inline constexpr double evenness_growth = 4;
/// Nodes of the kind before one was seen, with bytes as elsewhere. Times the root of the names at
/// the place: small nodes say less about a large one.
inline constexpr double byte_doubt = 0.3;
/// Nodes anywhere before one was seen, with bytes by general experience.
inline constexpr double general_doubt = 3;

// General experience: how likely a byte is. The first three hold where its class was seen, the last
// one where it was not. Digits seldom come alone.

inline constexpr double digit = 0.4;
inline constexpr double letter = 0.2;
inline constexpr double punctuation = 0.03;
inline constexpr double unseen_class = 0.01;

// How large siblings are where nothing has branched: as large as what lies around the last name,
// but at most (1 + certainty / unevenness^2) times what was listed there. The less equal siblings
// are, the less does the unseen part of this one say about them.

inline constexpr double certainty = 0.5;
/// Unevenness is this minus evenness, so that siblings which seem equal may still differ.
inline constexpr double full_evenness = 1.02;
/// A guard against a division by zero: evenness never comes so near.
inline constexpr double least_unevenness = 0.001;

// What a node teaches about others.

/// A node teaches when it holds so many times more entries than one reported name stands for, for
/// each child. In a smaller one children may have been missed.
inline constexpr double entries_per_child = 1.5;
/// Places are told apart by their component, and by the offset in it, in bytes; those farther on
/// count as the last. Inside a code point the bytes before count, and offsets in steps of a code
/// point. More kinds would each be seen less often.
inline constexpr std::uint32_t components_told_apart = 8;
inline constexpr std::uint32_t offsets_told_apart = 64;
inline constexpr std::uint32_t longest_code_point = 4;
inline constexpr std::uint32_t code_points_told_apart = 8;
/// Nodes are told apart by size: those below this many names, and then in steps of so many times.
inline constexpr double smallest_node = 16;
inline constexpr double node_growth = 4;

}  // namespace dataflux::inline DATAFLUX_ABI::detail::splitting
