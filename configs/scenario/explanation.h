// What a key or an error code means: the pages of `explain`, and the JSON Schema for editors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::configs {

struct Explanation {
  std::string page;               // empty: nobody knows the word
  std::vector<std::string> near;  // then: what may have been meant, best first
};

// `word` is a key ("parallel.tp") or an error code ("E110").
[[nodiscard]] Explanation explain(std::string_view word);

// JSON Schema (draft-07) of a scenario file.
[[nodiscard]] std::string scenario_schema();

}  // namespace ringwright::configs
