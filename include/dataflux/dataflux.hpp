#pragma once

/// The front page: what most programs need, and what there is when you need more. Each name has its
/// contract in the header that is included for it below. docs/index.md names a page for each task.
///
/// | most programs need | when you need more |
/// |---|---|
/// | gcs::client: reaches the service | auth/credentials.hpp; any verb by start() or run() |
/// | transfer_context: its connections and memory | options: memory caps, requests in flight |
/// | fast_list(): lists a prefix | fast_lister, list_filter, save_manifest(), list_shared() |
/// | getter: reads very many objects | ranges, options of a stream; batch_getter |
/// | get_one(): reads one object | read_text(), read_bytes() for small ones; download_file() |
/// | checkpoint_writer: saves | checkpoint_set for many processes; upload_file() |
/// | checkpoint_reader: loads, from anywhere | latest_checkpoint_set(), checkpoint_set_reader |
/// | upload_folder(), download_folder() | remove_objects(), find_leftovers(), remove_leftovers() |
/// | sampler: the order of an epoch | windows, ranks, resuming |
/// | result, error: what failed, and why | interrupt_source: stops on Ctrl-C |
/// | log_observer: tells on stderr | observer, event_ring; gcs::client::snapshot() |
///
/// All else that a store can do is a verb of object_store (store/object_store.hpp), which
/// gcs::client is. <dataflux/testing.hpp> has a store in memory and a clock that tests move.

#include <dataflux/auth/credentials.hpp>
#include <dataflux/checkpoint/checkpoint_reader.hpp>
#include <dataflux/checkpoint/checkpoint_sets.hpp>
#include <dataflux/checkpoint/checkpoint_writer.hpp>
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
