#pragma once

#include <dataflux/auth/access_token.hpp>
#include <dataflux/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Where the processes of one user on one machine leave a token for each other.
namespace dataflux::inline DATAFLUX_ABI::detail::auth {

/// What a file has: the token, for whom it is, and by this machine's clock when it was given and
/// when it ends.
struct kept_token {
  access_token token{};
  system_time given{};

  /// Is it worth taking at `now`? It is not stale soon, or has half of its life before it.
  bool is_fresh(system_time now) const noexcept;
};

/// A file's bytes. `identity` is the digest that names the credentials.
std::string write_kept(const kept_token& kept, std::string_view identity);
/// Errors: none. Whatever is damaged, or of other credentials, is nothing.
std::optional<kept_token> read_kept(std::string_view bytes, std::string_view identity);

/// The token of one identity, in a file of the folder "dataflux-tokens-UID" of the folder that is
/// named. That folder and the files in it are of this user, and of nobody else's to read or write;
/// links are refused. A file is replaced in one step. Beside it lies the lock of whoever asks for
/// the next token: a process that is killed has none any more.
///
/// All members block for the disk. Threads: one at a time.
class token_file {
 public:
  /// `identity` is made of hexadecimal digits.
  token_file(std::string folder, std::string identity) noexcept
      : folder_(std::move(folder)), identity_(std::move(identity)) {}
  token_file(const token_file&) = delete;
  token_file& operator=(const token_file&) = delete;
  ~token_file() { unlock(); }

  /// Makes the folder where it is missing, and looks whose it is. Errors: own_folder.hpp.
  result<void> check() const;
  /// What is there and good; damage, and what is not ours alone, is nothing. Errors: check().
  result<std::optional<kept_token>> read() const;
  /// True: from now on this one asks. False: another process, or thread, does. Errors: check(), and
  /// those of the file system.
  result<bool> try_lock();
  /// Errors: those of the file system, such as a full disk: then what was there stays.
  result<void> put(const kept_token& kept) const;
  void unlock() noexcept;

 private:
  result<int> open_folder(bool make) const;

  const std::string folder_;
  const std::string identity_;
  int lock_{-1};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::auth

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/auth/impl/token_file.ipp>
#endif
