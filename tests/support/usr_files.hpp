#pragma once

#include <string>
#include <vector>

/// The files below /usr of a bare Debian system (debootstrap --variant=minbase, amd64) as it was in
/// 2026, without the leading slash, sorted as bytes: `find usr ! -xtype d | LC_ALL=C sort`. They
/// are kept here, so that what is measured does not depend on the machine.
///   'b'  Debian 12, bookworm: 5,256 files      't'  Debian 13, trixie: 4,164 files
std::vector<std::string> usr_files(char system);
