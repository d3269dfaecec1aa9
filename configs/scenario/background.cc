// Reads background traffic.
#include "configs/scenario/background.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

constexpr const char* kBackgroundCode = "E126";
constexpr std::array kPriorities = {
    Option{"low", "gets the bandwidth that the job leaves on every link (strict)"},
    Option{"high", "shares links with the job equally"}};

std::vector<std::int64_t> read_ranks(ConfigMap& map, std::string_view name, std::string_view doc, std::int64_t gpus) {
  std::vector<std::int64_t> ranks = map.integers({.name = name, .doc = doc, .min = 0});
  if (map.documenting()) return {};
  if (ranks.empty())
    map.error(name, kBackgroundCode, fmt::format("'{}' must name at least one GPU", map.path_of(name)));
  const auto wrong = std::ranges::find_if(ranks, [gpus](std::int64_t rank) { return rank < 0 || rank >= gpus; });
  if (wrong == ranks.end()) return ranks;
  map.error(name, kBackgroundCode,
            fmt::format("'{}' names GPU {}, but there are {}, numbered from 0", map.path_of(name), *wrong, gpus));
  return {};
}

void read_entry(ConfigMap& map, std::int64_t gpus, const network_models::ModelEntry& model, Background& background) {
  const auto from = read_ranks(map, "from", "GPUs that send, numbered through the cluster", gpus);
  const auto to = read_ranks(map, "to", "GPUs that receive, as many: the first sends to the first, and so on", gpus);
  const Bytes size = map.bytes({.name = "size", .doc = "bytes of one transfer", .min = Bytes(1)});
  const Duration at = map.duration({.name = "at", .doc = "when it starts, from the start of the run",
                                    .fallback = Duration(0), .min = Duration(0)});
  const std::int64_t repeats = map.integer({.name = "repeats", .doc = "number of transfers, one after another",
                                            .fallback = 1, .min = 1, .max = 1'000'000'000});
  std::string priority = map.choice(
      {.name = "priority", .doc = "relative to the traffic of the job", .fallback = std::string("low")}, kPriorities);
  if (!map.documenting() && !model.max_min) {
    map.ignore("priority", fmt::format("in the network model '{}' all traffic is of one class", model.name));
    priority = "high";
  }
  if (map.documenting() || from.empty() || to.empty()) return;
  if (from.size() != to.size()) {
    map.error("to", kBackgroundCode,
              fmt::format("'{}' names {} GPUs and '{}' {}: the numbers must be equal", map.path_of("from"), from.size(),
                          map.path_of("to"), to.size()));
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) {
      map.error("to", kBackgroundCode, fmt::format("GPU {} would send to itself", from[i]));
      return;
    }
    background.transfers.push_back({.from = RankId(static_cast<std::size_t>(from[i])),
                                    .to = RankId(static_cast<std::size_t>(to[i])),
                                    .size = size,
                                    .at = TimePoint(at),
                                    .repeats = static_cast<std::uint32_t>(repeats),
                                    .importance = priority == "low" ? Importance::kYields : Importance::kEqual});
  }
  background.described.push_back(
      {.text = fmt::format("background traffic: {} GPU{} send{} {} x {} each from {} on, priority {}", from.size(),
                           from.size() == 1 ? "" : "s", from.size() == 1 ? "s" : "", repeats, to_string(size),
                           to_string(at), priority),
       .at = TimePoint(at),
       .place = map.place("at")});
}

}  // namespace

Background read_background(ConfigMap& root, std::int64_t gpus, const network_models::ModelEntry& model) {
  Background background;
  for (ConfigMap& map : root.maps("background", "other traffic on the network while the job runs")) {
    if (!map.documenting() && !model.shares_links) {
      map.ignore_rest(fmt::format("in the network model '{}' transfers do not share links", model.name));
      continue;
    }
    read_entry(map, gpus, model, background);
  }
  return background;
}

}  // namespace ringwright::configs
