#pragma once

/// The front page: what a program needs, by task. Each name is a contract of its own in the header
/// that is included for it below; docs/ has a page for each group of tasks.
///
/// | to | there is |
/// |---|---|
/// | reach the service | gcs::client, with credentials found (auth/credentials.hpp) or given |
/// | list a bucket or a prefix | fast_list(), fast_lister; list_filter |
/// | keep a listing, and see what changed | save_manifest(), manifest, refresh_manifest() |
/// | share connections and memory | transfer_context: one for each client and process |
/// | read very many objects | getter |
/// | read one object into memory | get_one(); small ones by read_text(), read_bytes() |
/// | read an object into a file, and back | download_file(), upload_file() |
/// | shuffle a listing, and share it among ranks | sampler |
/// | copy a folder up or down | upload_folder(), download_folder() |
/// | write while bytes are made | checkpoint_writer; many threads at offsets: offset_writer |
/// | read parts of an object, at random | checkpoint_reader |
/// | save and restore state of many processes | checkpoint_set, latest_checkpoint_set() |
/// | write a small object, or any other verb | gcs::client::insert(), run() |
/// | remove very many objects | remove_objects() |
/// | find and remove what killed processes have left | find_leftovers(), remove_leftovers() |
/// | list the buckets of a project | list_all_buckets_request |
/// | stop on Ctrl-C | interrupt_source |
/// | see what happens | observer; log_observer writes it to stderr, event_ring keeps it |
/// | measure it | gcs::client::snapshot(), to_json(), to_prometheus() |
/// | know what failed | result, error |
///
/// Anything a store can do beyond that is a verb of object_store (store/object_store.hpp), which
/// gcs::client is. <dataflux/exec/awaitable.hpp>, which nothing includes, has co_await for
/// operations. <dataflux/testing.hpp> has a store in memory and a clock that tests move.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/offset_writer.hpp>
#include <dataflux/checkpoint/upload_file.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/dataset/sampler.hpp>
#include <dataflux/download/download_file.hpp>
#include <dataflux/download/get_one.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/exec/event_ring.hpp>
#include <dataflux/exec/interrupt_source.hpp>
#include <dataflux/folder/copy_folder.hpp>
#include <dataflux/gcs/client.hpp>
#include <dataflux/list/fast_list.hpp>
#include <dataflux/list/manifest.hpp>
#include <dataflux/transfer/leftovers.hpp>
#include <dataflux/transfer/remove_objects.hpp>
#include <dataflux/transfer/transfer_context.hpp>
