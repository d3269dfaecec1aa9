// How many replicas or hosts a policy needs to go on: at most those that the job has.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/config/config_map.h"

namespace ringwright::planning {

struct LeastKey {
  std::string_view name;
  std::string_view doc;
  std::int64_t fallback = 1;
  std::int64_t has = 1;  // of the whole job
};

// E403 where it is more than the job has: the job would wait for ever.
[[nodiscard]] std::int64_t read_least(ConfigMap& map, const LeastKey& key);

}  // namespace ringwright::planning
