/* dataflux: reads from Google Cloud Storage and writes to it, from C and whatever can call C.
 *
 * This page is the whole interface, and its contract. It is 0.x: it may change until bindings for
 * Python, Rust and Julia stand on it. dataflux_abi_version() says what a library has.
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
 * Handles are opaque. A function that makes one gives it by an out parameter, which is NULL after
 * an error; each kind has a function dataflux_KIND_free(), which accepts NULL. Copying a pointer
 * copies nothing. A handle keeps alive what it needs: handles may be freed in any order.
 *
 * A dataflux_status is 0 (DATAFLUX_OK) or says what kind of failure it was; 1 to 16 are those of
 * google.rpc.Code. The last parameter of functions that can fail is `dataflux_error **err`: NULL,
 * or where the error is put, which is then the caller's to free. It is not touched on success.
 *
 * Options are structs whose first member is their size: set it to sizeof, and everything else to
 * zero, which is the default of each member. dataflux_KIND_init(&options, sizeof options) does
 * both. Members are only ever added at the end, so that a program and a library of different
 * versions understand each other: what an older program does not name is zero, and what a newer one
 * sets that the library does not know is DATAFLUX_INVALID_ARGUMENT. NULL means all defaults where
 * nothing is required. What options point to is read during the call only.
 *
 * Texts are UTF-8 and end with a NUL; where a size is given beside a pointer they need not. Texts
 * that the library gives live as long as the handle that gave them, unless it says otherwise. Times
 * are nanoseconds: durations, or since 1970 by UTC. Sizes are bytes.
 *
 * Threads: each function says what it allows. "Any thread" means at any time, at once with all
 * others on the same handle except its free function. A function that says nothing about threads
 * may be called on any.
 *
 * Close and free: client and queue have a function dataflux_KIND_close() that ends what is under
 * way. Closing twice does nothing; whatever is asked of a handle that was closed answers
 * DATAFLUX_FAILED_PRECONDITION. Freeing closes, and is the last thing done with a handle.
 *
 * Fork: in the child of a fork every handle of the parent answers DATAFLUX_FAILED_PRECONDITION at
 * once, and freeing it does nothing; but listings, manifests and changes are plain memory, and may
 * be used and freed there. The child makes a client of its own.
 *
 * The library never prints, never exits, never installs a signal handler, and no C++ exception
 * leaves it. Where memory is short it answers DATAFLUX_RESOURCE_EXHAUSTED. Once loaded it stays:
 * dlclose() leaves it in memory, since threads of it may still end.
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

/* That of the library in memory, which is never less than that of the header it was linked by.
 * Any thread. */
DATAFLUX_API uint32_t dataflux_abi_version(void);
/* Such as "0.1.0"; lives for ever. Any thread. */
DATAFLUX_API const char* dataflux_version(void);

/* ---- Status and errors ----------------------------------------------------------------------- */

typedef int32_t dataflux_status;

/* Values of a dataflux_status. The first one is none of them: it makes the type of all of them a
 * signed one for generators of bindings, as dataflux_status is. */
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
  DATAFLUX_OUT_OF_RANGE = 11,       /* bytes that the object has not */
  DATAFLUX_UNIMPLEMENTED = 12,      /* known, and not supported */
  DATAFLUX_INTERNAL = 13,           /* an invariant broke, here or there */
  DATAFLUX_UNAVAILABLE = 14,        /* the network, or the service, cannot serve now */
  DATAFLUX_DATA_LOSS = 15,          /* bytes do not match their checksum */
  DATAFLUX_UNAUTHENTICATED = 16,    /* no credentials, or refused ones */
  /* No failure: a signal has come while the thread waited. See to it, and wait again. */
  DATAFLUX_INTERRUPTED = 64
};

/* "not_found"; "unknown" for what is no status. Lives for ever. Any thread. */
DATAFLUX_API const char* dataflux_status_name(dataflux_status status);

typedef struct dataflux_error dataflux_error;

/* What is known of a failure. Texts live as long as the error, and are "" where nothing is known.
 * No text ever holds a secret. Any thread. */
DATAFLUX_API dataflux_status dataflux_error_status(const dataflux_error* error);
/* What happened and what to do, for a person. */
DATAFLUX_API const char* dataflux_error_message(const dataflux_error* error);
/* One line for a log: all that is known. */
DATAFLUX_API const char* dataflux_error_text(const dataflux_error* error);
DATAFLUX_API const char* dataflux_error_verb(const dataflux_error* error);
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
/* 1 if an attempt may have been carried out, or may still be, whatever the last answer says: it was
 * sent and not answered, or answered by a 5xx. Else 0. */
DATAFLUX_API int32_t dataflux_error_outcome_unknown(const dataflux_error* error);
/* How long the service asked to wait; 0 when it did not. */
DATAFLUX_API int64_t dataflux_error_retry_after_ns(const dataflux_error* error);
DATAFLUX_API void dataflux_error_free(dataflux_error* error);

/* ---- Queues ---------------------------------------------------------------------------------- */

/* A queue brings what has become of operations and streams to whoever waits for it, many at a time.
 * It is named where they are begun, and may serve any number of them, of any clients.
 *
 * Items of a stream stay with the stream, under its client's memory cap, until this queue is asked
 * for them: a queue that nobody asks stops the network, and not the process. */
typedef struct dataflux_queue dataflux_queue;

/* One thing that has happened. 64 bytes; in later versions more may be added at the end, which is
 * why dataflux_queue_next() is told its size. */
typedef struct dataflux_record {
  uint64_t tag;       /* as it was given where the operation or the stream was begun */
  uint64_t index;     /* of a stream: which request it answers, from 0 in their order */
  const void* data;   /* of an item: its bytes */
  uint64_t size;      /* of `data` */
  uint64_t slab;      /* whose memory `data` is: dataflux_slabs_release(); 0 = nobody's, or yours */
  int64_t generation; /* of the object that the bytes are of */
  uint32_t crc32c;    /* of the bytes */
  int32_t status;     /* DATAFLUX_OK, or why there are no bytes, or why the operation failed */
  uint32_t flags;     /* DATAFLUX_RECORD_* */
  uint32_t error;     /* not 0: dataflux_queue_error() has more about `status` */
} dataflux_record;

/* The bytes are a whole object, or all of it came together, or whole parts of it whose checksums
 * are known, and the checksum was equal. Without it they were not compared yet. */
#define DATAFLUX_RECORD_VERIFIED 1u
/* The last record of its operation or stream; that of a stream has no bytes. */
#define DATAFLUX_RECORD_END 2u

DATAFLUX_API dataflux_status dataflux_queue_create(dataflux_queue** out, dataflux_error** err);

/* Waits until something has happened, then fills `out` with what there is, at most `capacity`
 * records of `record_size` bytes each (sizeof(dataflux_record)), and gives their number.
 *
 * timeout_ns: how long to wait; 0 = not at all; negative = without end. *count is 0 after it.
 * DATAFLUX_INTERRUPTED: a signal handler has run on this thread; *count is 0.
 * Other failures: DATAFLUX_INVALID_ARGUMENT for a NULL, a capacity of 0, or a record_size that is
 * too small; DATAFLUX_FAILED_PRECONDITION after dataflux_queue_close(), and in the child of a fork.
 *
 * Threads: any; what one thread gets no other does. */
DATAFLUX_API dataflux_status dataflux_queue_next(dataflux_queue* queue, dataflux_record* out,
                                                 size_t record_size, size_t capacity,
                                                 int64_t timeout_ns, size_t* count);

/* A descriptor that is readable while dataflux_queue_next() has something, for poll(2) and event
 * loops. It is the queue's: neither read nor close it. -1 in the child of a fork. Any thread. */
DATAFLUX_API int dataflux_queue_fd(const dataflux_queue* queue);

/* The error of a record, by its number, as long as fewer than 65,536 newer ones were handed out by
 * this queue. NULL after that. It is the caller's to free. Any thread. */
DATAFLUX_API dataflux_error* dataflux_queue_error(dataflux_queue* queue, uint32_t number);

/* Wakes all who wait in dataflux_queue_next(), which answers DATAFLUX_FAILED_PRECONDITION from now
 * on. Streams and operations that name it go on, and what they bring is dropped; operations that
 * nobody has a handle of are cancelled, and waited for. Any thread. */
DATAFLUX_API void dataflux_queue_close(dataflux_queue* queue);
DATAFLUX_API void dataflux_queue_free(dataflux_queue* queue);

/* ---- Memory of items ------------------------------------------------------------------------- */

/* Gives memory back: `slabs` of records, each as often as it was handed out. 0 is passed over.
 * Until then the memory counts as borrowed, outside the memory cap. Any thread, at any time, also
 * when client, stream and queue are gone. In the child of a fork without a lock. */
DATAFLUX_API void dataflux_slabs_release(const uint64_t* slabs, size_t count);
/* The memory that a slab is: small items share one, so that a binding need wrap it once only.
 * The slab is one that the caller has. Any thread. */
DATAFLUX_API void dataflux_slab_memory(uint64_t slab, void** data, uint64_t* size);

/* ---- Client ---------------------------------------------------------------------------------- */

/* Connections, credentials and limits, shared by all that a process does. One for each process. */
typedef struct dataflux_client dataflux_client;

/* dataflux_client_options.credentials */
#define DATAFLUX_CREDENTIALS_DEFAULT 0   /* Application Default Credentials */
#define DATAFLUX_CREDENTIALS_ANONYMOUS 1 /* none: public buckets */
#define DATAFLUX_CREDENTIALS_FILE 2      /* those of `credentials_file` */
#define DATAFLUX_CREDENTIALS_TOKEN 3     /* dataflux_client_set_token() */

typedef struct dataflux_client_options {
  size_t struct_size;
  uint32_t credentials;         /* DATAFLUX_CREDENTIALS_* */
  uint32_t emulator;            /* 1: `endpoint` is an emulator: plain HTTP, no credentials */
  const char* credentials_file; /* JSON: service_account or authorized_user */
  const char* endpoint;         /* "https://host[:port][/base]" */
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
  int64_t stall_timeout_ns;          /* no byte for so long: begun anew; 0 = 30 s */
  int64_t token_limit_ns;            /* how long calls wait for a token to be set; 0 = 60 s */
  uint64_t event_capacity;           /* for dataflux_client_events(); 0 = none are kept */
  int64_t first_byte_timeout_ns;     /* from a request to its reply's first byte; 0 = 60 s */
  /* 1: an emulator gets tokens, too, those of `credentials` other than DEFAULT and of
   * dataflux_client_set_token(): for tests of what is done with tokens. Over plain HTTP only at
   * a loopback address (127.x.y.z, ::1, localhost): else DATAFLUX_INVALID_ARGUMENT. */
  uint32_t tokens_to_emulator;
  uint32_t reserved;
} dataflux_client_options;

DATAFLUX_API void dataflux_client_options_init(dataflux_client_options* options, size_t size);

/* Starts the client's threads; sends nothing. Failures: what finding credentials says;
 * DATAFLUX_INVALID_ARGUMENT for an option; DATAFLUX_RESOURCE_EXHAUSTED. */
DATAFLUX_API dataflux_status dataflux_client_create(const dataflux_client_options* options,
                                                    dataflux_client** out, dataflux_error** err);

/* Sets the access token that requests bear from now on, in place of any other. `expires_ns`: since
 * 1970; 0 = never. With DATAFLUX_CREDENTIALS_TOKEN set the next one before its end: calls without a
 * good token wait `token_limit_ns` for it. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_set_token(dataflux_client* client, const char* token,
                                                       int64_t expires_ns, dataflux_error** err);
/* Says, with DATAFLUX_CREDENTIALS_TOKEN, that no token can be had. Calls that wait for one end at
 * once, with `status` (1 to 16, such as DATAFLUX_UNAUTHENTICATED) and `message`, which must hold no
 * secret; so do those that want one within the next second. After that "token_needed" comes again.
 * A token that is still good stays in use, and the next dataflux_client_set_token() ends all that.
 * DATAFLUX_FAILED_PRECONDITION for other credentials. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_fail_token(dataflux_client* client,
                                                        dataflux_status status, const char* message,
                                                        dataflux_error** err);

/* What the client does now and has done, as a JSON object: requests and bytes ("totals"), times of
 * attempts by verb ("verbs"), "connections", "pacing" by bucket, and "memory". Times are
 * nanoseconds. Free the text by dataflux_text_free(). Any thread. */
DATAFLUX_API dataflux_status dataflux_client_metrics(const dataflux_client* client, char** out,
                                                     dataflux_error** err);
/* The same in Prometheus' text format, version 0.0.4: names begin with "dataflux_", times are
 * seconds. Any thread. */
DATAFLUX_API dataflux_status dataflux_client_prometheus(const dataflux_client* client, char** out,
                                                        dataflux_error** err);
DATAFLUX_API void dataflux_text_free(char* text);

/* Ends all that is under way with DATAFLUX_CANCELLED: the records still come, and items that have
 * arrived already may come before them. Any thread. */
DATAFLUX_API void dataflux_client_close(dataflux_client* client);
/* Threads and connections end when the last handle that was made with it is free, too. */
DATAFLUX_API void dataflux_client_free(dataflux_client* client);

/* ---- Operations ------------------------------------------------------------------------------ */

/* A call under way. Each is begun by a function that takes `queue` and `tag`: when it has ended the
 * queue has one record with that tag, its status, and DATAFLUX_RECORD_END. A NULL queue: nobody is
 * told, and dataflux_operation_wait() is how to learn of the end. A NULL `out`: the record is all
 * that is wanted; one of queue and `out` must be given. What gives something to be taken of the
 * operation, by dataflux_operation_take_*(), needs `out`: DATAFLUX_INVALID_ARGUMENT for NULL. */
typedef struct dataflux_operation dataflux_operation;

/* Waits for the end. DATAFLUX_OK: it has ended, well or not. DATAFLUX_DEADLINE_EXCEEDED: not within
 * timeout_ns (0 = do not wait; negative = without end). DATAFLUX_INTERRUPTED. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_wait(dataflux_operation* op, int64_t timeout_ns,
                                                     dataflux_error** err);
/* Asks for an early end; the record comes, usually with DATAFLUX_CANCELLED. Any thread. */
DATAFLUX_API void dataflux_operation_cancel(dataflux_operation* op);
/* How an operation that has ended did. DATAFLUX_FAILED_PRECONDITION if it has not. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_result(dataflux_operation* op,
                                                       dataflux_error** err);
/* What one that has ended well gives beside its record: a JSON object, which lives as long as the
 * operation. DATAFLUX_INVALID_ARGUMENT for one that gives nothing else. Any thread. */
DATAFLUX_API dataflux_status dataflux_operation_json(dataflux_operation* op, const char** json,
                                                     dataflux_error** err);
/* Lets go. One that is under way is cancelled and waited for, and memory of the caller's is his
 * again. That takes milliseconds; of a commit, which cleans up behind itself, and of a step on a
 * disk that has begun, as long as those take, up to a minute for each request. No record of it
 * comes any more. */
DATAFLUX_API void dataflux_operation_free(dataflux_operation* op);

/* ---- Objects --------------------------------------------------------------------------------- */

/* What must hold for a call to be carried out; else it fails with DATAFLUX_FAILED_PRECONDITION. */
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
  uint32_t reserved;
} dataflux_object_options;

/* What dataflux_stat() gives. What is not asked for is not sent, and is not in the JSON. */
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

/* What is written beside an object's bytes. Texts: NULL = the service's default. */
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

/* Reads `size` bytes from `offset` on into `memory`, by ranges in parallel where that is long. The
 * memory is lent until the operation has ended; after a failure its content is undefined. The
 * record has size, crc32c, generation and DATAFLUX_RECORD_VERIFIED. Failures: DATAFLUX_OUT_OF_RANGE
 * where the object ends before, or where `size` is 0 and the object is not empty;
 * DATAFLUX_UNIMPLEMENTED for conditions: name the generation. */
DATAFLUX_API dataflux_status dataflux_get_one(dataflux_client* client,
                                              const dataflux_object_options* options,
                                              uint64_t offset, void* memory, size_t size,
                                              dataflux_queue* queue, uint64_t tag,
                                              dataflux_operation** out, dataflux_error** err);
/* Reads `length` bytes from `offset` on, or what the object has of them, into memory of the
 * library; UINT64_MAX = to the end. An object of no bytes is none, and no failure where `offset` is
 * 0. The queue is required, since the memory is handed out by the record alone, which has data,
 * size, slab (dataflux_slabs_release()), crc32c, generation and DATAFLUX_RECORD_VERIFIED. Until
 * that was taken the memory is the operation's, and ends with it: so does what a queue holds that
 * is closed.
 *
 * While it is read it is under the client's memory cap, as items of dataflux_get_many() are; from
 * the end of the operation on it is borrowed, also while the record waits. An object of up to 1 MiB
 * is one request; of a longer one the first MiB is asked for twice. Failures: DATAFLUX_OUT_OF_RANGE
 * where the range begins at the object's end or behind it; DATAFLUX_RESOURCE_EXHAUSTED for more
 * than the memory cap, where dataflux_get_one() reads into your memory; DATAFLUX_UNIMPLEMENTED for
 * conditions: name the generation. */
DATAFLUX_API dataflux_status dataflux_get(dataflux_client* client,
                                          const dataflux_object_options* options, uint64_t offset,
                                          uint64_t length, dataflux_queue* queue, uint64_t tag,
                                          dataflux_operation** out, dataflux_error** err);
/* Gives what is known of an object, with the names and the forms that the service uses. The record
 * has size, crc32c and generation. */
DATAFLUX_API dataflux_status dataflux_stat(dataflux_client* client,
                                           const dataflux_object_options* options,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Of a write that names no condition for what it makes the last writer wins: dataflux_put(),
 * dataflux_remove(), dataflux_copy(), dataflux_move(), dataflux_compose(), dataflux_patch(). After
 * a refusal (408, 5xx) it is sent again. When its reply is lost, the object is looked at: what the
 * call has made or removed is success, and what was there before the call is replaced, by its
 * generation. What is newer than the call is another writer's and stays: the call fails with
 * DATAFLUX_ABORTED, or has nothing left to remove and succeeds. Where nothing tells which, the
 * failure stands (DATAFLUX_UNAVAILABLE, and the error says that the outcome is not known).
 * A condition makes a write safe to repeat as it is: generation_match of the target, and
 * metageneration_match for dataflux_patch(). Any other one has it sent once. */

/* Inserts an object by one request; the checksum goes with it. `data` is lent until the operation
 * has ended. It gives what dataflux_stat() does. */
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
                     * so; else the first that fails ends the listing */
  uint32_t by_name; /* of a stream, 1: its batches come in order of names */
  const char* const* storage_classes; /* storage_class_count texts, such as "STANDARD": objects of
                                       * others are left out; none = of all */
  size_t storage_class_count;
} dataflux_list_options;

DATAFLUX_API void dataflux_list_options_init(dataflux_list_options* options, size_t size);

/* Lists by many calls at a time; proved complete, or it fails. The record's size is the rows. */
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
/* What is known of it beside its rows, as a JSON object, which lives as long as the listing. Of
 * all: "prefixes" (names that a delimiter folded). Of one by dataflux_list(), too: "objects" and
 * "bytes"; "pages", "calls", and of those "probes" and "repeats"; "ranges"; "dropped", by reason;
 * "missing", ranges of names that could not be listed, as "start" and "end"; and "cause", where
 * some are. */
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
/* All rows for an Arrow library of this process, without a copy. `out` is its structure, not yet
 * initialised; whoever has it releases it, and it may outlive the listing. */
DATAFLUX_API dataflux_status dataflux_listing_arrow(const dataflux_listing* listing,
                                                    struct ArrowArrayStream* out,
                                                    dataflux_error** err);
DATAFLUX_API void dataflux_listing_free(dataflux_listing* listing);

/* ---- The order of training ------------------------------------------------------------------- */

#define DATAFLUX_SHUFFLE_FULL 0   /* any row may come anywhere */
#define DATAFLUX_SHUFFLE_WINDOW 1 /* blocks of rows, and within some blocks their rows */
#define DATAFLUX_SHUFFLE_NONE 2
#define DATAFLUX_EQUALIZE_DROP 0 /* rows that do not go around are left out, the last ones */
#define DATAFLUX_EQUALIZE_PAD 1  /* the first rows come again at the end */

typedef struct dataflux_sampler_options {
  size_t struct_size;
  uint64_t count; /* rows there are; at most 2^62 */
  uint64_t seed;
  uint64_t epoch;
  uint64_t block;      /* rows of a block, of DATAFLUX_SHUFFLE_WINDOW alone; 0 = 1,024 */
  uint64_t window;     /* blocks that are mixed, the same; 0 = 64 */
  uint32_t shuffle;    /* DATAFLUX_SHUFFLE_* */
  uint32_t equalize;   /* DATAFLUX_EQUALIZE_* */
  uint32_t rank;       /* of the ranks of a job, from 0 */
  uint32_t world_size; /* how many they are; 0 = 1 */
} dataflux_sampler_options;

DATAFLUX_API void dataflux_sampler_options_init(dataflux_sampler_options* options, size_t size);

/* In which order a rank reads the rows of an epoch: a pure function of the options, the same on
 * every machine and in every version, so that nothing is kept and any position is found at once.
 * The ranks take turns in one order: position p of rank r is place p * world_size + r of it. *size
 * is how many positions the rank has; all have as many. DATAFLUX_INVALID_ARGUMENT names the member.
 * Any thread.
 */
DATAFLUX_API dataflux_status dataflux_sampler_size(const dataflux_sampler_options* options,
                                                   uint64_t* size, dataflux_error** err);
/* The rows at `count` positions from `first` on, for dataflux_get_many(): some 25 ns for each.
 * DATAFLUX_OUT_OF_RANGE where the rank has not so many, and `rows` is untouched then. Any thread.
 */
DATAFLUX_API dataflux_status dataflux_sampler_rows(const dataflux_sampler_options* options,
                                                   uint64_t first, uint64_t* rows, size_t count,
                                                   dataflux_error** err);

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

/* Reads whole objects of a listing: `rows` of them by number, in this order, or all rows in order
 * when `rows` is NULL. With options->feed nothing is read before it is pushed; `listing` may be
 * NULL then, and rows must be. Names never cross: a record's index says which row it answers. Any
 * thread.
 */
DATAFLUX_API dataflux_status dataflux_get_many(dataflux_client* client,
                                               const dataflux_get_many_options* options,
                                               const dataflux_listing* listing,
                                               const uint64_t* rows, size_t row_count,
                                               dataflux_queue* queue, uint64_t tag,
                                               dataflux_getter** out, dataflux_error** err);

/* Requests by columns, of `count` rows. A NULL column = its default for all. What the object has of
 * a range is read; DATAFLUX_OUT_OF_RANGE where that begins at the object's end or behind it, but at
 * an offset of 0. */
typedef struct dataflux_get_columns {
  size_t struct_size;
  const char* names;            /* one behind the other */
  const uint64_t* name_offsets; /* count + 1 of them */
  const int64_t* generations;
  const uint64_t* offsets;
  const uint64_t* lengths; /* UINT64_MAX = to the end */
  void* const* into;       /* memory of the caller, `lengths` bytes each; NULL = the library's */
  const uint64_t* object_sizes; /* UINT64_MAX = not known */
} dataflux_get_columns;

DATAFLUX_API void dataflux_get_columns_init(dataflux_get_columns* columns, size_t size);

/* Pushes requests into a feed, from the first on, and gives how many it has taken: fewer when it is
 * full; offer the others again when records have come. Any thread; never waits. */
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
/* Lets go: a stream that has not ended is cancelled, and waited for: milliseconds. No record of it
 * comes any more. Memory of its items stays until it is released. */
DATAFLUX_API void dataflux_getter_free(dataflux_getter* getter);

/* ---- Changes of objects ---------------------------------------------------------------------- */

/* These give what dataflux_stat() does, of the object that is made or changed. What they do when a
 * request is refused, or its reply lost, is said at dataflux_put(). */

/* Copies an object within the service, however large: to another name, bucket, storage class or
 * key. `source`: bucket, object, generation and conditions; `target`: bucket, object, conditions of
 * the copy, and the time limit of the whole. attributes: NULL, or none that is set = the source's;
 * else the copy has exactly these, where kms_key_name alone does not count as one. Failures:
 * DATAFLUX_INVALID_ARGUMENT for a time limit of the source, and a generation of the target. */
DATAFLUX_API dataflux_status dataflux_copy(dataflux_client* client,
                                           const dataflux_object_options* source,
                                           const dataflux_object_options* target,
                                           const dataflux_attributes* attributes,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Renames an object within its bucket, in one step. The options are as for dataflux_copy(), and
 * both name the same bucket. Failures: DATAFLUX_INVALID_ARGUMENT for two buckets, and for a
 * generation: the live one is moved, and conditions say which that must be. A reply that
 * is lost is made up for by a look, with conditions and without: the source is gone, and what is
 * under the new name is not older than the call. */
DATAFLUX_API dataflux_status dataflux_move(dataflux_client* client,
                                           const dataflux_object_options* source,
                                           const dataflux_object_options* target,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err);
/* Puts 1 to 32 objects of the target's bucket together, in this order; they stay. `names` has
 * `count` texts; `generations` as many numbers, 0 = the live one, or is NULL = the live ones. */
DATAFLUX_API dataflux_status dataflux_compose(dataflux_client* client,
                                              const dataflux_object_options* target,
                                              const char* const* names, const int64_t* generations,
                                              size_t count, const dataflux_attributes* attributes,
                                              dataflux_queue* queue, uint64_t tag,
                                              dataflux_operation** out, dataflux_error** err);
/* Changes attributes. Here NULL, or a custom_time_ns of 0, leaves one as it is, and "" removes it;
 * names of metadata that are not given stay, and one whose value is NULL is removed. A custom time
 * that is set cannot be removed, and the service lets it be moved forward only. Failures:
 * DATAFLUX_INVALID_ARGUMENT where nothing is changed, and for storage_class and kms_key_name, which
 * dataflux_copy() changes. */
DATAFLUX_API dataflux_status dataflux_patch(dataflux_client* client,
                                            const dataflux_object_options* options,
                                            const dataflux_attributes* attributes,
                                            dataflux_queue* queue, uint64_t tag,
                                            dataflux_operation** out, dataflux_error** err);

/* ---- Buckets --------------------------------------------------------------------------------- */

typedef struct dataflux_bucket_options {
  size_t struct_size;
  const char* bucket;
  int64_t timeout_ns; /* of the whole call, with all its retries; 0 = none */
} dataflux_bucket_options;

DATAFLUX_API void dataflux_bucket_options_init(dataflux_bucket_options* options, size_t size);

/* Gives what is known of a bucket as JSON, with the names and the forms that the service uses. */
DATAFLUX_API dataflux_status dataflux_bucket(dataflux_client* client,
                                             const dataflux_bucket_options* options,
                                             dataflux_queue* queue, uint64_t tag,
                                             dataflux_operation** out, dataflux_error** err);
/* Which of `count` permissions, 1 to 100, such as "storage.objects.create", the account has on the
 * bucket: {"permissions": [...]}. The record's size is their number. */
DATAFLUX_API dataflux_status dataflux_test_permissions(dataflux_client* client,
                                                       const dataflux_bucket_options* options,
                                                       const char* const* permissions, size_t count,
                                                       dataflux_queue* queue, uint64_t tag,
                                                       dataflux_operation** out,
                                                       dataflux_error** err);

typedef struct dataflux_list_buckets_options {
  size_t struct_size;
  const char* project; /* NULL = that of the credentials */
  const char* prefix;
  int64_t timeout_ns;
} dataflux_list_buckets_options;

DATAFLUX_API void dataflux_list_buckets_options_init(dataflux_list_buckets_options* options,
                                                     size_t size);

/* All buckets of a project, in order of names: {"items": [...]}, each as dataflux_bucket() gives
 * it. The record's size is their number. */
DATAFLUX_API dataflux_status dataflux_list_buckets(dataflux_client* client,
                                                   const dataflux_list_buckets_options* options,
                                                   dataflux_queue* queue, uint64_t tag,
                                                   dataflux_operation** out, dataflux_error** err);

/* ---- Listings that need not fit in memory ---------------------------------------------------- */

/* A stream of batches of rows. Its queue has a record for each batch: how many rows it has (size)
 * and its number from 0 on (index). dataflux_lister_take() takes it; the next one is told of then.
 *
 * A stream from which nobody takes stops the network: options->memory_cap is for the pages that
 * wait, and beside them there is one batch, of 65,536 rows and a page at most. The last record has
 * DATAFLUX_RECORD_END and the outcome; its size is the rows of all batches. It is proved complete,
 * or that record says why it is not; the batches before it are good in either case. */
typedef struct dataflux_lister dataflux_lister;

/* Begins to list. A bad value is told by the last record, too. Any thread. */
DATAFLUX_API dataflux_status dataflux_list_stream(dataflux_client* client,
                                                  const dataflux_list_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_lister** out, dataflux_error** err);
/* Takes the batch that was told of, in order of names; it is the caller's, and may outlive the
 * stream. Of all batches together the names are in order with options->by_name only.
 * DATAFLUX_FAILED_PRECONDITION where none is there. Never waits. Any thread. */
DATAFLUX_API dataflux_status dataflux_lister_take(dataflux_lister* lister, dataflux_listing** out,
                                                  dataflux_error** err);
/* What was done so far, as a JSON object: what dataflux_listing_json() gives of dataflux_list(),
 * but "prefixes", which the batches have. Free it by dataflux_text_free(). Any thread. */
DATAFLUX_API dataflux_status dataflux_lister_json(const dataflux_lister* lister, char** out,
                                                  dataflux_error** err);
/* Ends the stream: its last record has DATAFLUX_CANCELLED. What was told of can be taken still. Any
 * thread. */
DATAFLUX_API void dataflux_lister_cancel(dataflux_lister* lister);
/* Lets go: a stream that has not ended is cancelled. No record of it comes any more. */
DATAFLUX_API void dataflux_lister_free(dataflux_lister* lister);

/* ---- Manifests ------------------------------------------------------------------------------- */

/* A listing that was saved, to a file or an object: many processes open it instead of listing
 * again. Opening reads no rows; those that are asked for are checked then. Immutable; any thread.
 *
 * A step on a disk that has begun is not interrupted: saving to a file, opening one, reading rows.
 * Cancelled before, the operation ends with DATAFLUX_CANCELLED; later it ends as it would. */
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
 * manifest. It is there whole or not at all, and replaces what was there. An object gives what
 * dataflux_stat() does. Failures: DATAFLUX_INVALID_ARGUMENT for a listing of another kind, with a
 * delimiter, or where something is missing; those of the file system, or of a write. */
DATAFLUX_API dataflux_status dataflux_manifest_save(dataflux_client* client,
                                                    const dataflux_manifest_options* options,
                                                    const dataflux_listing* listing,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Maps a file, which must stay as it is while it is in use; or reads an object into memory. The
 * record's size is the rows. Failures: DATAFLUX_NOT_FOUND; DATAFLUX_INVALID_ARGUMENT for what is no
 * manifest; DATAFLUX_DATA_LOSS for one that is damaged; DATAFLUX_UNIMPLEMENTED for a later form. */
DATAFLUX_API dataflux_status dataflux_manifest_open(dataflux_client* client,
                                                    const dataflux_manifest_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Once, of an operation of dataflux_manifest_open() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_manifest(dataflux_operation* op,
                                                              dataflux_manifest** out,
                                                              dataflux_error** err);

DATAFLUX_API uint64_t dataflux_manifest_size(const dataflux_manifest* manifest);
/* What was listed, how, and when, as a JSON object, which lives as long as the manifest: "bucket",
 * "prefix", "start_offset", "end_offset", "match_glob", "versions", "taken", "options" (pairs of
 * name and value), "rows"; and "bytes", those of the manifest itself, as a file or an object. */
DATAFLUX_API dataflux_status dataflux_manifest_json(const dataflux_manifest* manifest,
                                                    const char** json, dataflux_error** err);
/* Rows from `first` on, `count` of them at most, UINT64_MAX = all, as a listing without a copy, by
 * dataflux_operation_take_listing(): so that dataflux_get_many() reads them by number. What is
 * there of a file is read from disk, and checked: DATAFLUX_DATA_LOSS where it is damaged. The
 * listing may outlive the manifest. */
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

/* Row `index`, without a listing around it. It takes less than a microsecond; where its block, of
 * some 65,536 rows, was not met before, as long as a disk and its check take.
 * DATAFLUX_OUT_OF_RANGE; DATAFLUX_DATA_LOSS as of dataflux_manifest_rows(). */
DATAFLUX_API dataflux_status dataflux_manifest_row(const dataflux_manifest* manifest,
                                                   uint64_t index, dataflux_row* out,
                                                   size_t row_size, dataflux_error** err);
/* Lists a prefix together with all processes that call this with the same options and board: each
 * takes ranges of the names in turns, and what nobody has listed yet is divided as it shows. The
 * board is a prefix of a bucket that all write to and nobody else does; it may not lie in what is
 * listed. It ends when the listing is whole. With a `path` the manifest of all of it is a file
 * there then; NULL = this process helps only. A process that dies is replaced when a task of its
 * has been under way for `lease_ns`; 0 = 5 minutes. A board that is whole is joined again; a new
 * listing needs a new one. What lies on the board stays. `options` has no delimiter, max_calls,
 * memory_cap or partial. The record's size is the rows of the whole; dataflux_operation_json() has
 * "objects" and "tasks" of the whole, "own_objects", "own_tasks" and "calls" of this process.
 * Failures: DATAFLUX_INVALID_ARGUMENT, also for a board of another listing, with the name of what
 * differs; DATAFLUX_DATA_LOSS for a damaged board; those of dataflux_list(), of writing objects,
 * and of the file system. */
DATAFLUX_API dataflux_status dataflux_list_shared(
    dataflux_client* client, const dataflux_list_options* options, const char* board_bucket,
    const char* board_prefix, const char* path, int64_t lease_ns, dataflux_queue* queue,
    uint64_t tag, dataflux_operation** out, dataflux_error** err);
DATAFLUX_API void dataflux_manifest_free(dataflux_manifest* manifest);

/* What became of a listing. Immutable; any thread. */
typedef struct dataflux_changes dataflux_changes;

typedef struct dataflux_refresh_options {
  size_t struct_size;
  uint32_t parallelism; /* calls in flight; 0 = adaptive */
  uint32_t reserved;
  int64_t timeout_ns;
} dataflux_refresh_options;

DATAFLUX_API void dataflux_refresh_options_init(dataflux_refresh_options* options, size_t size);

/* Lists again what the manifest lists, and compares. Nothing is written. The record's size is the
 * rows that are there now. */
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
 * this thread. DATAFLUX_INVALID_ARGUMENT where rows are not in order, or one has all generations
 * and the other has not. */
DATAFLUX_API dataflux_status dataflux_listing_compare(const dataflux_listing* before,
                                                      const dataflux_listing* after,
                                                      dataflux_changes** out, dataflux_error** err);

/* Rows by number, each list in order of names. Borrowed from the changes. */
typedef struct dataflux_changed_rows {
  const uint64_t* added; /* of the later listing */
  uint64_t added_count;
  const uint64_t* removed; /* of the earlier one */
  uint64_t removed_count;
  const uint64_t* changed; /* written anew: pairs, the row before and the row after */
  uint64_t changed_count;  /* pairs */
  uint64_t unchanged_count;
} dataflux_changed_rows;

DATAFLUX_API dataflux_status dataflux_changes_rows(const dataflux_changes* changes,
                                                   dataflux_changed_rows* out, size_t rows_size,
                                                   dataflux_error** err);
/* The later listing, as a handle of its own. */
DATAFLUX_API dataflux_status dataflux_changes_listing(const dataflux_changes* changes,
                                                      dataflux_listing** out, dataflux_error** err);
DATAFLUX_API void dataflux_changes_free(dataflux_changes* changes);

/* ---- Leftovers ------------------------------------------------------------------------------- */

/* What uploads and reads that were killed have left in a bucket, where it is billed: open uploads,
 * temporary objects of uploads, and composites of reads.
 *
 * Both calls give a JSON object: the numbers "stale", "stale_bytes", "young", "foreign", "failed",
 * and "rows". A row has "kind" ("upload", "temporary_object", "composite"); "verdict" ("stale": its
 * time has passed, and dataflux_remove_leftovers() removes it; "young"; "foreign": somebody else's,
 * never removed; "failed": could not be removed); "target", what it was going to be, with
 * "whole_target", false where that is the beginning of a long name; "name"; and where they are
 * known "upload_id", "generation", "size", "noncurrent", "began", and "error". "age_seconds" are
 * since "began", by this machine's clock; verdicts are by the service's. The record's size is
 * "stale". */
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
/* Finds them, and removes what is stale: objects by their generation, uploads by aborting them. An
 * upload that somebody is at work on fails then: choose an age that none takes. A removal that
 * failed is a row of the JSON, and no failure of the call. */
DATAFLUX_API dataflux_status dataflux_remove_leftovers(dataflux_client* client,
                                                       const dataflux_leftovers_options* options,
                                                       dataflux_queue* queue, uint64_t tag,
                                                       dataflux_operation** out,
                                                       dataflux_error** err);

/* ---- Writers --------------------------------------------------------------------------------- */

/* Writes an object while its bytes are being made, of whatever length, in bounded memory
 * (dataflux_client_options.upload_memory). The object appears by dataflux_writer_commit() alone,
 * whole and verified. Whatever else happens, what was there before stays.
 *
 * Failures: a part that has failed shows in the next call, whichever that is. After it every call
 * fails, and what was sent is removed. DATAFLUX_FAILED_PRECONDITION where somebody has written the
 * object since the writer was opened (DATAFLUX_ALREADY_EXISTS where if_generation_match is 0), and
 * for a write after commit or abort.
 *
 * Threads: one at a time uses a writer, each writer its own. Who comes while another is inside gets
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
  uint64_t part_size; /* what is sent at a time; 0 = found by measuring, 8 to 32 MiB */
  int64_t timeout_ns; /* of all, from here to the end of commit; 0 = none */
} dataflux_writer_options;

DATAFLUX_API void dataflux_writer_options_init(dataflux_writer_options* options, size_t size);

/* DATAFLUX_RESOURCE_EXHAUSTED where there are more writers than upload_memory has parts for. */
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
 * timeout_ns: how long; 0 = not at all; negative = until all is taken. *taken says how many bytes,
 * from the first on, it took, also where it fails: they are as good as any others. Write the rest
 * later. DATAFLUX_OK: all, or with a timeout_ns of 0 what there was room for, perhaps nothing: then
 * dataflux_writer_notify(). DATAFLUX_DEADLINE_EXCEEDED: not all within timeout_ns.
 * DATAFLUX_INTERRUPTED: a signal handler has run on this thread. */
DATAFLUX_API dataflux_status dataflux_writer_write(dataflux_writer* writer, const void* data,
                                                   size_t size, int64_t timeout_ns, size_t* taken,
                                                   dataflux_error** err);
/* The same without a copy, but for what is less than half a part at either end. The bytes that were
 * taken are lent, and must stay as they are, until `queue` has one record with this tag. It comes
 * if and only if *taken is not 0, whatever the call answers and whatever becomes of the writer,
 * which may be free by then; perhaps before the call returns. */
DATAFLUX_API dataflux_status dataflux_writer_lend(dataflux_writer* writer, const void* data,
                                                  size_t size, int64_t timeout_ns, size_t* taken,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_error** err);
/* Brings one record with this tag as soon as a write has something to say: that there is room, or
 * an error; now if it has already. Ask again when a write has taken less than all. After
 * dataflux_writer_free() it does not come any more. */
DATAFLUX_API dataflux_status dataflux_writer_notify(dataflux_writer* writer, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_error** err);
/* Sends the rest, waits for all parts, makes the object and verifies it. The record has size,
 * crc32c and generation. JSON: "object" as of dataflux_stat(); "path" and "mode" say how it went,
 * "fallback" why it did not go as usual, else "". Cancelled, it is over: whether the object was
 * made is not known where its last request was under way; it is whole if it was. The writer may be
 * freed at once. */
DATAFLUX_API dataflux_status dataflux_writer_commit(dataflux_writer* writer, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_operation** out,
                                                    dataflux_error** err);
/* Gives up and removes what was sent; an error names what could not be. Does nothing after a
 * commit. */
DATAFLUX_API dataflux_status dataflux_writer_abort(dataflux_writer* writer, dataflux_queue* queue,
                                                   uint64_t tag, dataflux_operation** out,
                                                   dataflux_error** err);
/* Aborts what was neither committed nor aborted: waits for the removal up to 5 s, and leaves the
 * rest to the client's threads. So does dataflux_operation_free() with a writer that nobody took.
 */
DATAFLUX_API void dataflux_writer_free(dataflux_writer* writer);

/* ---- Readers --------------------------------------------------------------------------------- */

/* Reads one object as a file is read: from anywhere, by as many threads as there are. The
 * generation is pinned when it is opened: what is read is never of two objects.
 *
 * Long reads go straight into the caller's memory, by requests in parallel. A read that is shorter
 * than a block brings its block into a cache, where the next one finds it.
 *
 * As soon as all of the object has been read, in any order, its checksum is compared: from then on
 * reads have DATAFLUX_RECORD_VERIFIED, or fail with DATAFLUX_DATA_LOSS. Of a set's member each read
 * is compared by its parts, and has it. Any other read has it not: its bytes are not compared yet.
 *
 * Bytes that come again are compared with those that came first, or are that copy, whatever ranges
 * they came in. DATAFLUX_DATA_LOSS names the range; for this read alone where the object was
 * compared before, else for all that follow, since nobody knows which copy was wrong. What lies at
 * the ends of such a range is read again up to the next multiple of 64 KiB. The reader remembers
 * checksums for that: 66 KiB for each GiB, 4 MiB at most, and 80 bytes for each end of a range.
 *
 * Memory is lent until the operation has ended, or was freed. After a failure its content is
 * undefined. DATAFLUX_ABORTED, retryable: the object was replaced, and the service does not keep
 * what was opened. Open it again. Any thread. */
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
/* 1 once what it reads was compared: when all of the object has come and its checksum was equal; of
 * a set's member, and of an empty object, from the start. Else 0. Any thread. */
DATAFLUX_API int32_t dataflux_reader_verified(const dataflux_reader* reader);

/* Fills `memory` with the bytes from `offset` on; DATAFLUX_OUT_OF_RANGE where the object ends
 * before. The record has size and generation. */
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

/* Reads many ranges at once, in any order, overlapping or not. Short ones that lie close together
 * go by one request.
 *
 * The queue has a record for each range as it is ready: `index` says which, `data` and `size` are
 * its memory, `status` and `error` say why it is not there. Its crc32c is 0. Then the last record
 * of the operation comes, with the size of all. The first failure ends the call: ranges that are
 * not there by then have its status, too. DATAFLUX_OUT_OF_RANGE, before anything is read, where the
 * object ends before a range does. With a NULL queue nobody is told of single ranges. */
DATAFLUX_API dataflux_status dataflux_reader_read_ranges(dataflux_reader* reader,
                                                         const dataflux_range_columns* ranges,
                                                         size_t count, dataflux_queue* queue,
                                                         uint64_t tag, dataflux_operation** out,
                                                         dataflux_error** err);
/* Reads that are under way go on. */
DATAFLUX_API void dataflux_reader_free(dataflux_reader* reader);

/* ---- Sets ------------------------------------------------------------------------------------ */

/* Many objects below one prefix, written by many writers, in one process or many, and committed
 * together by one more object, the last. Until that is there nobody trusts the others; once it is
 * there the set is complete.
 *
 * One of those who save begins the set, before all else. Each opens its member, writes and commits
 * it, and sends its record, a text, to the one who commits the set. Who loads opens the set, which
 * is refused unless every member is as it was written.
 *
 * dataflux_set_begin_over() is for saving below one prefix again and again.
 *
 * A set is a handle on client, bucket and prefix. Nothing is sent to make one. Any thread. */
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

#define DATAFLUX_UNFINISHED_REFUSE 0  /* what an earlier save has left is an error */
#define DATAFLUX_UNFINISHED_REPLACE 1 /* it is removed */

/* Makes sure that nothing is in the way. What others of this save have written already counts as an
 * earlier save's, so all wait for its end. DATAFLUX_ALREADY_EXISTS if the set is committed, and for
 * what was left. JSON: as dataflux_remove_sets(). */
DATAFLUX_API dataflux_status dataflux_set_begin(dataflux_set* set, uint32_t unfinished,
                                                dataflux_queue* queue, uint64_t tag,
                                                dataflux_operation** out, dataflux_error** err);
/* Opens the writer of a member, which is created and never replaced: its commit says
 * DATAFLUX_ALREADY_EXISTS. Then dataflux_operation_take_writer(). Of the options bucket, object and
 * conditions are NULL, and their timeout_ns is the member's; NULL = all defaults. */
DATAFLUX_API dataflux_status dataflux_set_open_member(dataflux_set* set, const char* name,
                                                      const dataflux_writer_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);
/* The record of a member, by the operation of its dataflux_writer_commit(): one line of JSON, for
 * dataflux_set_commit() here or in another process. Give it to dataflux_text_free(). */
DATAFLUX_API dataflux_status dataflux_set_record(const dataflux_set* set, dataflux_operation* op,
                                                 char** out, dataflux_error** err);

typedef struct dataflux_set_commit_options {
  size_t struct_size;
  const char* const* records; /* record_count texts of dataflux_set_record(), in any order */
  size_t record_count;
  const char* last; /* the last object's name, without a slash; NULL = ".dataflux-complete" */
  const void* data; /* its bytes, lent until the operation has ended */
  size_t size;      /* of `data` */
  /* By which the last object and the manifest are encrypted; NULL = the bucket's default. Those of
   * members are in their writers' options. */
  const char* kms_key_name;
} dataflux_set_commit_options;

DATAFLUX_API void dataflux_set_commit_options_init(dataflux_set_commit_options* options,
                                                   size_t size);

/* Commits. Members that are missing or have changed are DATAFLUX_DATA_LOSS; a set that is committed
 * already, DATAFLUX_ALREADY_EXISTS; what is wrong with a record is found before any request. After
 * a failure the set is not committed. The record has the bytes of all members, and the generation
 * of the last object. JSON: "last" as of dataflux_stat(), "manifest", "members" and "bytes"; and
 * "replaced" as of dataflux_remove_sets(): what a save over a set has removed. */
DATAFLUX_API dataflux_status dataflux_set_commit(dataflux_set* set,
                                                 const dataflux_set_commit_options* options,
                                                 dataflux_queue* queue, uint64_t tag,
                                                 dataflux_operation** out, dataflux_error** err);

/* Checks whether the set is complete, and opens it. `last`: the last object's name; NULL = the one
 * that is there. DATAFLUX_FAILED_PRECONDITION if there is none, or several; DATAFLUX_DATA_LOSS says
 * what is missing or has changed; DATAFLUX_ABORTED, retryable, that it is replaced as fast as it is
 * looked at. The record has the bytes of all members. */
DATAFLUX_API dataflux_status dataflux_set_open(dataflux_set* set, const char* last,
                                               dataflux_queue* queue, uint64_t tag,
                                               dataflux_operation** out, dataflux_error** err);
/* Opens the newest complete set below the prefix, by the time of its commit. Newer sets that are
 * damaged are passed over; dataflux_set_reader_json() names them. DATAFLUX_NOT_FOUND when there is
 * no set; DATAFLUX_DATA_LOSS when all sets are damaged. */
DATAFLUX_API dataflux_status dataflux_latest_set(dataflux_client* client,
                                                 const dataflux_set_options* options,
                                                 dataflux_queue* queue, uint64_t tag,
                                                 dataflux_operation** out, dataflux_error** err);
DATAFLUX_API void dataflux_set_free(dataflux_set* set);

/* A complete set as it was when it was opened. Any thread. */
typedef struct dataflux_set_reader dataflux_set_reader;

/* Once, of an operation of dataflux_set_open() or dataflux_latest_set() that has ended well. */
DATAFLUX_API dataflux_status dataflux_operation_take_set_reader(dataflux_operation* op,
                                                                dataflux_set_reader** out,
                                                                dataflux_error** err);
/* What is in it: "prefix", "last", "committed", "bytes", "members_folder", which is where its
 * members lie, with its slash; and "members" in order of names, each with "name", "size",
 * "generation" and "crc32c" in the forms of the service. Where dataflux_latest_set() passed over
 * newer sets, "passed_over" has them, the newest first, as "damaged" of dataflux_list_sets(). Lives
 * as long as the handle. */
DATAFLUX_API dataflux_status dataflux_set_reader_json(const dataflux_set_reader* set,
                                                      const char** json, dataflux_error** err);
/* Opens a member, or the last object, for reads: as it was when the set was opened, and each range
 * compared. Then dataflux_operation_take_reader(). Of the options bucket and object are NULL,
 * generation is 0; NULL = all defaults. DATAFLUX_NOT_FOUND for a name of neither. */
DATAFLUX_API dataflux_status dataflux_set_reader_open(dataflux_set_reader* set, const char* name,
                                                      const dataflux_reader_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);
DATAFLUX_API void dataflux_set_reader_free(dataflux_set_reader* set);

/* The sets below the prefix, which may be "" for the whole bucket. JSON: "complete", the oldest
 * commit first; "damaged", each with "why"; "unfinished", each with "prefix", "objects", "bytes",
 * "uploads", how many are open for it, and, where the service tells, "written"; and, where open
 * uploads may not be listed, "uploads_unknown": why. */
DATAFLUX_API dataflux_status dataflux_list_sets(dataflux_client* client,
                                                const dataflux_set_options* options,
                                                dataflux_queue* queue, uint64_t tag,
                                                dataflux_operation** out, dataflux_error** err);

typedef struct dataflux_keep_last_options {
  size_t struct_size;
  const char* bucket;
  const char* prefix; /* not empty */
  uint64_t count;     /* complete sets that stay, the newest; 0 = 1 */
  /* Unfinished sets for which nothing was written for longer go, too, with their open uploads:
   * choose more than a save takes. 0 = they stay. */
  int64_t remove_unfinished_older_than_ns;
  int64_t timeout_ns;
} dataflux_keep_last_options;

DATAFLUX_API void dataflux_keep_last_options_init(dataflux_keep_last_options* options, size_t size);

/* Removes the oldest complete sets, by the time of their commits. Killed at any moment, it leaves a
 * set whole or no set. The record has the bytes that are gone. JSON: as dataflux_remove_sets(). */
DATAFLUX_API dataflux_status dataflux_keep_last_sets(dataflux_client* client,
                                                     const dataflux_keep_last_options* options,
                                                     dataflux_queue* queue, uint64_t tag,
                                                     dataflux_operation** out,
                                                     dataflux_error** err);
/* Removes all that lies below the prefix, which is not empty, last objects first, and aborts what
 * uploads are open there. An object that could not be removed is no error: JSON has "objects",
 * "uploads", "bytes", "sets", the prefixes of sets that are gone, "failures", each with "name" and
 * "why", and "spared", those not tried because of them.
 */
DATAFLUX_API dataflux_status dataflux_remove_sets(dataflux_client* client,
                                                  const dataflux_set_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);

/* Begins a save over the set: the same state is saved again below the same prefix, and nothing has
 * to be removed before. A set that is damaged may be saved over, too, and so may a prefix where
 * none is. JSON: the text of the save, which goes to all who take part in it; so `out` must be
 * given. Nothing is written. DATAFLUX_FAILED_PRECONDITION if there are several last objects.
 *
 * Each who takes part makes a set of the text, by dataflux_set_over(). With that it opens its
 * member, and one commits, as of a new set, but without dataflux_set_begin().
 *
 * Readers see the old set or the new one, whole: the commit replaces the last object by its
 * generation. The members of a save have names of their own in the bucket, below
 * ".dataflux-save-..."; readers have them by the names that they were opened with.
 *
 * After that the old members are removed, and all that other saves have left here. The commit's
 * "replaced" says what is gone. What could not be removed is among its "failures", and no failure
 * of the commit: the next one removes it. What is read of a set that was opened before fails with
 * DATAFLUX_NOT_FOUND then. Open it again.
 *
 * Of several saves one is committed, that whose last object comes first. The commits of the others
 * end with DATAFLUX_ABORTED, and so does one whose set was removed meanwhile. What they have
 * written stays until the next commit. */
DATAFLUX_API dataflux_status dataflux_set_begin_over(dataflux_set* set, dataflux_queue* queue,
                                                     uint64_t tag, dataflux_operation** out,
                                                     dataflux_error** err);
/* The same set, whose members and commit are those of a save: `text` is what
 * dataflux_set_begin_over() gave, here or in another process. Nothing is sent. Failures:
 * DATAFLUX_INVALID_ARGUMENT for another text, DATAFLUX_UNIMPLEMENTED for that of a later version.
 *
 * Of the handle that it gives dataflux_set_begin() is DATAFLUX_FAILED_PRECONDITION, and a commit
 * DATAFLUX_INVALID_ARGUMENT whose last object has another name than the one that is replaced. Any
 * thread. */
DATAFLUX_API dataflux_status dataflux_set_over(const dataflux_set* set, const char* text,
                                               dataflux_set** out, dataflux_error** err);

/* ---- Events ---------------------------------------------------------------------------------- */

/* A stream of what a client does, for programs that cannot be called from its threads: log lines,
 * attempts that failed and are repeated, progress, and that a token is needed. The client keeps
 * `event_capacity` of them until this stream's queue is asked. When it has so many it drops what is
 * new, and counts it. Requests are no events: dataflux_client_metrics() counts them.
 *
 * A record brings all events that were there, oldest first: `data` and `size` are lines of JSON,
 * each ended by a line feed. `slab` is to be released. `index` is how many events have been dropped
 * since the client was made. A line is an object with these members, those that its kind has:
 *
 *   kind      "log", "retry", "progress" or "token_needed"
 *   level     "info", "warning" or "error"
 *   time_ns   since 1970
 *   tag       of progress: that of the call or stream that it is of
 *   text      a log line, or why an attempt failed
 *   verb      such as "objects.get"; of progress "listing", "download", "upload" or "remove"
 *   bucket    and object: of what; of listings and folders `object` is the prefix
 *   attempt   of a retry: the one that failed, from 1
 *   delay_ns  of a retry: the wait before the next one
 *   done      of progress: bytes, of "listing" entries, of "remove" objects
 *   total     of progress: how many there are in all, as far as is known; 0 = not known
 *
 * What is no UTF-8 in a text is U+FFFD. Progress that follows other progress of its call within
 * 100 ms is left out, but for the end of a call: how far it came, and with the total when it has
 * ended well. The end comes before the operation's record; nothing comes where nothing was done. A
 * client that keeps events tells of all listings: those of dataflux_list(), dataflux_list_stream()
 * and dataflux_manifest_refresh(). Other calls have an option, `progress`. Listings that another
 * call makes, such as dataflux_download_folder(), have the tag 0. Later versions may add kinds and
 * members.
 *
 * "token_needed" comes with DATAFLUX_CREDENTIALS_TOKEN: at first, when the token has less than 165
 * to 225 s to live, and when the service has refused it. Answer by dataflux_client_set_token(), or
 * dataflux_client_fail_token(). It is never dropped. */
typedef struct dataflux_events dataflux_events;

/* Begins the stream. A client has one at a time: events that were kept before are its first. After
 * dataflux_client_close() it brings what is still there, and ends with DATAFLUX_CANCELLED.
 * DATAFLUX_FAILED_PRECONDITION where the client keeps no events, or has a stream that is not free.
 * Any thread. */
DATAFLUX_API dataflux_status dataflux_client_events(dataflux_client* client, dataflux_queue* queue,
                                                    uint64_t tag, dataflux_events** out,
                                                    dataflux_error** err);
/* No record of it comes any more. Events are kept on, for the next stream. */
DATAFLUX_API void dataflux_events_free(dataflux_events* events);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Paths are the bytes that the system has, and need not be UTF-8. An error of the file system names
 * the path in its message, and no bucket: DATAFLUX_NOT_FOUND, DATAFLUX_PERMISSION_DENIED,
 * DATAFLUX_RESOURCE_EXHAUSTED (no room), DATAFLUX_INVALID_ARGUMENT (a folder, or no regular file),
 * DATAFLUX_FAILED_PRECONDITION where another call is at work on the same file. DATAFLUX_ABORTED,
 * which is retryable: the source was replaced or changed meanwhile.
 *
 * `progress` = 1 tells how far the call is by events, in bytes that are at their place. Then the
 * client must keep events (dataflux_client_options.event_capacity), or the call answers
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

/* Reads an object, or a range of it, into a file by ranges in parallel. The file gets its name when
 * all of it is there and was compared with the object's checksum; until then what had the name has
 * it. When the call fails, nothing is left; with `resume` there is a part beside it,
 * ".dataflux-part-...", with which the next call for the same path, object and generation goes on.
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
 * replaces what was there when the call began, or the generation that `conditions` names, and fails
 * where that has changed. With `resume` the file ".dataflux-upload-..." beside it tells what the
 * service has, and the next call for the same path and object goes on from there.
 *
 * The record has size, crc32c, generation and DATAFLUX_RECORD_VERIFIED. The JSON has "object" (what
 * dataflux_stat() gives), "upload_path" ("insert", "multipart" or "resumable"), "commit_mode"
 * ("staged" or "direct"), "fallback" (why it did not go as it should; "" = it did) and "resumed", a
 * number of bytes. Failures besides those of files: DATAFLUX_ALREADY_EXISTS and
 * DATAFLUX_FAILED_PRECONDITION by the condition; DATAFLUX_DATA_LOSS; DATAFLUX_UNIMPLEMENTED for
 * other conditions. */
DATAFLUX_API dataflux_status dataflux_upload_file(dataflux_client* client,
                                                  const dataflux_upload_file_options* options,
                                                  dataflux_queue* queue, uint64_t tag,
                                                  dataflux_operation** out, dataflux_error** err);

/* ---- Folders --------------------------------------------------------------------------------- */

/* Calls for very many names. One that fails by itself does not end the call: the others go on, and
 * the operation ends with DATAFLUX_OK. The record's `index` is how many names have failed, and its
 * `size` how many bytes were copied or removed. The JSON names the first `max_failures` of them in
 * "failures": each has "object", "status" and "text", and of copies "path". What is no UTF-8 in a
 * path is U+FFFD there; then "path_base64" has its bytes as they are. The operation fails when the
 * rest would fail as well: no space on the disk, no service, no credentials; and by cancelling and
 * the time limit. What was done until then stays. */

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
} dataflux_folder_options;

DATAFLUX_API void dataflux_folder_options_init(dataflux_folder_options* options, size_t size);

/* Copies the files below a folder into objects. Each object appears whole and compared, or not at
 * all. Regular files are copied, and links to some; links to folders, broken links, devices and
 * sockets fail.
 *
 * delete_extra removes objects below the prefix that no file stands for. Nothing is removed when
 * something could not be read or copied, or when the source is empty: "not_removed" says why, and
 * is "" where extra names are gone.
 *
 * The JSON has "found" (files of the source), "copied", "bytes", "already_there", "folders",
 * "removed", "failed", "failures" and "not_removed". */
DATAFLUX_API dataflux_status dataflux_upload_folder(dataflux_client* client,
                                                    const dataflux_folder_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);
/* Copies the objects below a prefix into files, and gives what dataflux_upload_folder() does. Each
 * file appears whole and compared, or not at all; nothing is forced to the disk. An empty object
 * "x/" makes the folder x. Names that can be no path below the folder fail, such as those with ".."
 * in them. Links below the folder are never followed. delete_extra removes regular files and links;
 * folders stay. */
DATAFLUX_API dataflux_status dataflux_download_folder(dataflux_client* client,
                                                      const dataflux_folder_options* options,
                                                      dataflux_queue* queue, uint64_t tag,
                                                      dataflux_operation** out,
                                                      dataflux_error** err);

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

/* Removes all objects whose names begin with a prefix, while they are listed. Each goes by the
 * generation that was seen: what is written meanwhile stays, and its name fails. The JSON has
 * "objects" and "bytes" (gone), "young" (left for `older_than_ns`), "failed" and "failures". */
DATAFLUX_API dataflux_status dataflux_remove_prefix(dataflux_client* client,
                                                    const dataflux_remove_prefix_options* options,
                                                    dataflux_queue* queue, uint64_t tag,
                                                    dataflux_operation** out, dataflux_error** err);

#ifdef __cplusplus
}
#endif
#endif
