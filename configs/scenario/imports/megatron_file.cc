// A Megatron-LM run (a shell script, the arguments that a log prints, or a functional test) as values of a scenario.
#include <filesystem>
#include <string>

#include "configs/scenario/imports/imports.h"
#include "configs/scenario/imports/megatron/megatron_import.h"
#include "core/config/input_file.h"

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

void read_megatron(const InputFile& file, Imports& imports) {
  ConfigSource source{.name = std::filesystem::path(file.path).filename().string(),
                      .kind = SourceKind::kFile,
                      .path = file.path,
                      .lines = {}};
  if (const auto tree = import_megatron(file.text, source, imports.diagnostics)) set_all(*tree, "", imports);
}

}  // namespace ringwright::configs
