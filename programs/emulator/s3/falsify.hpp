#pragma once

#include <emulator/faults.hpp>
#include <emulator/message.hpp>

#include <cstddef>

/// What faults do to a reply of S3's that has been made.
namespace emulator::s3 {

/// Makes each x-amz-checksum-* and each element of a checksum another one of its kind.
void make_checksums_wrong(http_reply& reply);
void change_etags(http_reply& reply, fault::etag_form::kind form);
/// Before a document, or behind its declaration.
void put_spaces(http_reply& reply, std::size_t count, bool before_all);

}  // namespace emulator::s3
