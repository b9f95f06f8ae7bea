/* dataflux: reads from and writes to Google Cloud Storage, from C and languages that call C.
 *
 * This header is the whole interface and its contract. It is 0.x and may change until bindings for
 * Python, Rust and Julia use it. dataflux_abi_version() is the version of the loaded library.
 *
 * In short
 *
 *     dataflux_client *client = NULL;
 *     dataflux_queue *queue = NULL;
 *     dataflux_listing *listing = NULL;
 *     dataflux_operation *op = NULL;
 *     dataflux_getter *getter = NULL;
 *     dataflux_error *err = NULL;
 *     if (dataflux_client_create(NULL, &client, &err) != DATAFLUX_OK) goto failed;
 *     if (dataflux_list(client, &list_options, NULL, 0, &op, &err) != DATAFLUX_OK) goto failed;
 *     if (dataflux_operation_wait(op, -1, &err) != DATAFLUX_OK) goto failed;
 *     if (dataflux_operation_take_listing(op, &listing, &err) != DATAFLUX_OK) goto failed;
 *     dataflux_queue_create(&queue, &err);
 *     dataflux_get_many(client, &get_options, listing, NULL, 0, queue, 7, &getter, &err);
 *     while (dataflux_queue_next(queue, records, sizeof records[0], 64, -1, &count) == DATAFLUX_OK)
 *       for (i = 0; i < count; ++i) use(records[i].data, records[i].size);
 *
 * Conventions
 *
 * Handles are opaque. A function returns a new handle by an out parameter, which is NULL after an
 * error. Each kind has a function dataflux_KIND_free(), which accepts NULL. Copying a pointer
 * copies nothing. A handle keeps alive what it needs: free handles in any order.
 *
 * A dataflux_status is 0 (DATAFLUX_OK) or the kind of failure; 1 to 16 are google.rpc.Code's. The
 * last parameter of functions that can fail is `dataflux_error **err`: NULL, or the place for the
 * error, which the caller frees. Success leaves it untouched.
 *
 * Options are structs whose first member is their size. Set it to sizeof, and everything else to
 * zero, which is the default of each member; dataflux_KIND_init(&options, sizeof options) does
 * both. New members come at the end only, so programs and libraries of different versions work
 * together. Members missing in an older program are zero. A member that the library does not know
 * is DATAFLUX_INVALID_ARGUMENT if it is not zero. NULL means all defaults where nothing is
 * required. Options, and what they point to, are read during the call only.
 *
 * Texts are UTF-8 and end with a NUL, unless a size goes with the pointer. Texts from the library
 * live as long as their handle, unless the function says otherwise. Times are nanoseconds:
 * durations, or since 1970 (UTC). Sizes are bytes.
 *
 * Threads: each function says what it allows. "Any thread" means at any time, concurrently with all
 * other calls on the handle except its free function. A function that does not mention threads may
 * be called on any thread.
 *
 * Close and free: dataflux_KIND_close() of client and queue ends what is under way. Closing twice
 * does nothing. Calls on a closed handle return DATAFLUX_FAILED_PRECONDITION. Freeing closes, too,
 * and must be the last call on a handle.
 *
 * Fork: in the child of a fork every handle of the parent returns DATAFLUX_FAILED_PRECONDITION at
 * once, and freeing it does nothing. Listings, manifests, changes and indexes of shards are plain
 * memory, and may be used and freed there. The child creates its own client.
 *
 * The library never prints, exits or installs a signal handler, and no C++ exception leaves it. If
 * memory is short it returns DATAFLUX_RESOURCE_EXHAUSTED. dlclose() leaves it in memory, because
 * its threads may still be ending.
 */
#ifndef DATAFLUX_H
#define DATAFLUX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DATAFLUX_API __attribute__((visibility("default")))
#else
#define DATAFLUX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version --------------------------------------------------------------------------------- */

/* The interface that this header describes: major * 1000 + minor. */
#define DATAFLUX_ABI_VERSION 1

/* The version of the loaded library, at least that of the header it was linked with. Any thread. */
DATAFLUX_API uint32_t dataflux_abi_version(void);
/* Such as "0.1.0"; lives for ever. Any thread. */
DATAFLUX_API const char* dataflux_version(void);

/* ---- Status and errors ----------------------------------------------------------------------- */

typedef int32_t dataflux_status;

/* Values of a dataflux_status. The first one is no status: it makes the constants signed, as
 * dataflux_status is, for generators of bindings. */
enum {
  DATAFLUX_STATUS_IS_SIGNED = -1,
  DATAFLUX_OK = 0,
  DATAFLUX_CANCELLED = 1,           /* the caller asked to stop */
  DATAFLUX_UNKNOWN = 2,             /* the service said what no other code covers */
  DATAFLUX_INVALID_ARGUMENT = 3,    /* bad input, found before any request where possible */
  DATAFLUX_DEADLINE_EXCEEDED = 4,   /* the time limit passed */
  DATAFLUX_NOT_FOUND = 5,           /* no such bucket, object or generation */
  DATAFLUX_ALREADY_EXISTS = 6,      /* a create-only write met an object */
  DATAFLUX_PERMISSION_DENIED = 7,   /* 403 */
  DATAFLUX_RESOURCE_EXHAUSTED = 8,  /* 429, or memory, threads or descriptors of this machine */
  DATAFLUX_FAILED_PRECONDITION = 9, /* a condition does not hold; a handle after a fork */
  DATAFLUX_ABORTED = 10,            /* a conflict with a change by somebody else */
  DATAFLUX_OUT_OF_RANGE = 11,       /* the range lies beyond the object's end */
  DATAFLUX_UNIMPLEMENTED = 12,      /* known, and not supported */
  DATAFLUX_INTERNAL = 13,           /* an invariant broke, here or there */
  DATAFLUX_UNAVAILABLE = 14,        /* the network, or the service, cannot serve now */
  DATAFLUX_DATA_LOSS = 15,          /* bytes do not match their checksum */
  DATAFLUX_UNAUTHENTICATED = 16,    /* no credentials, or refused ones */
  /* No failure: a signal interrupted the wait. Handle it, then call again. */
  DATAFLUX_INTERRUPTED = 64
};

/* Such as "not_found"; "unknown" for other numbers. Lives for ever. Any thread. */
DATAFLUX_API const char* dataflux_status_name(dataflux_status status);

typedef struct dataflux_error dataflux_error;

/* Facts of a failure. Texts live as long as the error; unknown ones are "". No text ever holds a
 * secret. Any thread. */
DATAFLUX_API dataflux_status dataflux_error_status(const dataflux_error* error);
/* What happened and what to do, for a person. */
DATAFLUX_API const char* dataflux_error_message(const dataflux_error* error);
/* One line for a log: all that is known. */
DATAFLUX_API const char* dataflux_error_text(const dataflux_error* error);
DATAFLUX_API const char* dataflux_error_verb(const dataflux_error* error);
/* What the bucket's URLs begin with: "gs" or "s3". */
DATAFLUX_API const char* dataflux_error_scheme(const dataflux_error* error);
DATAFLUX_API const char* dataflux_error_bucket(const dataflux_error* error);
DATAFLUX_API const char* dataflux_error_object(const dataflux_error* error);
/* The service's word for it, such as "rateLimitExceeded". */
DATAFLUX_API const char* dataflux_error_reason(const dataflux_error* error);
/* The service's number of the request, for a support case. */
DATAFLUX_API const char* dataflux_error_request_id(const dataflux_error* error);
/* 0 when none was asked for. */
DATAFLUX_API int64_t dataflux_error_generation(const dataflux_error* error);
/* 0 when no reply came. */
DATAFLUX_API int32_t dataflux_error_http_status(const dataflux_error* error);
DATAFLUX_API int32_t dataflux_error_attempts(const dataflux_error* error);
/* 1 if the same call may succeed later without any change, else 0. */
DATAFLUX_API int32_t dataflux_error_retryable(const dataflux_error* error);
/* 1 if the service may have carried out an attempt, or may still do so, despite the last answer: it
 * was sent without an answer, or answered by a 5xx. Else 0. */
DATAFLUX_API int32_t dataflux_error_outcome_unknown(const dataflux_error* error);
/* How long the service asked to wait; 0 when it did not. */
DATAFLUX_API int64_t dataflux_error_retry_after_ns(const dataflux_error* error);
DATAFLUX_API void dataflux_error_free(dataflux_error* error);

/* ---- Queues ---------------------------------------------------------------------------------- */

/* A queue delivers results of operations and streams, many at a time. Name it when you begin them;
 * one queue serves any number of them, of any clients.
 *
 * Items of a stream stay with the stream, under its client's memory cap, until you take them from
 * the queue. So a slow consumer stops the network, and memory stays bounded. */
typedef struct dataflux_queue dataflux_queue;

/* One result, 64 bytes. Later versions may add members at the end, so dataflux_queue_next() takes
 * its size. */
typedef struct dataflux_record {
  uint64_t tag;       /* as given to the function that began it */
  uint64_t index;     /* of a stream: the number of the request, from 0 */
  const void* data;   /* of an item: its bytes */
  uint64_t size;      /* of `data` */
  uint64_t slab;      /* of `data`, for dataflux_slabs_release(); 0 = your memory, or none */
  int64_t generation; /* of the object that the bytes are of */
  uint32_t crc32c;    /* of the bytes */
  int32_t status;     /* DATAFLUX_OK, or the failure */
  uint32_t flags;     /* DATAFLUX_RECORD_* */
  uint32_t error;     /* not 0: dataflux_queue_error() has the details of `status` */
} dataflux_record;

/* The bytes were compared with a checksum and are equal: a whole object, ranges that together are
 * the object, or whole parts with known checksums. Without this flag they were not compared. */
#define DATAFLUX_RECORD_VERIFIED 1u
/* The last record of its operation or stream; that of a stream has no bytes. */
#define DATAFLUX_RECORD_END 2u
/* A row of a batch that failed: `index` is the batch's number, `size` the row's place in it. */
#define DATAFLUX_RECORD_ROW 4u

DATAFLUX_API dataflux_status dataflux_queue_create(dataflux_queue** out, dataflux_error** err);

/* Waits for results, then fills `out` with at most `capacity` records of `record_size` bytes each
 * (sizeof(dataflux_record)), and returns their number in *count.
 *
 * timeout_ns: how long to wait; 0 = not at all; negative = for ever. *count is 0 if it passes.
 * DATAFLUX_INTERRUPTED: a signal handler has run on this thread; *count is 0. Other failures:
 * DATAFLUX_INVALID_ARGUMENT for a NULL, a capacity of 0, or a record_size that is too small;
 * DATAFLUX_FAILED_PRECONDITION after dataflux_queue_close(), and in the child of a fork.
 *
 * Threads: any; each record goes to one thread. */
DATAFLUX_API dataflux_status dataflux_queue_next(dataflux_queue* queue, dataflux_record* out,
                                                 size_t record_size, size_t capacity,
                                                 int64_t timeout_ns, size_t* count);

/* A descriptor that is readable while dataflux_queue_next() has records, for poll(2) and event
 * loops. The queue owns it: neither read nor close it. -1 in the child of a fork. Any thread. */
DATAFLUX_API int dataflux_queue_fd(const dataflux_queue* queue);

/* The error of a record, by its number. NULL once this queue has delivered 65,536 newer errors. The
 * caller frees it. Any thread. */
DATAFLUX_API dataflux_error* dataflux_queue_error(dataflux_queue* queue, uint32_t number);

/* Wakes all threads in dataflux_queue_next(), which returns DATAFLUX_FAILED_PRECONDITION from now
 * on. Streams and operations that name it continue, and their results are dropped. Operations
 * without a handle are cancelled and waited for. Any thread. */
DATAFLUX_API void dataflux_queue_close(dataflux_queue* queue);
DATAFLUX_API void dataflux_queue_free(dataflux_queue* queue);

/* ---- Memory of items ------------------------------------------------------------------------- */

/* Returns memory: `slabs` of records, each as often as records named it. 0 is ignored. Until then
 * the memory counts as borrowed, outside the memory cap. Any thread, at any time, also after
 * client, stream and queue are freed. Takes no lock in the child of a fork. */
DATAFLUX_API void dataflux_slabs_release(const uint64_t* slabs, size_t count);
/* The memory of a slab. Small items share one, so a binding wraps it only once. The caller must
 * still hold the slab. Any thread. */
DATAFLUX_API void dataflux_slab_memory(uint64_t slab, void** data, uint64_t* size);

/* ---- A cache on a disk ----------------------------------------------------------------------- */

/* Keeps on a disk of this machine what clients read, for the next epoch and the next job. A folder
 * serves all processes of a user at once. What is read from it is compared with its CRC32C each
 * time; whatever becomes of its files, it gives no wrong byte. docs/cache.md says more. */
typedef struct dataflux_cache dataflux_cache;

typedef struct dataflux_cache_options {
  size_t struct_size;
  uint64_t bytes;    /* on the disk; 0 = as many as min_free lets */
  uint64_t min_free; /* of the file system; 0 = a twentieth of it */
} dataflux_cache_options;

DATAFLUX_API void dataflux_cache_options_init(dataflux_cache_options* options, size_t size);

/* Makes what is missing of the folder. DATAFLUX_FAILED_PRECONDITION: on a file system that machines
 * share, or its own folder in it may be written to by others; DATAFLUX_NOT_FOUND,
 * DATAFLUX_PERMISSION_DENIED and so on: of the file system. Any thread. */
DATAFLUX_API dataflux_status dataflux_cache_open(const char* folder,
                                                 const dataflux_cache_options* options,
                                                 dataflux_cache** out, dataflux_error** err);
/* What it did in this process, as a JSON object: "hits", "hit_bytes", "misses", "kept",
 * "kept_bytes", "refused", "evicted" (segments), "evicted_bytes", "damaged", "errors". Free the
 * text by dataflux_text_free(). Any thread. */
DATAFLUX_API dataflux_status dataflux_cache_counters(const dataflux_cache* cache, char** out,
                                                     dataflux_error** err);
/* Waits until what was read before is written. Any thread. */
DATAFLUX_API dataflux_status dataflux_cache_flush(const dataflux_cache* cache,
                                                  dataflux_error** err);
/* Clients that were made with it keep it. */
DATAFLUX_API void dataflux_cache_free(dataflux_cache* cache);

/* ---- Client ---------------------------------------------------------------------------------- */

/* Connections, credentials and limits, of one service. Use one client per process and service. What
 * S3 lacks is DATAFLUX_UNIMPLEMENTED: move, patch, restore, and permissions. */
typedef struct dataflux_client dataflux_client;

/* dataflux_client_options.credentials */
#define DATAFLUX_CREDENTIALS_DEFAULT                                                               \
  0                                      /* Application Default Credentials; of S3 AWS's chain; of \
                                            AIStore AIS_AUTHN_TOKEN, AIS_AUTHN_TOKEN_FILE */
#define DATAFLUX_CREDENTIALS_ANONYMOUS 1 /* none: public buckets */
#define DATAFLUX_CREDENTIALS_FILE 2      /* those of `credentials_file` */
#define DATAFLUX_CREDENTIALS_TOKEN 3     /* dataflux_client_set_token() */

/* dataflux_client_options.service */
#define DATAFLUX_SERVICE_GCS 0 /* Google Cloud Storage */
#define DATAFLUX_SERVICE_S3 1  /* Amazon S3, and what speaks like it */
#define DATAFLUX_SERVICE_AIS 2 /* AIStore, by its own API */

/* dataflux_client_options.addressing: where a request says which bucket it is about */
#define DATAFLUX_ADDRESSING_AUTOMATIC 0      /* virtual-hosted on AWS, else path */
#define DATAFLUX_ADDRESSING_VIRTUAL_HOSTED 1 /* BUCKET.HOST */
#define DATAFLUX_ADDRESSING_PATH 2           /* HOST/BUCKET */

/* dataflux_client_options.upload_checksum: what the server compares of a multipart upload */
#define DATAFLUX_UPLOAD_CHECKSUM_FULL_OBJECT 0 /* CRC32C of all bytes: AWS, and most others */
#define DATAFLUX_UPLOAD_CHECKSUM_COMPOSITE 1   /* CRC32C of the parts': Cloudflare R2 */
#define DATAFLUX_UPLOAD_CHECKSUM_NONE 2

typedef struct dataflux_client_options {
  size_t struct_size;
  uint32_t credentials;         /* DATAFLUX_CREDENTIALS_* */
  uint32_t emulator;            /* 1: `endpoint` is an emulator: plain HTTP, no credentials */
  const char* credentials_file; /* JSON of any kind that docs/credentials.md lists */
  const char* endpoint;         /* "https://host[:port][/base]"; of S3, AIStore http://, too */
  const char* user_project;     /* who pays at requester-pays buckets */
  const char* quota_project;
  const char* user_agent;            /* put before the library's own, such as "trainer/2.1" */
  const char* ca_file;               /* PEM; NULL = SSL_CERT_FILE, SSL_CERT_DIR, or the system's */
  uint32_t io_threads;               /* 0 = one for four processors */
  uint32_t max_connections_per_host; /* 0 = 256 */
  uint32_t max_attempts;             /* of a request; 0 = the library's */
  uint32_t max_concurrency;          /* reads in flight; 0 = found by measuring */
  uint64_t memory_cap;               /* of all reads ahead; 0 = 256 MiB */
  uint64_t upload_memory;            /* of all uploads; 0 = 256 MiB */
  uint64_t slice;                    /* longest single read; 0 = 8 MiB */
  int64_t connect_timeout_ns;        /* 0 = 10 s */
  int64_t stall_timeout_ns;          /* longest time without a byte, then sent again; 0 = 30 s */
  int64_t token_limit_ns;            /* how long calls wait for a token to be set; 0 = 60 s */
  uint64_t event_capacity;           /* for dataflux_client_events(); 0 = none are kept */
  int64_t first_byte_timeout_ns;     /* from a request to its reply's first byte; 0 = 60 s */
  /* 1: an emulator gets tokens, too, those of `credentials` other than DEFAULT and of
   * dataflux_client_set_token(): for tests of what is done with tokens. Over plain HTTP only at
   * a loopback address (127.x.y.z, ::1, localhost): else DATAFLUX_INVALID_ARGUMENT. */
  uint32_t tokens_to_emulator;
  uint32_t reserved;
  /* From here on of S3. Another service's members are DATAFLUX_INVALID_ARGUMENT: these for GCS and
   * AIStore, and for both but GCS emulator, tokens_to_emulator, credentials_file, user_project and
   * quota_project. */
  uint32_t service;    /* DATAFLUX_SERVICE_* */
  uint32_t addressing; /* DATAFLUX_ADDRESSING_* */
  /* NULL = AWS_REGION, AWS_DEFAULT_REGION, that of a profile whose keys are found, "us-east-1". */
  const char* region;
  /* Instead of those that AWS's tools would find: both, with a token where they have one. They are
   * copied, and never logged. */
  const char* access_key_id;
  const char* secret_access_key;
  const char* session_token;
  uint32_t requester_pays;  /* 1: this account pays at buckets whose requester pays */
  uint32_t upload_checksum; /* DATAFLUX_UPLOAD_CHECKSUM_* */
  /* Of AIStore, whose buckets are meant: "ais", or behind it "aws", "gcp", "azure", "oci", whose
   * buckets are read and written, and not listed; NULL = "ais". `endpoint` is a gateway then;
   * NULL = AIS_ENDPOINT. A token needs https, or a gateway on this machine. */
  const char* provider;
  /* What answers reads of a known generation; NULL = nothing does. */
  const dataflux_cache* cache;
  /* From here on of each service, but for `host` and `token_cache`, which are of GCS.
   * For mutual TLS, PEM: a certificate, and behind it those that lead to its authority; its key;
   * and that one's password, where it has one, which is never logged. The files are read anew for
   * each connection. NULL = none; of GCS those of GOOGLE_API_USE_CLIENT_CERTIFICATE. */
  const char* client_certificate_file;
  const char* client_key_file;
  const char* client_key_password;
  /* "http[s]://[user[:password]@]host:port", never logged with its user; NULL = https_proxy,
   * http_proxy, all_proxy and no_proxy of the environment. */
  const char* proxy;
  const char* no_proxy;      /* hosts without a proxy: "*", names, addresses, networks, by commas */
  const char* proxy_ca_file; /* PEM, of an https `proxy`; NULL = as of the service */
  /* "host:port:address[,address...]", several between blanks: no name server is asked for them. */
  const char* resolve;
  /* "host[:port]": what requests and certificates name, while connections go to `endpoint`. */
  const char* host;
  /* A folder of this machine by which processes share tokens; NULL = DATAFLUX_TOKEN_CACHE, or none.
   */
  const char* token_cache;
  /* The customer's key, 32 bytes, by which the service encrypts all objects that this client reads
   * and writes, and which it does not keep (CSEK; of S3 SSE-C); NULL = none. It is copied, wiped in
   * the end, and never logged. Objects under no key or another one are DATAFLUX_INVALID_ARGUMENT,
   * but for dataflux_copy(). Not with a cache, whose disk nobody encrypts, and not over plain HTTP
   * but at a loopback address: DATAFLUX_INVALID_ARGUMENT. Not of AIStore. */
  const uint8_t* encryption_key;
} dataflux_client_options;

DATAFLUX_API void dataflux_client_options_init(dataflux_client_options* options, size_t size);

/* Starts the client's threads; sends nothing. Failures: those of finding credentials;
 * DATAFLUX_INVALID_ARGUMENT for an option; DATAFLUX_RESOURCE_EXHAUSTED. */
DATAFLUX_API dataflux_status dataflux_client_create(const dataflux_client_options* options,
                                                    dataflux_client** out, dataflux_error** err);

/* Sets the access token of all later requests. `expires_ns`: since 1970; 0 = never. With
 * DATAFLUX_CREDENTIALS_TOKEN set the next one before it expires: calls without a valid token wait
 * `token_limit_ns` for it. DATAFLUX_FAILED_PRECONDITION for S3. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_set_token(dataflux_client* client, const char* token,
                                                       int64_t expires_ns, dataflux_error** err);
/* The access token that requests are sent with now, a secret, for processes that share one by
 * dataflux_client_set_token(). `*token` is NULL where no token is there yet, or requests go
 * without; it is asked for then. Free it by dataflux_text_free(). `*expires_ns`: since 1970; 0 =
 * never. Failures: as above. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_token(dataflux_client* client, char** token,
                                                   int64_t* expires_ns, dataflux_error** err);
/* Reports, with DATAFLUX_CREDENTIALS_TOKEN, that there is no token. Calls that wait for one end at
 * once, with `status` (1 to 16, such as DATAFLUX_UNAUTHENTICATED) and `message`, which must hold no
 * secret. So do calls that need one within the next second. After that "token_needed" comes again.
 * A token that is still valid stays in use. The next dataflux_client_set_token() ends that state.
 * DATAFLUX_FAILED_PRECONDITION for other credentials. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_fail_token(dataflux_client* client,
                                                        dataflux_status status, const char* message,
                                                        dataflux_error** err);

/* The client's metrics as a JSON object: requests and bytes ("totals"), times of attempts by verb
 * ("verbs"), "connections", "pacing" by bucket, "memory", and "cache", as by
 * dataflux_cache_counters() or null. Times are nanoseconds. Free the text by dataflux_text_free().
 * Any thread. */
DATAFLUX_API dataflux_status dataflux_client_metrics(const dataflux_client* client, char** out,
                                                     dataflux_error** err);
/* The same in Prometheus' text format, version 0.0.4: names begin with "dataflux_", times are
 * seconds. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_prometheus(const dataflux_client* client, char** out,
                                                        dataflux_error** err);
DATAFLUX_API void dataflux_text_free(char* text);

/* For callers that find bytes of an object damaged, by a checksum of their own, say. What the
 * client's cache has of that generation is read from the service from now on, but for what was
 * compared when it came. Without a cache it does nothing. Blocks for the disk. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_forget(const dataflux_client* client,
                                                    const char* bucket, const char* object,
                                                    int64_t generation, dataflux_error** err);

/* ---- A job: processes that share the rate of a bucket ---------------------------------------- */

/* The part of one process. Each beat, a second or some seconds, it is given what the others say of
 * themselves, and limits the rate at which a client starts requests. What it says itself goes to
 * the others, by whatever way they have: a file, an object, a store. docs/job.md says more. */
typedef struct dataflux_job dataflux_job;

typedef struct dataflux_job_options {
  size_t struct_size;
  uint32_t rank;      /* of this process, below `processes` */
  uint32_t processes; /* 0 = 1; at most 1,048,576 */
  /* Requests a second that a bucket takes when nobody has used it yet; 0 = 5,000 and 1,000. They
   * double in 20 minutes while they are used. Reads are listings and metadata, too. */
  double reads;
  double writes;
  /* A process that has said nothing new for so long is dead, and the others take its share; 0 = 30
   * seconds. */
  int64_t lease_ns;
} dataflux_job_options;

DATAFLUX_API void dataflux_job_options_init(dataflux_job_options* options, size_t size);

/* Asks nobody. DATAFLUX_INVALID_ARGUMENT for a rank that there is not, or a rate below 1. */
DATAFLUX_API dataflux_status dataflux_job_create(const dataflux_job_options* options,
                                                 dataflux_job** out, dataflux_error** err);
/* A beat. `records` are texts of processes of the job, in any order; those that are damaged, or
 * this process's own, are passed over. The client's rates are limited from now on as they say.
 * `*out` is what the others are to see: letters, digits and "-._~,;%", at most 800 of them. Free it
 * by dataflux_text_free(). The first beat comes before the client's first request. Any thread, one
 * at a time. */
DATAFLUX_API dataflux_status dataflux_job_beat(dataflux_job* job, dataflux_client* client,
                                               const char* const* records, size_t count, char** out,
                                               dataflux_error** err);
/* How many processes live, with this one, and the lowest rank of them: who does what one is to do
 * for all. As dataflux_job_beat(). */
DATAFLUX_API dataflux_status dataflux_job_living(const dataflux_job* job, uint32_t* count,
                                                 uint32_t* lowest, dataflux_error** err);
/* The client's rates are limited no more. As dataflux_job_beat(). */
DATAFLUX_API dataflux_status dataflux_job_leave(dataflux_job* job, dataflux_client* client,
                                                dataflux_error** err);
/* The limits of clients stay. */
DATAFLUX_API void dataflux_job_free(dataflux_job* job);

/* Ends all operations and streams with DATAFLUX_CANCELLED. Their records still come, perhaps after
 * items that have already arrived. Any thread. */
DATAFLUX_API void dataflux_client_close(dataflux_client* client);
/* Threads and connections end when the last handle made with it is freed, too. */
DATAFLUX_API void dataflux_client_free(dataflux_client* client);

/* ---- Operations ------------------------------------------------------------------------------ */

/* A call under way. A function that takes `queue` and `tag` begins one. At its end the queue has
 * one record with that tag, its status, and DATAFLUX_RECORD_END. With a NULL queue there is no
 * record; call dataflux_operation_wait(). With a NULL `out` there is only the record. One of queue
 * and `out` is required. Operations whose result is taken by dataflux_operation_take_*() need
 * `out`: DATAFLUX_INVALID_ARGUMENT for NULL. */
typedef struct dataflux_operation dataflux_operation;

/* Waits for the end. DATAFLUX_OK: it has ended, with success or failure.
 * DATAFLUX_DEADLINE_EXCEEDED: not within timeout_ns (0 = do not wait; negative = for ever).
 * DATAFLUX_INTERRUPTED. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_wait(dataflux_operation* op, int64_t timeout_ns,
                                                     dataflux_error** err);
/* Asks for an early end; the record comes, usually with DATAFLUX_CANCELLED. Any thread. */
DATAFLUX_API void dataflux_operation_cancel(dataflux_operation* op);
/* The outcome of an operation that has ended; DATAFLUX_FAILED_PRECONDITION before. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_result(dataflux_operation* op,
                                                       dataflux_error** err);
/* The result of a successful operation beside its record: a JSON object, which lives as long as the
 * operation. DATAFLUX_INVALID_ARGUMENT if it has no more than its record. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_json(dataflux_operation* op, const char** json,
                                                     dataflux_error** err);
/* Frees the handle. If the operation still runs, cancels it and blocks until the caller's memory is
 * no longer used. That takes milliseconds; for a commit, which cleans up, or a running disk step,
 * up to a minute per request. No record comes any more. */
DATAFLUX_API void dataflux_operation_free(dataflux_operation* op);

/* ---- Objects --------------------------------------------------------------------------------- */

/* Conditions of a call; if one does not hold, the call fails with DATAFLUX_FAILED_PRECONDITION. */
typedef struct dataflux_conditions {
  size_t struct_size;
  uint32_t has; /* which of them are meant: DATAFLUX_IF_* */
  uint32_t reserved;
  int64_t generation_match; /* 0 = the object must not exist */
  int64_t generation_not_match;
  int64_t metageneration_match;
  int64_t metageneration_not_match;
} dataflux_conditions;

#define DATAFLUX_IF_GENERATION_MATCH 1u
#define DATAFLUX_IF_GENERATION_NOT_MATCH 2u
#define DATAFLUX_IF_METAGENERATION_MATCH 4u
#define DATAFLUX_IF_METAGENERATION_NOT_MATCH 8u

DATAFLUX_API void dataflux_conditions_init(dataflux_conditions* conditions, size_t size);

/* Which object, and limits of a call. */
typedef struct dataflux_object_options {
  size_t struct_size;
  const char* bucket;
  const char* object;
  int64_t generation;                    /* 0 = the live one */
  int64_t timeout_ns;                    /* of the whole call, with all its retries; 0 = none */
  const dataflux_conditions* conditions; /* NULL = none */
  uint32_t fields;                       /* of dataflux_stat(): DATAFLUX_FIELD_*; 0 = all */
  uint32_t whole;                        /* of dataflux_get_one(): see there */
  const char* member; /* of dataflux_get(): a file of an archive of AIStore; NULL = the object */
  /* Of dataflux_copy(): the object is under this key of 32 bytes, or under none of the caller's.
   * Neither = it is under the client's, or, where that has none, under none. */
  const uint8_t* encryption_key;
  uint32_t no_encryption_key; /* 1: under none */
  uint32_t reserved;
} dataflux_object_options;

/* Members of dataflux_stat()'s result. Others are not sent, and are not in the JSON. */
#define DATAFLUX_FIELD_BASIC 1u /* bucket, name, size, generation, crc32c: with all others, too */
#define DATAFLUX_FIELD_METAGENERATION 2u
#define DATAFLUX_FIELD_MD5_HASH 4u
#define DATAFLUX_FIELD_ETAG 8u
#define DATAFLUX_FIELD_CONTENT_TYPE 16u
#define DATAFLUX_FIELD_CONTENT_ENCODING 32u
#define DATAFLUX_FIELD_CONTENT_DISPOSITION 64u
#define DATAFLUX_FIELD_CONTENT_LANGUAGE 128u
#define DATAFLUX_FIELD_CACHE_CONTROL 256u
#define DATAFLUX_FIELD_STORAGE_CLASS 512u
#define DATAFLUX_FIELD_KMS_KEY_NAME 1024u
#define DATAFLUX_FIELD_TIME_CREATED 2048u
#define DATAFLUX_FIELD_UPDATED 4096u
#define DATAFLUX_FIELD_CUSTOM_TIME 8192u
#define DATAFLUX_FIELD_COMPONENT_COUNT 16384u
#define DATAFLUX_FIELD_METADATA 32768u

DATAFLUX_API void dataflux_object_options_init(dataflux_object_options* options, size_t size);

/* Attributes that are written with an object. Texts: NULL = the service's default. */
typedef struct dataflux_attributes {
  size_t struct_size;
  const char* content_type;
  const char* content_encoding;
  const char* content_disposition;
  const char* content_language;
  const char* cache_control;
  const char* storage_class;
  const char* kms_key_name;
  int64_t custom_time_ns;            /* since 1970; 0 = none */
  const char* const* metadata_names; /* metadata_count texts each */
  const char* const* metadata_values;
  size_t metadata_count;
} dataflux_attributes;

DATAFLUX_API void dataflux_attributes_init(dataflux_attributes* attributes, size_t size);

/* Reads `size` bytes from `offset` on into `memory`, by parallel ranges if that is long. The memory
 * is lent until the operation ends; after a failure its content is undefined. The record has size,
 * crc32c, generation and DATAFLUX_RECORD_VERIFIED. Failures: DATAFLUX_OUT_OF_RANGE if the object
 * ends earlier, or if `size` is 0 and the object is not empty; DATAFLUX_UNIMPLEMENTED for
 * conditions: name the generation. If `whole` is not 0 the object must have exactly `size` bytes,
 * as a listing has told, and `offset` be 0. On S3 its checksum then costs no request of its own,
 * unless it is longer than a slice. */
DATAFLUX_API dataflux_status dataflux_get_one(dataflux_client* client,
                                              const dataflux_object_options* options,
                                              uint64_t offset, void* memory, size_t size,
                                              dataflux_queue* queue, uint64_t tag,
                                              dataflux_operation** out, dataflux_error** err);
/* Reads `length` bytes from `offset` on, or up to the object's end, into the library's memory;
 * UINT64_MAX = to the end. An empty object has no bytes, which is no failure if `offset` is 0. The
 * queue is required, because only the record hands out the memory. It has data, size, slab
 * (dataflux_slabs_release()), crc32c, generation and DATAFLUX_RECORD_VERIFIED. Until the record is
 * taken the operation owns the memory and frees it; closing the queue frees it, too.
 *
 * During the read the memory is under the client's memory cap, as items of dataflux_get_many() are.
 * From the end of the operation on it is borrowed, also while the record waits. An object of up to
 * 1 MiB is one request; the first MiB of a longer one is requested twice. Failures:
 * DATAFLUX_OUT_OF_RANGE if the range begins at or behind the object's end;
 * DATAFLUX_RESOURCE_EXHAUSTED for more than the memory cap: use dataflux_get_one() with your own
 * memory; DATAFLUX_UNIMPLEMENTED for conditions: name the generation.
 *
 * With options->member the service takes that file out of a tar, tgz or zip archive, which AIStore
 * does. Nothing is compared then, and the record's generation is 0. Failures besides:
 * DATAFLUX_UNIMPLEMENTED by other services, before any request; DATAFLUX_INVALID_ARGUMENT for a
 * range or a generation. */
DATAFLUX_API dataflux_status dataflux_get(dataflux_client* client,
                                          const dataflux_object_options* options, uint64_t offset,
                                          uint64_t length, dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err);
/* Returns an object's metadata as JSON, with the service's names and formats. The record has size,
 * crc32c and generation. */
DATAFLUX_API dataflux_status dataflux_stat(dataflux_client* client,
                                           const dataflux_object_options* options,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* In a write without a condition on its target the last writer wins: dataflux_put(),
 * dataflux_remove(), dataflux_copy(), dataflux_move(), dataflux_compose(), dataflux_patch(). After
 * a refusal (408, 5xx) it is sent again. After a lost reply the object is checked. If this call
 * made or removed it, that is success. If it is older than the call, it is replaced, by its
 * generation. If it is newer, it belongs to another writer and stays: the call fails with
 * DATAFLUX_ABORTED; a removal succeeds. If that cannot be decided, the call fails with
 * DATAFLUX_UNAVAILABLE, and the error says that the outcome is unknown. With generation_match of
 * the target, and metageneration_match of dataflux_patch(), a write can be repeated safely. With
 * any other condition it is sent once. */

/* Inserts an object by one request, with its checksum. `data` is lent until the operation ends. The
 * result is that of dataflux_stat(). */
DATAFLUX_API dataflux_status dataflux_put(dataflux_client* client,
                                          const dataflux_object_options* options, const void* data,
                                          size_t size, const dataflux_attributes* attributes,
                                          dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err);
DATAFLUX_API dataflux_status dataflux_remove(dataflux_client* client,
                                             const dataflux_object_options* options,
                                             dataflux_queue* queue, uint64_t tag,
                                             dataflux_operation** out, dataflux_error** err);
/* ---- Listings -------------------------------------------------------------------------------- */

/* Rows of objects in order of names, in columns. Immutable; any thread. */
typedef struct dataflux_listing dataflux_listing;

typedef struct dataflux_list_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix;
  const char* start_offset; /* names >= it */
  const char* end_offset;   /* names < it */
  const char* delimiter;
  const char* match_glob;
  const char* suffix;
  const char* regex;
  uint64_t min_size;
  uint64_t max_size;      /* 0 = no bound */
  uint32_t keep_markers;  /* 1: objects of no bytes whose names end in "/" are listed, too */
  uint32_t keep_composed; /* 1: this library's temporary objects are listed, too */
  uint32_t versions;      /* 1: all generations */
  uint32_t parallelism;   /* calls in flight; 0 = adaptive */
  uint64_t max_calls;     /* 0 = no bound */
  uint64_t memory_cap;    /* 0 = no bound; of a stream 256 MiB */
  int64_t timeout_ns;
  uint32_t partial; /* 1: a range of names that fails is left out, and dataflux_listing_json() says
                       so; 0: the first failure ends the listing */
  uint32_t by_name; /* of a stream, 1: its batches come in order of names */
  const char* const* storage_classes; /* storage_class_count texts, such as "STANDARD": objects of
                                       * others are left out; none = of all */
  size_t storage_class_count;
} dataflux_list_options;

DATAFLUX_API void dataflux_list_options_init(dataflux_list_options* options, size_t size);

/* Lists by many parallel calls. It is proved complete, or fails. The record's size is the rows. */
DATAFLUX_API dataflux_status dataflux_list(dataflux_client* client,
                                           const dataflux_list_options* options,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_list() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_listing(dataflux_operation* op,
                                                             dataflux_listing** out,
                                                             dataflux_error** err);

DATAFLUX_API uint64_t dataflux_listing_size(const dataflux_listing* listing);
DATAFLUX_API uint64_t dataflux_listing_chunks(const dataflux_listing* listing);
/* A listing's summary as a JSON object, which lives as long as the listing. All have "prefixes"
 * (names that a delimiter folded). One by dataflux_list() also has "objects" and "bytes"; "pages"
 * and "calls", "probes" and "repeats" among them; "ranges"; "dropped", by reason. "missing" are
 * ranges of names that could not be listed, as "start" and "end", and "cause" says why. */
DATAFLUX_API dataflux_status dataflux_listing_json(const dataflux_listing* listing,
                                                   const char** json, dataflux_error** err);

/* A run of rows whose columns lie in one piece. Borrowed from the listing. */
typedef struct dataflux_chunk {
  uint64_t first_row;
  uint64_t rows;
  const char* names;           /* one behind the other, without NULs */
  const int32_t* name_offsets; /* rows + 1 of them, into `names` */
  const uint64_t* sizes;
  const int64_t* generations;
  const uint32_t* crc32c;      /* of rows whose bit in crc32c_valid is set */
  const uint8_t* crc32c_valid; /* a bit for each row, least significant first; NULL = all are */
  uint64_t first_bit;          /* of the first row, in crc32c_valid: 0 to 7 */
} dataflux_chunk;

DATAFLUX_API dataflux_status dataflux_listing_chunk(const dataflux_listing* listing, uint64_t index,
                                                    dataflux_chunk* out, size_t chunk_size,
                                                    dataflux_error** err);
struct ArrowArrayStream;
/* All rows for an Arrow library of this process, without a copy. `out` is an uninitialised Arrow
 * structure. Its owner releases it; it may outlive the listing. */
DATAFLUX_API dataflux_status dataflux_listing_arrow(const dataflux_listing* listing,
                                                    struct ArrowArrayStream* out,
                                                    dataflux_error** err);
DATAFLUX_API void dataflux_listing_free(dataflux_listing* listing);

/* ---- The order of training ------------------------------------------------------------------- */

#define DATAFLUX_SHUFFLE_FULL 0   /* any row may come anywhere */
#define DATAFLUX_SHUFFLE_WINDOW 1 /* blocks of rows, and within some blocks their rows */
#define DATAFLUX_SHUFFLE_NONE 2
#define DATAFLUX_SHUFFLE_BLOCKS 3 /* blocks of rows, each in an order of its own, take turns */
#define DATAFLUX_EQUALIZE_DROP 0  /* rows that do not go around are left out, the last ones */
#define DATAFLUX_EQUALIZE_PAD 1   /* the first rows come again at the end */

typedef struct dataflux_sampler_options {
  size_t struct_size;
  uint64_t count; /* rows there are; at most 2^62 */
  uint64_t seed;
  uint64_t epoch;
  uint64_t block;      /* rows of a block, of DATAFLUX_SHUFFLE_WINDOW and _BLOCKS; 0 = 1,024 */
  uint64_t window;     /* blocks that are mixed, or take turns, the same; 0 = 64 */
  uint32_t shuffle;    /* DATAFLUX_SHUFFLE_* */
  uint32_t equalize;   /* DATAFLUX_EQUALIZE_* */
  uint32_t rank;       /* of the ranks of a job, from 0 */
  uint32_t world_size; /* how many they are; 0 = 1 */
} dataflux_sampler_options;

DATAFLUX_API void dataflux_sampler_options_init(dataflux_sampler_options* options, size_t size);

/* The order in which a rank reads the rows of an epoch: a pure function of the options, the same on
 * every machine and in every version. Nothing is stored, and any position is computed at once. The
 * ranks take turns in one order: position p of rank r is place p * world_size + r of it. *size is
 * the number of positions of each rank. DATAFLUX_INVALID_ARGUMENT names the member. Any thread.
 */
DATAFLUX_API dataflux_status dataflux_sampler_size(const dataflux_sampler_options* options,
                                                   uint64_t* size, dataflux_error** err);
/* The rows at `count` positions from `first` on, for dataflux_get_many(): some 25 ns for each.
 * DATAFLUX_OUT_OF_RANGE beyond the rank's size; `rows` is untouched then. Any thread.
 */
DATAFLUX_API dataflux_status dataflux_sampler_rows(const dataflux_sampler_options* options,
                                                   uint64_t first, uint64_t* rows, size_t count,
                                                   dataflux_error** err);
/* Puts the row of each position in its place: of positions that lie apart. DATAFLUX_OUT_OF_RANGE
 * beyond the rank's size; nothing is changed then. Any thread. */
DATAFLUX_API dataflux_status dataflux_sampler_rows_at(const dataflux_sampler_options* options,
                                                      uint64_t* positions, size_t count,
                                                      dataflux_error** err);
/* The first position behind the window of `position`, at most the rank's size. A caller that reads
 * the rows up to there by their numbers reads each block in one piece. Without windows it is the
 * size. Any thread. */
DATAFLUX_API dataflux_status dataflux_sampler_window_end(const dataflux_sampler_options* options,
                                                         uint64_t position, uint64_t* end,
                                                         dataflux_error** err);

/* Who reads an epoch, and what its samples are. */
typedef struct dataflux_epoch_reads {
  size_t struct_size;
  double sample_bytes;  /* mean bytes of a sample; 0 = 1 */
  double shard_samples; /* mean samples of a shard; 0 = a sample is an object of its own */
  uint64_t batch;       /* samples of a rank's batch; 0 = 1 */
  uint64_t memory;      /* bytes that each process has for reads; 0 = 256 MiB */
  uint64_t gap;         /* bytes between samples that are read, not left out; 0 = 256 KiB */
  uint64_t workers;     /* processes of each rank, which take turns by batches; 0 = 1 */
} dataflux_epoch_reads;

DATAFLUX_API void dataflux_epoch_reads_init(dataflux_epoch_reads* reads, size_t size);

/* Means over an epoch. */
typedef struct dataflux_order_cost {
  double requests;           /* for each sample */
  double bytes_read;         /* for each byte that is used: 2 at most */
  double readers;            /* processes that read rows of one block; 0: there are no blocks */
  double held;               /* bytes of samples that a process keeps until their turn comes */
  double lag_correlation;    /* of the numbers of a rank's sample and its next one */
  double same_shard;         /* how likely two samples of a rank's batch are of one shard */
  double same_shard_of_full; /* the same with a full shuffle */
} dataflux_order_cost;

/* What an order costs, and how well it mixes, before anything is read: estimates of a whole epoch.
 * Requests are within a fifth of those that are counted. DATAFLUX_INVALID_ARGUMENT names the
 * member. Any thread. */
DATAFLUX_API dataflux_status dataflux_sampler_cost(const dataflux_sampler_options* options,
                                                   const dataflux_epoch_reads* reads,
                                                   dataflux_order_cost* out, size_t cost_size,
                                                   dataflux_error** err);

#define DATAFLUX_BOUND_STEP 0        /* the training step: it hardly waits */
#define DATAFLUX_BOUND_LINK 1        /* the link is full */
#define DATAFLUX_BOUND_PROCESSORS 2  /* processors are busy with requests and bytes */
#define DATAFLUX_BOUND_DECODING 3    /* the threads that decode are busy */
#define DATAFLUX_BOUND_MEMORY 4      /* reads under way fill memory */
#define DATAFLUX_BOUND_CONCURRENCY 5 /* all reads that may be in flight are */
#define DATAFLUX_BOUND_START \
  6 /* it is over, or has waited most, before reads have found their pace */

/* An epoch that is to be simulated. 0 is the default of what names one. Rates are bytes a second.
 */
typedef struct dataflux_epoch_model {
  size_t struct_size;
  const dataflux_listing* listing; /* its objects, as a whole; NULL = those of `sizes` */
  const uint64_t* sizes;           /* `size_count` sizes of objects, in any order */
  const uint64_t* counts;          /* how many objects there are of each; NULL = 1 */
  uint64_t size_count;
  uint64_t epochs;           /* times that all objects are read; 0 = 1 */
  double link;               /* of the machine; above 0 */
  double connection_rate;    /* of one connection; 0 = 50e6 */
  int64_t round_trip_ns;     /* from a request to its reply's first byte; 0 = 20 ms */
  double spread;             /* sigma of the logarithm of a request's round trip, and of its rate;
                                0 = 0.2; below 0 = none */
  uint64_t memory;           /* bytes that each process has for reads; 0 = 256 MiB */
  int64_t request_ns;        /* processor time of a request; 0 = 20 us */
  double byte_ns;            /* of a byte; 0 = 0.65: TLS by OpenSSL 3.0; 0.2: 3.5; 0.1: no TLS */
  int64_t decode_ns;         /* of decoding a sample; 0 = none */
  uint64_t workers;          /* processes that make batches in turns, each with two ahead; 0 = the
                                training process reads by itself */
  uint64_t batch;            /* samples of a batch; 0 = 1 */
  int64_t step_ns;           /* of the training, for a batch; 0 = none */
  double class_a_price;      /* US dollars of a million operations; 0 = 5; below 0 = free */
  double class_b_price;      /* of a million; 0 = 0.4; below 0 = free */
  double gib_price;          /* of a GiB that leaves the region */
  uint64_t seed;             /* of all dice; 0 = 1 */
  uint32_t connecting_trips; /* round trips before the first request of a connection; 0 = 2 */
  uint32_t processors;       /* of the machine; 0 = 4 */
  uint32_t concurrency;      /* most reads of each process in flight; 0 = 256 */
  uint32_t decode_threads;   /* of each process; 0 = 1 */
  uint32_t order;            /* DATAFLUX_ORDER_* */
  uint32_t listed;           /* 1: the bucket is listed first; 0: a manifest in a file is there */
} dataflux_epoch_model;

DATAFLUX_API void dataflux_epoch_model_init(dataflux_epoch_model* model, size_t size);

/* Of all epochs together. Shares are from 0 to 1. */
typedef struct dataflux_epoch_forecast {
  double seconds;
  double first_batch; /* seconds */
  double samples_per_second;
  double bytes_per_second;
  double link_share;
  double processors_share;
  double waited;    /* share of the time that the training waits */
  double price;     /* US dollars */
  double in_flight; /* reads, on the average */
  double simulated; /* share of the samples that were simulated; the rest is reckoned to go on so */
  uint64_t samples;
  uint64_t bytes;
  uint64_t class_a;
  uint64_t class_b;
  uint64_t hedged;      /* of them: reads that were asked for again because they were late */
  uint64_t peak_memory; /* bytes read ahead or being read, of all processes */
  uint64_t bound;       /* DATAFLUX_BOUND_*: what there is not enough of */
} dataflux_epoch_forecast;

/* How long an epoch would take, what would bound it, and what it would cost: by this library's own
 * getter, over a simulated service and network, in at most a few seconds and up to 4 GiB of memory.
 * Equal models give equal forecasts. docs/simulate.md says how near that comes to measured epochs.
 * DATAFLUX_INVALID_ARGUMENT names the member. Any thread. */
DATAFLUX_API dataflux_status dataflux_simulate_epoch(const dataflux_epoch_model* model,
                                                     dataflux_epoch_forecast* out,
                                                     size_t forecast_size, dataflux_error** err);
/* A sentence that says what bounds, and what helps. Never NULL, and never freed. */
DATAFLUX_API const char* dataflux_epoch_bound_text(uint64_t bound);

/* Several sources of samples as one, by weights: which source each draw is from. A pure function of
 * its options, of which any draw is found at once. Immutable; any thread, and a forked child. */
typedef struct dataflux_mixer dataflux_mixer;

#define DATAFLUX_ENDED_STOP 0    /* the mix ends before the first draw that has no sample */
#define DATAFLUX_ENDED_RESTART 1 /* the source begins again, in an epoch of its own; no end */
#define DATAFLUX_ENDED_DROP 2    /* the others go on without it, until none is left */

typedef struct dataflux_mixer_options {
  size_t struct_size;
  const uint64_t* sizes;  /* samples of each source, of one epoch; at most 2^62 */
  const uint64_t* froms;  /* draws at which weights begin, ascending; NULL = {0} */
  const uint32_t* parts;  /* weights: whole parts of their sum, at most 65,536; `sources` of them
                             for each of `stages`. 0: the source rests */
  const uint64_t* counts; /* what each source had given before the first of them; NULL = nothing */
  uint64_t sources;       /* 1 to 256 */
  uint32_t stages;        /* how often weights begin; 0 = 1 */
  uint32_t ended;         /* DATAFLUX_ENDED_*: what happens when a source has no more samples */
} dataflux_mixer_options;

DATAFLUX_API void dataflux_mixer_options_init(dataflux_mixer_options* options, size_t size);

/* After n draws of unchanged weights a source of p among P parts has given n * p / P samples,
 * rounded down or up. n is counted from where weights begin, or a source was dropped. A job goes on
 * from the draw and one count of each source. DATAFLUX_INVALID_ARGUMENT names the member. */
DATAFLUX_API dataflux_status dataflux_mixer_create(const dataflux_mixer_options* options,
                                                   dataflux_mixer** out, dataflux_error** err);
DATAFLUX_API void dataflux_mixer_free(dataflux_mixer* mixer);
/* *end is the draw that ends the mix; UINT64_MAX: none. */
DATAFLUX_API dataflux_status dataflux_mixer_end(const dataflux_mixer* mixer, uint64_t* end,
                                                dataflux_error** err);
/* The draws first, first + step, ..., up to the end: the source of each, and which of its samples,
 * from 0 and through all of its epochs. *taken is how many of `count` there are. Under 5 ns each.
 * DATAFLUX_OUT_OF_RANGE before the first weights. */
DATAFLUX_API dataflux_status dataflux_mixer_draws(const dataflux_mixer* mixer, uint64_t first,
                                                  uint64_t step, uint32_t* sources,
                                                  uint64_t* numbers, size_t count, size_t* taken,
                                                  dataflux_error** err);
/* What each source has given once the draws before `draw` are over; `counts` has room for all. */
DATAFLUX_API dataflux_status dataflux_mixer_counts(const dataflux_mixer* mixer, uint64_t draw,
                                                   uint64_t* counts, dataflux_error** err);

/* ---- Very many objects ----------------------------------------------------------------------- */

/* A stream of reads. Its items come as records of its queue. */
typedef struct dataflux_getter dataflux_getter;

#define DATAFLUX_ORDER_AS_ASKED 0
#define DATAFLUX_ORDER_AS_READY 1
#define DATAFLUX_ON_ERROR_ITEM 0 /* a failed request is a record with its status; others go on */
#define DATAFLUX_ON_ERROR_STOP 1 /* the stream ends with the first failure */

typedef struct dataflux_get_many_options {
  size_t struct_size;
  const char* bucket;
  uint32_t order;
  uint32_t on_error;
  uint32_t compose;       /* 1: runs of small whole objects are composed and read as one */
  uint32_t feed;          /* 1: requests are pushed, by dataflux_getter_push_*() */
  uint64_t feed_capacity; /* requests that wait in the feed; 0 = 65,536 */
  int64_t timeout_ns;
} dataflux_get_many_options;

DATAFLUX_API void dataflux_get_many_options_init(dataflux_get_many_options* options, size_t size);

/* Reads whole objects of a listing: `rows` by number, in this order, or all rows if `rows` is NULL.
 * With options->feed only pushed requests are read; then `rows` must be NULL, and `listing` may be.
 * Names never cross the boundary: a record's index is the number of its request. Any thread.
 */
DATAFLUX_API dataflux_status dataflux_get_many(dataflux_client* client,
                                               const dataflux_get_many_options* options,
                                               const dataflux_listing* listing,
                                               const uint64_t* rows, size_t row_count,
                                               dataflux_queue* queue, uint64_t tag,
                                               dataflux_getter** out, dataflux_error** err);

/* Requests by columns, of `count` rows. A NULL column = its default for all. A range is cut at the
 * object's end. DATAFLUX_OUT_OF_RANGE if it begins at or behind the end, except at an offset of
 * 0. */
typedef struct dataflux_get_columns {
  size_t struct_size;
  const char* names;            /* one behind the other */
  const uint64_t* name_offsets; /* count + 1 of them */
  const int64_t* generations;
  const uint64_t* offsets;
  const uint64_t* lengths; /* UINT64_MAX = to the end */
  void* const* into;       /* memory of the caller, `lengths` bytes each; NULL = the library's */
  const uint64_t* object_sizes;   /* UINT64_MAX = not known */
  const char* members;            /* as dataflux_object_options.member; empty = the object */
  const uint64_t* member_offsets; /* count + 1 of them; needed with `members` */
} dataflux_get_columns;

DATAFLUX_API void dataflux_get_columns_init(dataflux_get_columns* columns, size_t size);

/* Pushes requests into a feed, from the first on. *taken is their number: fewer if the feed is
 * full. Push the rest again after records have come. Any thread; never waits. */
DATAFLUX_API dataflux_status dataflux_getter_push(dataflux_getter* getter,
                                                  const dataflux_get_columns* requests,
                                                  size_t count, size_t* taken,
                                                  dataflux_error** err);
DATAFLUX_API dataflux_status dataflux_getter_push_rows(dataflux_getter* getter,
                                                       const uint64_t* rows, size_t count,
                                                       size_t* taken, dataflux_error** err);
/* No more will be pushed. */
DATAFLUX_API void dataflux_getter_finish(dataflux_getter* getter);
/* Ends the stream: its last record has DATAFLUX_CANCELLED. Any thread. */
DATAFLUX_API void dataflux_getter_cancel(dataflux_getter* getter);
/* Frees the handle. A running stream is cancelled and waited for: milliseconds. No record comes any
 * more. Memory of its items stays until it is released. */
DATAFLUX_API void dataflux_getter_free(dataflux_getter* getter);

/* ---- Changes of objects ---------------------------------------------------------------------- */

/* The result is that of dataflux_stat(), for the new or changed object. dataflux_put() describes
 * what happens after refusals and lost replies. */

/* Copies an object within the service, however large: to another name, bucket, storage class or
 * key. `source`: bucket, object, generation and conditions. `target`: bucket, object, conditions of
 * the copy, and the time limit of the whole. attributes: NULL, or none set = the source's; else the
 * copy has exactly these. kms_key_name alone does not count as one. Failures:
 * DATAFLUX_INVALID_ARGUMENT for a time limit of the source, and a generation of the target. Keys of
 * either side change where one has an encryption_key. */
DATAFLUX_API dataflux_status dataflux_copy(dataflux_client* client,
                                           const dataflux_object_options* source,
                                           const dataflux_object_options* target,
                                           const dataflux_attributes* attributes,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Renames an object within its bucket, in one step. The options are as for dataflux_copy(), and
 * both name the same bucket. Failures: DATAFLUX_INVALID_ARGUMENT for two buckets, and for a
 * generation: the live one is moved, and conditions can require which one. After a lost reply the
 * call checks, with conditions and without: it succeeded if the source is gone and the object under
 * the new name is not older than the call. */
DATAFLUX_API dataflux_status dataflux_move(dataflux_client* client,
                                           const dataflux_object_options* source,
                                           const dataflux_object_options* target,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Concatenates 1 to 32 objects of the target's bucket, in this order; they stay. `names` has
 * `count` texts; `generations` as many numbers, 0 = the live one, or is NULL = the live ones. */
DATAFLUX_API dataflux_status dataflux_compose(dataflux_client* client,
                                              const dataflux_object_options* target,
                                              const char* const* names, const int64_t* generations,
                                              size_t count, const dataflux_attributes* attributes,
                                              dataflux_queue* queue, uint64_t tag,
                                              dataflux_operation** out, dataflux_error** err);
/* Changes attributes. NULL, or a custom_time_ns of 0, keeps one, and "" removes it. Metadata names
 * that are not given stay; a NULL value removes one. A custom time cannot be removed, and can only
 * move forward. Failures: DATAFLUX_INVALID_ARGUMENT if nothing changes, and for storage_class and
 * kms_key_name, which dataflux_copy() changes. */
DATAFLUX_API dataflux_status dataflux_patch(dataflux_client* client,
                                            const dataflux_object_options* options,
                                            const dataflux_attributes* attributes,
                                            dataflux_queue* queue, uint64_t tag,
                                            dataflux_operation** out, dataflux_error** err);

/* ---- Signatures for others ------------------------------------------------------------------- */

/* dataflux_sign_options.style: where a URL says which bucket it is about */
#define DATAFLUX_URL_PATH 0           /* HOST/BUCKET/OBJECT */
#define DATAFLUX_URL_VIRTUAL_HOSTED 1 /* BUCKET.HOST/OBJECT */
#define DATAFLUX_URL_BUCKET_BOUND 2   /* HOST/OBJECT: `host` is yours, and leads to the bucket */

/* What a URL or a form is for, and who signs it. An HMAC key signs, where there is one; else the
 * service account of the client's credentials, by its key; else IAM, for that account or `account`:
 * the client's principal needs iam.serviceAccounts.signBlob on it. Of S3 the client's keys sign,
 * and the members from `generation` to `secret_access_key` are DATAFLUX_INVALID_ARGUMENT. */
typedef struct dataflux_sign_options {
  size_t struct_size;
  const char* bucket;
  const char* object; /* NULL = the bucket itself, whose objects a URL lists */
  int64_t life_ns;    /* 1 s to 7 days; 0 = 1 hour */
  int64_t generation; /* of a URL; 0 = the live one */
  uint32_t style;     /* DATAFLUX_URL_* */
  uint32_t reserved;
  const char* host;          /* "name[:port]"; NULL = the endpoint's */
  const char* scheme;        /* "https" or "http"; NULL = the endpoint's */
  const char* account;       /* e-mail address; NULL = that of the credentials */
  const char* access_key_id; /* an HMAC key of Google's: both, or neither */
  const char* secret_access_key;
  int64_t timeout_ns; /* of the whole call; 0 = none */
} dataflux_sign_options;

DATAFLUX_API void dataflux_sign_options_init(dataflux_sign_options* options, size_t size);

/* What a URL lets its owner send. Names and values: as many texts each as the count says. */
typedef struct dataflux_signed_request {
  size_t struct_size;
  const char* method; /* GET, HEAD, PUT, POST or DELETE; NULL = GET */
  /* Fields that must be sent alike; x-goog-content-sha256 says what the body must be. */
  const char* const* header_names;
  const char* const* header_values;
  size_t header_count;
  const char* const* parameter_names;
  const char* const* parameter_values;
  size_t parameter_count;
} dataflux_signed_request;

DATAFLUX_API void dataflux_signed_request_init(dataflux_signed_request* request, size_t size);

/* Signs a URL, whose holder sends such requests until it expires: {"url", "expires"}, a
 * secret. Without a key at hand it takes a request or two. `request` NULL = GET. Failures:
 * DATAFLUX_FAILED_PRECONDITION when nobody can sign, DATAFLUX_PERMISSION_DENIED of IAM. No error
 * shows a URL or a signature. */
DATAFLUX_API dataflux_status dataflux_sign_url(dataflux_client* client,
                                               const dataflux_sign_options* options,
                                               const dataflux_signed_request* request,
                                               dataflux_queue* queue, uint64_t tag,
                                               dataflux_operation** out, dataflux_error** err);

/* dataflux_form_condition.rule */
#define DATAFLUX_FORM_EQUAL 0       /* the field is `value` */
#define DATAFLUX_FORM_BEGINS_WITH 1 /* it begins with it; with "" it may be anything */
#define DATAFLUX_FORM_SIZE 2        /* the file has `least` to `most` bytes; no field */

/* What a field must be that the form's user fills in. */
typedef struct dataflux_form_condition {
  const char* field;
  const char* value;
  uint64_t least;
  uint64_t most;
  uint32_t rule; /* DATAFLUX_FORM_* */
  uint32_t reserved;
} dataflux_form_condition;

/* Signs the policy of a form: the holder of its fields uploads an object. {"url", "fields":
 * [[name, value], ...], "expires"}. POST them to the URL as multipart/form-data, with `file` behind
 * them. `object` may end in "${filename}". Fields are `count` texts each, and must be sent as they
 * are. Not of S3. Else as dataflux_sign_url(). */
DATAFLUX_API dataflux_status dataflux_sign_form(
    dataflux_client* client, const dataflux_sign_options* options, const char* const* names,
    const char* const* values, size_t count, const dataflux_form_condition* conditions,
    size_t condition_count, dataflux_queue* queue, uint64_t tag, dataflux_operation** out,
    dataflux_error** err);

/* ---- Buckets --------------------------------------------------------------------------------- */

typedef struct dataflux_bucket_options {
  size_t struct_size;
  const char* bucket;
  int64_t timeout_ns; /* of the whole call, with all its retries; 0 = none */
} dataflux_bucket_options;

DATAFLUX_API void dataflux_bucket_options_init(dataflux_bucket_options* options, size_t size);

/* Returns a bucket's metadata as JSON, with the service's names and formats. */
DATAFLUX_API dataflux_status dataflux_bucket(dataflux_client* client,
                                             const dataflux_bucket_options* options,
                                             dataflux_queue* queue, uint64_t tag,
                                             dataflux_operation** out, dataflux_error** err);
/* Which of 1 to 100 permissions, such as "storage.objects.create", the account has on the bucket:
 * {"permissions": [...]}. The record's size is their number. */
DATAFLUX_API dataflux_status dataflux_test_permissions(dataflux_client* client,
                                                       const dataflux_bucket_options* options,
                                                       const char* const* permissions, size_t count,
                                                       dataflux_queue* queue, uint64_t tag,
                                                       dataflux_operation** out,
                                                       dataflux_error** err);

typedef struct dataflux_bulk_restore_options {
  size_t struct_size;
  const char* bucket;
  const char* const* match_globs; /* match_glob_count patterns of names; none = all names */
  size_t match_glob_count;
  int64_t deleted_after_ns; /* times since 1970; 0 = no bound */
  int64_t deleted_before_ns;
  int64_t created_after_ns;
  int64_t created_before_ns;
  int64_t timeout_ns; /* of the whole call, with all its waiting; 0 = none */
  uint32_t overwrite; /* 1: live objects of the same names are replaced */
  uint32_t reserved;
} dataflux_bulk_restore_options;

DATAFLUX_API void dataflux_bulk_restore_options_init(dataflux_bulk_restore_options* options,
                                                     size_t size);

/* Brings soft-deleted objects back: of each name the last generation that meets all conditions, as
 * a new generation. The service takes minutes at least; the operation ends when the service is
 * done. Gives {"operation", "restored", "skipped", "failed"}, numbers of generations but for the
 * first; the record's size is "restored". Failures: DATAFLUX_INVALID_ARGUMENT for a bucket without
 * a soft delete policy. A call that ends early leaves the service at work. */
DATAFLUX_API dataflux_status dataflux_bulk_restore(dataflux_client* client,
                                                   const dataflux_bulk_restore_options* options,
                                                   dataflux_queue* queue, uint64_t tag,
                                                   dataflux_operation** out, dataflux_error** err);

typedef struct dataflux_list_buckets_options {
  size_t struct_size;
  const char* project; /* NULL = that of the credentials */
  const char* prefix;
  int64_t timeout_ns;
} dataflux_list_buckets_options;

DATAFLUX_API void dataflux_list_buckets_options_init(dataflux_list_buckets_options* options,
                                                     size_t size);

/* All buckets of a project, in order of names: {"items": [...]}, each as of dataflux_bucket(). The
 * record's size is their number. */
DATAFLUX_API dataflux_status dataflux_list_buckets(dataflux_client* client,
                                                   const dataflux_list_buckets_options* options,
                                                   dataflux_queue* queue, uint64_t tag,
                                                   dataflux_operation** out, dataflux_error** err);

/* ---- Listings that need not fit in memory ---------------------------------------------------- */

/* A stream of batches of rows. Its queue has a record for each batch, with its rows (size) and its
 * number from 0 (index). dataflux_lister_take() takes it; then the next record comes.
 *
 * If nobody takes batches, the network stops: options->memory_cap bounds the waiting pages, besides
 * one batch of at most 65,536 rows and a page. The last record has DATAFLUX_RECORD_END and the
 * outcome; its size is the rows of all batches. The listing is proved complete, or that record says
 * why not. The batches before it are valid in either case. */
typedef struct dataflux_lister dataflux_lister;

/* Begins to list. The last record may also report a bad value. Any thread. */
DATAFLUX_API dataflux_status dataflux_list_stream(dataflux_client* client,
                                                  const dataflux_list_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_lister** out, dataflux_error** err);
/* Takes the announced batch, in order of names. The caller frees it; it may outlive the stream.
 * Across batches names are in order with options->by_name only. DATAFLUX_FAILED_PRECONDITION if no
 * batch waits. Never waits. Any thread. */
DATAFLUX_API dataflux_status dataflux_lister_take(dataflux_lister* lister, dataflux_listing** out,
                                                  dataflux_error** err);
/* The summary so far, as a JSON object: as dataflux_listing_json() of dataflux_list(), without
 * "prefixes", which the batches have. Free it by dataflux_text_free(). Any thread. */
DATAFLUX_API dataflux_status dataflux_lister_json(const dataflux_lister* lister, char** out,
                                                  dataflux_error** err);
/* Ends the stream: its last record has DATAFLUX_CANCELLED. An announced batch can still be taken.
 * Any thread. */
DATAFLUX_API void dataflux_lister_cancel(dataflux_lister* lister);
/* Frees the handle. A running stream is cancelled. No record comes any more. */
DATAFLUX_API void dataflux_lister_free(dataflux_lister* lister);

/* ---- Manifests ------------------------------------------------------------------------------- */

/* A saved listing, in a file or an object: many processes open it instead of listing again. Opening
 * reads no rows; rows are checked when they are first used. Immutable; any thread.
 *
 * A running disk step is not interrupted: saving to a file, opening one, reading rows. If it is
 * cancelled before, the operation ends with DATAFLUX_CANCELLED; later it ends normally. */
typedef struct dataflux_manifest dataflux_manifest;

/* Where one is: a file, by its path, or an object. */
typedef struct dataflux_manifest_options {
  size_t struct_size;
  const char* path;
  const char* bucket;
  const char* object;
  int64_t timeout_ns; /* of an object's requests; 0 = none */
} dataflux_manifest_options;

DATAFLUX_API void dataflux_manifest_options_init(dataflux_manifest_options* options, size_t size);

/* Saves a listing: that of dataflux_list(), of dataflux_changes_listing(), or all rows of a
 * manifest. It appears whole or not at all, and replaces an earlier one. The result of an object is
 * that of dataflux_stat(). Failures: DATAFLUX_INVALID_ARGUMENT for a listing of another kind, with
 * a delimiter, or with missing ranges; those of the file system, or of a write. */
DATAFLUX_API dataflux_status dataflux_manifest_save(dataflux_client* client,
                                                    const dataflux_manifest_options* options,
                                                    const dataflux_listing* listing,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Maps a file, which must not change while it is in use, or reads an object into memory. The
 * record's size is the rows. Failures: DATAFLUX_NOT_FOUND; DATAFLUX_INVALID_ARGUMENT if it is no
 * manifest; DATAFLUX_DATA_LOSS if it is damaged; DATAFLUX_UNIMPLEMENTED for a later version. */
DATAFLUX_API dataflux_status dataflux_manifest_open(dataflux_client* client,
                                                    const dataflux_manifest_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_manifest_open() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_manifest(dataflux_operation* op,
                                                              dataflux_manifest** out,
                                                              dataflux_error** err);

DATAFLUX_API uint64_t dataflux_manifest_size(const dataflux_manifest* manifest);
/* What was listed, how, and when, as a JSON object, which lives as long as the manifest. Its
 * members are "scheme" (of the service: "gs" or "s3"), "bucket", "prefix", "start_offset",
 * "end_offset", "match_glob", "versions", "taken", "options" (pairs of name and value) and "rows".
 * "bytes" is the size of the manifest's file or object. */
DATAFLUX_API dataflux_status dataflux_manifest_json(const dataflux_manifest* manifest,
                                                    const char** json, dataflux_error** err);
/* At most `count` rows from `first` on (UINT64_MAX = all) as a listing without a copy, by
 * dataflux_operation_take_listing(), for dataflux_get_many(). Rows of a file are read from disk and
 * checked: DATAFLUX_DATA_LOSS for damaged ones. The listing may outlive the manifest. */
DATAFLUX_API dataflux_status dataflux_manifest_rows(dataflux_client* client,
                                                    const dataflux_manifest* manifest,
                                                    uint64_t first, uint64_t count,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* One row, borrowed from the manifest. */
typedef struct dataflux_row {
  const char* name; /* of `name_size` bytes, without a NUL */
  uint64_t name_size;
  uint64_t size;
  int64_t generation;
  uint32_t crc32c;
  uint32_t has_crc32c; /* 0: the service gave none */
} dataflux_row;

/* Row `index`, without a listing. It takes less than a microsecond; the first row of a block, of
 * some 65,536 rows, takes as long as the disk and a check. DATAFLUX_OUT_OF_RANGE;
 * DATAFLUX_DATA_LOSS as of dataflux_manifest_rows(). */
DATAFLUX_API dataflux_status dataflux_manifest_row(const dataflux_manifest* manifest,
                                                   uint64_t index, dataflux_row* out,
                                                   size_t row_size, dataflux_error** err);
/* Lists a prefix together with all processes that call this with the same options and board. Each
 * claims ranges of names; large ranges are divided as they show. The board is a bucket prefix that
 * only these processes write to; it must not lie within the listed prefix. The call ends when the
 * listing is complete. Then `path` is a file with the whole manifest; NULL = this process only
 * helps. If a process dies, another takes its task after `lease_ns`; 0 = 5 minutes. A complete
 * board is joined again; a new listing needs a new board. The board's objects stay. `options` has
 * no delimiter, max_calls, memory_cap or partial. The record's size is the rows of the whole;
 * dataflux_operation_json() has "objects" and "tasks" of the whole, "own_objects", "own_tasks" and
 * "calls" of this process. Failures: DATAFLUX_INVALID_ARGUMENT, also for a board of another
 * listing, with the name of what differs; DATAFLUX_DATA_LOSS for a damaged board; those of
 * dataflux_list(), of writing objects, and of the file system. */
DATAFLUX_API dataflux_status dataflux_list_shared(
    dataflux_client* client, const dataflux_list_options* options, const char* board_bucket,
    const char* board_prefix, const char* path, int64_t lease_ns, dataflux_queue* queue,
    uint64_t tag, dataflux_operation** out, dataflux_error** err);
DATAFLUX_API void dataflux_manifest_free(dataflux_manifest* manifest);

/* The differences of two listings. Immutable; any thread. */
typedef struct dataflux_changes dataflux_changes;

typedef struct dataflux_refresh_options {
  size_t struct_size;
  uint32_t parallelism; /* calls in flight; 0 = adaptive */
  uint32_t reserved;
  int64_t timeout_ns;
} dataflux_refresh_options;

DATAFLUX_API void dataflux_refresh_options_init(dataflux_refresh_options* options, size_t size);

/* Lists again what the manifest lists, and compares. Writes nothing. The record's size is the
 * number of rows now. DATAFLUX_INVALID_ARGUMENT for a manifest of another service than the
 * client's, before any request. */
DATAFLUX_API dataflux_status dataflux_manifest_refresh(dataflux_client* client,
                                                       const dataflux_manifest* manifest,
                                                       const dataflux_refresh_options* options,
                                                       dataflux_queue* queue, uint64_t tag,
                                                       dataflux_operation** out,
                                                       dataflux_error** err);
/* Once, of an operation of dataflux_manifest_refresh() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_changes(dataflux_operation* op,
                                                             dataflux_changes** out,
                                                             dataflux_error** err);
/* Compares two listings of the same place, by names and generations; takes about 10 ns a row, on
 * this thread. DATAFLUX_INVALID_ARGUMENT if rows are not in order, or if only one of them has all
 * generations. */
DATAFLUX_API dataflux_status dataflux_listing_compare(const dataflux_listing* before,
                                                      const dataflux_listing* after,
                                                      dataflux_changes** out, dataflux_error** err);

/* Rows by number, each list in order of names. Borrowed from the changes. */
typedef struct dataflux_changed_rows {
  const uint64_t* added; /* of the later listing */
  uint64_t added_count;
  const uint64_t* removed; /* of the earlier one */
  uint64_t removed_count;
  const uint64_t* changed; /* overwritten: pairs, the row before and the row after */
  uint64_t changed_count;  /* pairs */
  uint64_t unchanged_count;
} dataflux_changed_rows;

DATAFLUX_API dataflux_status dataflux_changes_rows(const dataflux_changes* changes,
                                                   dataflux_changed_rows* out, size_t rows_size,
                                                   dataflux_error** err);
/* The later listing, as a separate handle. */
DATAFLUX_API dataflux_status dataflux_changes_listing(const dataflux_changes* changes,
                                                      dataflux_listing** out, dataflux_error** err);
DATAFLUX_API void dataflux_changes_free(dataflux_changes* changes);

/* ---- Shards ---------------------------------------------------------------------------------- */

/* Samples of tar shards in WebDataset's convention, read by number. dataflux_index_shards() makes
 * an index of a listing once, a file that many processes map:
 *
 *     dataflux_index_shards(client, &options, listing, NULL, 0, &op, &err);
 *     dataflux_operation_wait(op, -1, &err);
 *     dataflux_shard_index_open("train.dfx", &index, &err);
 *     dataflux_get_many(client, &feed, NULL, NULL, 0, queue, 7, &getter, &err);
 *     dataflux_getter_push_samples(getter, index, numbers, count, &taken, &err);
 *     dataflux_shard_index_split(index, numbers[r.index], r.data, r.size, ...);
 *
 * Immutable; any thread. Its file must not change while it is in use; dataflux_index_shards()
 * replaces it. Opening checks its end. Shards and samples come in blocks, which are checked when
 * they are first used: DATAFLUX_DATA_LOSS for a damaged one, from each function that needs it. */
typedef struct dataflux_shard_index dataflux_shard_index;

/* What is lost in silence by most readers fails the call, unless the options allow it. */
typedef struct dataflux_index_shards_options {
  size_t struct_size;
  const char* bucket;         /* of the listing */
  const char* path;           /* of the index, a file */
  uint64_t skip_from;         /* data of at least so many bytes are not read, and then the samples
                                 of their shard have no checksums. 0 = 1 MiB; UINT64_MAX = read all */
  int64_t timeout_ns;         /* of the whole call; 0 = none */
  uint32_t parallelism;       /* shards that are read at the same time; 0 = 64 */
  uint32_t read_concatenated; /* 1: an archive behind the end of another is read, too */
  uint32_t ignore_trailing;   /* 1: other bytes behind the end are ignored */
  uint32_t end_at_damage;     /* 1: a damaged shard ends where it is damaged */
  uint32_t keep_case;         /* 1: fields keep their case; else ASCII becomes lower case */
  uint32_t strip_dot_slash;   /* 1: a leading "./" is no part of the key */
  uint32_t keep_first;        /* 1: a field that comes again in a sample is left out */
  uint32_t progress;          /* 1: told by events, in shards; see the section on files */
  const uint64_t* rows;       /* of the listing, in the order of the samples; NULL = all */
  size_t row_count;
  const char* board_bucket; /* where processes meet that make one index together: a prefix that */
  const char* board_prefix; /* all of them write to and nobody else does. NULL = this one alone */
  int64_t lease_ns;         /* a task of another process that takes longer is done once more;
                               0 = 5 minutes */
  const dataflux_shard_index* const* parts; /* `part_count` indexes that know some of the shards, by
                                               name, size and generation: these are not read */
  size_t part_count;
} dataflux_index_shards_options;

DATAFLUX_API void dataflux_index_shards_options_init(dataflux_index_shards_options* options,
                                                     size_t size);

/* Reads the listed generations of all shards and writes where each sample and each of its members
 * lies. The index appears whole or not at all, and replaces an earlier one. A row "NAME.dfx" is no
 * shard: it is the index that a writer has put beside "NAME". The record's size is the number of
 * samples.
 *
 * The JSON has "shards", "samples", "members", "bytes" and "bytes_read". "checksummed" are shards
 * whose samples have checksums, since all of their bytes were read and compared. "taken_over" are
 * shards that this call did not read, since something knew them. "orphans" are rows "NAME.dfx"
 * without their shard, which a killed writer has left; they are passed over. "counts" is an object
 * with those of dataflux_indexed_shard over all shards.
 *
 * What was indexed before a kill or a failure is kept beside the path. A later call for the same
 * path, bucket and rules goes on from there.
 *
 * With a board the call returns when all shards are read, by whichever process. `path` may be NULL
 * then: this one helps, and its JSON has only the numbers of shards and samples. Listing and rules
 * must be those of the others; DATAFLUX_INVALID_ARGUMENT says what differs. With the same board a
 * job that starts again goes on. Remove what lies there when all have returned.
 *
 * Failures: those of the first shard that fails, which the error names. DATAFLUX_DATA_LOSS: damage,
 * or bytes without their checksum. DATAFLUX_FAILED_PRECONDITION: what an option could allow.
 * DATAFLUX_INVALID_ARGUMENT: a field that comes again. DATAFLUX_UNIMPLEMENTED: sparse files,
 * compressed shards. DATAFLUX_NOT_FOUND: the generation is gone. Those of the file system. */
DATAFLUX_API dataflux_status dataflux_index_shards(dataflux_client* client,
                                                   const dataflux_index_shards_options* options,
                                                   const dataflux_listing* listing,
                                                   dataflux_queue* queue, uint64_t tag,
                                                   dataflux_operation** out, dataflux_error** err);

/* Makes an index of what others' indexes say, `count` files: of AIStore, of DALI (wds2idx), of
 * webshart. Bucket, rows and rules of grouping are those of the options. It is one of the `parts`
 * for the same listing: the shards whose members it knows are not read, and have no checksums. Of a
 * file of wids names and sizes of the shards are compared. It sends nothing.
 *
 * No such index says which generation it is of. So what is read by it is compared with headers,
 * always. Failures: DATAFLUX_INVALID_ARGUMENT for other files, and for Energon's .tar.idx, which
 * has places alone. DATAFLUX_NOT_FOUND for a shard that is not listed. DATAFLUX_FAILED_PRECONDITION
 * where it has another size. DATAFLUX_DATA_LOSS for a damaged file. Those of the file system. */
DATAFLUX_API dataflux_status dataflux_shard_index_import(
    const dataflux_index_shards_options* options, const dataflux_listing* listing,
    const char* const* paths, size_t count, dataflux_shard_index** out, dataflux_error** err);

typedef struct dataflux_verify_shards_options {
  size_t struct_size;
  const char* path;      /* where the index is written with the checksums of all samples, a file;
                            that of the index is replaced whole. NULL = nothing is written */
  int64_t timeout_ns;    /* of the whole call; 0 = none */
  uint32_t parallelism;  /* shards that are read at the same time; 0 = 64 */
  uint32_t return_wrong; /* 1: wrong shards are in the JSON, and are no failure */
  uint32_t progress;     /* 1: told by events, in shards; see the section on files */
  uint32_t reserved;     /* 0 */
} dataflux_verify_shards_options;

DATAFLUX_API void dataflux_verify_shards_options_init(dataflux_verify_shards_options* options,
                                                      size_t size);

/* Reads all bytes of the indexed shards again, and compares headers, samples and checksums with the
 * index. The index may be freed at once. The record's size is the number of samples. Nothing is
 * written where a shard is wrong.
 *
 * The JSON has "shards", "samples" (of the shards that are right) and "bytes_read". "filled" are
 * shards whose samples had no checksums, and have them in the index that was written. "wrong_count"
 * are the wrong shards, and "wrong" the first 1,000 of them, in the order of the index: "shard"
 * (its number), "name", "fault", "status" and "text". A fault is "changed", "deleted", "damaged",
 * or "samples" where the index has others.
 *
 * Failures: of the first wrong shard, unless `return_wrong`: DATAFLUX_FAILED_PRECONDITION for a
 * changed one, DATAFLUX_NOT_FOUND for a deleted one, DATAFLUX_DATA_LOSS for the others. Those of
 * reading and of the file system. DATAFLUX_DATA_LOSS for a damaged index.
 * DATAFLUX_INVALID_ARGUMENT for one of another service than the client's. */
DATAFLUX_API dataflux_status dataflux_verify_shards(dataflux_client* client,
                                                    const dataflux_shard_index* index,
                                                    const dataflux_verify_shards_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);

/* Maps an index: reads its end, and sends nothing. Failures: DATAFLUX_INVALID_ARGUMENT if it is
 * no index; DATAFLUX_DATA_LOSS if it is damaged; DATAFLUX_UNIMPLEMENTED for a later version; those
 * of the file system. */
DATAFLUX_API dataflux_status dataflux_shard_index_open(const char* path, dataflux_shard_index** out,
                                                       dataflux_error** err);
DATAFLUX_API void dataflux_shard_index_free(dataflux_shard_index* index);

/* What an index is of. Texts are borrowed from it. */
typedef struct dataflux_shard_index_info {
  uint64_t shards;
  uint64_t samples;
  uint64_t bytes;     /* of the index itself */
  uint64_t digest;    /* equal for equal bytes: tells indexes of the same shards apart */
  const char* bucket; /* that the shards are in */
  const char* json;   /* an object: "scheme" of the service, "gs" or "s3"; "taken", when indexing
                       * began; and "options", pairs of texts */
} dataflux_shard_index_info;

DATAFLUX_API dataflux_status dataflux_shard_index_describe(const dataflux_shard_index* index,
                                                           dataflux_shard_index_info* out,
                                                           size_t info_size, dataflux_error** err);

/* One shard as it was indexed, borrowed from the index. */
typedef struct dataflux_indexed_shard {
  const char* name; /* of `name_size` bytes, without a NUL */
  uint64_t name_size;
  uint64_t size;
  int64_t generation;
  uint32_t crc32c;
  uint32_t has_crc32c; /* 0: the service gave none */
  uint64_t first_sample;
  uint64_t samples;
  uint64_t checksummed;  /* 1: its samples have checksums */
  uint64_t concatenated; /* archives behind the first one */
  uint64_t trailing;     /* 1: bytes of no archive stand behind the end */
  uint64_t damaged;      /* 1: it ends where it is damaged */
  uint64_t missing_ends; /* 1: it ends without two blocks of zeros */
  uint64_t bytes_behind; /* not read, from trailing bytes or damage on */
  uint64_t hard_links;   /* members without data of their own, which are left out */
  uint64_t symlinks;
  uint64_t directories;
  uint64_t devices;
  uint64_t other;
  uint64_t hidden; /* members in no sample: called "__name__", or below one that is */
  uint64_t
      no_field; /* the same: without a dot in the last part of the name, or with nothing before */
  uint64_t repeated; /* the same: left out by `keep_first` */
} dataflux_indexed_shard;

/* Shard `number`, from 0 in the listing's order. DATAFLUX_OUT_OF_RANGE. */
DATAFLUX_API dataflux_status dataflux_shard_index_shard(const dataflux_shard_index* index,
                                                        uint64_t number,
                                                        dataflux_indexed_shard* out,
                                                        size_t shard_size, dataflux_error** err);

/* Columns of the caller, each of as many rows as samples are asked for. NULL = not wanted. */
typedef struct dataflux_sample_columns {
  size_t struct_size;
  uint64_t* shards;
  uint64_t* offsets; /* of the sample, from the shard's begin */
  uint64_t* sizes;   /* headers, data and padding of all its members */
  uint64_t* fields;  /* how many members it has */
  uint32_t* crc32c;  /* of these bytes */
  uint8_t* has_crc32c;
} dataflux_sample_columns;

DATAFLUX_API void dataflux_sample_columns_init(dataflux_sample_columns* columns, size_t size);

/* Where samples lie, by their numbers through all shards. DATAFLUX_OUT_OF_RANGE names the number;
 * rows before it are filled. */
DATAFLUX_API dataflux_status dataflux_shard_index_samples(const dataflux_shard_index* index,
                                                          const uint64_t* numbers, size_t count,
                                                          const dataflux_sample_columns* columns,
                                                          dataflux_error** err);

/* A member of a sample, in arrays of the caller: these 32 bytes never grow. The name is borrowed
 * from the index. */
typedef struct dataflux_sample_field {
  const char* name; /* such as "jpg", of `name_size` bytes, without a NUL */
  uint64_t name_size;
  uint64_t offset; /* of the data */
  uint64_t size;   /* of the data */
} dataflux_sample_field;

/* The members of a sample in the archive's order, their offsets from the shard's begin. *count is
 * how many there are; `fields` gets those that have `room`. DATAFLUX_OUT_OF_RANGE. */
DATAFLUX_API dataflux_status dataflux_shard_index_fields(const dataflux_shard_index* index,
                                                         uint64_t number,
                                                         dataflux_sample_field* fields, size_t room,
                                                         size_t* count, dataflux_error** err);

/* The numbers of the samples with a key of `key_size` bytes, ascending. *count is how many there
 * are, maybe none; `numbers` gets those that have `room`. Once in 10^11 the key is another one,
 * which dataflux_shard_index_split() tells. */
DATAFLUX_API dataflux_status dataflux_shard_index_find(const dataflux_shard_index* index,
                                                       const char* key, size_t key_size,
                                                       uint64_t* numbers, size_t room,
                                                       size_t* count, dataflux_error** err);

/* Pushes samples into a feed of the index's bucket, as dataflux_getter_push() does requests. Each
 * is read in the generation that was indexed, neighbours together, and compared if its shard is
 * checksummed: then its record has DATAFLUX_RECORD_VERIFIED. A number that fails, with
 * DATAFLUX_OUT_OF_RANGE or DATAFLUX_DATA_LOSS, fails the call; then nothing is pushed. So does an
 * index of another service than the client's, with DATAFLUX_INVALID_ARGUMENT. */
DATAFLUX_API dataflux_status dataflux_getter_push_samples(dataflux_getter* getter,
                                                          const dataflux_shard_index* index,
                                                          const uint64_t* numbers, size_t count,
                                                          size_t* taken, dataflux_error** err);

/* Takes the bytes of a sample apart. Every header in them is read, and compared with the index;
 * DATAFLUX_DATA_LOSS for the bytes of another sample. The offsets of the fields are within `data`,
 * in the archive's order. *field_count and *key_size are how many there are; `fields` and `key` get
 * those that have room. The key is the archive's bytes, without a NUL, and need not be UTF-8. */
DATAFLUX_API dataflux_status dataflux_shard_index_split(const dataflux_shard_index* index,
                                                        uint64_t number, const void* data,
                                                        size_t size, dataflux_sample_field* fields,
                                                        size_t field_room, size_t* field_count,
                                                        char* key, size_t key_room,
                                                        size_t* key_size, dataflux_error** err);

/* Which samples of two indexes have the same key: rows in the order of the left one. Immutable; any
 * thread, and a forked child. */
typedef struct dataflux_shard_join dataflux_shard_join;

typedef struct dataflux_join_options {
  size_t struct_size;
  uint32_t left_outer; /* 1: all samples of the left side have a row; else those with a partner */
  uint32_t all_pairs;  /* 1: keys that come again are paired, each with each; else they fail it */
} dataflux_join_options;

DATAFLUX_API void dataflux_join_options_init(dataflux_join_options* options, size_t size);

/* Columns of `rows` numbers each, borrowed from the join. */
typedef struct dataflux_join_rows {
  uint64_t rows;
  const uint64_t* left;
  const uint64_t* right; /* UINT64_MAX: the sample on the left has no partner */
  uint64_t left_alone;   /* samples of each side without a partner */
  uint64_t right_alone;
} dataflux_join_rows;

/* Joins by the hashes of keys, and reads no sample: once in 10^11 two keys have one hash, which the
 * keys of dataflux_shard_index_split() tell. 17 bytes for each right sample while it runs, and 16
 * for each row. DATAFLUX_FAILED_PRECONDITION names a sample whose key comes again. */
DATAFLUX_API dataflux_status dataflux_shard_index_join(const dataflux_shard_index* left,
                                                       const dataflux_shard_index* right,
                                                       const dataflux_join_options* options,
                                                       dataflux_shard_join** out,
                                                       dataflux_error** err);
DATAFLUX_API void dataflux_shard_join_free(dataflux_shard_join* join);
DATAFLUX_API dataflux_status dataflux_shard_join_rows(const dataflux_shard_join* join,
                                                      dataflux_join_rows* out, size_t rows_size,
                                                      dataflux_error** err);

/* Reads one shard in sequence, plain or compressed by gzip or zstd: bytes of it, from wherever they
 * come, become samples. No client is needed.
 *
 *     dataflux_shard_stream_new(NULL, &stream, &err);
 *     while ((size = read_some(piece)) > 0) {
 *       dataflux_shard_stream_feed(stream, piece, size, &err);
 *       while (dataflux_shard_stream_next(stream, &sample, sizeof sample, &err) == DATAFLUX_OK &&
 *              sample.key != NULL) use(&sample);
 *     }
 *     dataflux_shard_stream_finish(stream, &err);
 *     (and next() again, until there is none)
 *
 * One thread at a time; any thread, and a forked child, too. */
typedef struct dataflux_shard_stream dataflux_shard_stream;

typedef struct dataflux_shard_stream_options {
  size_t struct_size;
  uint64_t most_bytes;        /* a sample with more data is an error; 0 = 1 GiB */
  uint32_t read_concatenated; /* these are as in dataflux_index_shards_options */
  uint32_t ignore_trailing;
  uint32_t end_at_damage;
  uint32_t keep_case;
  uint32_t strip_dot_slash;
  uint32_t keep_first;
} dataflux_shard_stream_options;

DATAFLUX_API void dataflux_shard_stream_options_init(dataflux_shard_stream_options* options,
                                                     size_t size);
/* NULL options are the defaults. */
DATAFLUX_API dataflux_status dataflux_shard_stream_new(const dataflux_shard_stream_options* options,
                                                       dataflux_shard_stream** out,
                                                       dataflux_error** err);
DATAFLUX_API void dataflux_shard_stream_free(dataflux_shard_stream* stream);

/* The next bytes of the shard. They are not copied, and stay as they are until
 * dataflux_shard_stream_next() has given none. DATAFLUX_FAILED_PRECONDITION behind finish(). */
DATAFLUX_API dataflux_status dataflux_shard_stream_feed(dataflux_shard_stream* stream,
                                                        const void* data, size_t size,
                                                        dataflux_error** err);
/* The shard ends behind these bytes. */
DATAFLUX_API dataflux_status dataflux_shard_stream_finish(dataflux_shard_stream* stream,
                                                          dataflux_error** err);

/* A whole sample, borrowed until the next call of dataflux_shard_stream_next(). */
typedef struct dataflux_streamed_sample {
  const char* key; /* the archive's bytes, without a NUL; NULL: there is no sample */
  uint64_t key_size;
  const void* data; /* of all fields, one behind the other */
  uint64_t data_size;
  const dataflux_sample_field* fields; /* in the archive's order; offsets are within `data` */
  uint64_t field_count;
} dataflux_streamed_sample;

/* The next sample. None: it needs more bytes, or, behind finish(), there is no other. Samples
 * before damage come before the error, which then stays; it does not have the shard's name.
 *
 * Failures: DATAFLUX_DATA_LOSS: damage. DATAFLUX_FAILED_PRECONDITION: what an option could allow.
 * DATAFLUX_INVALID_ARGUMENT: a field that comes again. DATAFLUX_UNIMPLEMENTED: sparse files, other
 * compression. DATAFLUX_RESOURCE_EXHAUSTED: a sample that is too large. */
DATAFLUX_API dataflux_status dataflux_shard_stream_next(dataflux_shard_stream* stream,
                                                        dataflux_streamed_sample* out,
                                                        size_t sample_size, dataflux_error** err);

/* What was met so far, as a JSON object with the counts of dataflux_indexed_shard. Borrowed until
 * the next call of this function. */
DATAFLUX_API dataflux_status dataflux_shard_stream_counts(dataflux_shard_stream* stream,
                                                          const char** json, dataflux_error** err);

/* ---- Batches in your memory ------------------------------------------------------------------ */

/* A stream of batches: each row is an object, or a range of one, and its bytes arrive in memory of
 * yours without a copy. A batch whose rows have all ended is one record of the queue, with the
 * batch's number as `index`, its memory as `data`, and as `size` the bytes of the rows that came.
 * DATAFLUX_RECORD_VERIFIED: each of these rows was compared. Before it comes a record for each row
 * that failed, with DATAFLUX_RECORD_ROW.
 *
 *     dataflux_get_batches(client, &options, listing, queue, 7, &batches, &err);
 *     dataflux_batch_getter_push(batches, &batch, &number, &err);    as many as you have memory for
 *     dataflux_queue_next(queue, &r, sizeof r, 1, -1, &count);       r.index is complete
 *
 * Memory of a batch is lent until its record is popped, or the handle is freed. After a last record
 * with a failure, that is until the handle is freed. The client's memory cap does not bound it. */
typedef struct dataflux_batch_getter dataflux_batch_getter;

/* Begins a stream without batches. options->order is that of the batches: as pushed, or as they are
 * complete. DATAFLUX_ON_ERROR_STOP: the first row that fails ends the stream. `feed` and
 * `feed_capacity` do not matter. `listing`: what rows are numbers of, or NULL. Any thread. */
DATAFLUX_API dataflux_status dataflux_get_batches(dataflux_client* client,
                                                  const dataflux_get_many_options* options,
                                                  const dataflux_listing* listing,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_batch_getter** out,
                                                  dataflux_error** err);

/* A batch of `count` rows. What they are: rows of the listing by number; with `index`, samples of
 * it by number; or `requests`, and then `numbers` and `index` are NULL and their `into` does not
 * matter. Sizes have to be known: requests need `lengths` or `object_sizes`.
 *
 * The room of a row ends where the next one begins, and that of the last one with the memory. A row
 * with more bytes than room fails with DATAFLUX_OUT_OF_RANGE. Bytes that a row does not fill stay
 * as they are; those of a row that failed are not specified. */
typedef struct dataflux_batch {
  size_t struct_size;
  size_t count;
  const uint64_t* numbers;
  const dataflux_shard_index* index;
  const dataflux_get_columns* requests;
  void* data; /* the memory, of `size` bytes */
  uint64_t size;
  const uint64_t* offsets; /* where each row begins, ascending; NULL: row i at i * stride */
  uint64_t stride;         /* 0 = size / count */
  uint64_t* sizes;         /* gets the size of each row, 0 for one that is refused; may be NULL */
} dataflux_batch;

DATAFLUX_API void dataflux_batch_init(dataflux_batch* batch, size_t size);

/* Begins a batch, and gives its number: from 0, one more each time. Never waits. What is in `batch`
 * is copied, but for the memory. Where it fails nothing is read: DATAFLUX_INVALID_ARGUMENT for
 * offsets that descend or leave the memory; what dataflux_getter_push_samples() says of a number;
 * DATAFLUX_FAILED_PRECONDITION after dataflux_batch_getter_finish(); what has ended the stream. */
DATAFLUX_API dataflux_status dataflux_batch_getter_push(dataflux_batch_getter* batches,
                                                        const dataflux_batch* batch,
                                                        uint64_t* number, dataflux_error** err);
/* No more will be pushed. */
DATAFLUX_API void dataflux_batch_getter_finish(dataflux_batch_getter* batches);
/* Ends the stream: its last record has DATAFLUX_CANCELLED. Any thread. */
DATAFLUX_API void dataflux_batch_getter_cancel(dataflux_batch_getter* batches);
/* Frees the handle. A running stream is cancelled and waited for: milliseconds. Then nothing is
 * written into memory of its batches any more, and no record comes. */
DATAFLUX_API void dataflux_batch_getter_free(dataflux_batch_getter* batches);

/* ---- Leftovers ------------------------------------------------------------------------------- */

/* Leftovers of killed uploads and reads, which are billed: open uploads, temporary objects of
 * uploads, and composites of reads.
 *
 * Both calls return a JSON object: the numbers "stale", "stale_bytes", "young", "foreign",
 * "failed", and "rows". A row has "kind" ("upload", "temporary_object", "composite") and "verdict".
 * "stale" is expired, and dataflux_remove_leftovers() removes it; "young" is not expired; "foreign"
 * is another program's, and never removed; "failed" could not be removed. "target" is the name it
 * was meant for; "whole_target" is false if that is only the beginning of a long name. A row has
 * "name", and if known "upload_id", "generation", "size", "noncurrent", "began" and "error".
 * "age_seconds" count from "began" by this machine's clock; verdicts use the service's clock. The
 * record's size is "stale". */
typedef struct dataflux_leftovers_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix; /* of targets and names */
  uint32_t kinds;     /* DATAFLUX_LEFTOVERS_*; 0 = all */
  uint32_t reserved;
  int64_t older_than_ns; /* the age from which one is stale; negative = all are; 0 = composites
                          * whose own time has passed, and nothing else */
  int64_t timeout_ns;
} dataflux_leftovers_options;

#define DATAFLUX_LEFTOVERS_UPLOADS 1u    /* temporary objects, too */
#define DATAFLUX_LEFTOVERS_COMPOSITES 2u /* where no prefix is given */

DATAFLUX_API void dataflux_leftovers_options_init(dataflux_leftovers_options* options, size_t size);

/* Finds them. Removes nothing. */
DATAFLUX_API dataflux_status dataflux_find_leftovers(dataflux_client* client,
                                                     const dataflux_leftovers_options* options,
                                                     dataflux_queue* queue, uint64_t tag,
                                                     dataflux_operation** out,
                                                     dataflux_error** err);
/* Finds them, and removes the stale ones: objects by generation, uploads by aborting them. An
 * upload in progress would fail then: choose an age that no upload reaches. A failed removal is a
 * row of the JSON, and no failure of the call. */
DATAFLUX_API dataflux_status dataflux_remove_leftovers(dataflux_client* client,
                                                       const dataflux_leftovers_options* options,
                                                       dataflux_queue* queue, uint64_t tag,
                                                       dataflux_operation** out,
                                                       dataflux_error** err);

/* ---- Writers --------------------------------------------------------------------------------- */

/* Writes an object as a stream, of any length, in bounded memory
 * (dataflux_client_options.upload_memory). The object appears only by dataflux_writer_commit(),
 * whole and verified. In all other cases the previous object stays.
 *
 * Failures: the next call reports a part that failed. After that every call fails, and the parts
 * are removed. DATAFLUX_FAILED_PRECONDITION if another writer wrote the object since this one was
 * opened (DATAFLUX_ALREADY_EXISTS if if_generation_match is 0), and for a write after commit or
 * abort.
 *
 * Threads: one thread at a time uses a writer. A concurrent call returns
 * DATAFLUX_FAILED_PRECONDITION at once. dataflux_client_close() ends it from any thread, with
 * DATAFLUX_CANCELLED. */
typedef struct dataflux_writer dataflux_writer;

typedef struct dataflux_writer_options {
  size_t struct_size;
  const char* bucket;
  const char* object;
  const dataflux_attributes* attributes; /* NULL = none */
  /* DATAFLUX_IF_GENERATION_MATCH alone; generation_match 0: create only. NULL = what is there when
   * the writer is opened must be there at its end, which costs a request. */
  const dataflux_conditions* conditions;
  uint64_t size_hint; /* how large the object will be, as far as is known; 0 = not at all */
  uint64_t part_size; /* what is sent at a time; 0 = a sixteenth of upload_memory, 8 to 32 MiB */
  int64_t timeout_ns; /* of all, from here to the end of commit; 0 = none */
} dataflux_writer_options;

DATAFLUX_API void dataflux_writer_options_init(dataflux_writer_options* options, size_t size);

/* DATAFLUX_RESOURCE_EXHAUSTED if upload_memory has no part left for another writer. */
DATAFLUX_API dataflux_status dataflux_writer_open(dataflux_client* client,
                                                  const dataflux_writer_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_writer_open() or dataflux_set_open_member() that has ended
 * well. */
DATAFLUX_API dataflux_status dataflux_operation_take_writer(dataflux_operation* op,
                                                            dataflux_writer** out,
                                                            dataflux_error** err);

/* Appends by a copy; the memory is the caller's again when it returns. Waits for room while all of
 * upload_memory is in use.
 *
 * timeout_ns: how long to wait; 0 = not at all; negative = until all is taken. *taken is the number
 * of bytes taken, from the first on, also after a failure: they are part of the object. Write the
 * rest later. DATAFLUX_OK: all were taken; with a timeout_ns of 0 those that fit, perhaps none:
 * then call dataflux_writer_notify(). DATAFLUX_DEADLINE_EXCEEDED: not all within timeout_ns.
 * DATAFLUX_INTERRUPTED: a signal handler has run on this thread. */
DATAFLUX_API dataflux_status dataflux_writer_write(dataflux_writer* writer, const void* data,
                                                   size_t size, int64_t timeout_ns, size_t* taken,
                                                   dataflux_error** err);
/* The same without a copy, except for less than half a part at either end. The bytes taken are
 * lent, and must not change, until `queue` has one record with this tag. It comes if and only if
 * *taken is not 0, whatever the call returns, perhaps before it returns, and even after the writer
 * was freed. */
DATAFLUX_API dataflux_status dataflux_writer_lend(dataflux_writer* writer, const void* data,
                                                  size_t size, int64_t timeout_ns, size_t* taken,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_error** err);
/* Brings one record with this tag as soon as there is room for a write, or an error; at once if
 * that is so already. Ask again after a write that took less than all. After dataflux_writer_free()
 * no record comes. */
DATAFLUX_API dataflux_status dataflux_writer_notify(dataflux_writer* writer, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_error** err);
/* Sends the rest, waits for all parts, makes the object and verifies it. The record has size,
 * crc32c and generation. JSON: "object" as of dataflux_stat(); "path" and "mode" are the way of the
 * upload, "fallback" the reason for an unusual way, else "". If it is cancelled during its last
 * request, the object may exist; if it does, it is whole. The writer may be freed at once. */
DATAFLUX_API dataflux_status dataflux_writer_commit(dataflux_writer* writer, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_operation** out,
                                                    dataflux_error** err);
/* Removes the parts; an error names those that could not be removed. Does nothing after a
 * commit. */
DATAFLUX_API dataflux_status dataflux_writer_abort(dataflux_writer* writer, dataflux_queue* queue,
                                                   uint64_t tag, dataflux_operation** out,
                                                   dataflux_error** err);
/* Aborts a writer that was neither committed nor aborted: waits up to 5 s for the removal, and
 * leaves the rest to the client's threads. dataflux_operation_free() does so for a writer that was
 * not taken.
 */
DATAFLUX_API void dataflux_writer_free(dataflux_writer* writer);

/* ---- Writers of shards ----------------------------------------------------------------------- */

/* Writes samples into tar shards in WebDataset's convention. The same samples give the same bytes:
 * times and owners are 0, and the fields of a sample are in the order of their names.
 *
 * A shard appears whole or not at all, and is never put over an object that is there. Before it
 * appears its index entry is written beside it, as NAME.dfx, with the places and checksums of its
 * samples. Shards appear in the order of their numbers; dataflux_shard_writer_finish() makes the
 * last one appear. Without it the open shard is discarded; those before it stay. Without samples
 * no shard appears. After a killed process `resume` goes on behind the shards that are there: give
 * the samples again from behind those, and the shards are the same as without the kill.
 *
 * Failures: DATAFLUX_INVALID_ARGUMENT for a sample that a reader would not give back as it is.
 * Nothing is written then, and the writer goes on. After any other failure every call fails. They
 * name the shard: DATAFLUX_FAILED_PRECONDITION if it is there already, or somebody else writes it;
 * those of dataflux_writer_commit(). When resuming: a shard lacks its entry, or is not there and
 * one behind it is.
 *
 * Memory: as a dataflux_writer, and some 40 bytes for each sample and member of two shards.
 *
 * Threads: one thread at a time uses a writer. A concurrent call returns
 * DATAFLUX_FAILED_PRECONDITION at once. dataflux_client_close() ends it from any thread, with
 * DATAFLUX_CANCELLED. */
typedef struct dataflux_shard_writer dataflux_shard_writer;

typedef struct dataflux_shard_writer_options {
  size_t struct_size;
  const char* bucket;
  const char* pattern; /* names by number, such as "train/train-%06d.tar" */
  uint64_t count;      /* most samples of a shard; 0 = no such limit */
  uint64_t bytes;      /* most bytes of its archive; 0 = no such limit. One of the two is needed. A
                          sample that is larger is a shard by itself */
  uint64_t first;      /* the first number of rank 0 */
  uint32_t rank;       /* writes the numbers first + rank, first + rank + ranks and so on */
  uint32_t ranks;      /* 0 = 1 */
  uint32_t resume;     /* 1: go on behind the shards of this rank that are there */
  uint32_t reserved;
} dataflux_shard_writer_options;

DATAFLUX_API void dataflux_shard_writer_options_init(dataflux_shard_writer_options* options,
                                                     size_t size);

/* Sends nothing unless it resumes. The record's size is the number of samples that were there; the
 * JSON, until the writer is taken, has "shards", "samples" and "bytes" of these. */
DATAFLUX_API dataflux_status dataflux_shard_writer_open(
    dataflux_client* client, const dataflux_shard_writer_options* options, dataflux_queue* queue,
    uint64_t tag, dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_shard_writer_open() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_shard_writer(dataflux_operation* op,
                                                                  dataflux_shard_writer** out,
                                                                  dataflux_error** err);

/* A field of a sample to be written: these 32 bytes never grow. */
typedef struct dataflux_field_bytes {
  const char* name; /* such as "jpg", of `name_size` bytes */
  uint64_t name_size;
  const void* data;
  uint64_t size;
} dataflux_field_bytes;

/* Appends a sample by a copy; the fields come in any order. *done is 1 when all of it is taken.
 * Else write the same sample again, and no other one; its memory must not change meanwhile.
 *
 * wait: 1 = until it is taken; 0 = not at all: where *done is 0 then, call
 * dataflux_shard_writer_notify(). DATAFLUX_INTERRUPTED: a signal handler has run on this thread,
 * and *done is 0. */
DATAFLUX_API dataflux_status dataflux_shard_writer_write(dataflux_shard_writer* writer,
                                                         const char* key, size_t key_size,
                                                         const dataflux_field_bytes* fields,
                                                         size_t count, uint32_t wait, int32_t* done,
                                                         dataflux_error** err);
/* There are no more samples: writes the end of the last shard, in the same manner. */
DATAFLUX_API dataflux_status dataflux_shard_writer_end(dataflux_shard_writer* writer, uint32_t wait,
                                                       int32_t* done, dataflux_error** err);
/* Brings one record with this tag as soon as a write can go on, or has an error; at once if that
 * is so already. After dataflux_shard_writer_free() no record comes. */
DATAFLUX_API dataflux_status dataflux_shard_writer_notify(dataflux_shard_writer* writer,
                                                          dataflux_queue* queue, uint64_t tag,
                                                          dataflux_error** err);
/* Makes the last shard appear, after dataflux_shard_writer_end() is done. The record's size is the
 * number of samples. JSON: "samples", "bytes", "resumed" as of opening, and "shards", those that
 * were written: each has "name", "samples", "bytes", "crc32c", "generation", and "ended", by what:
 * "count", "bytes" or "finished". */
DATAFLUX_API dataflux_status dataflux_shard_writer_finish(dataflux_shard_writer* writer,
                                                          dataflux_queue* queue, uint64_t tag,
                                                          dataflux_operation** out,
                                                          dataflux_error** err);
/* Discards the open shard; an error names what could not be removed. A shard that had ended before
 * may still appear, whole, within 5 s; then it is discarded, too. Cancelling the operation ends the
 * wait. */
DATAFLUX_API dataflux_status dataflux_shard_writer_abort(dataflux_shard_writer* writer,
                                                         dataflux_queue* queue, uint64_t tag,
                                                         dataflux_operation** out,
                                                         dataflux_error** err);
/* Discards the open shard of a writer that was neither finished nor aborted, and one that is just
 * being ended, as dataflux_writer_free(). */
DATAFLUX_API void dataflux_shard_writer_free(dataflux_shard_writer* writer);

/* ---- Readers --------------------------------------------------------------------------------- */

/* Reads one object like a file: from any offset, by any number of threads. Opening pins the
 * generation: bytes never come from two objects.
 *
 * Long reads go straight into the caller's memory, by parallel requests. A read shorter than a
 * block loads its block into a cache for the next reads.
 *
 * When all of the object was read, in any order, its checksum is compared. From then on reads have
 * DATAFLUX_RECORD_VERIFIED, or fail with DATAFLUX_DATA_LOSS. Each read of a set's member is
 * compared by its parts, and has the flag. Other reads lack it: their bytes were not compared yet.
 *
 * Repeated bytes are compared with the first ones, or are copies of them, whatever the ranges.
 * DATAFLUX_DATA_LOSS names the range. It fails only this read if the object was compared before,
 * and all later reads otherwise, because the wrong copy is unknown. The ends of such a range are
 * read again up to the next multiple of 64 KiB. The reader keeps checksums for that: 66 KiB for
 * each GiB, 4 MiB at most, and 80 bytes for each end of a range.
 *
 * Memory is lent until the operation ends or is freed. After a failure its content is undefined.
 * DATAFLUX_ABORTED, retryable: the object was replaced, and the service does not keep the opened
 * generation. Open it again. Any thread. */
typedef struct dataflux_reader dataflux_reader;

typedef struct dataflux_reader_options {
  size_t struct_size;
  const char* bucket;
  const char* object;
  int64_t generation; /* 0 = the live one */
  uint64_t block;     /* what a short read brings; 0 = 1 MiB */
  uint64_t cache;     /* most memory of it; 0 = 64 MiB; at most a quarter of the memory cap */
  int64_t timeout_ns; /* of opening; 0 = none */
} dataflux_reader_options;

DATAFLUX_API void dataflux_reader_options_init(dataflux_reader_options* options, size_t size);

/* The record has size and generation. */
DATAFLUX_API dataflux_status dataflux_reader_open(dataflux_client* client,
                                                  const dataflux_reader_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_reader_open() or dataflux_set_reader_open() that has ended
 * well. */
DATAFLUX_API dataflux_status dataflux_operation_take_reader(dataflux_operation* op,
                                                            dataflux_reader** out,
                                                            dataflux_error** err);

DATAFLUX_API uint64_t dataflux_reader_size(const dataflux_reader* reader);
DATAFLUX_API int64_t dataflux_reader_generation(const dataflux_reader* reader);
/* 1 once its bytes are compared: when all of the object has come and its checksum was equal; from
 * the start for a set's member and for an empty object. Else 0. Any thread. */
DATAFLUX_API int32_t dataflux_reader_verified(const dataflux_reader* reader);

/* Fills `memory` with the bytes from `offset` on; DATAFLUX_OUT_OF_RANGE if the object ends earlier.
 * The record has size and generation. */
DATAFLUX_API dataflux_status dataflux_reader_read(dataflux_reader* reader, uint64_t offset,
                                                  void* memory, size_t size, dataflux_queue* queue,
                                                  uint64_t tag, dataflux_operation** out,
                                                  dataflux_error** err);

/* Ranges by columns. All three are needed. */
typedef struct dataflux_range_columns {
  size_t struct_size;
  const uint64_t* offsets;
  const uint64_t* sizes;
  void* const* into; /* memory of the caller, `sizes` bytes each; none for what is not there */
} dataflux_range_columns;

DATAFLUX_API void dataflux_range_columns_init(dataflux_range_columns* columns, size_t size);

/* Reads many ranges at once, in any order, overlapping or not. One request reads short ranges that
 * lie close together.
 *
 * The queue has a record for each range: `index` is its number, `data` and `size` are its memory,
 * `status` and `error` its failure. Its crc32c is 0. Then the operation's last record comes, with
 * the size of all. The first failure ends the call; unfinished ranges have its status, too.
 * DATAFLUX_OUT_OF_RANGE, before any read, if a range ends behind the object. With a NULL queue
 * there are no records of single ranges. */
DATAFLUX_API dataflux_status dataflux_reader_read_ranges(dataflux_reader* reader,
                                                         const dataflux_range_columns* ranges,
                                                         size_t count, dataflux_queue* queue,
                                                         uint64_t tag, dataflux_operation** out,
                                                         dataflux_error** err);
/* Reads under way continue. */
DATAFLUX_API void dataflux_reader_free(dataflux_reader* reader);

/* ---- Sets ------------------------------------------------------------------------------------ */

/* Many objects below one prefix, written by many writers, in one process or many. One more object,
 * the last, commits them together. Without it there is no set; opening the set checks that every
 * member is still as it was written.
 *
 * To save, one process begins the set first. Each process opens its member, writes and commits it,
 * and sends its record, a text, to the process that commits the set. To load, open the set. Opening
 * fails unless every member is as it was written.
 *
 * dataflux_set_begin_over() saves below one prefix repeatedly.
 *
 * A set is a handle on client, bucket and prefix. Creating it sends nothing. Any thread. */
typedef struct dataflux_set dataflux_set;

/* Where sets are, and how long each call may take. */
typedef struct dataflux_set_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix; /* a folder, with or without its slash */
  int64_t timeout_ns; /* of each call but those of members; 0 = none */
} dataflux_set_options;

DATAFLUX_API void dataflux_set_options_init(dataflux_set_options* options, size_t size);

DATAFLUX_API dataflux_status dataflux_set_create(dataflux_client* client,
                                                 const dataflux_set_options* options,
                                                 dataflux_set** out, dataflux_error** err);

#define DATAFLUX_UNFINISHED_REFUSE 0  /* leftovers of an earlier save are an error */
#define DATAFLUX_UNFINISHED_REPLACE 1 /* they are removed */

/* Ensures that the prefix is free. Members of this save that already exist count as an earlier
 * save's, so all processes wait for this call. DATAFLUX_ALREADY_EXISTS for a committed set and for
 * leftovers. JSON: as dataflux_remove_sets(). */
DATAFLUX_API dataflux_status dataflux_set_begin(dataflux_set* set, uint32_t unfinished,
                                                dataflux_queue* queue, uint64_t tag,
                                                dataflux_operation** out, dataflux_error** err);
/* Opens the writer of a member. A member is never replaced: the commit of an existing one fails
 * with DATAFLUX_ALREADY_EXISTS. Then call dataflux_operation_take_writer(). Bucket, object and
 * conditions of the options are NULL; timeout_ns is the member's. NULL = all defaults. */
DATAFLUX_API dataflux_status dataflux_set_open_member(dataflux_set* set, const char* name,
                                                      const dataflux_writer_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);
/* The record of a member, from the operation of its dataflux_writer_commit(): one line of JSON for
 * dataflux_set_commit(), in any process. Free it by dataflux_text_free(). */
DATAFLUX_API dataflux_status dataflux_set_record(const dataflux_set* set, dataflux_operation* op,
                                                 char** out, dataflux_error** err);

typedef struct dataflux_set_commit_options {
  size_t struct_size;
  const char* const* records; /* record_count texts of dataflux_set_record(), in any order */
  size_t record_count;
  const char* last; /* the last object's name, without a slash; NULL = ".dataflux-complete" */
  const void* data; /* its bytes, lent until the operation has ended */
  size_t size;      /* of `data` */
  /* Encrypts the last object and the manifest; NULL = the bucket's default. Members have theirs in
   * their writers' options. */
  const char* kms_key_name;
} dataflux_set_commit_options;

DATAFLUX_API void dataflux_set_commit_options_init(dataflux_set_commit_options* options,
                                                   size_t size);

/* Commits. DATAFLUX_DATA_LOSS for missing or changed members; DATAFLUX_ALREADY_EXISTS for a
 * committed set. DATAFLUX_INVALID_ARGUMENT on S3 for a save over a set whose last object has the
 * bytes of the one that is there. Bad records are found before any request. After a failure the set
 * is not committed. The record has the bytes of all members, and the generation of the last object.
 * JSON: "last" as of dataflux_stat(), "manifest", "members" and "bytes". "replaced", as of
 * dataflux_remove_sets(), is what a save over a set removed. */
DATAFLUX_API dataflux_status dataflux_set_commit(dataflux_set* set,
                                                 const dataflux_set_commit_options* options,
                                                 dataflux_queue* queue, uint64_t tag,
                                                 dataflux_operation** out, dataflux_error** err);

/* Checks whether the set is complete, and opens it. `last`: the last object's name; NULL = the only
 * one. DATAFLUX_FAILED_PRECONDITION if there is no last object, or several. DATAFLUX_DATA_LOSS
 * names missing or changed members. DATAFLUX_ABORTED, retryable: the set is replaced too often to
 * be checked. The record has the bytes of all members. */
DATAFLUX_API dataflux_status dataflux_set_open(dataflux_set* set, const char* last,
                                               dataflux_queue* queue, uint64_t tag,
                                               dataflux_operation** out, dataflux_error** err);
/* Opens the newest complete set below the prefix, by the time of its commit. It skips newer sets
 * that are damaged; dataflux_set_reader_json() names them. DATAFLUX_NOT_FOUND without a set;
 * DATAFLUX_DATA_LOSS if all sets are damaged. */
DATAFLUX_API dataflux_status dataflux_latest_set(dataflux_client* client,
                                                 const dataflux_set_options* options,
                                                 dataflux_queue* queue, uint64_t tag,
                                                 dataflux_operation** out, dataflux_error** err);
DATAFLUX_API void dataflux_set_free(dataflux_set* set);

/* A complete set as it was when opened. Any thread. */
typedef struct dataflux_set_reader dataflux_set_reader;

/* Once, of an operation of dataflux_set_open() or dataflux_latest_set() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_set_reader(dataflux_operation* op,
                                                                dataflux_set_reader** out,
                                                                dataflux_error** err);
/* Its content: "prefix", "last", "committed", "bytes", "members_folder" (the members' folder with
 * its slash). "members", in order of names, have "name", "size", "generation" and "crc32c" in the
 * service's formats. If dataflux_latest_set() skipped newer sets, "passed_over" has them, the
 * newest first, as "damaged" of dataflux_list_sets(). Lives as long as the handle. */
DATAFLUX_API dataflux_status dataflux_set_reader_json(const dataflux_set_reader* set,
                                                      const char** json, dataflux_error** err);
/* Opens a member, or the last object, for reads: as it was when the set was opened, with each range
 * compared. Then call dataflux_operation_take_reader(). Bucket and object of the options are NULL,
 * generation is 0; NULL = all defaults. DATAFLUX_NOT_FOUND for another name. */
DATAFLUX_API dataflux_status dataflux_set_reader_open(dataflux_set_reader* set, const char* name,
                                                      const dataflux_reader_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);
DATAFLUX_API void dataflux_set_reader_free(dataflux_set_reader* set);

/* The sets below the prefix, which may be "" for the whole bucket. JSON: "complete", the oldest
 * commit first; "damaged", each with "why"; "unfinished", each with "prefix", "objects", "bytes",
 * "uploads" (the number of open ones) and, if known, "written". "uploads_unknown" says why open
 * uploads could not be listed. */
DATAFLUX_API dataflux_status dataflux_list_sets(dataflux_client* client,
                                                const dataflux_set_options* options,
                                                dataflux_queue* queue, uint64_t tag,
                                                dataflux_operation** out, dataflux_error** err);

typedef struct dataflux_keep_last_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix; /* not empty */
  uint64_t count;     /* complete sets that stay, the newest; 0 = 1 */
  /* Also removes unfinished sets without a write for this long, and their open uploads: choose more
   * than a save takes. 0 = they stay. */
  int64_t remove_unfinished_older_than_ns;
  int64_t timeout_ns;
} dataflux_keep_last_options;

DATAFLUX_API void dataflux_keep_last_options_init(dataflux_keep_last_options* options, size_t size);

/* Removes the oldest complete sets, by the time of their commits. If it is killed, each set is
 * whole or gone. The record has the bytes removed. JSON: as dataflux_remove_sets(). */
DATAFLUX_API dataflux_status dataflux_keep_last_sets(dataflux_client* client,
                                                     const dataflux_keep_last_options* options,
                                                     dataflux_queue* queue, uint64_t tag,
                                                     dataflux_operation** out,
                                                     dataflux_error** err);
/* Removes all objects below the prefix, which is not empty, last objects first, and aborts open
 * uploads there. A failed removal is no error. JSON: "objects", "uploads", "bytes", "sets"
 * (prefixes of removed sets), "failures", each with "name" and "why", and "spared", the number not
 * tried because of them.
 */
DATAFLUX_API dataflux_status dataflux_remove_sets(dataflux_client* client,
                                                  const dataflux_set_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);

/* Begins a save over the set: the same state is saved again below the same prefix, without removing
 * anything first. The set may be damaged or missing. JSON: the text of the save, for all processes
 * that take part; so `out` is required. Writes nothing. DATAFLUX_FAILED_PRECONDITION if there are
 * several last objects.
 *
 * Each process turns the text into a set by dataflux_set_over() and opens its member. One process
 * commits, as for a new set, but without dataflux_set_begin().
 *
 * Readers see the whole old set or the whole new one: the commit replaces the last object by its
 * generation. A save's members have their own names in the bucket, below ".dataflux-save-...";
 * readers use the names they were opened with.
 *
 * Then the commit removes the old members and the leftovers of other saves. Its "replaced" counts
 * them. Failed removals are in "failures", and no failure of the commit: the next commit removes
 * them. Reads of a set opened before fail with DATAFLUX_NOT_FOUND then. Open it again.
 *
 * Of several saves the first to commit wins. The other commits end with DATAFLUX_ABORTED, and so
 * does one whose set was removed meanwhile. Their objects stay until the next commit. */
DATAFLUX_API dataflux_status dataflux_set_begin_over(dataflux_set* set, dataflux_queue* queue,
                                                     uint64_t tag, dataflux_operation** out,
                                                     dataflux_error** err);
/* The same set with the members and the commit of a save: `text` is from dataflux_set_begin_over(),
 * in any process. Sends nothing. Failures: DATAFLUX_INVALID_ARGUMENT for another text,
 * DATAFLUX_UNIMPLEMENTED for one of a later version.
 *
 * With this handle dataflux_set_begin() fails with DATAFLUX_FAILED_PRECONDITION. A commit whose
 * last object has another name than the replaced one fails with DATAFLUX_INVALID_ARGUMENT. Any
 * thread. */
DATAFLUX_API dataflux_status dataflux_set_over(const dataflux_set* set, const char* text,
                                               dataflux_set** out, dataflux_error** err);

/* ---- Events ---------------------------------------------------------------------------------- */

/* A stream of a client's events, for programs that cannot take calls from its threads: log lines,
 * repeated attempts, progress, and the need for a token. The client keeps `event_capacity` events
 * until the queue takes them. When it is full it drops new events, and counts them. Requests are no
 * events: dataflux_client_metrics() counts them.
 *
 * A record has all waiting events, oldest first: `data` and `size` are lines of JSON, each ended by
 * a line feed. Release `slab`. `index` counts the events dropped since the client was created. A
 * line is an object with those of these members that its kind has:
 *
 *   kind      "log", "retry", "progress" or "token_needed"
 *   level     "info", "warning" or "error"
 *   time_ns   since 1970
 *   tag       of progress: that of the call or stream that it is of
 *   text      a log line, or why an attempt failed
 *   verb      such as "objects.get"; of progress "listing", "download", "upload", "remove", "index"
 *   bucket    and object: of what; of listings and folders `object` is the prefix
 *   attempt   of a retry: the one that failed, from 1
 *   delay_ns  of a retry: the wait before the next one
 *   done      of progress: bytes, of "listing" entries, of "remove" objects, of "index" and
 * "verify" shards total     of progress: how many there are in all, as far as is known; 0 = not
 * known
 *
 * Bytes that are no UTF-8 become U+FFFD. Progress of a call comes at most every 100 ms, and at its
 * end, with the total after success. The end comes before the operation's record; a call that did
 * nothing has no progress. A client that keeps events reports all listings of dataflux_list(),
 * dataflux_list_stream() and dataflux_manifest_refresh(). Other calls have an option, `progress`.
 * Listings inside another call, such as dataflux_download_folder(), have the tag 0. Later versions
 * may add kinds and members.
 *
 * "token_needed" comes with DATAFLUX_CREDENTIALS_TOKEN: at the start, when the token expires in
 * less than 165 to 225 s, and when the service refuses it. Answer by dataflux_client_set_token() or
 * dataflux_client_fail_token(). It is never dropped. */
typedef struct dataflux_events dataflux_events;

/* Begins the stream, with the events kept before first. A client has one at a time. After
 * dataflux_client_close() it delivers the rest, and ends with DATAFLUX_CANCELLED.
 * DATAFLUX_FAILED_PRECONDITION if the client keeps no events, or has another stream that was not
 * freed. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_events(dataflux_client* client, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_events** out,
                                                    dataflux_error** err);
/* No record of it comes any more. The client keeps events for the next stream. */
DATAFLUX_API void dataflux_events_free(dataflux_events* events);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Paths are the system's bytes, and need not be UTF-8. An error of the file system names the path
 * in its message, and no bucket: DATAFLUX_NOT_FOUND, DATAFLUX_PERMISSION_DENIED,
 * DATAFLUX_RESOURCE_EXHAUSTED (no room), DATAFLUX_INVALID_ARGUMENT (a folder, or no regular file),
 * DATAFLUX_FAILED_PRECONDITION if another call uses the same file. DATAFLUX_ABORTED, retryable: the
 * source was replaced or changed meanwhile.
 *
 * `progress` = 1 reports progress by events, in bytes at their target. Then the client must keep
 * events (dataflux_client_options.event_capacity), or the call returns
 * DATAFLUX_FAILED_PRECONDITION. */

typedef struct dataflux_download_file_options {
  size_t struct_size;
  const char* bucket;
  const char* object;
  const char* path;   /* a file of this name is replaced, a folder is not */
  int64_t generation; /* 0 = the live one */
  uint64_t offset;    /* of the bytes wanted */
  uint64_t length;    /* how many; 0 = to the end */
  int64_t timeout_ns; /* of the whole call; 0 = none */
  uint32_t resume;    /* 1: what a call leaves that fails or is killed is gone on with */
  uint32_t no_flush;  /* 1: a loss of power may leave a torn file under the name */
  uint32_t progress;  /* 1: told by events */
  uint32_t reserved;
} dataflux_download_file_options;

DATAFLUX_API void dataflux_download_file_options_init(dataflux_download_file_options* options,
                                                      size_t size);

/* Reads an object, or a range of it, into a file by parallel ranges. The file gets its name when it
 * is complete and compared with the object's checksum; until then an existing file keeps it. A
 * failed call leaves nothing; with `resume` it leaves ".dataflux-part-..." beside it, with which
 * the next call for the same path, object and generation continues.
 *
 * The record has size, crc32c and generation, and DATAFLUX_RECORD_VERIFIED for a whole object. The
 * JSON has numbers "bytes", "object_size", "generation", "resumed" (bytes that an earlier call had
 * left), and "verified". Failures besides those of files: DATAFLUX_OUT_OF_RANGE where the range
 * begins behind the object's end; DATAFLUX_DATA_LOSS for the checksum. */
DATAFLUX_API dataflux_status dataflux_download_file(dataflux_client* client,
                                                    const dataflux_download_file_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);

typedef struct dataflux_upload_file_options {
  size_t struct_size;
  const char* bucket;
  const char* object;
  const char* path;
  const dataflux_conditions* conditions; /* DATAFLUX_IF_GENERATION_MATCH, no other; NULL = none */
  const dataflux_attributes* attributes; /* NULL = none */
  int64_t timeout_ns;                    /* of the whole call; 0 = none */
  uint32_t resume;                       /* 1: as of downloads, by a journal beside the file */
  uint32_t progress;                     /* 1: told by events */
} dataflux_upload_file_options;

DATAFLUX_API void dataflux_upload_file_options_init(dataflux_upload_file_options* options,
                                                    size_t size);

/* Writes a file as an object, which appears whole and compared by its checksum, or not at all. It
 * replaces the object that existed when the call began, or the generation that `conditions` names,
 * and fails if that has changed. With `resume` the file ".dataflux-upload-..." beside it lists the
 * parts at the service, and the next call for the same path and object continues.
 *
 * The record has size, crc32c, generation and DATAFLUX_RECORD_VERIFIED. The JSON has "object" (what
 * dataflux_stat() gives), "upload_path" ("insert", "multipart" or "resumable"), "commit_mode"
 * ("staged" or "direct"), "fallback" (the reason for an unusual way; "" = the usual one) and
 * "resumed", a number of bytes. Failures besides those of files: DATAFLUX_ALREADY_EXISTS and
 * DATAFLUX_FAILED_PRECONDITION by the condition; DATAFLUX_DATA_LOSS; DATAFLUX_UNIMPLEMENTED for
 * other conditions. */
DATAFLUX_API dataflux_status dataflux_upload_file(dataflux_client* client,
                                                  const dataflux_upload_file_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);

/* ---- Folders --------------------------------------------------------------------------------- */

/* Calls for very many names. A failed name does not end the call: the others continue, and the
 * operation ends with DATAFLUX_OK. The record's `index` is the number of failed names, its `size`
 * the bytes copied or removed. The JSON has the first `max_failures` in "failures": each has
 * "object", "status" and "text"; copies also have "path". Bytes of a path that are no UTF-8 become
 * U+FFFD; then "path_base64" has the exact bytes. The operation fails when the rest would fail,
 * too: no space on the disk, no service, no credentials; and by cancelling and the time limit.
 * Finished work stays. */

/* Which names below a folder are meant, of objects and of files alike, without the folder in front;
 * none of a kind of texts takes each. In patterns '*' and '?' stop at '/', "**" crosses it; [a-z],
 * [!a], {a,b}, and a backslash in front of what stands for itself. An empty text is
 * DATAFLUX_INVALID_ARGUMENT. */
typedef struct dataflux_selection {
  size_t struct_size;
  const char* const* match; /* match_count patterns of whole names */
  size_t match_count;
  const char* const* names; /* name_count names, as they are */
  size_t name_count;
  const char* const* include; /* include_count patterns; without '/', of the last part of a name */
  size_t include_count;
  const char* const* exclude; /* exclude_count patterns, compared as those */
  size_t exclude_count;
  uint64_t min_size;
  uint64_t max_size;     /* 0 = no bound */
  int64_t newer_than_ns; /* written since, as ns since 1970; 0 = any time */
} dataflux_selection;

DATAFLUX_API void dataflux_selection_init(dataflux_selection* selection, size_t size);

typedef struct dataflux_folder_options {
  size_t struct_size;
  const char* path; /* the folder */
  const char* bucket;
  const char* prefix;    /* an object is called as it, "/", and the path below the folder;
                            NULL or "" = the whole bucket */
  uint64_t max_failures; /* that the JSON names; all are counted. 0 = 100 */
  int64_t timeout_ns;    /* of the whole call; 0 = none */
  uint32_t resume;       /* 1: what the target has, of the same size and checksum, is left out */
  uint32_t dry_run;      /* 1: nothing is changed; the JSON tells what would be */
  uint32_t delete_extra; /* 1: in the end, what only the target has is removed */
  uint32_t on_error;     /* DATAFLUX_ON_ERROR_STOP: the first name that fails ends the call */
  uint32_t progress;     /* 1: told by events, in bytes; see the section on files */
  uint32_t reserved;
  const dataflux_selection* select;      /* NULL = each; other names are left alone on both sides */
  const dataflux_attributes* attributes; /* of an upload, what objects get; NULL = none */
  uint32_t by_time;    /* 1, with resume: what has the same size, and was written an hour or more
                          after the other side, is not read */
  uint32_t no_clobber; /* 1: what is there stays, and counts as already_there */
} dataflux_folder_options;

DATAFLUX_API void dataflux_folder_options_init(dataflux_folder_options* options, size_t size);

/* Copies the files below a folder into objects. Each object appears whole and compared, or not at
 * all. Regular files are copied, and links to some; links to folders, broken links, devices and
 * sockets fail.
 *
 * delete_extra removes objects below the prefix without a file. It removes nothing if something
 * could not be read or copied, or if the source is empty: "not_removed" says why, and is "" if
 * extra names were removed.
 *
 * The JSON has "found" (files of the source), "copied", "bytes", "already_there", "folders",
 * "removed", "failed", "failures" and "not_removed". */
DATAFLUX_API dataflux_status dataflux_upload_folder(dataflux_client* client,
                                                    const dataflux_folder_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Copies the objects below a prefix into files; the result is that of dataflux_upload_folder().
 * Each file appears whole and compared, or not at all; nothing is flushed to the disk. An empty
 * object "x/" creates the folder x. Names that are no path below the folder fail, such as those
 * with "..". Links below the folder are never followed. delete_extra removes regular files and
 * links; folders stay. */
DATAFLUX_API dataflux_status dataflux_download_folder(dataflux_client* client,
                                                      const dataflux_folder_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);

typedef struct dataflux_copy_objects_options {
  size_t struct_size;
  const char* source_bucket;
  const char* source_prefix; /* a folder; NULL or "" = the whole bucket */
  const char* bucket;
  const char* prefix;
  const dataflux_selection* select;
  const dataflux_attributes* attributes; /* what the copies have; NULL = as their sources */
  uint64_t max_failures;
  int64_t timeout_ns;
  uint32_t only_changed; /* 1: what the target has with the same content is left out */
  uint32_t no_clobber;   /* 1: what is there stays; not with only_changed */
  uint32_t move;         /* 1: each source is removed when its copy is there */
  uint32_t dry_run;
  uint32_t delete_extra; /* 1: in the end, what only the target has is removed; not with move */
  uint32_t on_error;
  uint32_t progress;
  uint32_t reserved;
} dataflux_copy_objects_options;

DATAFLUX_API void dataflux_copy_objects_options_init(dataflux_copy_objects_options* options,
                                                     size_t size);

/* Copies or moves the objects below a prefix to another one of the same service, which does it
 * without their bytes passing here; the result is that of dataflux_upload_folder(), and "path" of a
 * failure is the source's name. Contents are the same by size and CRC32C, or where listings have
 * none by ETag, or by a target that was written later. With only_changed a copy replaces what the
 * listing has shown and nothing newer. Names below the target are no source. */
DATAFLUX_API dataflux_status dataflux_copy_objects(dataflux_client* client,
                                                   const dataflux_copy_objects_options* options,
                                                   dataflux_queue* queue, uint64_t tag,
                                                   dataflux_operation** out, dataflux_error** err);

typedef struct dataflux_remove_prefix_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix;    /* of names: "tmp" is "tmpfoo", too. Required; "" = the whole bucket */
  int64_t older_than_ns; /* only objects of this age, by the service's clock; 0 = of any */
  uint64_t max_failures; /* that the JSON names; all are counted. 0 = 100 */
  int64_t timeout_ns;    /* of the whole call; 0 = none */
  uint32_t for_good;     /* 1: leaves no noncurrent version in a bucket that keeps those */
  uint32_t dry_run;      /* 1: nothing is removed; the JSON tells what would be */
  uint32_t progress;     /* 1: told by events, in objects; see the section on files */
  uint32_t reserved;
} dataflux_remove_prefix_options;

DATAFLUX_API void dataflux_remove_prefix_options_init(dataflux_remove_prefix_options* options,
                                                      size_t size);

/* Removes all objects whose names begin with a prefix, while listing them. Each is removed by the
 * generation that was seen: newer objects stay, and their names fail. The JSON has "objects" and
 * "bytes" (gone), "young" (left for `older_than_ns`), "failed" and "failures". */
DATAFLUX_API dataflux_status dataflux_remove_prefix(dataflux_client* client,
                                                    const dataflux_remove_prefix_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);

#ifdef __cplusplus
}
#endif
#endif
