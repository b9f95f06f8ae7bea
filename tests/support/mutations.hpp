#pragma once

#include <dataflux/bytes.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

/// Runs `body` over each seed, all its prefixes, one-byte changes at every place, `rounds` random
/// changes of it, and `rounds` strings of noise. The same calls on every run. Each input lies in
/// memory of exactly its size, so that the address sanitizer sees a step too far.
template <class Body>
void for_each_mutation(std::initializer_list<std::string_view> seeds, int rounds, Body&& body) {
  const auto run = [&body](std::string_view text) {
    const auto exact = std::make_unique<std::byte[]>(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) exact[i] = static_cast<std::byte>(text[i]);
    body(std::span<const std::byte>{exact.get(), text.size()});
  };
  std::mt19937 random{20};
  for (const std::string_view seed : seeds) {
    for (std::size_t size = 0; size <= seed.size(); ++size) run(seed.substr(0, size));
    for (std::size_t at = 0; at < seed.size(); ++at) {
      for (const char c :
           {'\0', ' ', '"', '\\', '%', '=', '0', '9', '<', '}', ']', '\x80', '\xff'}) {
        std::string changed{seed};
        changed[at] = c;
        run(changed);
      }
    }
    for (int round = 0; round < rounds; ++round) {
      std::string changed{seed};
      for (auto steps = 1 + random() % 4; steps-- > 0 && !changed.empty();) {
        const std::size_t at = random() % changed.size();
        switch (random() % 3) {
          case 0:
            changed[at] = static_cast<char>(random());
            break;
          case 1:
            changed.erase(at, 1 + random() % 5);
            break;
          default:
            changed.insert(at, changed.substr(random() % changed.size(), random() % 9));
        }
      }
      run(changed);
    }
  }
  for (int round = 0; round < rounds; ++round) {
    std::string noise(random() % 100, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    run(noise);
  }
}
