#include <emulator/digest.hpp>
#include <emulator/s3/checksum.hpp>
#include <emulator/s3/error.hpp>

#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

namespace emulator::s3 {
namespace {

constexpr std::array<checksum_name, 5> all_checksums{
    {{checksum_algorithm::crc32, "CRC32", "x-amz-checksum-crc32", "ChecksumCRC32", 4},
     {checksum_algorithm::crc32c, "CRC32C", "x-amz-checksum-crc32c", "ChecksumCRC32C", 4},
     {checksum_algorithm::crc64nvme, "CRC64NVME", "x-amz-checksum-crc64nvme", "ChecksumCRC64NVME",
      8},
     {checksum_algorithm::sha1, "SHA1", "x-amz-checksum-sha1", "ChecksumSHA1", 20},
     {checksum_algorithm::sha256, "SHA256", "x-amz-checksum-sha256", "ChecksumSHA256", 32}}};

using crc64_tables = std::array<std::array<std::uint64_t, 256>, 8>;

/// Eight bytes at a time: table k is of a byte with k zero bytes behind it.
constexpr crc64_tables make_crc64_tables() {
  constexpr std::uint64_t polynomial = 0x9A6C9329AC4BC9B5;
  crc64_tables out{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t state = byte;
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) != 0 ? polynomial : 0);
    }
    out[0][byte] = state;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = out[k - 1][byte];
      out[k][byte] = (before >> 8) ^ out[0][before & 255];
    }
  }
  return out;
}

constexpr crc64_tables crc64 = make_crc64_tables();

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>((value >> shift) & 0xff);
  }
  return out;
}

void for_all_bytes(const content& data,
                   const std::function<void(std::span<const std::byte>)>& use) {
  std::vector<std::byte> scratch;
  for (std::uint64_t at = 0; at < data.size();) {
    const auto chunk = data.read(at, std::size_t{1} << 20U, scratch);
    if (chunk.empty()) {
      throw error(500, "InternalError", "The bytes of the object can no longer be read");
    }
    use(chunk);
    at += chunk.size();
  }
}

std::string digest_bytes(const EVP_MD* kind, const content& data) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free};
  EVP_DigestInit_ex(context.get(), kind, nullptr);
  for_all_bytes(data, [&context](auto chunk) {
    EVP_DigestUpdate(context.get(), chunk.data(), chunk.size());
  });
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), out.data(), &size);
  return {reinterpret_cast<const char*>(out.data()), size};
}

}  // namespace

std::span<const checksum_name> checksum_names() noexcept { return all_checksums; }

const checksum_name& name_of(checksum_algorithm algorithm) noexcept {
  return *std::ranges::find(all_checksums, algorithm, &checksum_name::algorithm);
}

const checksum_name* find_checksum(std::string_view text) noexcept {
  const auto* const at = std::ranges::find_if(
      all_checksums, [text](const checksum_name& each) { return same_name(each.text, text); });
  return at == all_checksums.end() ? nullptr : at;
}

std::string_view text_of(checksum_type type) noexcept {
  return type == checksum_type::composite ? "COMPOSITE" : "FULL_OBJECT";
}

checksum_type checksum_type_of(std::string_view text) {
  if (text == "COMPOSITE") return checksum_type::composite;
  if (text == "FULL_OBJECT") return checksum_type::full_object;
  throw error(400, "InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
}

std::uint64_t crc64nvme(std::span<const std::byte> bytes, std::uint64_t before) {
  std::uint64_t state = ~before;
  const auto at = [&bytes](std::size_t i) { return static_cast<std::uint64_t>(bytes[i]); };
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    for (std::size_t i = 0; i < 8; ++i) state ^= at(i) << (8 * i);
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < 8; ++i) next ^= crc64[7 - i][(state >> (8 * i)) & 255];
    state = next;
  }
  for (const std::byte byte : bytes) {
    state = (state >> 8) ^ crc64[0][(state ^ static_cast<std::uint64_t>(byte)) & 255];
  }
  return ~state;
}

std::string checksum_bytes(checksum_algorithm algorithm, const content& data) {
  switch (algorithm) {
    case checksum_algorithm::sha1:
      return digest_bytes(EVP_sha1(), data);
    case checksum_algorithm::sha256:
      return digest_bytes(EVP_sha256(), data);
    case checksum_algorithm::crc64nvme: {
      std::uint64_t crc = 0;
      for_all_bytes(data, [&crc](auto chunk) { crc = crc64nvme(chunk, crc); });
      return big_endian(crc, 8);
    }
    default: {
      const bool castagnoli = algorithm == checksum_algorithm::crc32c;
      std::uint32_t crc = 0;
      for_all_bytes(data, [&](auto chunk) {
        crc = castagnoli ? emulator::crc32c(chunk, crc) : crc32(chunk, crc);
      });
      return big_endian(crc, 4);
    }
  }
}

std::string checksum_value(checksum_algorithm algorithm, const content& data) {
  return base64_encode(checksum_bytes(algorithm, data));
}

std::string composite_value(checksum_algorithm algorithm, const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += base64_decode(part).value_or("");
  return checksum_value(algorithm, content{all}) + "-" + std::to_string(parts.size());
}

declared_checksums declared_checksums::of(const http_request& request) {
  declared_checksums out;
  for (const checksum_name& each : all_checksums) {
    const std::string_view value = request.header(each.header);
    if (value.empty()) continue;
    if (out.value) {
      throw error(400, "InvalidRequest",
                  "Expecting a single x-amz-checksum- header. Multiple checksum Types are not "
                  "allowed.");
    }
    const auto raw = base64_decode(value);
    if (!raw || raw->size() != each.size) {
      throw error(400, "InvalidRequest",
                  "Value for " + std::string{each.header} + " header is invalid.");
    }
    out.value = checksum{.algorithm = each.algorithm, .value = std::string{value}};
  }
  if (!request.header("x-amz-sdk-checksum-algorithm").empty() && !out.value) {
    throw error(400, "InvalidRequest",
                "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or "
                "x-amz-trailer headers were found.");
  }
  if (const std::string_view text = request.header("Content-MD5"); !text.empty()) {
    const auto raw = base64_decode(text);
    if (!raw || raw->size() != 16) {
      throw error(400, "InvalidDigest", "The Content-MD5 you specified was invalid.");
    }
    out.md5 = *raw;
  }
  return out;
}

void declared_checksums::check(const content& body) const {
  if (md5 && emulator::md5(body) != md5) {
    throw error(400, "BadDigest", "The Content-MD5 you specified did not match what we received.");
  }
  if (value && checksum_value(value->algorithm, body) != value->value) {
    throw error(400, "BadDigest",
                "The " + std::string{name_of(value->algorithm).text} +
                    " you specified did not match the calculated checksum.");
  }
}

}  // namespace emulator::s3
