// Writes a manifest of objects that were never listed: bench/dataloader.py needs some of 10 million
// names, of which a server has the few that are read.
//
//   bench_manifest FILE ROWS BYTES GENERATION CRC32C
//
// BYTES, GENERATION, CRC32C: of every row. The names are those of bench_list_socket's shape a.

#include <dataflux/list/detail/manifest_encoder.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "measure.hpp"

int main(int argc, char** argv) {
  using bench::fail;
  if (argc != 6) fail("usage: FILE ROWS BYTES GENERATION CRC32C");
  const auto number = [argv](int at) { return std::strtoull(argv[at], nullptr, 10); };
  dataflux::object_columns rows;
  for (std::uint64_t i = 0; i < number(2); ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "train/%08" PRIu64 ".jpg", i);
    rows.append(name, number(3), static_cast<std::int64_t>(number(4)),
                static_cast<std::uint32_t>(number(5)));
  }
  dataflux::detail::manifest_encoder encoder{{.bucket = "bench"}, rows};
  std::ofstream file(argv[1], std::ios::binary);
  std::string piece;
  while (!encoder.done()) {
    piece.clear();
    if (!encoder.append_to(piece)) fail("the rows are not in order");
    file << piece;
  }
  if (!file.flush()) fail("cannot write", argv[1]);
}
