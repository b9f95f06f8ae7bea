// By rust/generate.py from c_api/abi/dataflux.json: change the header, not this.
use core::ffi::{c_char, c_int, c_void};
use core::marker::{PhantomData, PhantomPinned};
use core::mem::offset_of;

pub type dataflux_status = i32;

pub const DATAFLUX_ABI_VERSION: u32 = 1;
pub const DATAFLUX_RECORD_VERIFIED: u32 = 1;
pub const DATAFLUX_RECORD_END: u32 = 2;
pub const DATAFLUX_RECORD_ROW: u32 = 4;
pub const DATAFLUX_CREDENTIALS_DEFAULT: u32 = 0;
pub const DATAFLUX_CREDENTIALS_ANONYMOUS: u32 = 1;
pub const DATAFLUX_CREDENTIALS_FILE: u32 = 2;
pub const DATAFLUX_CREDENTIALS_TOKEN: u32 = 3;
pub const DATAFLUX_SERVICE_GCS: u32 = 0;
pub const DATAFLUX_SERVICE_S3: u32 = 1;
pub const DATAFLUX_SERVICE_AIS: u32 = 2;
pub const DATAFLUX_ADDRESSING_AUTOMATIC: u32 = 0;
pub const DATAFLUX_ADDRESSING_VIRTUAL_HOSTED: u32 = 1;
pub const DATAFLUX_ADDRESSING_PATH: u32 = 2;
pub const DATAFLUX_UPLOAD_CHECKSUM_FULL_OBJECT: u32 = 0;
pub const DATAFLUX_UPLOAD_CHECKSUM_COMPOSITE: u32 = 1;
pub const DATAFLUX_UPLOAD_CHECKSUM_NONE: u32 = 2;
pub const DATAFLUX_IF_GENERATION_MATCH: u32 = 1;
pub const DATAFLUX_IF_GENERATION_NOT_MATCH: u32 = 2;
pub const DATAFLUX_IF_METAGENERATION_MATCH: u32 = 4;
pub const DATAFLUX_IF_METAGENERATION_NOT_MATCH: u32 = 8;
pub const DATAFLUX_FIELD_BASIC: u32 = 1;
pub const DATAFLUX_FIELD_METAGENERATION: u32 = 2;
pub const DATAFLUX_FIELD_MD5_HASH: u32 = 4;
pub const DATAFLUX_FIELD_ETAG: u32 = 8;
pub const DATAFLUX_FIELD_CONTENT_TYPE: u32 = 16;
pub const DATAFLUX_FIELD_CONTENT_ENCODING: u32 = 32;
pub const DATAFLUX_FIELD_CONTENT_DISPOSITION: u32 = 64;
pub const DATAFLUX_FIELD_CONTENT_LANGUAGE: u32 = 128;
pub const DATAFLUX_FIELD_CACHE_CONTROL: u32 = 256;
pub const DATAFLUX_FIELD_STORAGE_CLASS: u32 = 512;
pub const DATAFLUX_FIELD_KMS_KEY_NAME: u32 = 1024;
pub const DATAFLUX_FIELD_TIME_CREATED: u32 = 2048;
pub const DATAFLUX_FIELD_UPDATED: u32 = 4096;
pub const DATAFLUX_FIELD_CUSTOM_TIME: u32 = 8192;
pub const DATAFLUX_FIELD_COMPONENT_COUNT: u32 = 16384;
pub const DATAFLUX_FIELD_METADATA: u32 = 32768;
pub const DATAFLUX_SHUFFLE_FULL: u32 = 0;
pub const DATAFLUX_SHUFFLE_WINDOW: u32 = 1;
pub const DATAFLUX_SHUFFLE_NONE: u32 = 2;
pub const DATAFLUX_SHUFFLE_BLOCKS: u32 = 3;
pub const DATAFLUX_EQUALIZE_DROP: u32 = 0;
pub const DATAFLUX_EQUALIZE_PAD: u32 = 1;
pub const DATAFLUX_BOUND_STEP: u32 = 0;
pub const DATAFLUX_BOUND_LINK: u32 = 1;
pub const DATAFLUX_BOUND_PROCESSORS: u32 = 2;
pub const DATAFLUX_BOUND_DECODING: u32 = 3;
pub const DATAFLUX_BOUND_MEMORY: u32 = 4;
pub const DATAFLUX_BOUND_CONCURRENCY: u32 = 5;
pub const DATAFLUX_BOUND_START: u32 = 6;
pub const DATAFLUX_ENDED_STOP: u32 = 0;
pub const DATAFLUX_ENDED_RESTART: u32 = 1;
pub const DATAFLUX_ENDED_DROP: u32 = 2;
pub const DATAFLUX_ORDER_AS_ASKED: u32 = 0;
pub const DATAFLUX_ORDER_AS_READY: u32 = 1;
pub const DATAFLUX_ON_ERROR_ITEM: u32 = 0;
pub const DATAFLUX_ON_ERROR_STOP: u32 = 1;
pub const DATAFLUX_URL_PATH: u32 = 0;
pub const DATAFLUX_URL_VIRTUAL_HOSTED: u32 = 1;
pub const DATAFLUX_URL_BUCKET_BOUND: u32 = 2;
pub const DATAFLUX_FORM_EQUAL: u32 = 0;
pub const DATAFLUX_FORM_BEGINS_WITH: u32 = 1;
pub const DATAFLUX_FORM_SIZE: u32 = 2;
pub const DATAFLUX_LEFTOVERS_UPLOADS: u32 = 1;
pub const DATAFLUX_LEFTOVERS_COMPOSITES: u32 = 2;
pub const DATAFLUX_UNFINISHED_REFUSE: u32 = 0;
pub const DATAFLUX_UNFINISHED_REPLACE: u32 = 1;
pub const DATAFLUX_STATUS_IS_SIGNED: dataflux_status = -1;
pub const DATAFLUX_OK: dataflux_status = 0;
pub const DATAFLUX_CANCELLED: dataflux_status = 1;
pub const DATAFLUX_UNKNOWN: dataflux_status = 2;
pub const DATAFLUX_INVALID_ARGUMENT: dataflux_status = 3;
pub const DATAFLUX_DEADLINE_EXCEEDED: dataflux_status = 4;
pub const DATAFLUX_NOT_FOUND: dataflux_status = 5;
pub const DATAFLUX_ALREADY_EXISTS: dataflux_status = 6;
pub const DATAFLUX_PERMISSION_DENIED: dataflux_status = 7;
pub const DATAFLUX_RESOURCE_EXHAUSTED: dataflux_status = 8;
pub const DATAFLUX_FAILED_PRECONDITION: dataflux_status = 9;
pub const DATAFLUX_ABORTED: dataflux_status = 10;
pub const DATAFLUX_OUT_OF_RANGE: dataflux_status = 11;
pub const DATAFLUX_UNIMPLEMENTED: dataflux_status = 12;
pub const DATAFLUX_INTERNAL: dataflux_status = 13;
pub const DATAFLUX_UNAVAILABLE: dataflux_status = 14;
pub const DATAFLUX_DATA_LOSS: dataflux_status = 15;
pub const DATAFLUX_UNAUTHENTICATED: dataflux_status = 16;
pub const DATAFLUX_INTERRUPTED: dataflux_status = 64;

#[repr(C)]
pub struct ArrowArrayStream {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_error {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_queue {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_cache {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_client {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_job {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_operation {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_listing {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_mixer {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_getter {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_lister {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_manifest {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_changes {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_shard_index {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_shard_join {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_shard_stream {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_batch_getter {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_writer {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_shard_writer {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_reader {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_set {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_set_reader {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}
#[repr(C)]
pub struct dataflux_events {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_record {
    pub tag: u64,
    pub index: u64,
    pub data: *const c_void,
    pub size: u64,
    pub slab: u64,
    pub generation: i64,
    pub crc32c: u32,
    pub status: i32,
    pub flags: u32,
    pub error: u32,
}
impl Default for dataflux_record {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_record>() == 64);
    assert!(align_of::<dataflux_record>() == 8);
    assert!(offset_of!(dataflux_record, tag) == 0);
    assert!(offset_of!(dataflux_record, index) == 8);
    assert!(offset_of!(dataflux_record, data) == 16);
    assert!(offset_of!(dataflux_record, size) == 24);
    assert!(offset_of!(dataflux_record, slab) == 32);
    assert!(offset_of!(dataflux_record, generation) == 40);
    assert!(offset_of!(dataflux_record, crc32c) == 48);
    assert!(offset_of!(dataflux_record, status) == 52);
    assert!(offset_of!(dataflux_record, flags) == 56);
    assert!(offset_of!(dataflux_record, error) == 60);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_cache_options {
    pub struct_size: usize,
    pub bytes: u64,
    pub min_free: u64,
}
impl Default for dataflux_cache_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_cache_options>() == 24);
    assert!(align_of::<dataflux_cache_options>() == 8);
    assert!(offset_of!(dataflux_cache_options, struct_size) == 0);
    assert!(offset_of!(dataflux_cache_options, bytes) == 8);
    assert!(offset_of!(dataflux_cache_options, min_free) == 16);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_client_options {
    pub struct_size: usize,
    pub credentials: u32,
    pub emulator: u32,
    pub credentials_file: *const c_char,
    pub endpoint: *const c_char,
    pub user_project: *const c_char,
    pub quota_project: *const c_char,
    pub user_agent: *const c_char,
    pub ca_file: *const c_char,
    pub io_threads: u32,
    pub max_connections_per_host: u32,
    pub max_attempts: u32,
    pub max_concurrency: u32,
    pub memory_cap: u64,
    pub upload_memory: u64,
    pub slice: u64,
    pub connect_timeout_ns: i64,
    pub stall_timeout_ns: i64,
    pub token_limit_ns: i64,
    pub event_capacity: u64,
    pub first_byte_timeout_ns: i64,
    pub tokens_to_emulator: u32,
    pub reserved: u32,
    pub service: u32,
    pub addressing: u32,
    pub region: *const c_char,
    pub access_key_id: *const c_char,
    pub secret_access_key: *const c_char,
    pub session_token: *const c_char,
    pub requester_pays: u32,
    pub upload_checksum: u32,
    pub provider: *const c_char,
    pub cache: *const dataflux_cache,
    pub client_certificate_file: *const c_char,
    pub client_key_file: *const c_char,
    pub client_key_password: *const c_char,
    pub proxy: *const c_char,
    pub no_proxy: *const c_char,
    pub proxy_ca_file: *const c_char,
    pub resolve: *const c_char,
    pub host: *const c_char,
    pub token_cache: *const c_char,
    pub encryption_key: *const u8,
}
impl Default for dataflux_client_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_client_options>() == 296);
    assert!(align_of::<dataflux_client_options>() == 8);
    assert!(offset_of!(dataflux_client_options, struct_size) == 0);
    assert!(offset_of!(dataflux_client_options, credentials) == 8);
    assert!(offset_of!(dataflux_client_options, emulator) == 12);
    assert!(offset_of!(dataflux_client_options, credentials_file) == 16);
    assert!(offset_of!(dataflux_client_options, endpoint) == 24);
    assert!(offset_of!(dataflux_client_options, user_project) == 32);
    assert!(offset_of!(dataflux_client_options, quota_project) == 40);
    assert!(offset_of!(dataflux_client_options, user_agent) == 48);
    assert!(offset_of!(dataflux_client_options, ca_file) == 56);
    assert!(offset_of!(dataflux_client_options, io_threads) == 64);
    assert!(offset_of!(dataflux_client_options, max_connections_per_host) == 68);
    assert!(offset_of!(dataflux_client_options, max_attempts) == 72);
    assert!(offset_of!(dataflux_client_options, max_concurrency) == 76);
    assert!(offset_of!(dataflux_client_options, memory_cap) == 80);
    assert!(offset_of!(dataflux_client_options, upload_memory) == 88);
    assert!(offset_of!(dataflux_client_options, slice) == 96);
    assert!(offset_of!(dataflux_client_options, connect_timeout_ns) == 104);
    assert!(offset_of!(dataflux_client_options, stall_timeout_ns) == 112);
    assert!(offset_of!(dataflux_client_options, token_limit_ns) == 120);
    assert!(offset_of!(dataflux_client_options, event_capacity) == 128);
    assert!(offset_of!(dataflux_client_options, first_byte_timeout_ns) == 136);
    assert!(offset_of!(dataflux_client_options, tokens_to_emulator) == 144);
    assert!(offset_of!(dataflux_client_options, reserved) == 148);
    assert!(offset_of!(dataflux_client_options, service) == 152);
    assert!(offset_of!(dataflux_client_options, addressing) == 156);
    assert!(offset_of!(dataflux_client_options, region) == 160);
    assert!(offset_of!(dataflux_client_options, access_key_id) == 168);
    assert!(offset_of!(dataflux_client_options, secret_access_key) == 176);
    assert!(offset_of!(dataflux_client_options, session_token) == 184);
    assert!(offset_of!(dataflux_client_options, requester_pays) == 192);
    assert!(offset_of!(dataflux_client_options, upload_checksum) == 196);
    assert!(offset_of!(dataflux_client_options, provider) == 200);
    assert!(offset_of!(dataflux_client_options, cache) == 208);
    assert!(offset_of!(dataflux_client_options, client_certificate_file) == 216);
    assert!(offset_of!(dataflux_client_options, client_key_file) == 224);
    assert!(offset_of!(dataflux_client_options, client_key_password) == 232);
    assert!(offset_of!(dataflux_client_options, proxy) == 240);
    assert!(offset_of!(dataflux_client_options, no_proxy) == 248);
    assert!(offset_of!(dataflux_client_options, proxy_ca_file) == 256);
    assert!(offset_of!(dataflux_client_options, resolve) == 264);
    assert!(offset_of!(dataflux_client_options, host) == 272);
    assert!(offset_of!(dataflux_client_options, token_cache) == 280);
    assert!(offset_of!(dataflux_client_options, encryption_key) == 288);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_job_options {
    pub struct_size: usize,
    pub rank: u32,
    pub processes: u32,
    pub reads: f64,
    pub writes: f64,
    pub lease_ns: i64,
}
impl Default for dataflux_job_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_job_options>() == 40);
    assert!(align_of::<dataflux_job_options>() == 8);
    assert!(offset_of!(dataflux_job_options, struct_size) == 0);
    assert!(offset_of!(dataflux_job_options, rank) == 8);
    assert!(offset_of!(dataflux_job_options, processes) == 12);
    assert!(offset_of!(dataflux_job_options, reads) == 16);
    assert!(offset_of!(dataflux_job_options, writes) == 24);
    assert!(offset_of!(dataflux_job_options, lease_ns) == 32);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_conditions {
    pub struct_size: usize,
    pub has: u32,
    pub reserved: u32,
    pub generation_match: i64,
    pub generation_not_match: i64,
    pub metageneration_match: i64,
    pub metageneration_not_match: i64,
}
impl Default for dataflux_conditions {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_conditions>() == 48);
    assert!(align_of::<dataflux_conditions>() == 8);
    assert!(offset_of!(dataflux_conditions, struct_size) == 0);
    assert!(offset_of!(dataflux_conditions, has) == 8);
    assert!(offset_of!(dataflux_conditions, reserved) == 12);
    assert!(offset_of!(dataflux_conditions, generation_match) == 16);
    assert!(offset_of!(dataflux_conditions, generation_not_match) == 24);
    assert!(offset_of!(dataflux_conditions, metageneration_match) == 32);
    assert!(offset_of!(dataflux_conditions, metageneration_not_match) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_object_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub generation: i64,
    pub timeout_ns: i64,
    pub conditions: *const dataflux_conditions,
    pub fields: u32,
    pub whole: u32,
    pub member: *const c_char,
    pub encryption_key: *const u8,
    pub no_encryption_key: u32,
    pub reserved: u32,
}
impl Default for dataflux_object_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_object_options>() == 80);
    assert!(align_of::<dataflux_object_options>() == 8);
    assert!(offset_of!(dataflux_object_options, struct_size) == 0);
    assert!(offset_of!(dataflux_object_options, bucket) == 8);
    assert!(offset_of!(dataflux_object_options, object) == 16);
    assert!(offset_of!(dataflux_object_options, generation) == 24);
    assert!(offset_of!(dataflux_object_options, timeout_ns) == 32);
    assert!(offset_of!(dataflux_object_options, conditions) == 40);
    assert!(offset_of!(dataflux_object_options, fields) == 48);
    assert!(offset_of!(dataflux_object_options, whole) == 52);
    assert!(offset_of!(dataflux_object_options, member) == 56);
    assert!(offset_of!(dataflux_object_options, encryption_key) == 64);
    assert!(offset_of!(dataflux_object_options, no_encryption_key) == 72);
    assert!(offset_of!(dataflux_object_options, reserved) == 76);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_attributes {
    pub struct_size: usize,
    pub content_type: *const c_char,
    pub content_encoding: *const c_char,
    pub content_disposition: *const c_char,
    pub content_language: *const c_char,
    pub cache_control: *const c_char,
    pub storage_class: *const c_char,
    pub kms_key_name: *const c_char,
    pub custom_time_ns: i64,
    pub metadata_names: *const *const c_char,
    pub metadata_values: *const *const c_char,
    pub metadata_count: usize,
}
impl Default for dataflux_attributes {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_attributes>() == 96);
    assert!(align_of::<dataflux_attributes>() == 8);
    assert!(offset_of!(dataflux_attributes, struct_size) == 0);
    assert!(offset_of!(dataflux_attributes, content_type) == 8);
    assert!(offset_of!(dataflux_attributes, content_encoding) == 16);
    assert!(offset_of!(dataflux_attributes, content_disposition) == 24);
    assert!(offset_of!(dataflux_attributes, content_language) == 32);
    assert!(offset_of!(dataflux_attributes, cache_control) == 40);
    assert!(offset_of!(dataflux_attributes, storage_class) == 48);
    assert!(offset_of!(dataflux_attributes, kms_key_name) == 56);
    assert!(offset_of!(dataflux_attributes, custom_time_ns) == 64);
    assert!(offset_of!(dataflux_attributes, metadata_names) == 72);
    assert!(offset_of!(dataflux_attributes, metadata_values) == 80);
    assert!(offset_of!(dataflux_attributes, metadata_count) == 88);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_list_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub start_offset: *const c_char,
    pub end_offset: *const c_char,
    pub delimiter: *const c_char,
    pub match_glob: *const c_char,
    pub suffix: *const c_char,
    pub regex: *const c_char,
    pub min_size: u64,
    pub max_size: u64,
    pub keep_markers: u32,
    pub keep_composed: u32,
    pub versions: u32,
    pub parallelism: u32,
    pub max_calls: u64,
    pub memory_cap: u64,
    pub timeout_ns: i64,
    pub partial: u32,
    pub by_name: u32,
    pub storage_classes: *const *const c_char,
    pub storage_class_count: usize,
}
impl Default for dataflux_list_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_list_options>() == 152);
    assert!(align_of::<dataflux_list_options>() == 8);
    assert!(offset_of!(dataflux_list_options, struct_size) == 0);
    assert!(offset_of!(dataflux_list_options, bucket) == 8);
    assert!(offset_of!(dataflux_list_options, prefix) == 16);
    assert!(offset_of!(dataflux_list_options, start_offset) == 24);
    assert!(offset_of!(dataflux_list_options, end_offset) == 32);
    assert!(offset_of!(dataflux_list_options, delimiter) == 40);
    assert!(offset_of!(dataflux_list_options, match_glob) == 48);
    assert!(offset_of!(dataflux_list_options, suffix) == 56);
    assert!(offset_of!(dataflux_list_options, regex) == 64);
    assert!(offset_of!(dataflux_list_options, min_size) == 72);
    assert!(offset_of!(dataflux_list_options, max_size) == 80);
    assert!(offset_of!(dataflux_list_options, keep_markers) == 88);
    assert!(offset_of!(dataflux_list_options, keep_composed) == 92);
    assert!(offset_of!(dataflux_list_options, versions) == 96);
    assert!(offset_of!(dataflux_list_options, parallelism) == 100);
    assert!(offset_of!(dataflux_list_options, max_calls) == 104);
    assert!(offset_of!(dataflux_list_options, memory_cap) == 112);
    assert!(offset_of!(dataflux_list_options, timeout_ns) == 120);
    assert!(offset_of!(dataflux_list_options, partial) == 128);
    assert!(offset_of!(dataflux_list_options, by_name) == 132);
    assert!(offset_of!(dataflux_list_options, storage_classes) == 136);
    assert!(offset_of!(dataflux_list_options, storage_class_count) == 144);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_chunk {
    pub first_row: u64,
    pub rows: u64,
    pub names: *const c_char,
    pub name_offsets: *const i32,
    pub sizes: *const u64,
    pub generations: *const i64,
    pub crc32c: *const u32,
    pub crc32c_valid: *const u8,
    pub first_bit: u64,
}
impl Default for dataflux_chunk {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_chunk>() == 72);
    assert!(align_of::<dataflux_chunk>() == 8);
    assert!(offset_of!(dataflux_chunk, first_row) == 0);
    assert!(offset_of!(dataflux_chunk, rows) == 8);
    assert!(offset_of!(dataflux_chunk, names) == 16);
    assert!(offset_of!(dataflux_chunk, name_offsets) == 24);
    assert!(offset_of!(dataflux_chunk, sizes) == 32);
    assert!(offset_of!(dataflux_chunk, generations) == 40);
    assert!(offset_of!(dataflux_chunk, crc32c) == 48);
    assert!(offset_of!(dataflux_chunk, crc32c_valid) == 56);
    assert!(offset_of!(dataflux_chunk, first_bit) == 64);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_sampler_options {
    pub struct_size: usize,
    pub count: u64,
    pub seed: u64,
    pub epoch: u64,
    pub block: u64,
    pub window: u64,
    pub shuffle: u32,
    pub equalize: u32,
    pub rank: u32,
    pub world_size: u32,
}
impl Default for dataflux_sampler_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_sampler_options>() == 64);
    assert!(align_of::<dataflux_sampler_options>() == 8);
    assert!(offset_of!(dataflux_sampler_options, struct_size) == 0);
    assert!(offset_of!(dataflux_sampler_options, count) == 8);
    assert!(offset_of!(dataflux_sampler_options, seed) == 16);
    assert!(offset_of!(dataflux_sampler_options, epoch) == 24);
    assert!(offset_of!(dataflux_sampler_options, block) == 32);
    assert!(offset_of!(dataflux_sampler_options, window) == 40);
    assert!(offset_of!(dataflux_sampler_options, shuffle) == 48);
    assert!(offset_of!(dataflux_sampler_options, equalize) == 52);
    assert!(offset_of!(dataflux_sampler_options, rank) == 56);
    assert!(offset_of!(dataflux_sampler_options, world_size) == 60);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_epoch_reads {
    pub struct_size: usize,
    pub sample_bytes: f64,
    pub shard_samples: f64,
    pub batch: u64,
    pub memory: u64,
    pub gap: u64,
    pub workers: u64,
}
impl Default for dataflux_epoch_reads {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_epoch_reads>() == 56);
    assert!(align_of::<dataflux_epoch_reads>() == 8);
    assert!(offset_of!(dataflux_epoch_reads, struct_size) == 0);
    assert!(offset_of!(dataflux_epoch_reads, sample_bytes) == 8);
    assert!(offset_of!(dataflux_epoch_reads, shard_samples) == 16);
    assert!(offset_of!(dataflux_epoch_reads, batch) == 24);
    assert!(offset_of!(dataflux_epoch_reads, memory) == 32);
    assert!(offset_of!(dataflux_epoch_reads, gap) == 40);
    assert!(offset_of!(dataflux_epoch_reads, workers) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_order_cost {
    pub requests: f64,
    pub bytes_read: f64,
    pub readers: f64,
    pub held: f64,
    pub lag_correlation: f64,
    pub same_shard: f64,
    pub same_shard_of_full: f64,
}
impl Default for dataflux_order_cost {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_order_cost>() == 56);
    assert!(align_of::<dataflux_order_cost>() == 8);
    assert!(offset_of!(dataflux_order_cost, requests) == 0);
    assert!(offset_of!(dataflux_order_cost, bytes_read) == 8);
    assert!(offset_of!(dataflux_order_cost, readers) == 16);
    assert!(offset_of!(dataflux_order_cost, held) == 24);
    assert!(offset_of!(dataflux_order_cost, lag_correlation) == 32);
    assert!(offset_of!(dataflux_order_cost, same_shard) == 40);
    assert!(offset_of!(dataflux_order_cost, same_shard_of_full) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_epoch_model {
    pub struct_size: usize,
    pub listing: *const dataflux_listing,
    pub sizes: *const u64,
    pub counts: *const u64,
    pub size_count: u64,
    pub epochs: u64,
    pub link: f64,
    pub connection_rate: f64,
    pub round_trip_ns: i64,
    pub spread: f64,
    pub memory: u64,
    pub request_ns: i64,
    pub byte_ns: f64,
    pub decode_ns: i64,
    pub workers: u64,
    pub batch: u64,
    pub step_ns: i64,
    pub class_a_price: f64,
    pub class_b_price: f64,
    pub gib_price: f64,
    pub seed: u64,
    pub connecting_trips: u32,
    pub processors: u32,
    pub concurrency: u32,
    pub decode_threads: u32,
    pub order: u32,
    pub listed: u32,
}
impl Default for dataflux_epoch_model {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_epoch_model>() == 192);
    assert!(align_of::<dataflux_epoch_model>() == 8);
    assert!(offset_of!(dataflux_epoch_model, struct_size) == 0);
    assert!(offset_of!(dataflux_epoch_model, listing) == 8);
    assert!(offset_of!(dataflux_epoch_model, sizes) == 16);
    assert!(offset_of!(dataflux_epoch_model, counts) == 24);
    assert!(offset_of!(dataflux_epoch_model, size_count) == 32);
    assert!(offset_of!(dataflux_epoch_model, epochs) == 40);
    assert!(offset_of!(dataflux_epoch_model, link) == 48);
    assert!(offset_of!(dataflux_epoch_model, connection_rate) == 56);
    assert!(offset_of!(dataflux_epoch_model, round_trip_ns) == 64);
    assert!(offset_of!(dataflux_epoch_model, spread) == 72);
    assert!(offset_of!(dataflux_epoch_model, memory) == 80);
    assert!(offset_of!(dataflux_epoch_model, request_ns) == 88);
    assert!(offset_of!(dataflux_epoch_model, byte_ns) == 96);
    assert!(offset_of!(dataflux_epoch_model, decode_ns) == 104);
    assert!(offset_of!(dataflux_epoch_model, workers) == 112);
    assert!(offset_of!(dataflux_epoch_model, batch) == 120);
    assert!(offset_of!(dataflux_epoch_model, step_ns) == 128);
    assert!(offset_of!(dataflux_epoch_model, class_a_price) == 136);
    assert!(offset_of!(dataflux_epoch_model, class_b_price) == 144);
    assert!(offset_of!(dataflux_epoch_model, gib_price) == 152);
    assert!(offset_of!(dataflux_epoch_model, seed) == 160);
    assert!(offset_of!(dataflux_epoch_model, connecting_trips) == 168);
    assert!(offset_of!(dataflux_epoch_model, processors) == 172);
    assert!(offset_of!(dataflux_epoch_model, concurrency) == 176);
    assert!(offset_of!(dataflux_epoch_model, decode_threads) == 180);
    assert!(offset_of!(dataflux_epoch_model, order) == 184);
    assert!(offset_of!(dataflux_epoch_model, listed) == 188);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_epoch_forecast {
    pub seconds: f64,
    pub first_batch: f64,
    pub samples_per_second: f64,
    pub bytes_per_second: f64,
    pub link_share: f64,
    pub processors_share: f64,
    pub waited: f64,
    pub price: f64,
    pub in_flight: f64,
    pub simulated: f64,
    pub samples: u64,
    pub bytes: u64,
    pub class_a: u64,
    pub class_b: u64,
    pub hedged: u64,
    pub peak_memory: u64,
    pub bound: u64,
}
impl Default for dataflux_epoch_forecast {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_epoch_forecast>() == 136);
    assert!(align_of::<dataflux_epoch_forecast>() == 8);
    assert!(offset_of!(dataflux_epoch_forecast, seconds) == 0);
    assert!(offset_of!(dataflux_epoch_forecast, first_batch) == 8);
    assert!(offset_of!(dataflux_epoch_forecast, samples_per_second) == 16);
    assert!(offset_of!(dataflux_epoch_forecast, bytes_per_second) == 24);
    assert!(offset_of!(dataflux_epoch_forecast, link_share) == 32);
    assert!(offset_of!(dataflux_epoch_forecast, processors_share) == 40);
    assert!(offset_of!(dataflux_epoch_forecast, waited) == 48);
    assert!(offset_of!(dataflux_epoch_forecast, price) == 56);
    assert!(offset_of!(dataflux_epoch_forecast, in_flight) == 64);
    assert!(offset_of!(dataflux_epoch_forecast, simulated) == 72);
    assert!(offset_of!(dataflux_epoch_forecast, samples) == 80);
    assert!(offset_of!(dataflux_epoch_forecast, bytes) == 88);
    assert!(offset_of!(dataflux_epoch_forecast, class_a) == 96);
    assert!(offset_of!(dataflux_epoch_forecast, class_b) == 104);
    assert!(offset_of!(dataflux_epoch_forecast, hedged) == 112);
    assert!(offset_of!(dataflux_epoch_forecast, peak_memory) == 120);
    assert!(offset_of!(dataflux_epoch_forecast, bound) == 128);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_mixer_options {
    pub struct_size: usize,
    pub sizes: *const u64,
    pub froms: *const u64,
    pub parts: *const u32,
    pub counts: *const u64,
    pub sources: u64,
    pub stages: u32,
    pub ended: u32,
}
impl Default for dataflux_mixer_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_mixer_options>() == 56);
    assert!(align_of::<dataflux_mixer_options>() == 8);
    assert!(offset_of!(dataflux_mixer_options, struct_size) == 0);
    assert!(offset_of!(dataflux_mixer_options, sizes) == 8);
    assert!(offset_of!(dataflux_mixer_options, froms) == 16);
    assert!(offset_of!(dataflux_mixer_options, parts) == 24);
    assert!(offset_of!(dataflux_mixer_options, counts) == 32);
    assert!(offset_of!(dataflux_mixer_options, sources) == 40);
    assert!(offset_of!(dataflux_mixer_options, stages) == 48);
    assert!(offset_of!(dataflux_mixer_options, ended) == 52);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_get_many_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub order: u32,
    pub on_error: u32,
    pub compose: u32,
    pub feed: u32,
    pub feed_capacity: u64,
    pub timeout_ns: i64,
}
impl Default for dataflux_get_many_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_get_many_options>() == 48);
    assert!(align_of::<dataflux_get_many_options>() == 8);
    assert!(offset_of!(dataflux_get_many_options, struct_size) == 0);
    assert!(offset_of!(dataflux_get_many_options, bucket) == 8);
    assert!(offset_of!(dataflux_get_many_options, order) == 16);
    assert!(offset_of!(dataflux_get_many_options, on_error) == 20);
    assert!(offset_of!(dataflux_get_many_options, compose) == 24);
    assert!(offset_of!(dataflux_get_many_options, feed) == 28);
    assert!(offset_of!(dataflux_get_many_options, feed_capacity) == 32);
    assert!(offset_of!(dataflux_get_many_options, timeout_ns) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_get_columns {
    pub struct_size: usize,
    pub names: *const c_char,
    pub name_offsets: *const u64,
    pub generations: *const i64,
    pub offsets: *const u64,
    pub lengths: *const u64,
    pub into: *const *mut c_void,
    pub object_sizes: *const u64,
    pub members: *const c_char,
    pub member_offsets: *const u64,
}
impl Default for dataflux_get_columns {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_get_columns>() == 80);
    assert!(align_of::<dataflux_get_columns>() == 8);
    assert!(offset_of!(dataflux_get_columns, struct_size) == 0);
    assert!(offset_of!(dataflux_get_columns, names) == 8);
    assert!(offset_of!(dataflux_get_columns, name_offsets) == 16);
    assert!(offset_of!(dataflux_get_columns, generations) == 24);
    assert!(offset_of!(dataflux_get_columns, offsets) == 32);
    assert!(offset_of!(dataflux_get_columns, lengths) == 40);
    assert!(offset_of!(dataflux_get_columns, into) == 48);
    assert!(offset_of!(dataflux_get_columns, object_sizes) == 56);
    assert!(offset_of!(dataflux_get_columns, members) == 64);
    assert!(offset_of!(dataflux_get_columns, member_offsets) == 72);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_sign_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub life_ns: i64,
    pub generation: i64,
    pub style: u32,
    pub reserved: u32,
    pub host: *const c_char,
    pub scheme: *const c_char,
    pub account: *const c_char,
    pub access_key_id: *const c_char,
    pub secret_access_key: *const c_char,
    pub timeout_ns: i64,
}
impl Default for dataflux_sign_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_sign_options>() == 96);
    assert!(align_of::<dataflux_sign_options>() == 8);
    assert!(offset_of!(dataflux_sign_options, struct_size) == 0);
    assert!(offset_of!(dataflux_sign_options, bucket) == 8);
    assert!(offset_of!(dataflux_sign_options, object) == 16);
    assert!(offset_of!(dataflux_sign_options, life_ns) == 24);
    assert!(offset_of!(dataflux_sign_options, generation) == 32);
    assert!(offset_of!(dataflux_sign_options, style) == 40);
    assert!(offset_of!(dataflux_sign_options, reserved) == 44);
    assert!(offset_of!(dataflux_sign_options, host) == 48);
    assert!(offset_of!(dataflux_sign_options, scheme) == 56);
    assert!(offset_of!(dataflux_sign_options, account) == 64);
    assert!(offset_of!(dataflux_sign_options, access_key_id) == 72);
    assert!(offset_of!(dataflux_sign_options, secret_access_key) == 80);
    assert!(offset_of!(dataflux_sign_options, timeout_ns) == 88);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_signed_request {
    pub struct_size: usize,
    pub method: *const c_char,
    pub header_names: *const *const c_char,
    pub header_values: *const *const c_char,
    pub header_count: usize,
    pub parameter_names: *const *const c_char,
    pub parameter_values: *const *const c_char,
    pub parameter_count: usize,
}
impl Default for dataflux_signed_request {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_signed_request>() == 64);
    assert!(align_of::<dataflux_signed_request>() == 8);
    assert!(offset_of!(dataflux_signed_request, struct_size) == 0);
    assert!(offset_of!(dataflux_signed_request, method) == 8);
    assert!(offset_of!(dataflux_signed_request, header_names) == 16);
    assert!(offset_of!(dataflux_signed_request, header_values) == 24);
    assert!(offset_of!(dataflux_signed_request, header_count) == 32);
    assert!(offset_of!(dataflux_signed_request, parameter_names) == 40);
    assert!(offset_of!(dataflux_signed_request, parameter_values) == 48);
    assert!(offset_of!(dataflux_signed_request, parameter_count) == 56);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_form_condition {
    pub field: *const c_char,
    pub value: *const c_char,
    pub least: u64,
    pub most: u64,
    pub rule: u32,
    pub reserved: u32,
}
impl Default for dataflux_form_condition {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_form_condition>() == 40);
    assert!(align_of::<dataflux_form_condition>() == 8);
    assert!(offset_of!(dataflux_form_condition, field) == 0);
    assert!(offset_of!(dataflux_form_condition, value) == 8);
    assert!(offset_of!(dataflux_form_condition, least) == 16);
    assert!(offset_of!(dataflux_form_condition, most) == 24);
    assert!(offset_of!(dataflux_form_condition, rule) == 32);
    assert!(offset_of!(dataflux_form_condition, reserved) == 36);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_bucket_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub timeout_ns: i64,
}
impl Default for dataflux_bucket_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_bucket_options>() == 24);
    assert!(align_of::<dataflux_bucket_options>() == 8);
    assert!(offset_of!(dataflux_bucket_options, struct_size) == 0);
    assert!(offset_of!(dataflux_bucket_options, bucket) == 8);
    assert!(offset_of!(dataflux_bucket_options, timeout_ns) == 16);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_bulk_restore_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub match_globs: *const *const c_char,
    pub match_glob_count: usize,
    pub deleted_after_ns: i64,
    pub deleted_before_ns: i64,
    pub created_after_ns: i64,
    pub created_before_ns: i64,
    pub timeout_ns: i64,
    pub overwrite: u32,
    pub reserved: u32,
}
impl Default for dataflux_bulk_restore_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_bulk_restore_options>() == 80);
    assert!(align_of::<dataflux_bulk_restore_options>() == 8);
    assert!(offset_of!(dataflux_bulk_restore_options, struct_size) == 0);
    assert!(offset_of!(dataflux_bulk_restore_options, bucket) == 8);
    assert!(offset_of!(dataflux_bulk_restore_options, match_globs) == 16);
    assert!(offset_of!(dataflux_bulk_restore_options, match_glob_count) == 24);
    assert!(offset_of!(dataflux_bulk_restore_options, deleted_after_ns) == 32);
    assert!(offset_of!(dataflux_bulk_restore_options, deleted_before_ns) == 40);
    assert!(offset_of!(dataflux_bulk_restore_options, created_after_ns) == 48);
    assert!(offset_of!(dataflux_bulk_restore_options, created_before_ns) == 56);
    assert!(offset_of!(dataflux_bulk_restore_options, timeout_ns) == 64);
    assert!(offset_of!(dataflux_bulk_restore_options, overwrite) == 72);
    assert!(offset_of!(dataflux_bulk_restore_options, reserved) == 76);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_list_buckets_options {
    pub struct_size: usize,
    pub project: *const c_char,
    pub prefix: *const c_char,
    pub timeout_ns: i64,
}
impl Default for dataflux_list_buckets_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_list_buckets_options>() == 32);
    assert!(align_of::<dataflux_list_buckets_options>() == 8);
    assert!(offset_of!(dataflux_list_buckets_options, struct_size) == 0);
    assert!(offset_of!(dataflux_list_buckets_options, project) == 8);
    assert!(offset_of!(dataflux_list_buckets_options, prefix) == 16);
    assert!(offset_of!(dataflux_list_buckets_options, timeout_ns) == 24);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_manifest_options {
    pub struct_size: usize,
    pub path: *const c_char,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub timeout_ns: i64,
}
impl Default for dataflux_manifest_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_manifest_options>() == 40);
    assert!(align_of::<dataflux_manifest_options>() == 8);
    assert!(offset_of!(dataflux_manifest_options, struct_size) == 0);
    assert!(offset_of!(dataflux_manifest_options, path) == 8);
    assert!(offset_of!(dataflux_manifest_options, bucket) == 16);
    assert!(offset_of!(dataflux_manifest_options, object) == 24);
    assert!(offset_of!(dataflux_manifest_options, timeout_ns) == 32);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_row {
    pub name: *const c_char,
    pub name_size: u64,
    pub size: u64,
    pub generation: i64,
    pub crc32c: u32,
    pub has_crc32c: u32,
}
impl Default for dataflux_row {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_row>() == 40);
    assert!(align_of::<dataflux_row>() == 8);
    assert!(offset_of!(dataflux_row, name) == 0);
    assert!(offset_of!(dataflux_row, name_size) == 8);
    assert!(offset_of!(dataflux_row, size) == 16);
    assert!(offset_of!(dataflux_row, generation) == 24);
    assert!(offset_of!(dataflux_row, crc32c) == 32);
    assert!(offset_of!(dataflux_row, has_crc32c) == 36);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_refresh_options {
    pub struct_size: usize,
    pub parallelism: u32,
    pub reserved: u32,
    pub timeout_ns: i64,
}
impl Default for dataflux_refresh_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_refresh_options>() == 24);
    assert!(align_of::<dataflux_refresh_options>() == 8);
    assert!(offset_of!(dataflux_refresh_options, struct_size) == 0);
    assert!(offset_of!(dataflux_refresh_options, parallelism) == 8);
    assert!(offset_of!(dataflux_refresh_options, reserved) == 12);
    assert!(offset_of!(dataflux_refresh_options, timeout_ns) == 16);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_changed_rows {
    pub added: *const u64,
    pub added_count: u64,
    pub removed: *const u64,
    pub removed_count: u64,
    pub changed: *const u64,
    pub changed_count: u64,
    pub unchanged_count: u64,
}
impl Default for dataflux_changed_rows {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_changed_rows>() == 56);
    assert!(align_of::<dataflux_changed_rows>() == 8);
    assert!(offset_of!(dataflux_changed_rows, added) == 0);
    assert!(offset_of!(dataflux_changed_rows, added_count) == 8);
    assert!(offset_of!(dataflux_changed_rows, removed) == 16);
    assert!(offset_of!(dataflux_changed_rows, removed_count) == 24);
    assert!(offset_of!(dataflux_changed_rows, changed) == 32);
    assert!(offset_of!(dataflux_changed_rows, changed_count) == 40);
    assert!(offset_of!(dataflux_changed_rows, unchanged_count) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_index_shards_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub path: *const c_char,
    pub skip_from: u64,
    pub timeout_ns: i64,
    pub parallelism: u32,
    pub read_concatenated: u32,
    pub ignore_trailing: u32,
    pub end_at_damage: u32,
    pub keep_case: u32,
    pub strip_dot_slash: u32,
    pub keep_first: u32,
    pub progress: u32,
    pub rows: *const u64,
    pub row_count: usize,
    pub board_bucket: *const c_char,
    pub board_prefix: *const c_char,
    pub lease_ns: i64,
    pub parts: *const *const dataflux_shard_index,
    pub part_count: usize,
}
impl Default for dataflux_index_shards_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_index_shards_options>() == 128);
    assert!(align_of::<dataflux_index_shards_options>() == 8);
    assert!(offset_of!(dataflux_index_shards_options, struct_size) == 0);
    assert!(offset_of!(dataflux_index_shards_options, bucket) == 8);
    assert!(offset_of!(dataflux_index_shards_options, path) == 16);
    assert!(offset_of!(dataflux_index_shards_options, skip_from) == 24);
    assert!(offset_of!(dataflux_index_shards_options, timeout_ns) == 32);
    assert!(offset_of!(dataflux_index_shards_options, parallelism) == 40);
    assert!(offset_of!(dataflux_index_shards_options, read_concatenated) == 44);
    assert!(offset_of!(dataflux_index_shards_options, ignore_trailing) == 48);
    assert!(offset_of!(dataflux_index_shards_options, end_at_damage) == 52);
    assert!(offset_of!(dataflux_index_shards_options, keep_case) == 56);
    assert!(offset_of!(dataflux_index_shards_options, strip_dot_slash) == 60);
    assert!(offset_of!(dataflux_index_shards_options, keep_first) == 64);
    assert!(offset_of!(dataflux_index_shards_options, progress) == 68);
    assert!(offset_of!(dataflux_index_shards_options, rows) == 72);
    assert!(offset_of!(dataflux_index_shards_options, row_count) == 80);
    assert!(offset_of!(dataflux_index_shards_options, board_bucket) == 88);
    assert!(offset_of!(dataflux_index_shards_options, board_prefix) == 96);
    assert!(offset_of!(dataflux_index_shards_options, lease_ns) == 104);
    assert!(offset_of!(dataflux_index_shards_options, parts) == 112);
    assert!(offset_of!(dataflux_index_shards_options, part_count) == 120);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_verify_shards_options {
    pub struct_size: usize,
    pub path: *const c_char,
    pub timeout_ns: i64,
    pub parallelism: u32,
    pub return_wrong: u32,
    pub progress: u32,
    pub reserved: u32,
}
impl Default for dataflux_verify_shards_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_verify_shards_options>() == 40);
    assert!(align_of::<dataflux_verify_shards_options>() == 8);
    assert!(offset_of!(dataflux_verify_shards_options, struct_size) == 0);
    assert!(offset_of!(dataflux_verify_shards_options, path) == 8);
    assert!(offset_of!(dataflux_verify_shards_options, timeout_ns) == 16);
    assert!(offset_of!(dataflux_verify_shards_options, parallelism) == 24);
    assert!(offset_of!(dataflux_verify_shards_options, return_wrong) == 28);
    assert!(offset_of!(dataflux_verify_shards_options, progress) == 32);
    assert!(offset_of!(dataflux_verify_shards_options, reserved) == 36);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_shard_index_info {
    pub shards: u64,
    pub samples: u64,
    pub bytes: u64,
    pub digest: u64,
    pub bucket: *const c_char,
    pub json: *const c_char,
}
impl Default for dataflux_shard_index_info {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_shard_index_info>() == 48);
    assert!(align_of::<dataflux_shard_index_info>() == 8);
    assert!(offset_of!(dataflux_shard_index_info, shards) == 0);
    assert!(offset_of!(dataflux_shard_index_info, samples) == 8);
    assert!(offset_of!(dataflux_shard_index_info, bytes) == 16);
    assert!(offset_of!(dataflux_shard_index_info, digest) == 24);
    assert!(offset_of!(dataflux_shard_index_info, bucket) == 32);
    assert!(offset_of!(dataflux_shard_index_info, json) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_indexed_shard {
    pub name: *const c_char,
    pub name_size: u64,
    pub size: u64,
    pub generation: i64,
    pub crc32c: u32,
    pub has_crc32c: u32,
    pub first_sample: u64,
    pub samples: u64,
    pub checksummed: u64,
    pub concatenated: u64,
    pub trailing: u64,
    pub damaged: u64,
    pub missing_ends: u64,
    pub bytes_behind: u64,
    pub hard_links: u64,
    pub symlinks: u64,
    pub directories: u64,
    pub devices: u64,
    pub other: u64,
    pub hidden: u64,
    pub no_field: u64,
    pub repeated: u64,
}
impl Default for dataflux_indexed_shard {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_indexed_shard>() == 168);
    assert!(align_of::<dataflux_indexed_shard>() == 8);
    assert!(offset_of!(dataflux_indexed_shard, name) == 0);
    assert!(offset_of!(dataflux_indexed_shard, name_size) == 8);
    assert!(offset_of!(dataflux_indexed_shard, size) == 16);
    assert!(offset_of!(dataflux_indexed_shard, generation) == 24);
    assert!(offset_of!(dataflux_indexed_shard, crc32c) == 32);
    assert!(offset_of!(dataflux_indexed_shard, has_crc32c) == 36);
    assert!(offset_of!(dataflux_indexed_shard, first_sample) == 40);
    assert!(offset_of!(dataflux_indexed_shard, samples) == 48);
    assert!(offset_of!(dataflux_indexed_shard, checksummed) == 56);
    assert!(offset_of!(dataflux_indexed_shard, concatenated) == 64);
    assert!(offset_of!(dataflux_indexed_shard, trailing) == 72);
    assert!(offset_of!(dataflux_indexed_shard, damaged) == 80);
    assert!(offset_of!(dataflux_indexed_shard, missing_ends) == 88);
    assert!(offset_of!(dataflux_indexed_shard, bytes_behind) == 96);
    assert!(offset_of!(dataflux_indexed_shard, hard_links) == 104);
    assert!(offset_of!(dataflux_indexed_shard, symlinks) == 112);
    assert!(offset_of!(dataflux_indexed_shard, directories) == 120);
    assert!(offset_of!(dataflux_indexed_shard, devices) == 128);
    assert!(offset_of!(dataflux_indexed_shard, other) == 136);
    assert!(offset_of!(dataflux_indexed_shard, hidden) == 144);
    assert!(offset_of!(dataflux_indexed_shard, no_field) == 152);
    assert!(offset_of!(dataflux_indexed_shard, repeated) == 160);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_sample_columns {
    pub struct_size: usize,
    pub shards: *mut u64,
    pub offsets: *mut u64,
    pub sizes: *mut u64,
    pub fields: *mut u64,
    pub crc32c: *mut u32,
    pub has_crc32c: *mut u8,
}
impl Default for dataflux_sample_columns {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_sample_columns>() == 56);
    assert!(align_of::<dataflux_sample_columns>() == 8);
    assert!(offset_of!(dataflux_sample_columns, struct_size) == 0);
    assert!(offset_of!(dataflux_sample_columns, shards) == 8);
    assert!(offset_of!(dataflux_sample_columns, offsets) == 16);
    assert!(offset_of!(dataflux_sample_columns, sizes) == 24);
    assert!(offset_of!(dataflux_sample_columns, fields) == 32);
    assert!(offset_of!(dataflux_sample_columns, crc32c) == 40);
    assert!(offset_of!(dataflux_sample_columns, has_crc32c) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_sample_field {
    pub name: *const c_char,
    pub name_size: u64,
    pub offset: u64,
    pub size: u64,
}
impl Default for dataflux_sample_field {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_sample_field>() == 32);
    assert!(align_of::<dataflux_sample_field>() == 8);
    assert!(offset_of!(dataflux_sample_field, name) == 0);
    assert!(offset_of!(dataflux_sample_field, name_size) == 8);
    assert!(offset_of!(dataflux_sample_field, offset) == 16);
    assert!(offset_of!(dataflux_sample_field, size) == 24);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_join_options {
    pub struct_size: usize,
    pub left_outer: u32,
    pub all_pairs: u32,
}
impl Default for dataflux_join_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_join_options>() == 16);
    assert!(align_of::<dataflux_join_options>() == 8);
    assert!(offset_of!(dataflux_join_options, struct_size) == 0);
    assert!(offset_of!(dataflux_join_options, left_outer) == 8);
    assert!(offset_of!(dataflux_join_options, all_pairs) == 12);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_join_rows {
    pub rows: u64,
    pub left: *const u64,
    pub right: *const u64,
    pub left_alone: u64,
    pub right_alone: u64,
}
impl Default for dataflux_join_rows {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_join_rows>() == 40);
    assert!(align_of::<dataflux_join_rows>() == 8);
    assert!(offset_of!(dataflux_join_rows, rows) == 0);
    assert!(offset_of!(dataflux_join_rows, left) == 8);
    assert!(offset_of!(dataflux_join_rows, right) == 16);
    assert!(offset_of!(dataflux_join_rows, left_alone) == 24);
    assert!(offset_of!(dataflux_join_rows, right_alone) == 32);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_shard_stream_options {
    pub struct_size: usize,
    pub most_bytes: u64,
    pub read_concatenated: u32,
    pub ignore_trailing: u32,
    pub end_at_damage: u32,
    pub keep_case: u32,
    pub strip_dot_slash: u32,
    pub keep_first: u32,
}
impl Default for dataflux_shard_stream_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_shard_stream_options>() == 40);
    assert!(align_of::<dataflux_shard_stream_options>() == 8);
    assert!(offset_of!(dataflux_shard_stream_options, struct_size) == 0);
    assert!(offset_of!(dataflux_shard_stream_options, most_bytes) == 8);
    assert!(offset_of!(dataflux_shard_stream_options, read_concatenated) == 16);
    assert!(offset_of!(dataflux_shard_stream_options, ignore_trailing) == 20);
    assert!(offset_of!(dataflux_shard_stream_options, end_at_damage) == 24);
    assert!(offset_of!(dataflux_shard_stream_options, keep_case) == 28);
    assert!(offset_of!(dataflux_shard_stream_options, strip_dot_slash) == 32);
    assert!(offset_of!(dataflux_shard_stream_options, keep_first) == 36);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_streamed_sample {
    pub key: *const c_char,
    pub key_size: u64,
    pub data: *const c_void,
    pub data_size: u64,
    pub fields: *const dataflux_sample_field,
    pub field_count: u64,
}
impl Default for dataflux_streamed_sample {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_streamed_sample>() == 48);
    assert!(align_of::<dataflux_streamed_sample>() == 8);
    assert!(offset_of!(dataflux_streamed_sample, key) == 0);
    assert!(offset_of!(dataflux_streamed_sample, key_size) == 8);
    assert!(offset_of!(dataflux_streamed_sample, data) == 16);
    assert!(offset_of!(dataflux_streamed_sample, data_size) == 24);
    assert!(offset_of!(dataflux_streamed_sample, fields) == 32);
    assert!(offset_of!(dataflux_streamed_sample, field_count) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_batch {
    pub struct_size: usize,
    pub count: usize,
    pub numbers: *const u64,
    pub index: *const dataflux_shard_index,
    pub requests: *const dataflux_get_columns,
    pub data: *mut c_void,
    pub size: u64,
    pub offsets: *const u64,
    pub stride: u64,
    pub sizes: *mut u64,
}
impl Default for dataflux_batch {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_batch>() == 80);
    assert!(align_of::<dataflux_batch>() == 8);
    assert!(offset_of!(dataflux_batch, struct_size) == 0);
    assert!(offset_of!(dataflux_batch, count) == 8);
    assert!(offset_of!(dataflux_batch, numbers) == 16);
    assert!(offset_of!(dataflux_batch, index) == 24);
    assert!(offset_of!(dataflux_batch, requests) == 32);
    assert!(offset_of!(dataflux_batch, data) == 40);
    assert!(offset_of!(dataflux_batch, size) == 48);
    assert!(offset_of!(dataflux_batch, offsets) == 56);
    assert!(offset_of!(dataflux_batch, stride) == 64);
    assert!(offset_of!(dataflux_batch, sizes) == 72);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_leftovers_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub kinds: u32,
    pub reserved: u32,
    pub older_than_ns: i64,
    pub timeout_ns: i64,
}
impl Default for dataflux_leftovers_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_leftovers_options>() == 48);
    assert!(align_of::<dataflux_leftovers_options>() == 8);
    assert!(offset_of!(dataflux_leftovers_options, struct_size) == 0);
    assert!(offset_of!(dataflux_leftovers_options, bucket) == 8);
    assert!(offset_of!(dataflux_leftovers_options, prefix) == 16);
    assert!(offset_of!(dataflux_leftovers_options, kinds) == 24);
    assert!(offset_of!(dataflux_leftovers_options, reserved) == 28);
    assert!(offset_of!(dataflux_leftovers_options, older_than_ns) == 32);
    assert!(offset_of!(dataflux_leftovers_options, timeout_ns) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_writer_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub attributes: *const dataflux_attributes,
    pub conditions: *const dataflux_conditions,
    pub size_hint: u64,
    pub part_size: u64,
    pub timeout_ns: i64,
}
impl Default for dataflux_writer_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_writer_options>() == 64);
    assert!(align_of::<dataflux_writer_options>() == 8);
    assert!(offset_of!(dataflux_writer_options, struct_size) == 0);
    assert!(offset_of!(dataflux_writer_options, bucket) == 8);
    assert!(offset_of!(dataflux_writer_options, object) == 16);
    assert!(offset_of!(dataflux_writer_options, attributes) == 24);
    assert!(offset_of!(dataflux_writer_options, conditions) == 32);
    assert!(offset_of!(dataflux_writer_options, size_hint) == 40);
    assert!(offset_of!(dataflux_writer_options, part_size) == 48);
    assert!(offset_of!(dataflux_writer_options, timeout_ns) == 56);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_shard_writer_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub pattern: *const c_char,
    pub count: u64,
    pub bytes: u64,
    pub first: u64,
    pub rank: u32,
    pub ranks: u32,
    pub resume: u32,
    pub reserved: u32,
}
impl Default for dataflux_shard_writer_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_shard_writer_options>() == 64);
    assert!(align_of::<dataflux_shard_writer_options>() == 8);
    assert!(offset_of!(dataflux_shard_writer_options, struct_size) == 0);
    assert!(offset_of!(dataflux_shard_writer_options, bucket) == 8);
    assert!(offset_of!(dataflux_shard_writer_options, pattern) == 16);
    assert!(offset_of!(dataflux_shard_writer_options, count) == 24);
    assert!(offset_of!(dataflux_shard_writer_options, bytes) == 32);
    assert!(offset_of!(dataflux_shard_writer_options, first) == 40);
    assert!(offset_of!(dataflux_shard_writer_options, rank) == 48);
    assert!(offset_of!(dataflux_shard_writer_options, ranks) == 52);
    assert!(offset_of!(dataflux_shard_writer_options, resume) == 56);
    assert!(offset_of!(dataflux_shard_writer_options, reserved) == 60);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_field_bytes {
    pub name: *const c_char,
    pub name_size: u64,
    pub data: *const c_void,
    pub size: u64,
}
impl Default for dataflux_field_bytes {
    fn default() -> Self {
        unsafe { core::mem::zeroed() }
    }
}
const _: () = {
    assert!(size_of::<dataflux_field_bytes>() == 32);
    assert!(align_of::<dataflux_field_bytes>() == 8);
    assert!(offset_of!(dataflux_field_bytes, name) == 0);
    assert!(offset_of!(dataflux_field_bytes, name_size) == 8);
    assert!(offset_of!(dataflux_field_bytes, data) == 16);
    assert!(offset_of!(dataflux_field_bytes, size) == 24);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_reader_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub generation: i64,
    pub block: u64,
    pub cache: u64,
    pub timeout_ns: i64,
}
impl Default for dataflux_reader_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_reader_options>() == 56);
    assert!(align_of::<dataflux_reader_options>() == 8);
    assert!(offset_of!(dataflux_reader_options, struct_size) == 0);
    assert!(offset_of!(dataflux_reader_options, bucket) == 8);
    assert!(offset_of!(dataflux_reader_options, object) == 16);
    assert!(offset_of!(dataflux_reader_options, generation) == 24);
    assert!(offset_of!(dataflux_reader_options, block) == 32);
    assert!(offset_of!(dataflux_reader_options, cache) == 40);
    assert!(offset_of!(dataflux_reader_options, timeout_ns) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_range_columns {
    pub struct_size: usize,
    pub offsets: *const u64,
    pub sizes: *const u64,
    pub into: *const *mut c_void,
}
impl Default for dataflux_range_columns {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_range_columns>() == 32);
    assert!(align_of::<dataflux_range_columns>() == 8);
    assert!(offset_of!(dataflux_range_columns, struct_size) == 0);
    assert!(offset_of!(dataflux_range_columns, offsets) == 8);
    assert!(offset_of!(dataflux_range_columns, sizes) == 16);
    assert!(offset_of!(dataflux_range_columns, into) == 24);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_set_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub timeout_ns: i64,
}
impl Default for dataflux_set_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_set_options>() == 32);
    assert!(align_of::<dataflux_set_options>() == 8);
    assert!(offset_of!(dataflux_set_options, struct_size) == 0);
    assert!(offset_of!(dataflux_set_options, bucket) == 8);
    assert!(offset_of!(dataflux_set_options, prefix) == 16);
    assert!(offset_of!(dataflux_set_options, timeout_ns) == 24);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_set_commit_options {
    pub struct_size: usize,
    pub records: *const *const c_char,
    pub record_count: usize,
    pub last: *const c_char,
    pub data: *const c_void,
    pub size: usize,
    pub kms_key_name: *const c_char,
}
impl Default for dataflux_set_commit_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_set_commit_options>() == 56);
    assert!(align_of::<dataflux_set_commit_options>() == 8);
    assert!(offset_of!(dataflux_set_commit_options, struct_size) == 0);
    assert!(offset_of!(dataflux_set_commit_options, records) == 8);
    assert!(offset_of!(dataflux_set_commit_options, record_count) == 16);
    assert!(offset_of!(dataflux_set_commit_options, last) == 24);
    assert!(offset_of!(dataflux_set_commit_options, data) == 32);
    assert!(offset_of!(dataflux_set_commit_options, size) == 40);
    assert!(offset_of!(dataflux_set_commit_options, kms_key_name) == 48);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_keep_last_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub count: u64,
    pub remove_unfinished_older_than_ns: i64,
    pub timeout_ns: i64,
}
impl Default for dataflux_keep_last_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_keep_last_options>() == 48);
    assert!(align_of::<dataflux_keep_last_options>() == 8);
    assert!(offset_of!(dataflux_keep_last_options, struct_size) == 0);
    assert!(offset_of!(dataflux_keep_last_options, bucket) == 8);
    assert!(offset_of!(dataflux_keep_last_options, prefix) == 16);
    assert!(offset_of!(dataflux_keep_last_options, count) == 24);
    assert!(offset_of!(dataflux_keep_last_options, remove_unfinished_older_than_ns) == 32);
    assert!(offset_of!(dataflux_keep_last_options, timeout_ns) == 40);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_download_file_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub path: *const c_char,
    pub generation: i64,
    pub offset: u64,
    pub length: u64,
    pub timeout_ns: i64,
    pub resume: u32,
    pub no_flush: u32,
    pub progress: u32,
    pub reserved: u32,
}
impl Default for dataflux_download_file_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_download_file_options>() == 80);
    assert!(align_of::<dataflux_download_file_options>() == 8);
    assert!(offset_of!(dataflux_download_file_options, struct_size) == 0);
    assert!(offset_of!(dataflux_download_file_options, bucket) == 8);
    assert!(offset_of!(dataflux_download_file_options, object) == 16);
    assert!(offset_of!(dataflux_download_file_options, path) == 24);
    assert!(offset_of!(dataflux_download_file_options, generation) == 32);
    assert!(offset_of!(dataflux_download_file_options, offset) == 40);
    assert!(offset_of!(dataflux_download_file_options, length) == 48);
    assert!(offset_of!(dataflux_download_file_options, timeout_ns) == 56);
    assert!(offset_of!(dataflux_download_file_options, resume) == 64);
    assert!(offset_of!(dataflux_download_file_options, no_flush) == 68);
    assert!(offset_of!(dataflux_download_file_options, progress) == 72);
    assert!(offset_of!(dataflux_download_file_options, reserved) == 76);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_upload_file_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub object: *const c_char,
    pub path: *const c_char,
    pub conditions: *const dataflux_conditions,
    pub attributes: *const dataflux_attributes,
    pub timeout_ns: i64,
    pub resume: u32,
    pub progress: u32,
}
impl Default for dataflux_upload_file_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_upload_file_options>() == 64);
    assert!(align_of::<dataflux_upload_file_options>() == 8);
    assert!(offset_of!(dataflux_upload_file_options, struct_size) == 0);
    assert!(offset_of!(dataflux_upload_file_options, bucket) == 8);
    assert!(offset_of!(dataflux_upload_file_options, object) == 16);
    assert!(offset_of!(dataflux_upload_file_options, path) == 24);
    assert!(offset_of!(dataflux_upload_file_options, conditions) == 32);
    assert!(offset_of!(dataflux_upload_file_options, attributes) == 40);
    assert!(offset_of!(dataflux_upload_file_options, timeout_ns) == 48);
    assert!(offset_of!(dataflux_upload_file_options, resume) == 56);
    assert!(offset_of!(dataflux_upload_file_options, progress) == 60);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_selection {
    pub struct_size: usize,
    pub r#match: *const *const c_char,
    pub match_count: usize,
    pub names: *const *const c_char,
    pub name_count: usize,
    pub include: *const *const c_char,
    pub include_count: usize,
    pub exclude: *const *const c_char,
    pub exclude_count: usize,
    pub min_size: u64,
    pub max_size: u64,
    pub newer_than_ns: i64,
}
impl Default for dataflux_selection {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_selection>() == 96);
    assert!(align_of::<dataflux_selection>() == 8);
    assert!(offset_of!(dataflux_selection, struct_size) == 0);
    assert!(offset_of!(dataflux_selection, r#match) == 8);
    assert!(offset_of!(dataflux_selection, match_count) == 16);
    assert!(offset_of!(dataflux_selection, names) == 24);
    assert!(offset_of!(dataflux_selection, name_count) == 32);
    assert!(offset_of!(dataflux_selection, include) == 40);
    assert!(offset_of!(dataflux_selection, include_count) == 48);
    assert!(offset_of!(dataflux_selection, exclude) == 56);
    assert!(offset_of!(dataflux_selection, exclude_count) == 64);
    assert!(offset_of!(dataflux_selection, min_size) == 72);
    assert!(offset_of!(dataflux_selection, max_size) == 80);
    assert!(offset_of!(dataflux_selection, newer_than_ns) == 88);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_folder_options {
    pub struct_size: usize,
    pub path: *const c_char,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub max_failures: u64,
    pub timeout_ns: i64,
    pub resume: u32,
    pub dry_run: u32,
    pub delete_extra: u32,
    pub on_error: u32,
    pub progress: u32,
    pub reserved: u32,
    pub select: *const dataflux_selection,
    pub attributes: *const dataflux_attributes,
    pub by_time: u32,
    pub no_clobber: u32,
}
impl Default for dataflux_folder_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_folder_options>() == 96);
    assert!(align_of::<dataflux_folder_options>() == 8);
    assert!(offset_of!(dataflux_folder_options, struct_size) == 0);
    assert!(offset_of!(dataflux_folder_options, path) == 8);
    assert!(offset_of!(dataflux_folder_options, bucket) == 16);
    assert!(offset_of!(dataflux_folder_options, prefix) == 24);
    assert!(offset_of!(dataflux_folder_options, max_failures) == 32);
    assert!(offset_of!(dataflux_folder_options, timeout_ns) == 40);
    assert!(offset_of!(dataflux_folder_options, resume) == 48);
    assert!(offset_of!(dataflux_folder_options, dry_run) == 52);
    assert!(offset_of!(dataflux_folder_options, delete_extra) == 56);
    assert!(offset_of!(dataflux_folder_options, on_error) == 60);
    assert!(offset_of!(dataflux_folder_options, progress) == 64);
    assert!(offset_of!(dataflux_folder_options, reserved) == 68);
    assert!(offset_of!(dataflux_folder_options, select) == 72);
    assert!(offset_of!(dataflux_folder_options, attributes) == 80);
    assert!(offset_of!(dataflux_folder_options, by_time) == 88);
    assert!(offset_of!(dataflux_folder_options, no_clobber) == 92);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_copy_objects_options {
    pub struct_size: usize,
    pub source_bucket: *const c_char,
    pub source_prefix: *const c_char,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub select: *const dataflux_selection,
    pub attributes: *const dataflux_attributes,
    pub max_failures: u64,
    pub timeout_ns: i64,
    pub only_changed: u32,
    pub no_clobber: u32,
    pub r#move: u32,
    pub dry_run: u32,
    pub delete_extra: u32,
    pub on_error: u32,
    pub progress: u32,
    pub reserved: u32,
}
impl Default for dataflux_copy_objects_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_copy_objects_options>() == 104);
    assert!(align_of::<dataflux_copy_objects_options>() == 8);
    assert!(offset_of!(dataflux_copy_objects_options, struct_size) == 0);
    assert!(offset_of!(dataflux_copy_objects_options, source_bucket) == 8);
    assert!(offset_of!(dataflux_copy_objects_options, source_prefix) == 16);
    assert!(offset_of!(dataflux_copy_objects_options, bucket) == 24);
    assert!(offset_of!(dataflux_copy_objects_options, prefix) == 32);
    assert!(offset_of!(dataflux_copy_objects_options, select) == 40);
    assert!(offset_of!(dataflux_copy_objects_options, attributes) == 48);
    assert!(offset_of!(dataflux_copy_objects_options, max_failures) == 56);
    assert!(offset_of!(dataflux_copy_objects_options, timeout_ns) == 64);
    assert!(offset_of!(dataflux_copy_objects_options, only_changed) == 72);
    assert!(offset_of!(dataflux_copy_objects_options, no_clobber) == 76);
    assert!(offset_of!(dataflux_copy_objects_options, r#move) == 80);
    assert!(offset_of!(dataflux_copy_objects_options, dry_run) == 84);
    assert!(offset_of!(dataflux_copy_objects_options, delete_extra) == 88);
    assert!(offset_of!(dataflux_copy_objects_options, on_error) == 92);
    assert!(offset_of!(dataflux_copy_objects_options, progress) == 96);
    assert!(offset_of!(dataflux_copy_objects_options, reserved) == 100);
};
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dataflux_remove_prefix_options {
    pub struct_size: usize,
    pub bucket: *const c_char,
    pub prefix: *const c_char,
    pub older_than_ns: i64,
    pub max_failures: u64,
    pub timeout_ns: i64,
    pub for_good: u32,
    pub dry_run: u32,
    pub progress: u32,
    pub reserved: u32,
}
impl Default for dataflux_remove_prefix_options {
    fn default() -> Self {
        Self { struct_size: size_of::<Self>(), ..unsafe { core::mem::zeroed() } }
    }
}
const _: () = {
    assert!(size_of::<dataflux_remove_prefix_options>() == 64);
    assert!(align_of::<dataflux_remove_prefix_options>() == 8);
    assert!(offset_of!(dataflux_remove_prefix_options, struct_size) == 0);
    assert!(offset_of!(dataflux_remove_prefix_options, bucket) == 8);
    assert!(offset_of!(dataflux_remove_prefix_options, prefix) == 16);
    assert!(offset_of!(dataflux_remove_prefix_options, older_than_ns) == 24);
    assert!(offset_of!(dataflux_remove_prefix_options, max_failures) == 32);
    assert!(offset_of!(dataflux_remove_prefix_options, timeout_ns) == 40);
    assert!(offset_of!(dataflux_remove_prefix_options, for_good) == 48);
    assert!(offset_of!(dataflux_remove_prefix_options, dry_run) == 52);
    assert!(offset_of!(dataflux_remove_prefix_options, progress) == 56);
    assert!(offset_of!(dataflux_remove_prefix_options, reserved) == 60);
};

unsafe extern "C" {
    pub fn dataflux_abi_version() -> u32;
    pub fn dataflux_version() -> *const c_char;
    pub fn dataflux_status_name(status: dataflux_status) -> *const c_char;
    pub fn dataflux_error_status(error: *const dataflux_error) -> dataflux_status;
    pub fn dataflux_error_message(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_text(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_verb(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_scheme(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_bucket(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_object(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_reason(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_request_id(error: *const dataflux_error) -> *const c_char;
    pub fn dataflux_error_generation(error: *const dataflux_error) -> i64;
    pub fn dataflux_error_http_status(error: *const dataflux_error) -> i32;
    pub fn dataflux_error_attempts(error: *const dataflux_error) -> i32;
    pub fn dataflux_error_retryable(error: *const dataflux_error) -> i32;
    pub fn dataflux_error_outcome_unknown(error: *const dataflux_error) -> i32;
    pub fn dataflux_error_retry_after_ns(error: *const dataflux_error) -> i64;
    pub fn dataflux_error_free(error: *mut dataflux_error);
    pub fn dataflux_queue_create(out: *mut *mut dataflux_queue, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_queue_next(queue: *mut dataflux_queue, out: *mut dataflux_record, record_size: usize, capacity: usize, timeout_ns: i64, count: *mut usize) -> dataflux_status;
    pub fn dataflux_queue_fd(queue: *const dataflux_queue) -> c_int;
    pub fn dataflux_queue_error(queue: *mut dataflux_queue, number: u32) -> *mut dataflux_error;
    pub fn dataflux_queue_close(queue: *mut dataflux_queue);
    pub fn dataflux_queue_free(queue: *mut dataflux_queue);
    pub fn dataflux_slabs_release(slabs: *const u64, count: usize);
    pub fn dataflux_slab_memory(slab: u64, data: *mut *mut c_void, size: *mut u64);
    pub fn dataflux_cache_options_init(options: *mut dataflux_cache_options, size: usize);
    pub fn dataflux_cache_open(folder: *const c_char, options: *const dataflux_cache_options, out: *mut *mut dataflux_cache, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_cache_counters(cache: *const dataflux_cache, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_cache_flush(cache: *const dataflux_cache, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_cache_free(cache: *mut dataflux_cache);
    pub fn dataflux_client_options_init(options: *mut dataflux_client_options, size: usize);
    pub fn dataflux_client_create(options: *const dataflux_client_options, out: *mut *mut dataflux_client, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_set_token(client: *mut dataflux_client, token: *const c_char, expires_ns: i64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_token(client: *mut dataflux_client, token: *mut *mut c_char, expires_ns: *mut i64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_fail_token(client: *mut dataflux_client, status: dataflux_status, message: *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_metrics(client: *const dataflux_client, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_prometheus(client: *const dataflux_client, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_text_free(text: *mut c_char);
    pub fn dataflux_client_forget(client: *const dataflux_client, bucket: *const c_char, object: *const c_char, generation: i64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_job_options_init(options: *mut dataflux_job_options, size: usize);
    pub fn dataflux_job_create(options: *const dataflux_job_options, out: *mut *mut dataflux_job, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_job_beat(job: *mut dataflux_job, client: *mut dataflux_client, records: *const *const c_char, count: usize, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_job_living(job: *const dataflux_job, count: *mut u32, lowest: *mut u32, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_job_leave(job: *mut dataflux_job, client: *mut dataflux_client, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_job_free(job: *mut dataflux_job);
    pub fn dataflux_client_close(client: *mut dataflux_client);
    pub fn dataflux_client_free(client: *mut dataflux_client);
    pub fn dataflux_operation_wait(op: *mut dataflux_operation, timeout_ns: i64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_cancel(op: *mut dataflux_operation);
    pub fn dataflux_operation_result(op: *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_json(op: *mut dataflux_operation, json: *mut *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_free(op: *mut dataflux_operation);
    pub fn dataflux_conditions_init(conditions: *mut dataflux_conditions, size: usize);
    pub fn dataflux_object_options_init(options: *mut dataflux_object_options, size: usize);
    pub fn dataflux_attributes_init(attributes: *mut dataflux_attributes, size: usize);
    pub fn dataflux_get_one(client: *mut dataflux_client, options: *const dataflux_object_options, offset: u64, memory: *mut c_void, size: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_get(client: *mut dataflux_client, options: *const dataflux_object_options, offset: u64, length: u64, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_stat(client: *mut dataflux_client, options: *const dataflux_object_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_put(client: *mut dataflux_client, options: *const dataflux_object_options, data: *const c_void, size: usize, attributes: *const dataflux_attributes, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_remove(client: *mut dataflux_client, options: *const dataflux_object_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_list_options_init(options: *mut dataflux_list_options, size: usize);
    pub fn dataflux_list(client: *mut dataflux_client, options: *const dataflux_list_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_listing(op: *mut dataflux_operation, out: *mut *mut dataflux_listing, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_listing_size(listing: *const dataflux_listing) -> u64;
    pub fn dataflux_listing_chunks(listing: *const dataflux_listing) -> u64;
    pub fn dataflux_listing_json(listing: *const dataflux_listing, json: *mut *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_listing_chunk(listing: *const dataflux_listing, index: u64, out: *mut dataflux_chunk, chunk_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_listing_arrow(listing: *const dataflux_listing, out: *mut ArrowArrayStream, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_listing_free(listing: *mut dataflux_listing);
    pub fn dataflux_sampler_options_init(options: *mut dataflux_sampler_options, size: usize);
    pub fn dataflux_sampler_size(options: *const dataflux_sampler_options, size: *mut u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sampler_rows(options: *const dataflux_sampler_options, first: u64, rows: *mut u64, count: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sampler_rows_at(options: *const dataflux_sampler_options, positions: *mut u64, count: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sampler_window_end(options: *const dataflux_sampler_options, position: u64, end: *mut u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_epoch_reads_init(reads: *mut dataflux_epoch_reads, size: usize);
    pub fn dataflux_sampler_cost(options: *const dataflux_sampler_options, reads: *const dataflux_epoch_reads, out: *mut dataflux_order_cost, cost_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_epoch_model_init(model: *mut dataflux_epoch_model, size: usize);
    pub fn dataflux_simulate_epoch(model: *const dataflux_epoch_model, out: *mut dataflux_epoch_forecast, forecast_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_epoch_bound_text(bound: u64) -> *const c_char;
    pub fn dataflux_mixer_options_init(options: *mut dataflux_mixer_options, size: usize);
    pub fn dataflux_mixer_create(options: *const dataflux_mixer_options, out: *mut *mut dataflux_mixer, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_mixer_free(mixer: *mut dataflux_mixer);
    pub fn dataflux_mixer_end(mixer: *const dataflux_mixer, end: *mut u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_mixer_draws(mixer: *const dataflux_mixer, first: u64, step: u64, sources: *mut u32, numbers: *mut u64, count: usize, taken: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_mixer_counts(mixer: *const dataflux_mixer, draw: u64, counts: *mut u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_get_many_options_init(options: *mut dataflux_get_many_options, size: usize);
    pub fn dataflux_get_many(client: *mut dataflux_client, options: *const dataflux_get_many_options, listing: *const dataflux_listing, rows: *const u64, row_count: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_getter, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_get_columns_init(columns: *mut dataflux_get_columns, size: usize);
    pub fn dataflux_getter_push(getter: *mut dataflux_getter, requests: *const dataflux_get_columns, count: usize, taken: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_getter_push_rows(getter: *mut dataflux_getter, rows: *const u64, count: usize, taken: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_getter_finish(getter: *mut dataflux_getter);
    pub fn dataflux_getter_cancel(getter: *mut dataflux_getter);
    pub fn dataflux_getter_free(getter: *mut dataflux_getter);
    pub fn dataflux_copy(client: *mut dataflux_client, source: *const dataflux_object_options, target: *const dataflux_object_options, attributes: *const dataflux_attributes, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_move(client: *mut dataflux_client, source: *const dataflux_object_options, target: *const dataflux_object_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_compose(client: *mut dataflux_client, target: *const dataflux_object_options, names: *const *const c_char, generations: *const i64, count: usize, attributes: *const dataflux_attributes, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_patch(client: *mut dataflux_client, options: *const dataflux_object_options, attributes: *const dataflux_attributes, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sign_options_init(options: *mut dataflux_sign_options, size: usize);
    pub fn dataflux_signed_request_init(request: *mut dataflux_signed_request, size: usize);
    pub fn dataflux_sign_url(client: *mut dataflux_client, options: *const dataflux_sign_options, request: *const dataflux_signed_request, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sign_form(client: *mut dataflux_client, options: *const dataflux_sign_options, names: *const *const c_char, values: *const *const c_char, count: usize, conditions: *const dataflux_form_condition, condition_count: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_bucket_options_init(options: *mut dataflux_bucket_options, size: usize);
    pub fn dataflux_bucket(client: *mut dataflux_client, options: *const dataflux_bucket_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_test_permissions(client: *mut dataflux_client, options: *const dataflux_bucket_options, permissions: *const *const c_char, count: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_bulk_restore_options_init(options: *mut dataflux_bulk_restore_options, size: usize);
    pub fn dataflux_bulk_restore(client: *mut dataflux_client, options: *const dataflux_bulk_restore_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_list_buckets_options_init(options: *mut dataflux_list_buckets_options, size: usize);
    pub fn dataflux_list_buckets(client: *mut dataflux_client, options: *const dataflux_list_buckets_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_list_stream(client: *mut dataflux_client, options: *const dataflux_list_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_lister, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_lister_take(lister: *mut dataflux_lister, out: *mut *mut dataflux_listing, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_lister_json(lister: *const dataflux_lister, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_lister_cancel(lister: *mut dataflux_lister);
    pub fn dataflux_lister_free(lister: *mut dataflux_lister);
    pub fn dataflux_manifest_options_init(options: *mut dataflux_manifest_options, size: usize);
    pub fn dataflux_manifest_save(client: *mut dataflux_client, options: *const dataflux_manifest_options, listing: *const dataflux_listing, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_manifest_open(client: *mut dataflux_client, options: *const dataflux_manifest_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_manifest(op: *mut dataflux_operation, out: *mut *mut dataflux_manifest, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_manifest_size(manifest: *const dataflux_manifest) -> u64;
    pub fn dataflux_manifest_json(manifest: *const dataflux_manifest, json: *mut *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_manifest_rows(client: *mut dataflux_client, manifest: *const dataflux_manifest, first: u64, count: u64, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_manifest_row(manifest: *const dataflux_manifest, index: u64, out: *mut dataflux_row, row_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_list_shared(client: *mut dataflux_client, options: *const dataflux_list_options, board_bucket: *const c_char, board_prefix: *const c_char, path: *const c_char, lease_ns: i64, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_manifest_free(manifest: *mut dataflux_manifest);
    pub fn dataflux_refresh_options_init(options: *mut dataflux_refresh_options, size: usize);
    pub fn dataflux_manifest_refresh(client: *mut dataflux_client, manifest: *const dataflux_manifest, options: *const dataflux_refresh_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_changes(op: *mut dataflux_operation, out: *mut *mut dataflux_changes, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_listing_compare(before: *const dataflux_listing, after: *const dataflux_listing, out: *mut *mut dataflux_changes, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_changes_rows(changes: *const dataflux_changes, out: *mut dataflux_changed_rows, rows_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_changes_listing(changes: *const dataflux_changes, out: *mut *mut dataflux_listing, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_changes_free(changes: *mut dataflux_changes);
    pub fn dataflux_index_shards_options_init(options: *mut dataflux_index_shards_options, size: usize);
    pub fn dataflux_index_shards(client: *mut dataflux_client, options: *const dataflux_index_shards_options, listing: *const dataflux_listing, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_import(options: *const dataflux_index_shards_options, listing: *const dataflux_listing, paths: *const *const c_char, count: usize, out: *mut *mut dataflux_shard_index, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_verify_shards_options_init(options: *mut dataflux_verify_shards_options, size: usize);
    pub fn dataflux_verify_shards(client: *mut dataflux_client, index: *const dataflux_shard_index, options: *const dataflux_verify_shards_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_open(path: *const c_char, out: *mut *mut dataflux_shard_index, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_free(index: *mut dataflux_shard_index);
    pub fn dataflux_shard_index_describe(index: *const dataflux_shard_index, out: *mut dataflux_shard_index_info, info_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_shard(index: *const dataflux_shard_index, number: u64, out: *mut dataflux_indexed_shard, shard_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_sample_columns_init(columns: *mut dataflux_sample_columns, size: usize);
    pub fn dataflux_shard_index_samples(index: *const dataflux_shard_index, numbers: *const u64, count: usize, columns: *const dataflux_sample_columns, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_fields(index: *const dataflux_shard_index, number: u64, fields: *mut dataflux_sample_field, room: usize, count: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_find(index: *const dataflux_shard_index, key: *const c_char, key_size: usize, numbers: *mut u64, room: usize, count: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_getter_push_samples(getter: *mut dataflux_getter, index: *const dataflux_shard_index, numbers: *const u64, count: usize, taken: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_index_split(index: *const dataflux_shard_index, number: u64, data: *const c_void, size: usize, fields: *mut dataflux_sample_field, field_room: usize, field_count: *mut usize, key: *mut c_char, key_room: usize, key_size: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_join_options_init(options: *mut dataflux_join_options, size: usize);
    pub fn dataflux_shard_index_join(left: *const dataflux_shard_index, right: *const dataflux_shard_index, options: *const dataflux_join_options, out: *mut *mut dataflux_shard_join, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_join_free(join: *mut dataflux_shard_join);
    pub fn dataflux_shard_join_rows(join: *const dataflux_shard_join, out: *mut dataflux_join_rows, rows_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_stream_options_init(options: *mut dataflux_shard_stream_options, size: usize);
    pub fn dataflux_shard_stream_new(options: *const dataflux_shard_stream_options, out: *mut *mut dataflux_shard_stream, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_stream_free(stream: *mut dataflux_shard_stream);
    pub fn dataflux_shard_stream_feed(stream: *mut dataflux_shard_stream, data: *const c_void, size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_stream_finish(stream: *mut dataflux_shard_stream, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_stream_next(stream: *mut dataflux_shard_stream, out: *mut dataflux_streamed_sample, sample_size: usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_stream_counts(stream: *mut dataflux_shard_stream, json: *mut *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_get_batches(client: *mut dataflux_client, options: *const dataflux_get_many_options, listing: *const dataflux_listing, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_batch_getter, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_batch_init(batch: *mut dataflux_batch, size: usize);
    pub fn dataflux_batch_getter_push(batches: *mut dataflux_batch_getter, batch: *const dataflux_batch, number: *mut u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_batch_getter_finish(batches: *mut dataflux_batch_getter);
    pub fn dataflux_batch_getter_cancel(batches: *mut dataflux_batch_getter);
    pub fn dataflux_batch_getter_free(batches: *mut dataflux_batch_getter);
    pub fn dataflux_leftovers_options_init(options: *mut dataflux_leftovers_options, size: usize);
    pub fn dataflux_find_leftovers(client: *mut dataflux_client, options: *const dataflux_leftovers_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_remove_leftovers(client: *mut dataflux_client, options: *const dataflux_leftovers_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_options_init(options: *mut dataflux_writer_options, size: usize);
    pub fn dataflux_writer_open(client: *mut dataflux_client, options: *const dataflux_writer_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_writer(op: *mut dataflux_operation, out: *mut *mut dataflux_writer, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_write(writer: *mut dataflux_writer, data: *const c_void, size: usize, timeout_ns: i64, taken: *mut usize, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_lend(writer: *mut dataflux_writer, data: *const c_void, size: usize, timeout_ns: i64, taken: *mut usize, queue: *mut dataflux_queue, tag: u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_notify(writer: *mut dataflux_writer, queue: *mut dataflux_queue, tag: u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_commit(writer: *mut dataflux_writer, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_abort(writer: *mut dataflux_writer, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_writer_free(writer: *mut dataflux_writer);
    pub fn dataflux_shard_writer_options_init(options: *mut dataflux_shard_writer_options, size: usize);
    pub fn dataflux_shard_writer_open(client: *mut dataflux_client, options: *const dataflux_shard_writer_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_shard_writer(op: *mut dataflux_operation, out: *mut *mut dataflux_shard_writer, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_write(writer: *mut dataflux_shard_writer, key: *const c_char, key_size: usize, fields: *const dataflux_field_bytes, count: usize, wait: u32, done: *mut i32, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_end(writer: *mut dataflux_shard_writer, wait: u32, done: *mut i32, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_notify(writer: *mut dataflux_shard_writer, queue: *mut dataflux_queue, tag: u64, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_finish(writer: *mut dataflux_shard_writer, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_abort(writer: *mut dataflux_shard_writer, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_shard_writer_free(writer: *mut dataflux_shard_writer);
    pub fn dataflux_reader_options_init(options: *mut dataflux_reader_options, size: usize);
    pub fn dataflux_reader_open(client: *mut dataflux_client, options: *const dataflux_reader_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_operation_take_reader(op: *mut dataflux_operation, out: *mut *mut dataflux_reader, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_reader_size(reader: *const dataflux_reader) -> u64;
    pub fn dataflux_reader_generation(reader: *const dataflux_reader) -> i64;
    pub fn dataflux_reader_verified(reader: *const dataflux_reader) -> i32;
    pub fn dataflux_reader_read(reader: *mut dataflux_reader, offset: u64, memory: *mut c_void, size: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_range_columns_init(columns: *mut dataflux_range_columns, size: usize);
    pub fn dataflux_reader_read_ranges(reader: *mut dataflux_reader, ranges: *const dataflux_range_columns, count: usize, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_reader_free(reader: *mut dataflux_reader);
    pub fn dataflux_set_options_init(options: *mut dataflux_set_options, size: usize);
    pub fn dataflux_set_create(client: *mut dataflux_client, options: *const dataflux_set_options, out: *mut *mut dataflux_set, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_begin(set: *mut dataflux_set, unfinished: u32, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_open_member(set: *mut dataflux_set, name: *const c_char, options: *const dataflux_writer_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_record(set: *const dataflux_set, op: *mut dataflux_operation, out: *mut *mut c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_commit_options_init(options: *mut dataflux_set_commit_options, size: usize);
    pub fn dataflux_set_commit(set: *mut dataflux_set, options: *const dataflux_set_commit_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_open(set: *mut dataflux_set, last: *const c_char, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_latest_set(client: *mut dataflux_client, options: *const dataflux_set_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_free(set: *mut dataflux_set);
    pub fn dataflux_operation_take_set_reader(op: *mut dataflux_operation, out: *mut *mut dataflux_set_reader, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_reader_json(set: *const dataflux_set_reader, json: *mut *const c_char, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_reader_open(set: *mut dataflux_set_reader, name: *const c_char, options: *const dataflux_reader_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_reader_free(set: *mut dataflux_set_reader);
    pub fn dataflux_list_sets(client: *mut dataflux_client, options: *const dataflux_set_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_keep_last_options_init(options: *mut dataflux_keep_last_options, size: usize);
    pub fn dataflux_keep_last_sets(client: *mut dataflux_client, options: *const dataflux_keep_last_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_remove_sets(client: *mut dataflux_client, options: *const dataflux_set_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_begin_over(set: *mut dataflux_set, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_set_over(set: *const dataflux_set, text: *const c_char, out: *mut *mut dataflux_set, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_client_events(client: *mut dataflux_client, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_events, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_events_free(events: *mut dataflux_events);
    pub fn dataflux_download_file_options_init(options: *mut dataflux_download_file_options, size: usize);
    pub fn dataflux_download_file(client: *mut dataflux_client, options: *const dataflux_download_file_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_upload_file_options_init(options: *mut dataflux_upload_file_options, size: usize);
    pub fn dataflux_upload_file(client: *mut dataflux_client, options: *const dataflux_upload_file_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_selection_init(selection: *mut dataflux_selection, size: usize);
    pub fn dataflux_folder_options_init(options: *mut dataflux_folder_options, size: usize);
    pub fn dataflux_upload_folder(client: *mut dataflux_client, options: *const dataflux_folder_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_download_folder(client: *mut dataflux_client, options: *const dataflux_folder_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_copy_objects_options_init(options: *mut dataflux_copy_objects_options, size: usize);
    pub fn dataflux_copy_objects(client: *mut dataflux_client, options: *const dataflux_copy_objects_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
    pub fn dataflux_remove_prefix_options_init(options: *mut dataflux_remove_prefix_options, size: usize);
    pub fn dataflux_remove_prefix(client: *mut dataflux_client, options: *const dataflux_remove_prefix_options, queue: *mut dataflux_queue, tag: u64, out: *mut *mut dataflux_operation, err: *mut *mut dataflux_error) -> dataflux_status;
}
