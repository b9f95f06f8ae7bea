#include <dataflux/codec/detail/gzip_decoder.hpp>

#include <fuzz/gzip_fuzz.hpp>
#include <fuzz/require.hpp>
#include <support/decode_all.hpp>

void fuzz_gzip(std::span<const std::byte> input) {
  using decoder = dataflux::detail::codec::gzip_decoder;
  const std::string_view file = dataflux::as_text(input);
  const decoded_file whole = decode_all<decoder>(file, file.size() + 1, 100'000);
  require(!whole.failure || whole.failure->code() == dataflux::errc::data_loss);
  for (const std::size_t piece : {1U, 7U, 150U}) {
    const decoded_file cut = decode_all<decoder>(file, piece, 300 / piece);
    require(whole.failure.has_value() == cut.failure.has_value());
    require(!cut.failure || cut.failure->code() == dataflux::errc::data_loss);
    // Damage may be seen a little earlier or later.
    if (!whole.failure) require(whole.bytes == cut.bytes);
    require(whole.bytes.starts_with(cut.bytes) || cut.bytes.starts_with(whole.bytes));
  }
}
