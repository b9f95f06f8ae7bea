#pragma once

#include <dataflux/list/detail/name_range.hpp>
#include <dataflux/list/detail/name_tree.hpp>
#include <dataflux/list/detail/splitter_figures.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

DATAFLUX_INLINE name_tree::name_tree() { nodes_.emplace_back(); }

DATAFLUX_INLINE void name_tree::place::advance(std::string_view path, std::size_t to) noexcept {
  for (; at < to; ++at) {
    if (path[at] != '/') continue;
    ++components;
    begin = at + 1;
  }
}

DATAFLUX_INLINE std::uint32_t name_tree::place::kind(std::string_view path) const noexcept {
  const auto offset = static_cast<std::uint32_t>(at - begin);
  // Inside a code point the bytes before it say more than the place does.
  std::size_t lead = at;
  while (lead > begin && class_of(static_cast<unsigned char>(path[lead - 1])) == byte_class::inner)
    --lead;
  if (lead > begin) {
    const auto c = static_cast<std::uint32_t>(class_of(static_cast<unsigned char>(path[lead - 1])));
    const std::uint32_t missing = c - static_cast<std::uint32_t>(byte_class::inner);
    const auto had = static_cast<std::uint32_t>(at - lead);
    if (c > static_cast<std::uint32_t>(byte_class::inner) && had < missing) {
      return inside_code_points +
             (missing * splitting::longest_code_point + had) * splitting::code_points_told_apart +
             std::min(offset / splitting::longest_code_point,
                      splitting::code_points_told_apart - 1);
    }
  }
  return std::min(components, splitting::components_told_apart - 1) *
             splitting::offsets_told_apart +
         std::min(offset, splitting::offsets_told_apart - 1);
}

DATAFLUX_INLINE std::uint32_t name_tree::place::kind_before(std::string_view name) const noexcept {
  if (at >= name.size() || name[at] != '/') return kind(name);
  return endings + std::min(components, splitting::components_told_apart - 1);
}

DATAFLUX_INLINE std::uint32_t name_tree::kind_of(std::string_view path) noexcept {
  place p;
  p.advance(path, path.size());
  return p.kind(path);
}

DATAFLUX_INLINE std::uint32_t name_tree::kind_before(std::string_view name,
                                                     std::size_t at) noexcept {
  place p;
  p.advance(name, at);
  return p.kind_before(name);
}

DATAFLUX_INLINE const name_tree::child* name_tree::find(const node& n,
                                                        std::uint8_t byte) const noexcept {
  const auto found = std::lower_bound(n.children.begin(), n.children.end(), byte,
                                      [](const child& c, std::uint8_t b) { return c.byte < b; });
  return found != n.children.end() && found->byte == byte ? &*found : nullptr;
}

DATAFLUX_INLINE branch_statistics& name_tree::learned(std::uint32_t kind) {
  auto& of = kinds_[kind];
  if (!of) of = std::make_unique<branch_statistics>();
  return *of;
}

DATAFLUX_INLINE name_tree::child& name_tree::child_of(std::uint32_t id, std::uint8_t byte) {
  auto& children = nodes_[id].children;
  if (!children.empty() && children.back().byte == byte) return children.back();
  auto found = std::lower_bound(children.begin(), children.end(), byte,
                                [](const child& c, std::uint8_t b) { return c.byte < b; });
  if (found == children.end() || found->byte != byte) {
    found = children.insert(found, child{});
    found->byte = byte;
    for (branch_statistics* s : {&learned(nodes_[id].kind), &all_}) {
      if (s->seen[byte] < std::numeric_limits<std::uint16_t>::max()) ++s->seen[byte];
      ++s->seen_class[static_cast<std::size_t>(class_of(byte))];
    }
  }
  return *found;
}

DATAFLUX_INLINE std::uint32_t name_tree::new_node(std::string path) {
  std::uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  nodes_[id].kind = kind_of(path);
  branch_statistics& kind = learned(nodes_[id].kind);
  ++kind.nodes;
  ++kind.open;
  ++all_.nodes;
  nodes_[id].path = std::move(path);
  return id;
}

DATAFLUX_INLINE void name_tree::add(std::string_view name, std::uint64_t weight) {
  std::uint32_t id = 0;
  for (;;) {
    node& n = nodes_[id];
    n.listed += weight;
    n.grain = std::max(n.grain, weight);
    const std::size_t depth = n.path.size();
    if (name.size() == depth) return;
    child& c = child_of(id, static_cast<std::uint8_t>(name[depth]));
    const std::uint64_t before = c.listed;
    c.listed += weight;
    if (c.whole) return;
    if (before == 0 && c.node == none && c.sample.empty()) {
      c.sample.assign(name);
      return;
    }
    const std::string_view known = c.node == none ? c.sample : nodes_[c.node].path;
    const std::size_t shared = depth + shared_length(name.substr(depth), known.substr(depth));
    if (c.node == none || shared < known.size()) {
      if (shared == name.size() && shared == known.size()) return;
      const std::uint32_t old = c.node;
      std::string sample = std::move(c.sample);
      const std::uint32_t between = new_node(std::string(name.substr(0, shared)));
      // new_node may have moved all nodes: find the child again.
      child& parent = child_of(id, static_cast<std::uint8_t>(name[depth]));
      parent.node = between;
      parent.sample.clear();
      nodes_[between].listed = before;
      const std::string& behind = old == none ? sample : nodes_[old].path;
      if (behind.size() > shared) {
        child& other = child_of(between, static_cast<std::uint8_t>(behind[shared]));
        other.node = old;
        other.listed = before;
        if (old == none) other.sample = std::move(sample);
      }
      id = between;
    } else {
      id = c.node;
    }
  }
}

DATAFLUX_INLINE void name_tree::learn(const node& n) {
  if (static_cast<double>(n.listed) < splitting::entries_per_child * static_cast<double>(n.grain) *
                                          static_cast<double>(n.children.size())) {
    return;
  }
  const double weight = std::sqrt(static_cast<double>(n.listed));
  const std::size_t size = branch_statistics::size_class(static_cast<double>(n.listed));
  double squares = 1;
  for (const child& c : n.children) squares += std::pow(static_cast<double>(c.listed), 2);
  const double even =
      std::min(1.0, std::pow(static_cast<double>(n.listed), 2) / squares /
                        static_cast<double>(std::max<std::size_t>(1, n.children.size())));
  double followable = 0;
  double followed = 0;
  for (std::size_t i = 0; i < n.children.size(); ++i) {
    const unsigned byte = n.children[i].byte;
    if (byte == 255 || class_of(byte + 1) != class_of(byte)) continue;
    followable += 1;
    if (i + 1 < n.children.size() && n.children[i + 1].byte == byte + 1) followed += 1;
  }
  all_.followable += weight * followable;
  all_.followed += weight * followed;
  branch_statistics* ending = nullptr;
  if (find(n, '/') != nullptr) {
    ending = &learned(kind_before(n.path + '/', n.path.size()));
    ++ending->nodes;
  }
  for (branch_statistics* s : {kinds_[n.kind].get(), &all_, ending}) {
    if (s == nullptr) continue;
    for (std::size_t c = 0; c <= size; ++c) {
      branch_statistics::sized& of = s->at_least(c);
      of.whole += weight;
      of.even += weight * even;
      ++of.nodes;
      for (const child& below : n.children) of.having[below.byte] += static_cast<float>(weight);
    }
  }
}

DATAFLUX_INLINE void name_tree::learn_straight(std::string_view path, std::size_t from,
                                               std::size_t to, std::uint64_t size) {
  const std::size_t highest = branch_statistics::size_class(static_cast<double>(size));
  place at;
  for (std::size_t i = from; i < to; ++i) {
    at.advance(path, i);
    branch_statistics& kind = learned(at.kind_before(path));
    for (std::size_t c = 0; c <= highest; ++c) ++kind.at_least(c).straight;
  }
}

DATAFLUX_INLINE void name_tree::free_below(std::uint32_t id) {
  learn(nodes_[id]);
  --kinds_[nodes_[id].kind]->open;
  const std::size_t depth = nodes_[id].path.size();
  for (const child& c : nodes_[id].children) {
    if (c.node == none) continue;
    const std::string& path = nodes_[c.node].path;
    learn_straight(path, depth + 1, path.size(), c.listed);
    free_below(c.node);
  }
  nodes_[id] = node{};
  free_.push_back(id);
}

DATAFLUX_INLINE void name_tree::close(std::string_view low, std::string_view high) {
  close_in(0, low, high, true, !high.empty());
}

DATAFLUX_INLINE void name_tree::close_in(std::uint32_t id, std::string_view low,
                                         std::string_view high, bool low_binds, bool high_binds) {
  // A bound binds where it runs through this node; else the node lies behind `low`, before `high`.
  const std::size_t depth = nodes_[id].path.size();
  const int from = low_binds && low.size() > depth ? static_cast<unsigned char>(low[depth]) : -1;
  const int to =
      high_binds ? (high.size() > depth ? static_cast<unsigned char>(high[depth]) : -1) : 256;
  for (child& c : nodes_[id].children) {
    if (c.whole || c.byte < from || c.byte > to) continue;
    const bool at_low = c.byte == from && low.size() > depth + 1;
    const bool at_high = c.byte == to;
    if (!at_low && !at_high) {
      if (c.node != none) {
        learn_straight(nodes_[c.node].path, depth + 1, nodes_[c.node].path.size(), c.listed);
        free_below(c.node);
      }
      c.node = none;
      c.sample = std::string();
      c.whole = true;
      continue;
    }
    if (c.node == none) continue;
    const std::string& path = nodes_[c.node].path;
    const bool low_inside = at_low && low.substr(0, path.size()) == path;
    const bool high_inside = at_high && high.substr(0, path.size()) == path;
    if (at_low && !low_inside && path < low) continue;
    if (at_high && !high_inside && path > high) continue;
    close_in(c.node, low, high, low_inside, high_inside);
  }
}

DATAFLUX_INLINE void name_tree::path_to(std::string_view name,
                                        std::vector<std::uint32_t>& nodes) const {
  nodes.clear();
  std::uint32_t id = 0;
  while (id != none) {
    const node& n = nodes_[id];
    if (name.size() < n.path.size() || name.substr(0, n.path.size()) != n.path) return;
    nodes.push_back(id);
    if (name.size() == n.path.size()) return;
    const child* next = find(n, static_cast<std::uint8_t>(name[n.path.size()]));
    id = next == nullptr ? none : next->node;
  }
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
