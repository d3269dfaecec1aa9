// A word among options, as the value that it stands for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "core/config/config_map.h"

namespace ringwright {

// As ConfigMap::choice(). `values`: by option. After an error the first one.
template <class Value, std::size_t count>
[[nodiscard]] Value choice_of(ConfigMap& map, const Key<std::string>& key, const std::array<Option, count>& options,
                              const std::array<Value, count>& values) {
  const std::string word = map.choice(key, options);
  const auto at = std::ranges::find(options, word, &Option::name);
  return at == options.end() ? values.front() : values[static_cast<std::size_t>(at - options.begin())];
}

}  // namespace ringwright
