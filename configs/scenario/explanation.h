// The meaning of a key or an error code: the pages of `explain`, and the JSON Schema for editors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::configs {

struct Explanation {
  std::string page;               // empty: the word is unknown
  std::vector<std::string> near;  // then: similar words, best first
};

// `word` is a key ("parallel.tp"), an error code ("E110"), or a version of NCCL's cost model ("nccl-2.20", "rccl").
[[nodiscard]] Explanation explain(std::string_view word);

// JSON Schema (draft-07) of a scenario file.
[[nodiscard]] std::string scenario_schema();

}  // namespace ringwright::configs
