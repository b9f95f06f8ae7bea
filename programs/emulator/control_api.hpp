#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/faults.hpp>
#include <emulator/message.hpp>
#include <emulator/oauth.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/session_store.hpp>
#include <emulator/signatures.hpp>
#include <emulator/traffic.hpp>
#include <emulator/upload_store.hpp>

namespace emulator {

/// The emulator's own endpoint, beside the service's, for tests in any language. No bucket can have
/// its name. It needs no token, hits no fault and is counted as verb "control".
///
///     POST   /_emulator/faults          adds one rule, or an array of rules, see read_fault
///     GET    /_emulator/faults          the rules in force and how often each has hit
///     DELETE /_emulator/faults          forgets them
///     GET    /_emulator/counters        requests by verb and status and by class, bytes,
///                                       connections, open uploads
///     GET    /_emulator/log             the last requests: verb, method, target, status
///     PATCH  /_emulator/buckets/NAME    {"readOnly", "noDelete", "requesterPays", "versioning":
///                                       bool, "layout": "flat" | "hierarchical" | "zonal"}; the
///                                       bucket is made when it is missing
///                                       of S3 also {"region": text, "objectLock": bool}
///     POST   /_emulator/keys            of S3: {"lifetime": seconds} makes a key with a session
///                                       token, told as the metadata server of EC2 tells one
///     POST   /_emulator/tokens/revoke   all tokens given out are refused from now on
///     POST   /_emulator/service-accounts  a key file of a service account, or {"client_email",
///                                       "private_key" or "public_key"}: its signatures in URLs and
///                                       forms are checked from now on
///     POST   /_emulator/uploads/expire  all open resumable sessions answer 410 from now on
class control_api {
 public:
  control_api(bucket_store& store, fault_script& faults, const traffic& seen,
              token_authority& tokens, const upload_store& uploads, session_store& sessions,
              signers& known)
      : store_(store),
        faults_(faults),
        seen_(seen),
        tokens_(tokens),
        uploads_(uploads),
        sessions_(sessions),
        signers_(known) {}

  /// Where S3 is spoken. Before any use by several threads.
  void know(s3::access_keys& keys) { keys_ = &keys; }

  /// Throws service_error on an unknown path and on a body that is not as above.
  http_reply answer(const call& asked, const http_request& request) const;

 private:
  http_reply faults(const http_request& request) const;
  http_reply counters() const;
  http_reply log() const;
  http_reply service_account(const http_request& request) const;
  http_reply key(const http_request& request) const;
  http_reply bucket(std::string_view name, const http_request& request) const;

  s3::access_keys* keys_{nullptr};
  bucket_store& store_;
  fault_script& faults_;
  const traffic& seen_;
  token_authority& tokens_;
  const upload_store& uploads_;
  session_store& sessions_;
  signers& signers_;
};

}  // namespace emulator
