// What a run's file sets in a scenario, and what is said about it.
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/imports/megatron_file.h"
#include "tests/paths.h"

namespace ringwright::configs {

// A run's file among those of the tests.
inline std::string run_file(const std::string& name) {
  std::ifstream stream(std::string(ringwright::test_data()) + "/configs/" + name);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct ImportedRun {
  ConfigSource source{.name = "run.yaml", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  std::map<std::string, std::string> keys;     // of the file
  std::map<std::string, std::string> assumed;  // defaults of its program
  std::map<std::string, std::string> origins;

  explicit ImportedRun(std::string_view text) {
    if (const auto tree = import_run(text, source, problems)) collect(*tree, "");
  }
  // Of the file, else a default: what a scenario gets.
  [[nodiscard]] std::map<std::string, std::string> all() const {
    std::map<std::string, std::string> result = keys;
    result.insert(assumed.begin(), assumed.end());
    return result;
  }
  // "9:3 E144: message | hint".
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> result;
    for (const Diagnostic& found : problems.all()) {
      result.push_back(std::to_string(found.place.line) + ":" + std::to_string(found.place.column) + " " + found.code +
                       ": " + found.message + (found.hint.empty() ? "" : " | " + found.hint));
    }
    return result;
  }

 private:
  void collect(const ConfigNode& node, const std::string& path) {
    for (const ConfigEntry& entry : node.entries) {
      const std::string name = path.empty() ? entry.key : path + "." + entry.key;
      if (entry.value.kind == ConfigKind::kMap) {
        collect(entry.value, name);
        continue;
      }
      (entry.value.source == &source ? keys : assumed)[name] = summary(entry.value);
      origins[name] = origin_of(entry.value);
    }
  }
};

}  // namespace ringwright::configs
