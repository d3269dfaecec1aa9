#include "network_models/host/mesh_links.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace ringwright::network_models {
namespace {

std::optional<int> parse_count(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "0-3:2": two lanes between GPU 0 and GPU 3; ":1" may be left out.
std::optional<MeshLink> parse_mesh_link(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::size_t colon = std::min(text.find(':', dash), text.size());
  const auto a = parse_count(text.substr(0, dash));
  const auto b = parse_count(text.substr(dash + 1, colon - dash - 1));
  const auto lanes = colon < text.size() ? parse_count(text.substr(colon + 1)) : std::optional(1);
  if (!a || !b || !lanes || *lanes == 0) return std::nullopt;
  return MeshLink{.a = *a, .b = *b, .lanes = *lanes};
}

}  // namespace

std::vector<MeshLink> full_mesh(int gpus) {
  std::vector<MeshLink> mesh;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) mesh.push_back({.a = a, .b = b, .lanes = 1});
  }
  return mesh;
}

bool is_preset(const ConfigMap& map, std::string_view key) {
  return map.origin(key).starts_with("preset:");
}

std::vector<MeshLink> read_mesh(ConfigMap& map, int gpus) {
  std::vector<MeshLink> mesh;
  const bool preset = is_preset(map, "mesh");
  int joined = 0;  // GPUs that the list names, from the first
  const auto texts = map.texts({.name = "mesh", .doc = "NVLink lanes as \"gpu-gpu:lanes\", each pair once"});
  for (const std::string& text : texts) {
    const auto link = parse_mesh_link(text);
    if (link) joined = std::max({joined, link->a + 1, link->b + 1});
    if (preset && link && std::max(link->a, link->b) >= gpus) continue;
    if (!link || link->a == link->b || link->a >= gpus || link->b >= gpus) {
      map.error("mesh", "E122", fmt::format("'{}' is not a link between two of the {} GPUs", text, gpus),
                "write \"0-3:2\" for two lanes between GPU 0 and GPU 3");
      continue;
    }
    const bool twice = std::any_of(mesh.begin(), mesh.end(), [&](const MeshLink& other) {
      return std::minmax(other.a, other.b) == std::minmax(link->a, link->b);
    });
    if (twice) {
      map.error("mesh", "E122", fmt::format("'{}' connects a pair that is already connected", text),
                "add up the lanes of a pair in one entry");
      continue;
    }
    mesh.push_back(*link);
  }
  if (preset && joined < gpus) {
    map.error("mesh", "E122", fmt::format("the preset joins {} GPUs, and the host has {}", joined, gpus),
              "list the links of all GPUs in nvlink.mesh");
  }
  return mesh;
}

}  // namespace ringwright::network_models
