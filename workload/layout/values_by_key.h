// Values by keys that can only be compared, such as all settings of a job: found by a number that equal keys share, and
// most others do not.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ringwright::workload {

template <class Key, class Value>
class ValuesByKey {
 public:
  struct Found {
    Value& value;  // until the next key is new
    bool is_new;   // it is the default
  };
  Found find(std::size_t number, const Key& key) {
    std::vector<std::pair<Key, Value>>& same = values_[number];
    for (auto& [known, value] : same) {
      if (known == key) return {.value = value, .is_new = false};
    }
    return {.value = same.emplace_back(key, Value()).second, .is_new = true};
  }

 private:
  std::unordered_map<std::size_t, std::vector<std::pair<Key, Value>>> values_;
};

}  // namespace ringwright::workload
