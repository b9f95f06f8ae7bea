#include <dataflux/codec/detail/zstd_decoder.hpp>

#include <fuzz/require.hpp>
#include <fuzz/zstd_fuzz.hpp>
#include <support/decode_all.hpp>

void fuzz_zstd(std::span<const std::byte> input) {
  using dataflux::errc;
  using decoder = dataflux::detail::codec::zstd_decoder;
  const auto expected = [](const decoded_file& file) {
    return !file.failure || file.failure->code() == errc::data_loss ||
           file.failure->code() == errc::unimplemented;
  };
  const auto refused = [](const decoded_file& file) {
    return file.failure && file.failure->code() == errc::unimplemented;
  };
  const std::string_view file = dataflux::as_text(input);
  const decoded_file whole = decode_all<decoder>(file, file.size() + 1, 100'000);
  require(expected(whole));
  for (const std::size_t piece : {1U, 7U, 150U}) {
    const decoded_file cut = decode_all<decoder>(file, piece, 300 / piece);
    require(expected(cut));
    require(whole.bytes.starts_with(cut.bytes) || cut.bytes.starts_with(whole.bytes));
    // A frame whose output has room for all of it needs no window, however large one it announces.
    if (refused(whole) || refused(cut)) continue;
    require(whole.failure.has_value() == cut.failure.has_value());
    if (!whole.failure) require(whole.bytes == cut.bytes);
  }
}
