#include "configs/scenario/imports/megatron_file.h"

#include <filesystem>
#include <string>
#include <utility>

#include "configs/scenario/imports/hydra/hydra_file.h"
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

std::optional<ConfigNode> import_run(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  if (!is_hydra_file(text)) return import_megatron(text, source, problems);
  auto flags = read_hydra_file(text, source, problems);
  return flags ? import_flags(std::move(*flags), source, problems) : std::nullopt;
}

void read_megatron(const InputFile& file, Imports& imports) {
  ConfigSource source{.name = std::filesystem::path(file.path).filename().string(),
                      .kind = SourceKind::kFile,
                      .path = file.path,
                      .lines = {}};
  if (const auto tree = import_run(file.text, source, imports.diagnostics)) set_all(*tree, "", imports);
}

}  // namespace ringwright::configs
