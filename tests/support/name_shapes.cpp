#include <support/block_shape.hpp>
#include <support/name_dice.hpp>
#include <support/name_shapes.hpp>
#include <support/usr_files.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <utility>

using namespace name_dice;

namespace {

std::vector<block> imagenet(std::uint64_t size, dice& random) {
  const auto ids = distinct_sorted(1000, [&random] {
    std::string id = "n";
    append_padded(id, 1440764 + below(random, 13634377), 8);
    return id;
  });
  std::vector<double> weights;
  for (std::size_t i = 0; i < ids.size(); ++i) weights.push_back(std::exp(0.8 * normal(random)));
  const auto counts = shares(weights, size);
  std::vector<block> blocks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    blocks.push_back({"train/" + ids[i] + "/" + ids[i] + "_", counts[i], leaf::decimal, ".JPEG"});
  }
  return blocks;
}

std::vector<block> md5(std::uint64_t size, dice& random) {
  std::vector<double> weights;
  const double each = static_cast<double>(size) / 4096;
  for (int i = 0; i < 4096; ++i)
    weights.push_back(std::max(0.0, each + std::sqrt(each) * normal(random)));
  const auto counts = shares(weights, size);
  std::vector<block> blocks;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    std::string prefix;
    append_hex(prefix, i, 3);
    blocks.push_back({prefix, counts[i], leaf::hex, ""});
  }
  return blocks;
}

void folders(const std::string& path, std::uint64_t size, int depth, dice& random,
             std::vector<block>& blocks) {
  if (depth == 0 || size < 3) {
    blocks.push_back({path + "part-", size, leaf::padded, ".parquet"});
    return;
  }
  const std::size_t count = 2 + below(random, 9);
  const auto names = distinct_sorted(count, [&random] { return word(random, 3, 9); });
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
  for (std::size_t i = count; i-- > 1;) std::swap(weights[i], weights[below(random, i + 1)]);
  const auto counts = shares(weights, size);
  for (std::size_t i = 0; i < count; ++i) {
    if (counts[i] > 0) folders(path + names[i] + "/", counts[i], depth - 1, random, blocks);
  }
}

std::vector<block> dates(std::uint64_t size, dice& random) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  std::vector<block> blocks;
  std::vector<double> weights;
  for (std::uint64_t year = 2022; year <= 2024; ++year) {
    for (std::uint64_t month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days.at(month - 1); ++day) {
        std::string path = "logs/";
        append_padded(path, year, 4);
        append_padded(path += '/', month, 2);
        append_padded(path += '/', static_cast<std::uint64_t>(day), 2);
        blocks.push_back({path + "/", 0, leaf::uuid, ".json"});
        weights.push_back(std::exp(0.3 * normal(random)));
      }
    }
  }
  const auto counts = shares(weights, size);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].count = counts[i];
  return blocks;
}

std::vector<block> one_large(std::uint64_t size, dice& random) {
  const auto names = distinct_sorted(200, [&random] { return word(random, 4, 10); });
  std::vector<double> weights;
  for (std::size_t i = 0; i < names.size(); ++i) weights.push_back(std::exp(normal(random)));
  const auto counts = shares(weights, size / 5);
  const std::size_t large = below(random, names.size());
  std::vector<block> blocks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t count = counts[i] + (i == large ? size - size / 5 : 0);
    blocks.push_back({names[i] + "/", count, i == large ? leaf::decimal : leaf::padded, ".bin"});
  }
  return blocks;
}

/// Numbers without leading zeros, hours by day and night, days by chance; some hours are missing.
std::vector<block> hive(std::uint64_t size, dice& random) {
  std::vector<std::pair<std::string, double>> hours;
  for (std::uint64_t year = 2023; year <= 2024; ++year) {
    for (std::uint64_t day = 0; day < 12 * 28; ++day) {
      const std::string path = "warehouse/events/year=" + std::to_string(year) +
                               "/month=" + std::to_string(day / 28 + 1) +
                               "/day=" + std::to_string(day % 28 + 1) + "/hour=";
      const double busy = std::exp(0.8 * normal(random));
      for (int hour = 0; hour < 24; ++hour) {
        const double rhythm = std::exp(std::sin(hour * 0.2618) + 0.3 * normal(random));
        hours.emplace_back(path + std::to_string(hour) + "/part-",
                           below(random, 20) == 0 ? 0 : busy * rhythm);
      }
    }
  }
  std::sort(hours.begin(), hours.end());
  std::vector<double> weights;
  for (const auto& hour : hours) weights.push_back(hour.second);
  const auto counts = shares(weights, size);
  std::vector<block> blocks;
  for (std::size_t i = 0; i < hours.size(); ++i) {
    blocks.push_back({hours[i].first, counts[i], leaf::padded, ".c000.snappy.parquet"});
  }
  return blocks;
}

/// Thirty days in blocks of 2^20 ms, more names by day than by night.
std::vector<block> by_time(std::uint64_t size, dice& random) {
  std::vector<block> blocks;
  std::vector<double> weights;
  for (std::uint64_t i = 0; i < 2472; ++i) {
    std::string time;
    append_hex(time, 0x018CC25 + i, 7);
    blocks.push_back({time, 0, leaf::uuid7, ""});
    weights.push_back(std::exp(std::sin(static_cast<double>(i) * 0.07625) + 0.4 * normal(random)));
  }
  const auto counts = shares(weights, size);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].count = counts[i];
  return blocks;
}

std::vector<block> flat_beside_tiny(std::uint64_t size, dice& random) {
  const auto names = distinct_sorted(1 + std::min<std::uint64_t>(5000, size / 22),
                                     [&random] { return word(random, 6, 12); });
  const std::size_t large = below(random, names.size());
  std::uint64_t left = size;
  std::vector<block> blocks;
  for (const std::string& name : names) {
    const std::uint64_t count = std::min<std::uint64_t>(left, 1 + below(random, 8));
    blocks.push_back({name + "/", count, leaf::padded, ".json"});
    left -= count;
  }
  blocks[large].count += left;
  blocks[large].kind = leaf::hex;
  return blocks;
}

/// Names that are kept, one behind the other.
class kept_shape final : public name_shape {
 public:
  explicit kept_shape(const std::vector<std::string>& sorted) {
    std::size_t bytes = 0;
    for (const std::string& name : sorted) bytes += name.size();
    names_.reserve(bytes);
    offsets_.reserve(sorted.size() + 1);
    offsets_.push_back(0);
    for (const std::string& name : sorted) {
      names_ += name;
      offsets_.push_back(static_cast<std::uint32_t>(names_.size()));
    }
  }
  std::uint64_t size() const noexcept override { return offsets_.size() - 1; }
  void name_at(std::uint64_t rank, std::string& name) const override {
    name.assign(names_, offsets_[rank], offsets_[rank + 1] - offsets_[rank]);
  }

 private:
  std::string names_{};
  std::vector<std::uint32_t> offsets_{};
};

void append_utf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    (text += static_cast<char>(0xC0U | c >> 6U)) += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    if (c < 0x10000) {
      text += static_cast<char>(0xE0U | c >> 12U);
    } else {
      text += static_cast<char>(0xF0U | c >> 18U);
      text += static_cast<char>(0x80U | (c >> 12U & 0x3FU));
    }
    text += static_cast<char>(0x80U | (c >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

std::string utf8_name(dice& random) {
  std::string name;
  const std::uint64_t kind = below(random, 10);
  const std::uint64_t length = 3 + below(random, 8);
  for (std::uint64_t i = 0; i < length; ++i) {
    if (kind < 6) {
      append_utf8(name, 0x4E00 + static_cast<std::uint32_t>(below(random, 0x51A5)));
    } else if (kind < 8) {
      append_utf8(name, 0x1F300 + static_cast<std::uint32_t>(below(random, 0x2F0)));
    } else {
      append_utf8(name, 'a' + static_cast<std::uint32_t>(below(random, 26)));
      if (below(random, 2) == 0) {
        append_utf8(name, 0x300 + static_cast<std::uint32_t>(below(random, 0x30)));
      }
    }
  }
  return name;
}

/// Of letters of an alphabet that begins with `first`, the earlier the more often.
std::string letters(dice& random, std::uint32_t first, std::uint32_t count) {
  std::string text;
  for (std::uint64_t left = 3 + below(random, 7); left > 0; --left) {
    append_utf8(text, first + static_cast<std::uint32_t>(count * std::pow(unit(random), 2)));
  }
  return text;
}

std::vector<std::string> library(std::uint64_t size, dice& random) {
  struct author {
    std::string path{};
    std::uint32_t first{0};
    std::uint32_t count{0};
  };
  std::vector<author> authors;
  for (std::uint64_t i = 0; i < 400; ++i) {
    author one{"library/", 0x430, 32};
    if (i % 4 == 0) one = {"library/", 0x3B1, 25};
    append_utf8(one.path, one.first - 32 + static_cast<std::uint32_t>(below(random, one.count)));
    one.path += letters(random, one.first, one.count) + "/";
    authors.push_back(std::move(one));
  }
  return distinct_sorted(size, [&random, &authors] {
    const auto at = static_cast<std::size_t>(400 * std::pow(unit(random), 2));
    const author& by = authors[at];
    std::string name = by.path;
    for (std::uint64_t left = 1 + below(random, 3); left > 0; --left) {
      name += letters(random, by.first, by.count) + (left > 1 ? " " : ".epub");
    }
    return name;
  });
}

/// Beginnings are kept, rests are computed: they say nothing about the order.
class random_shape final : public name_shape {
 public:
  random_shape(std::uint64_t size, dice& random, std::uint64_t seed)
      : beginnings_(distinct_sorted(size,
                                    [&random] {
                                      const std::uint64_t length = 1 + below(random, 200);
                                      std::string text(std::min<std::uint64_t>(length, 10), ' ');
                                      for (char& c : text) c = printable(random());
                                      return text;
                                    })),
        seed_(seed) {}
  std::uint64_t size() const noexcept override { return beginnings_.size(); }
  void name_at(std::uint64_t rank, std::string& name) const override {
    name = beginnings_[rank];
    if (name.size() < 10) return;
    for (std::uint64_t i = mix(seed_ ^ rank) % 191; i > 0; --i)
      name += printable(mix(seed_ + rank * 191 + i));
  }

 private:
  static char printable(std::uint64_t number) { return static_cast<char>(' ' + number % 95); }
  std::vector<std::string> beginnings_;
  std::uint64_t seed_;
};

std::unique_ptr<name_shape> real_trees(std::uint64_t size, dice& random, std::uint64_t seed) {
  static const std::array<std::vector<std::string>, 2> systems{usr_files('b'), usr_files('t')};
  const std::size_t least = std::min(systems[0].size(), systems[1].size());
  const auto hosts =
      distinct_sorted((size + least - 1) / least, [&random] { return word(random, 5, 8); });
  std::vector<std::string> all;
  all.reserve(size);
  for (std::size_t i = 0; all.size() < size; ++i) {
    for (const std::string& path : systems[(seed + i) % 2]) {
      if (all.size() < size) all.push_back(hosts[i] + "/" + path);
    }
  }
  return std::make_unique<kept_shape>(all);
}

}  // namespace

std::uint64_t name_shape::lower_bound(std::string_view name) const {
  std::uint64_t low = 0;
  std::uint64_t high = size();
  std::string candidate;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    name_at(middle, candidate);
    if (candidate < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::unique_ptr<name_shape> make_shape(char shape, std::uint64_t size, std::uint64_t seed) {
  dice random{seed * 1000 + static_cast<std::uint64_t>(shape)};
  const auto blocks = [seed](std::vector<block> made) {
    return std::make_unique<block_shape>(std::move(made), seed);
  };
  switch (shape) {
    case 'a':
      return blocks({{"train/", size, leaf::padded, ".jpg"}});
    case 'b':
      return blocks(imagenet(size, random));
    case 'c':
      return blocks({{"archive/", size - size / 10, leaf::padded, ".bin"},
                     {"validation/", size / 10, leaf::padded, ".bin"}});
    case 'd':
      return blocks(md5(size, random));
    case 'e':
      return blocks({{"company/department/project/experiments/2024/run-0042/images-", size,
                      leaf::padded, ".png"}});
    case 'f': {
      std::vector<block> made;
      folders("", size, 6, random, made);
      return blocks(std::move(made));
    }
    case 'g':
      return std::make_unique<kept_shape>(
          distinct_sorted(size, [&random] { return utf8_name(random); }));
    case 'h':
      return blocks(dates(size, random));
    case 'i':
      return blocks(one_large(size, random));
    case 'j':
      return std::make_unique<random_shape>(size, random, seed);
    case 'k':
      return real_trees(size, random, seed);
    case 'l':
      return blocks(hive(size, random));
    case 'm':
      return blocks(by_time(size, random));
    case 'n':
      return blocks(flat_beside_tiny(size, random));
    default:
      return std::make_unique<kept_shape>(library(size, random));
  }
}

std::string_view shape_title(char shape) noexcept {
  constexpr std::array<std::string_view, 15> titles{"train/%08d.jpg",
                                                    "imagenet, 1,000 folders",
                                                    "two far prefixes 90:10",
                                                    "md5 hex",
                                                    "60 characters in common",
                                                    "folders 6 deep, Zipf",
                                                    "UTF-8",
                                                    "dates + uuid",
                                                    "one folder has 80 %",
                                                    "random bytes 1-200",
                                                    "files of /usr",
                                                    "year=/month=/day=/hour=",
                                                    "UUIDs by time",
                                                    "one flat, thousands tiny",
                                                    "Cyrillic and Greek"};
  const auto at = static_cast<std::size_t>(shape - 'a');
  return at < titles.size() ? titles.at(at) : "";
}

void shape_source::scan(std::string_view from, visitor& visit) const {
  std::string name;
  for (std::uint64_t rank = shape_->lower_bound(from); rank < shape_->size(); ++rank) {
    shape_->name_at(rank, name);
    if (!visit({name, rank % 65536, static_cast<std::int64_t>(rank) + 1, std::nullopt})) return;
  }
}
