#include <support/compressed.hpp>

#include <isa-l/igzip_lib.h>

#if defined(DATAFLUX_ZSTD)
#include <zstd.h>
#endif

#include <cstdint>
#include <memory>
#include <random>

std::string gzip_of(std::string_view bytes) {
  const auto stream = std::make_unique<isal_zstream>();
  isal_deflate_stateless_init(stream.get());
  // What cannot be compressed is stored, in blocks of 64 KiB with five bytes each.
  std::string out(bytes.size() + bytes.size() / 1000 + 1000, '\0');
  stream->gzip_flag = IGZIP_GZIP;
  stream->end_of_stream = 1;
  stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
  stream->avail_in = static_cast<std::uint32_t>(bytes.size());
  stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream->avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate_stateless(stream.get()) != COMP_OK) return {};
  out.resize(stream->total_out);
  return out;
}

std::string zstd_of([[maybe_unused]] std::string_view bytes) {
  std::string out;
#if defined(DATAFLUX_ZSTD)
  out.resize(ZSTD_compressBound(bytes.size()));
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size()));
#endif
  return out;
}

std::string repeating_bytes(std::size_t size) {
  std::mt19937 random{5};
  std::string out;
  while (out.size() < size) {
    if (random() % 3 == 0 && !out.empty()) {
      out += std::string{out, random() % out.size(), random() % 400};
    } else {
      for (auto count = random() % 60; count > 0; --count) out += static_cast<char>(random());
    }
  }
  out.resize(size);
  return out;
}
