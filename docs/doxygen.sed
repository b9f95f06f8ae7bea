# What Doxygen reads of a header (docs/Doxyfile).
# It does not know that an inline namespace may be nested: `dataflux::inline DATAFLUX_ABI`.
s/::inline DATAFLUX_ABI//
# The labels of a contract's paragraphs stand out.
s,^( *///) (Errors|Lifetime|Threads|Thread safety|Cost|Order|Integrity|Memory|Sizes|Window): ,\1 **\2:** ,
