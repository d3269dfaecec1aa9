// A Megatron-LM run (a shell script, the arguments that a log prints, or a functional test) as values of a scenario.
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "configs/imports.h"
#include "core/base/user_file.h"
#include "workload/megatron_import.h"

namespace ringwright::configs {
namespace {

void set_all(const ConfigNode& node, const std::string& path, Imports& imports) {
  for (const ConfigEntry& entry : node.entries) {
    const std::string name = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.kind == ConfigKind::kMap) {
      set_all(entry.value, name, imports);
    } else {
      imports.set(name, summary(entry.value), origin_of(entry.value));
    }
  }
}

}  // namespace

void read_megatron(const std::string& path, Imports& imports) {
  // Each of its words is kept with its place, which takes 70 times the room; a script has kilobytes.
  constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  const auto text = read_user_file(path, {.bytes = kMostBytes});
  if (!text) {
    imports.diagnostics.add(
        {.code = "E100", .message = fmt::format("'megatron' cannot read '{}': {}", path, text.error())});
    return;
  }
  ConfigSource source{.name = std::filesystem::path(path).filename().string(), .kind = SourceKind::kFile, .path = path,
                      .lines = {}};
  if (const auto tree = workload::import_megatron(*text, source, imports.diagnostics)) set_all(*tree, "", imports);
}

}  // namespace ringwright::configs
