#include "planning/operation/policies/least_left.h"

#include <fmt/format.h>

namespace ringwright::planning {

std::int64_t read_least(ConfigMap& map, const LeastKey& key) {
  const std::int64_t least = map.integer({.name = key.name, .doc = key.doc, .fallback = key.fallback, .min = 1});
  if (map.has(key.name) && least > key.has) {
    map.error(key.name, "E403",
              fmt::format("{} is {}, and the whole job has {}", map.path_of(key.name), least, key.has));
  }
  return least;
}

}  // namespace ringwright::planning
