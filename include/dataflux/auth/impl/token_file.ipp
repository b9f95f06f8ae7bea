#pragma once

#include <dataflux/auth/detail/sha256.hpp>
#include <dataflux/auth/detail/token_file.hpp>
#include <dataflux/auth/detail/token_flow.hpp>
#include <dataflux/codec/detail/json.hpp>
#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/detail/file_error.hpp>
#include <dataflux/exec/detail/descriptor.hpp>
#include <dataflux/exec/detail/hidden_file.hpp>
#include <dataflux/exec/detail/locked_file.hpp>
#include <dataflux/exec/detail/own_folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::auth {

namespace token_file_detail {

inline constexpr std::size_t longest = std::size_t{64} << 10;
/// As token_cache has it: stale from 225 s before the end, with up to 60 s of jitter.
inline constexpr std::chrono::seconds stale_before{285};
inline constexpr std::chrono::seconds gone_before{10};

inline std::int64_t nanoseconds_of(system_time when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}
inline system_time time_of(std::int64_t nanoseconds) noexcept {
  return system_time(
      std::chrono::duration_cast<system_time::duration>(std::chrono::nanoseconds(nanoseconds)));
}

/// Of all that a file says. Empty where OpenSSL refuses: then no file is good.
inline std::string check_of(std::string_view identity, std::string_view token, std::int64_t given,
                            std::int64_t ends) {
  std::string all(identity);
  all.append("\n").append(token).append("\n").append(std::to_string(given));
  all.append("\n").append(std::to_string(ends));
  std::string text;
  if (const auto digest = sha256_of(all)) append_digest(text, *digest);
  return text;
}

/// Ours, for nobody else, and with one name.
inline bool is_ours_alone(int file) noexcept {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1 &&
         facts.st_uid == ::geteuid() && (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

inline std::string read_all(int file) {
  std::string text;
  char piece[4096];
  while (text.size() <= longest) {
    const ssize_t got = ::read(file, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? text : std::string();
    text.append(piece, static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace token_file_detail

DATAFLUX_INLINE bool kept_token::is_fresh(system_time now) const noexcept {
  namespace d = token_file_detail;
  const auto left = token.expires - now;
  const auto half = (token.expires - given) / 2;
  // One from the future is of another clock than this one.
  if (left <= d::gone_before || given > now + std::chrono::minutes(5)) return false;
  return left > std::min<system_time::duration>(d::stale_before, half);
}

DATAFLUX_INLINE std::string write_kept(const kept_token& kept, std::string_view identity) {
  namespace d = token_file_detail;
  const std::int64_t given = d::nanoseconds_of(kept.given);
  const std::int64_t ends = d::nanoseconds_of(kept.token.expires);
  codec::json_writer out;
  out.begin_object().key("version").integer(1).key("identity").string(identity);
  out.key("token").string(kept.token.value).key("given_ns").integer(given);
  out.key("expires_ns").integer(ends);
  out.key("check").string(d::check_of(identity, kept.token.value, given, ends)).end_object();
  return std::move(out).take();
}

DATAFLUX_INLINE std::optional<kept_token> read_kept(std::string_view bytes,
                                                    std::string_view identity) {
  namespace d = token_file_detail;
  const auto document = codec::json_document::parse(as_bytes(bytes));
  if (!document) return std::nullopt;
  const codec::json_value root = document->root();
  const auto token = root.find("token").text();
  const auto given = root.find("given_ns").int64();
  const auto ends = root.find("expires_ns").int64();
  const auto check = root.find("check").text();
  if (root.find("version").int64() != 1 || root.find("identity").text() != identity) {
    return std::nullopt;
  }
  if (!token || !given || !ends || !check || check->empty()) return std::nullopt;
  if (*check != d::check_of(identity, *token, *given, *ends)) return std::nullopt;
  return kept_token{{std::string(*token), d::time_of(*ends)}, d::time_of(*given)};
}

DATAFLUX_INLINE result<int> token_file::open_folder(bool make) const {
  const std::string name = "dataflux-tokens-" + std::to_string(::geteuid());
  return open_own_folder({.path = folder_,
                          .name = name,
                          .refused = S_IRWXG | S_IRWXO,
                          .why = "look into it, who would have the tokens",
                          .stays = true},
                         make);
}

DATAFLUX_INLINE result<void> token_file::check() const {
  auto folder = open_folder(true);
  if (!folder) return std::move(folder).error();
  ::close(*folder);
  return {};
}

DATAFLUX_INLINE result<std::optional<kept_token>> token_file::read() const {
  namespace d = token_file_detail;
  using found = std::optional<kept_token>;
  const auto opened = open_folder(true);
  if (!opened) return opened.error();
  const descriptor folder(*opened);
  const descriptor file(::openat(folder.get(), (identity_ + ".token").c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0 || !d::is_ours_alone(file.get())) return found();
  return read_kept(d::read_all(file.get()), identity_);
}

DATAFLUX_INLINE result<bool> token_file::try_lock() {
  const auto opened = open_folder(true);
  if (!opened) return opened.error();
  const descriptor folder(*opened);
  const std::string name = identity_ + ".lock";
  const int lock = open_locked(folder.get(), name, 0600);
  if (lock >= 0) {
    unlock();
    lock_ = lock;
    return true;
  }
  if (errno == EWOULDBLOCK) return false;
  return detail::file_error(errno, "lock", folder_ + "/" + name);
}

DATAFLUX_INLINE result<void> token_file::put(const kept_token& kept) const {
  const auto opened = open_folder(true);
  if (!opened) return opened.error();
  const descriptor folder(*opened);
  hidden_file file;
  const bool good = file.create(folder.get(), 0600) && file.write(write_kept(kept, identity_)) &&
                    file.publish(identity_ + ".token", false);
  if (good) return {};
  return detail::file_error(errno, "write a token into", folder_);
}

DATAFLUX_INLINE void token_file::unlock() noexcept {
  if (lock_ < 0) return;
  detail::unlock(lock_);
  ::close(lock_);
  lock_ = -1;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth
