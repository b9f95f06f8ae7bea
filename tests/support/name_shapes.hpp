#pragma once

#include <dataflux/store/synthetic_objects.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Buckets whose names are computed from their rank, in the shapes that listings are measured with:
///   a  train/%08d.jpg                        g  UTF-8: CJK, emoji, combining marks
///   b  imagenet: 1,000 folders, skewed       h  UUIDs under dates
///   c  two far prefixes, 90 : 10             i  one folder has 80 % of all
///   d  md5, as hex                           j  random printable bytes, lengths 1-200
///   e  60 characters in common, then digits  k  the files of /usr, repeated under new names
///   f  folders 6 deep, sizes by Zipf
/// The splitter's figures were not chosen by these four:
///   l  year=2023/month=1/day=1/hour=0/       n  one flat folder has 80 %, thousands have 1-8 names
///   m  UUIDs that begin with the time, flat  o  Cyrillic and Greek authors and titles
/// Equal arguments give equal names. Only g, j, k and o hold data for each name, about 10 to 70
/// bytes; the others hold some bytes for each folder.
class name_shape {
 public:
  name_shape() = default;
  name_shape(const name_shape&) = delete;
  name_shape& operator=(const name_shape&) = delete;
  virtual ~name_shape() = default;

  virtual std::uint64_t size() const noexcept = 0;
  /// The name of that rank, 0 .. size() - 1, into `name`. Names rise with their ranks.
  virtual void name_at(std::uint64_t rank, std::string& name) const = 0;
  /// The least rank whose name is >= `name`; size() if there is none. O(log size) names.
  std::uint64_t lower_bound(std::string_view name) const;
};

inline constexpr std::string_view all_shapes = "abcdefghijklmno";

/// `size` names of that shape.
std::unique_ptr<name_shape> make_shape(char shape, std::uint64_t size, std::uint64_t seed);
/// What the letter stands for, such as "train/%08d.jpg".
std::string_view shape_title(char shape) noexcept;

/// A shape as the objects of a memory_store's bucket: sizes and generations follow from the rank.
class shape_source final : public dataflux::name_source {
 public:
  explicit shape_source(std::unique_ptr<name_shape> shape) : shape_(std::move(shape)) {}
  const name_shape& shape() const noexcept { return *shape_; }
  void scan(std::string_view from, visitor& visit) const override;

 private:
  std::unique_ptr<name_shape> shape_;
};
