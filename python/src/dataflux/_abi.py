"""The C ABI, by python/generate.py from c_api/abi/dataflux.json. Letters are those of
the struct module; s is a text, P an address, v nothing; a function's first is its result."""

FUNCTIONS = {
    'abi_version': 'I',
    'version': 's',
    'status_name': 'si',
    'error_status': 'iP',
    'error_message': 'sP',
    'error_text': 'sP',
    'error_verb': 'sP',
    'error_scheme': 'sP',
    'error_bucket': 'sP',
    'error_object': 'sP',
    'error_reason': 'sP',
    'error_request_id': 'sP',
    'error_generation': 'qP',
    'error_http_status': 'iP',
    'error_attempts': 'iP',
    'error_retryable': 'iP',
    'error_outcome_unknown': 'iP',
    'error_retry_after_ns': 'qP',
    'error_free': 'vP',
    'queue_create': 'iPP',
    'queue_next': 'iPPQQqP',
    'queue_fd': 'iP',
    'queue_error': 'PPI',
    'queue_close': 'vP',
    'queue_free': 'vP',
    'slabs_release': 'vPQ',
    'slab_memory': 'vQPP',
    'cache_options_init': 'vPQ',
    'cache_open': 'isPPP',
    'cache_counters': 'iPPP',
    'cache_flush': 'iPP',
    'cache_free': 'vP',
    'client_options_init': 'vPQ',
    'client_create': 'iPPP',
    'client_set_token': 'iPsqP',
    'client_token': 'iPPPP',
    'client_fail_token': 'iPisP',
    'client_metrics': 'iPPP',
    'client_prometheus': 'iPPP',
    'text_free': 'vP',
    'client_forget': 'iPssqP',
    'job_options_init': 'vPQ',
    'job_create': 'iPPP',
    'job_beat': 'iPPPQPP',
    'job_living': 'iPPPP',
    'job_leave': 'iPPP',
    'job_free': 'vP',
    'client_close': 'vP',
    'client_free': 'vP',
    'operation_wait': 'iPqP',
    'operation_cancel': 'vP',
    'operation_result': 'iPP',
    'operation_json': 'iPPP',
    'operation_free': 'vP',
    'conditions_init': 'vPQ',
    'object_options_init': 'vPQ',
    'attributes_init': 'vPQ',
    'get_one': 'iPPQPQPQPP',
    'get': 'iPPQQPQPP',
    'stat': 'iPPPQPP',
    'put': 'iPPPQPPQPP',
    'remove': 'iPPPQPP',
    'list_options_init': 'vPQ',
    'list': 'iPPPQPP',
    'operation_take_listing': 'iPPP',
    'listing_size': 'QP',
    'listing_chunks': 'QP',
    'listing_json': 'iPPP',
    'listing_chunk': 'iPQPQP',
    'listing_arrow': 'iPPP',
    'listing_free': 'vP',
    'sampler_options_init': 'vPQ',
    'sampler_size': 'iPPP',
    'sampler_rows': 'iPQPQP',
    'sampler_rows_at': 'iPPQP',
    'sampler_window_end': 'iPQPP',
    'epoch_reads_init': 'vPQ',
    'sampler_cost': 'iPPPQP',
    'epoch_model_init': 'vPQ',
    'simulate_epoch': 'iPPQP',
    'epoch_bound_text': 'sQ',
    'mixer_options_init': 'vPQ',
    'mixer_create': 'iPPP',
    'mixer_free': 'vP',
    'mixer_end': 'iPPP',
    'mixer_draws': 'iPQQPPQPP',
    'mixer_counts': 'iPQPP',
    'get_many_options_init': 'vPQ',
    'get_many': 'iPPPPQPQPP',
    'get_columns_init': 'vPQ',
    'getter_push': 'iPPQPP',
    'getter_push_rows': 'iPPQPP',
    'getter_finish': 'vP',
    'getter_cancel': 'vP',
    'getter_free': 'vP',
    'copy': 'iPPPPPQPP',
    'move': 'iPPPPQPP',
    'compose': 'iPPPPQPPQPP',
    'patch': 'iPPPPQPP',
    'sign_options_init': 'vPQ',
    'signed_request_init': 'vPQ',
    'sign_url': 'iPPPPQPP',
    'sign_form': 'iPPPPQPQPQPP',
    'bucket_options_init': 'vPQ',
    'bucket': 'iPPPQPP',
    'test_permissions': 'iPPPQPQPP',
    'bulk_restore_options_init': 'vPQ',
    'bulk_restore': 'iPPPQPP',
    'list_buckets_options_init': 'vPQ',
    'list_buckets': 'iPPPQPP',
    'list_stream': 'iPPPQPP',
    'lister_take': 'iPPP',
    'lister_json': 'iPPP',
    'lister_cancel': 'vP',
    'lister_free': 'vP',
    'manifest_options_init': 'vPQ',
    'manifest_save': 'iPPPPQPP',
    'manifest_open': 'iPPPQPP',
    'operation_take_manifest': 'iPPP',
    'manifest_size': 'QP',
    'manifest_json': 'iPPP',
    'manifest_rows': 'iPPQQPQPP',
    'manifest_row': 'iPQPQP',
    'list_shared': 'iPPsssqPQPP',
    'manifest_free': 'vP',
    'refresh_options_init': 'vPQ',
    'manifest_refresh': 'iPPPPQPP',
    'operation_take_changes': 'iPPP',
    'listing_compare': 'iPPPP',
    'changes_rows': 'iPPQP',
    'changes_listing': 'iPPP',
    'changes_free': 'vP',
    'index_shards_options_init': 'vPQ',
    'index_shards': 'iPPPPQPP',
    'shard_index_import': 'iPPPQPP',
    'verify_shards_options_init': 'vPQ',
    'verify_shards': 'iPPPPQPP',
    'shard_index_open': 'isPP',
    'shard_index_free': 'vP',
    'shard_index_describe': 'iPPQP',
    'shard_index_shard': 'iPQPQP',
    'sample_columns_init': 'vPQ',
    'shard_index_samples': 'iPPQPP',
    'shard_index_fields': 'iPQPQPP',
    'shard_index_find': 'iPsQPQPP',
    'getter_push_samples': 'iPPPQPP',
    'shard_index_split': 'iPQPQPQPPQPP',
    'join_options_init': 'vPQ',
    'shard_index_join': 'iPPPPP',
    'shard_join_free': 'vP',
    'shard_join_rows': 'iPPQP',
    'shard_stream_options_init': 'vPQ',
    'shard_stream_new': 'iPPP',
    'shard_stream_free': 'vP',
    'shard_stream_feed': 'iPPQP',
    'shard_stream_finish': 'iPP',
    'shard_stream_next': 'iPPQP',
    'shard_stream_counts': 'iPPP',
    'get_batches': 'iPPPPQPP',
    'batch_init': 'vPQ',
    'batch_getter_push': 'iPPPP',
    'batch_getter_finish': 'vP',
    'batch_getter_cancel': 'vP',
    'batch_getter_free': 'vP',
    'leftovers_options_init': 'vPQ',
    'find_leftovers': 'iPPPQPP',
    'remove_leftovers': 'iPPPQPP',
    'writer_options_init': 'vPQ',
    'writer_open': 'iPPPQPP',
    'operation_take_writer': 'iPPP',
    'writer_write': 'iPPQqPP',
    'writer_lend': 'iPPQqPPQP',
    'writer_notify': 'iPPQP',
    'writer_commit': 'iPPQPP',
    'writer_abort': 'iPPQPP',
    'writer_free': 'vP',
    'shard_writer_options_init': 'vPQ',
    'shard_writer_open': 'iPPPQPP',
    'operation_take_shard_writer': 'iPPP',
    'shard_writer_write': 'iPsQPQIPP',
    'shard_writer_end': 'iPIPP',
    'shard_writer_notify': 'iPPQP',
    'shard_writer_finish': 'iPPQPP',
    'shard_writer_abort': 'iPPQPP',
    'shard_writer_free': 'vP',
    'reader_options_init': 'vPQ',
    'reader_open': 'iPPPQPP',
    'operation_take_reader': 'iPPP',
    'reader_size': 'QP',
    'reader_generation': 'qP',
    'reader_verified': 'iP',
    'reader_read': 'iPQPQPQPP',
    'range_columns_init': 'vPQ',
    'reader_read_ranges': 'iPPQPQPP',
    'reader_free': 'vP',
    'set_options_init': 'vPQ',
    'set_create': 'iPPPP',
    'set_begin': 'iPIPQPP',
    'set_open_member': 'iPsPPQPP',
    'set_record': 'iPPPP',
    'set_commit_options_init': 'vPQ',
    'set_commit': 'iPPPQPP',
    'set_open': 'iPsPQPP',
    'latest_set': 'iPPPQPP',
    'set_free': 'vP',
    'operation_take_set_reader': 'iPPP',
    'set_reader_json': 'iPPP',
    'set_reader_open': 'iPsPPQPP',
    'set_reader_free': 'vP',
    'list_sets': 'iPPPQPP',
    'keep_last_options_init': 'vPQ',
    'keep_last_sets': 'iPPPQPP',
    'remove_sets': 'iPPPQPP',
    'set_begin_over': 'iPPQPP',
    'set_over': 'iPsPP',
    'client_events': 'iPPQPP',
    'events_free': 'vP',
    'download_file_options_init': 'vPQ',
    'download_file': 'iPPPQPP',
    'upload_file_options_init': 'vPQ',
    'upload_file': 'iPPPQPP',
    'selection_init': 'vPQ',
    'folder_options_init': 'vPQ',
    'upload_folder': 'iPPPQPP',
    'download_folder': 'iPPPQPP',
    'copy_objects_options_init': 'vPQ',
    'copy_objects': 'iPPPQPP',
    'remove_prefix_options_init': 'vPQ',
    'remove_prefix': 'iPPPQPP',
}
STRUCTS = {
    'record': (('tag', 'Q'), ('index', 'Q'), ('data', 'P'), ('size', 'Q'), ('slab', 'Q'), ('generation', 'q'), ('crc32c', 'I'), ('status', 'i'), ('flags', 'I'), ('error', 'I')),
    'cache_options': (('struct_size', 'Q'), ('bytes', 'Q'), ('min_free', 'Q')),
    'client_options': (('struct_size', 'Q'), ('credentials', 'I'), ('emulator', 'I'), ('credentials_file', 's'), ('endpoint', 's'), ('user_project', 's'), ('quota_project', 's'), ('user_agent', 's'), ('ca_file', 's'), ('io_threads', 'I'), ('max_connections_per_host', 'I'), ('max_attempts', 'I'), ('max_concurrency', 'I'), ('memory_cap', 'Q'), ('upload_memory', 'Q'), ('slice', 'Q'), ('connect_timeout_ns', 'q'), ('stall_timeout_ns', 'q'), ('token_limit_ns', 'q'), ('event_capacity', 'Q'), ('first_byte_timeout_ns', 'q'), ('tokens_to_emulator', 'I'), ('reserved', 'I'), ('service', 'I'), ('addressing', 'I'), ('region', 's'), ('access_key_id', 's'), ('secret_access_key', 's'), ('session_token', 's'), ('requester_pays', 'I'), ('upload_checksum', 'I'), ('provider', 's'), ('cache', 'P'), ('client_certificate_file', 's'), ('client_key_file', 's'), ('client_key_password', 's'), ('proxy', 's'), ('no_proxy', 's'), ('proxy_ca_file', 's'), ('resolve', 's'), ('host', 's'), ('token_cache', 's'), ('encryption_key', 'P')),
    'job_options': (('struct_size', 'Q'), ('rank', 'I'), ('processes', 'I'), ('reads', 'd'), ('writes', 'd'), ('lease_ns', 'q')),
    'conditions': (('struct_size', 'Q'), ('has', 'I'), ('reserved', 'I'), ('generation_match', 'q'), ('generation_not_match', 'q'), ('metageneration_match', 'q'), ('metageneration_not_match', 'q')),
    'object_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('generation', 'q'), ('timeout_ns', 'q'), ('conditions', 'P'), ('fields', 'I'), ('whole', 'I'), ('member', 's'), ('encryption_key', 'P'), ('no_encryption_key', 'I'), ('reserved', 'I')),
    'attributes': (('struct_size', 'Q'), ('content_type', 's'), ('content_encoding', 's'), ('content_disposition', 's'), ('content_language', 's'), ('cache_control', 's'), ('storage_class', 's'), ('kms_key_name', 's'), ('custom_time_ns', 'q'), ('metadata_names', 'P'), ('metadata_values', 'P'), ('metadata_count', 'Q')),
    'list_options': (('struct_size', 'Q'), ('bucket', 's'), ('prefix', 's'), ('start_offset', 's'), ('end_offset', 's'), ('delimiter', 's'), ('match_glob', 's'), ('suffix', 's'), ('regex', 's'), ('min_size', 'Q'), ('max_size', 'Q'), ('keep_markers', 'I'), ('keep_composed', 'I'), ('versions', 'I'), ('parallelism', 'I'), ('max_calls', 'Q'), ('memory_cap', 'Q'), ('timeout_ns', 'q'), ('partial', 'I'), ('by_name', 'I'), ('storage_classes', 'P'), ('storage_class_count', 'Q')),
    'chunk': (('first_row', 'Q'), ('rows', 'Q'), ('names', 's'), ('name_offsets', 'P'), ('sizes', 'P'), ('generations', 'P'), ('crc32c', 'P'), ('crc32c_valid', 'P'), ('first_bit', 'Q')),
    'sampler_options': (('struct_size', 'Q'), ('count', 'Q'), ('seed', 'Q'), ('epoch', 'Q'), ('block', 'Q'), ('window', 'Q'), ('shuffle', 'I'), ('equalize', 'I'), ('rank', 'I'), ('world_size', 'I')),
    'epoch_reads': (('struct_size', 'Q'), ('sample_bytes', 'd'), ('shard_samples', 'd'), ('batch', 'Q'), ('memory', 'Q'), ('gap', 'Q'), ('workers', 'Q')),
    'order_cost': (('requests', 'd'), ('bytes_read', 'd'), ('readers', 'd'), ('held', 'd'), ('lag_correlation', 'd'), ('same_shard', 'd'), ('same_shard_of_full', 'd')),
    'epoch_model': (('struct_size', 'Q'), ('listing', 'P'), ('sizes', 'P'), ('counts', 'P'), ('size_count', 'Q'), ('epochs', 'Q'), ('link', 'd'), ('connection_rate', 'd'), ('round_trip_ns', 'q'), ('spread', 'd'), ('memory', 'Q'), ('request_ns', 'q'), ('byte_ns', 'd'), ('decode_ns', 'q'), ('workers', 'Q'), ('batch', 'Q'), ('step_ns', 'q'), ('class_a_price', 'd'), ('class_b_price', 'd'), ('gib_price', 'd'), ('seed', 'Q'), ('connecting_trips', 'I'), ('processors', 'I'), ('concurrency', 'I'), ('decode_threads', 'I'), ('order', 'I'), ('listed', 'I')),
    'epoch_forecast': (('seconds', 'd'), ('first_batch', 'd'), ('samples_per_second', 'd'), ('bytes_per_second', 'd'), ('link_share', 'd'), ('processors_share', 'd'), ('waited', 'd'), ('price', 'd'), ('in_flight', 'd'), ('simulated', 'd'), ('samples', 'Q'), ('bytes', 'Q'), ('class_a', 'Q'), ('class_b', 'Q'), ('hedged', 'Q'), ('peak_memory', 'Q'), ('bound', 'Q')),
    'mixer_options': (('struct_size', 'Q'), ('sizes', 'P'), ('froms', 'P'), ('parts', 'P'), ('counts', 'P'), ('sources', 'Q'), ('stages', 'I'), ('ended', 'I')),
    'get_many_options': (('struct_size', 'Q'), ('bucket', 's'), ('order', 'I'), ('on_error', 'I'), ('compose', 'I'), ('feed', 'I'), ('feed_capacity', 'Q'), ('timeout_ns', 'q')),
    'get_columns': (('struct_size', 'Q'), ('names', 's'), ('name_offsets', 'P'), ('generations', 'P'), ('offsets', 'P'), ('lengths', 'P'), ('into', 'P'), ('object_sizes', 'P'), ('members', 's'), ('member_offsets', 'P')),
    'sign_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('life_ns', 'q'), ('generation', 'q'), ('style', 'I'), ('reserved', 'I'), ('host', 's'), ('scheme', 's'), ('account', 's'), ('access_key_id', 's'), ('secret_access_key', 's'), ('timeout_ns', 'q')),
    'signed_request': (('struct_size', 'Q'), ('method', 's'), ('header_names', 'P'), ('header_values', 'P'), ('header_count', 'Q'), ('parameter_names', 'P'), ('parameter_values', 'P'), ('parameter_count', 'Q')),
    'form_condition': (('field', 's'), ('value', 's'), ('least', 'Q'), ('most', 'Q'), ('rule', 'I'), ('reserved', 'I')),
    'bucket_options': (('struct_size', 'Q'), ('bucket', 's'), ('timeout_ns', 'q')),
    'bulk_restore_options': (('struct_size', 'Q'), ('bucket', 's'), ('match_globs', 'P'), ('match_glob_count', 'Q'), ('deleted_after_ns', 'q'), ('deleted_before_ns', 'q'), ('created_after_ns', 'q'), ('created_before_ns', 'q'), ('timeout_ns', 'q'), ('overwrite', 'I'), ('reserved', 'I')),
    'list_buckets_options': (('struct_size', 'Q'), ('project', 's'), ('prefix', 's'), ('timeout_ns', 'q')),
    'manifest_options': (('struct_size', 'Q'), ('path', 's'), ('bucket', 's'), ('object', 's'), ('timeout_ns', 'q')),
    'row': (('name', 's'), ('name_size', 'Q'), ('size', 'Q'), ('generation', 'q'), ('crc32c', 'I'), ('has_crc32c', 'I')),
    'refresh_options': (('struct_size', 'Q'), ('parallelism', 'I'), ('reserved', 'I'), ('timeout_ns', 'q')),
    'changed_rows': (('added', 'P'), ('added_count', 'Q'), ('removed', 'P'), ('removed_count', 'Q'), ('changed', 'P'), ('changed_count', 'Q'), ('unchanged_count', 'Q')),
    'index_shards_options': (('struct_size', 'Q'), ('bucket', 's'), ('path', 's'), ('skip_from', 'Q'), ('timeout_ns', 'q'), ('parallelism', 'I'), ('read_concatenated', 'I'), ('ignore_trailing', 'I'), ('end_at_damage', 'I'), ('keep_case', 'I'), ('strip_dot_slash', 'I'), ('keep_first', 'I'), ('progress', 'I'), ('rows', 'P'), ('row_count', 'Q'), ('board_bucket', 's'), ('board_prefix', 's'), ('lease_ns', 'q'), ('parts', 'P'), ('part_count', 'Q')),
    'verify_shards_options': (('struct_size', 'Q'), ('path', 's'), ('timeout_ns', 'q'), ('parallelism', 'I'), ('return_wrong', 'I'), ('progress', 'I'), ('reserved', 'I')),
    'shard_index_info': (('shards', 'Q'), ('samples', 'Q'), ('bytes', 'Q'), ('digest', 'Q'), ('bucket', 's'), ('json', 's')),
    'indexed_shard': (('name', 's'), ('name_size', 'Q'), ('size', 'Q'), ('generation', 'q'), ('crc32c', 'I'), ('has_crc32c', 'I'), ('first_sample', 'Q'), ('samples', 'Q'), ('checksummed', 'Q'), ('concatenated', 'Q'), ('trailing', 'Q'), ('damaged', 'Q'), ('missing_ends', 'Q'), ('bytes_behind', 'Q'), ('hard_links', 'Q'), ('symlinks', 'Q'), ('directories', 'Q'), ('devices', 'Q'), ('other', 'Q'), ('hidden', 'Q'), ('no_field', 'Q'), ('repeated', 'Q')),
    'sample_columns': (('struct_size', 'Q'), ('shards', 'P'), ('offsets', 'P'), ('sizes', 'P'), ('fields', 'P'), ('crc32c', 'P'), ('has_crc32c', 'P')),
    'sample_field': (('name', 's'), ('name_size', 'Q'), ('offset', 'Q'), ('size', 'Q')),
    'join_options': (('struct_size', 'Q'), ('left_outer', 'I'), ('all_pairs', 'I')),
    'join_rows': (('rows', 'Q'), ('left', 'P'), ('right', 'P'), ('left_alone', 'Q'), ('right_alone', 'Q')),
    'shard_stream_options': (('struct_size', 'Q'), ('most_bytes', 'Q'), ('read_concatenated', 'I'), ('ignore_trailing', 'I'), ('end_at_damage', 'I'), ('keep_case', 'I'), ('strip_dot_slash', 'I'), ('keep_first', 'I')),
    'streamed_sample': (('key', 's'), ('key_size', 'Q'), ('data', 'P'), ('data_size', 'Q'), ('fields', 'P'), ('field_count', 'Q')),
    'batch': (('struct_size', 'Q'), ('count', 'Q'), ('numbers', 'P'), ('index', 'P'), ('requests', 'P'), ('data', 'P'), ('size', 'Q'), ('offsets', 'P'), ('stride', 'Q'), ('sizes', 'P')),
    'leftovers_options': (('struct_size', 'Q'), ('bucket', 's'), ('prefix', 's'), ('kinds', 'I'), ('reserved', 'I'), ('older_than_ns', 'q'), ('timeout_ns', 'q')),
    'writer_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('attributes', 'P'), ('conditions', 'P'), ('size_hint', 'Q'), ('part_size', 'Q'), ('timeout_ns', 'q')),
    'shard_writer_options': (('struct_size', 'Q'), ('bucket', 's'), ('pattern', 's'), ('count', 'Q'), ('bytes', 'Q'), ('first', 'Q'), ('rank', 'I'), ('ranks', 'I'), ('resume', 'I'), ('reserved', 'I')),
    'field_bytes': (('name', 's'), ('name_size', 'Q'), ('data', 'P'), ('size', 'Q')),
    'reader_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('generation', 'q'), ('block', 'Q'), ('cache', 'Q'), ('timeout_ns', 'q')),
    'range_columns': (('struct_size', 'Q'), ('offsets', 'P'), ('sizes', 'P'), ('into', 'P')),
    'set_options': (('struct_size', 'Q'), ('bucket', 's'), ('prefix', 's'), ('timeout_ns', 'q')),
    'set_commit_options': (('struct_size', 'Q'), ('records', 'P'), ('record_count', 'Q'), ('last', 's'), ('data', 'P'), ('size', 'Q'), ('kms_key_name', 's')),
    'keep_last_options': (('struct_size', 'Q'), ('bucket', 's'), ('prefix', 's'), ('count', 'Q'), ('remove_unfinished_older_than_ns', 'q'), ('timeout_ns', 'q')),
    'download_file_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('path', 's'), ('generation', 'q'), ('offset', 'Q'), ('length', 'Q'), ('timeout_ns', 'q'), ('resume', 'I'), ('no_flush', 'I'), ('progress', 'I'), ('reserved', 'I')),
    'upload_file_options': (('struct_size', 'Q'), ('bucket', 's'), ('object', 's'), ('path', 's'), ('conditions', 'P'), ('attributes', 'P'), ('timeout_ns', 'q'), ('resume', 'I'), ('progress', 'I')),
    'selection': (('struct_size', 'Q'), ('match', 'P'), ('match_count', 'Q'), ('names', 'P'), ('name_count', 'Q'), ('include', 'P'), ('include_count', 'Q'), ('exclude', 'P'), ('exclude_count', 'Q'), ('min_size', 'Q'), ('max_size', 'Q'), ('newer_than_ns', 'q')),
    'folder_options': (('struct_size', 'Q'), ('path', 's'), ('bucket', 's'), ('prefix', 's'), ('max_failures', 'Q'), ('timeout_ns', 'q'), ('resume', 'I'), ('dry_run', 'I'), ('delete_extra', 'I'), ('on_error', 'I'), ('progress', 'I'), ('reserved', 'I'), ('select', 'P'), ('attributes', 'P'), ('by_time', 'I'), ('no_clobber', 'I')),
    'copy_objects_options': (('struct_size', 'Q'), ('source_bucket', 's'), ('source_prefix', 's'), ('bucket', 's'), ('prefix', 's'), ('select', 'P'), ('attributes', 'P'), ('max_failures', 'Q'), ('timeout_ns', 'q'), ('only_changed', 'I'), ('no_clobber', 'I'), ('move', 'I'), ('dry_run', 'I'), ('delete_extra', 'I'), ('on_error', 'I'), ('progress', 'I'), ('reserved', 'I')),
    'remove_prefix_options': (('struct_size', 'Q'), ('bucket', 's'), ('prefix', 's'), ('older_than_ns', 'q'), ('max_failures', 'Q'), ('timeout_ns', 'q'), ('for_good', 'I'), ('dry_run', 'I'), ('progress', 'I'), ('reserved', 'I')),
}
ABI_VERSION = 1
RECORD_VERIFIED = 1
RECORD_END = 2
RECORD_ROW = 4
CREDENTIALS_DEFAULT = 0
CREDENTIALS_ANONYMOUS = 1
CREDENTIALS_FILE = 2
CREDENTIALS_TOKEN = 3
SERVICE_GCS = 0
SERVICE_S3 = 1
SERVICE_AIS = 2
ADDRESSING_AUTOMATIC = 0
ADDRESSING_VIRTUAL_HOSTED = 1
ADDRESSING_PATH = 2
UPLOAD_CHECKSUM_FULL_OBJECT = 0
UPLOAD_CHECKSUM_COMPOSITE = 1
UPLOAD_CHECKSUM_NONE = 2
IF_GENERATION_MATCH = 1
IF_GENERATION_NOT_MATCH = 2
IF_METAGENERATION_MATCH = 4
IF_METAGENERATION_NOT_MATCH = 8
FIELD_BASIC = 1
FIELD_METAGENERATION = 2
FIELD_MD5_HASH = 4
FIELD_ETAG = 8
FIELD_CONTENT_TYPE = 16
FIELD_CONTENT_ENCODING = 32
FIELD_CONTENT_DISPOSITION = 64
FIELD_CONTENT_LANGUAGE = 128
FIELD_CACHE_CONTROL = 256
FIELD_STORAGE_CLASS = 512
FIELD_KMS_KEY_NAME = 1024
FIELD_TIME_CREATED = 2048
FIELD_UPDATED = 4096
FIELD_CUSTOM_TIME = 8192
FIELD_COMPONENT_COUNT = 16384
FIELD_METADATA = 32768
SHUFFLE_FULL = 0
SHUFFLE_WINDOW = 1
SHUFFLE_NONE = 2
SHUFFLE_BLOCKS = 3
EQUALIZE_DROP = 0
EQUALIZE_PAD = 1
BOUND_STEP = 0
BOUND_LINK = 1
BOUND_PROCESSORS = 2
BOUND_DECODING = 3
BOUND_MEMORY = 4
BOUND_CONCURRENCY = 5
BOUND_START = 6
ENDED_STOP = 0
ENDED_RESTART = 1
ENDED_DROP = 2
ORDER_AS_ASKED = 0
ORDER_AS_READY = 1
ON_ERROR_ITEM = 0
ON_ERROR_STOP = 1
URL_PATH = 0
URL_VIRTUAL_HOSTED = 1
URL_BUCKET_BOUND = 2
FORM_EQUAL = 0
FORM_BEGINS_WITH = 1
FORM_SIZE = 2
LEFTOVERS_UPLOADS = 1
LEFTOVERS_COMPOSITES = 2
UNFINISHED_REFUSE = 0
UNFINISHED_REPLACE = 1
STATUS_IS_SIGNED = -1
OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16
INTERRUPTED = 64
