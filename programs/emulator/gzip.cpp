#include <emulator/gzip.hpp>

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <memory>

namespace emulator {
namespace {

/// isa-l's structures take pointers to non-const bytes, which it only reads.
unsigned char* input(std::string_view bytes) {
  return reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::optional<std::string> gunzip(std::string_view bytes) {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  state->next_in = input(bytes);
  state->avail_in = static_cast<std::uint32_t>(bytes.size());
  std::string out;
  std::array<unsigned char, 65536> chunk{};
  while (state->block_state != ISAL_BLOCK_FINISH) {
    state->next_out = chunk.data();
    state->avail_out = chunk.size();
    if (isal_inflate(state.get()) != ISAL_DECOMP_OK) return std::nullopt;
    const std::size_t made = chunk.size() - state->avail_out;
    out.append(reinterpret_cast<const char*>(chunk.data()), made);
    const bool finished = state->block_state == ISAL_BLOCK_FINISH;
    if (made == 0 && !finished) return std::nullopt;
  }
  return out;
}

std::string gzip(std::string_view bytes) {
  const auto stream = std::make_unique<isal_zstream>();
  isal_deflate_init(stream.get());
  stream->gzip_flag = IGZIP_GZIP;
  stream->end_of_stream = 1;
  stream->flush = NO_FLUSH;
  stream->next_in = input(bytes);
  stream->avail_in = static_cast<std::uint32_t>(bytes.size());
  std::string out;
  std::array<unsigned char, 65536> chunk{};
  while (stream->internal_state.state != ZSTATE_END) {
    stream->next_out = chunk.data();
    stream->avail_out = chunk.size();
    isal_deflate(stream.get());
    const std::size_t made = chunk.size() - stream->avail_out;
    out.append(reinterpret_cast<const char*>(chunk.data()), made);
  }
  return out;
}

}  // namespace emulator
