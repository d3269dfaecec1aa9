// The keys that a scenario may set, for files that name keys of another file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/key_doc.h"

namespace ringwright::planning {

class KnownKeys {
 public:
  KnownKeys();
  [[nodiscard]] bool has(std::string_view key) const;
  // "there is no key 'parallel.tpp'; did you mean 'parallel.tp'?"
  [[nodiscard]] std::string why_unknown(std::string_view key) const;

 private:
  std::vector<KeyDoc> docs_;
  std::vector<std::string> named_;  // of presets and of files in foreign formats, which no reader asks for
};

}  // namespace ringwright::planning
